"""Proof: a task's requirement, the proof seen, and the right to complete the task without it."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from hubbub.core.actions import task_actions
from hubbub.core.people import runs
from hubbub.core.work import artifacts, proof
from hubbub.core.work.proof import Seen
from hubbub.model.errors import Forbidden, Invalid, Lacking
from hubbub.model.lifecycle import Status
from hubbub.model.people.rights import HUB, Role
from hubbub.model.records import Task
from hubbub.model.work.proof import Deed, ProofRules, Tree, Unproven, Verdict
from tests.core.conftest import World, on_one_engine, person

ONE, TWO = "1" * 40, "2" * 40
TESTS = "make test"


def rules(world: World, *done_when: str, **more: Any) -> None:
    """Set the project's rules."""
    world.do(proof.put_rules, world.project, ProofRules(done_when=done_when, tests=TESTS, **more))


def taken(world: World) -> Task:
    return world.accept(world.send(to="bob"))


def saw(
    world: World, deed: Deed = Deed.SHELL, *, tree: str | None = ONE, by: str = "bob", **more: Any
) -> bool:
    """A hook saw bob do something, and the checkout clean but for the files of `dirty`."""
    dirty = more.pop("dirty", ())
    found = (
        Tree(tree=tree, head=TWO, head_tree=ONE, branch="main", pushed=True, dirty=dirty) if tree else None
    )
    seen = Seen(deed=deed, instance="run", place="here", tree=found, **more)
    return world.do(proof.saw, world.project, by, seen)


def complete(world: World, task: Task, by: str = "bob") -> Task:
    return world.on(task, task_actions.complete, by=by, result="all done")


def missing(world: World, task: Task, by: str = "bob") -> tuple[str, ...]:
    """Complete the task and return the demands that the refusal names."""
    with pytest.raises(Lacking) as refused:
        complete(world, task, by)
    return refused.value.demands


def test_a_task_that_asks_for_nothing_is_completed_by_a_word(world: World) -> None:
    """Without a contract everything is as it was: whoever has the task says that it is done."""
    assert complete(world, taken(world)).status is Status.COMPLETED


def test_what_was_not_seen_is_not_done(world: World) -> None:
    """A task that asks for tests is refused to whoever only says that they passed, with what is missing."""
    rules(world, "clean", "tests")
    task = taken(world)

    with pytest.raises(Lacking, match=r"^the task is not done yet: clean \(not seen\): no hook saw any work"):
        complete(world, task)
    assert world.task(task).status is Status.ACCEPTED


def test_what_was_seen_is_done(world: World) -> None:
    """Tests that ran by themselves on what is there now, in a clean checkout, complete it; the proof is kept."""
    rules(world, "clean", "tests")
    task = taken(world)
    assert saw(world, command=TESTS, code=0)

    assert complete(world, task).status is Status.COMPLETED
    world.clock.advance(timedelta(minutes=1))
    rules(world, "review")
    found = world.do(proof.of_task, world.task(task)).findings
    assert [(each.demand, each.verdict) for each in found] == [("clean", Verdict.MET), ("tests", Verdict.MET)]


@on_one_engine
def test_a_hook_looks_only_where_proof_is_asked_for(world: World) -> None:
    """A hook is told whether to look, and of an agent without a task nothing is kept."""
    assert not saw(world, command="ls")
    task = taken(world)
    assert not saw(world, command="ls -l")
    assert [each.command for each in world.do(proof.of_task, task).sightings] == ["ls -l"]
    world.do(proof.put_contract, task, ["clean"], by=HUB)
    assert saw(world, command="ls -a")


@on_one_engine
def test_a_hook_that_asks_tells_it_again_with_what_it_found(world: World) -> None:
    """A hook's first report is not kept if the hub asks it to look and report again."""
    rules(world, "clean")
    task = taken(world)
    seen = Seen(deed=Deed.SHELL, instance="run", place="here", command="ls")
    assert world.do(proof.saw, world.project, "bob", seen, asks=True)
    assert world.do(proof.of_task, task).sightings == []


@on_one_engine
def test_a_command_is_kept_without_its_secrets(world: World) -> None:
    """A password in a command does not get into what people read."""
    task = taken(world)
    saw(world, command="API_TOKEN=hunter2hunter2hunter2 make test")
    assert [each.command for each in world.do(proof.of_task, task).sightings] == [
        "API_TOKEN=[redacted] make test"
    ]


def test_what_others_did_is_no_proof(world: World) -> None:
    """Sightings from before the task was taken, or of another agent, prove nothing."""
    rules(world, "tests")
    task = world.send(to=None)
    other = world.send(to="ann")
    world.accept(other, "ann")
    saw(world, command=TESTS, code=0, by="ann")
    earlier = taken(world)
    saw(world, command=TESTS, code=0)
    complete(world, earlier)
    world.clock.advance(timedelta(seconds=1))
    task = world.accept(task)

    assert missing(world, task) == ("tests",)


def test_a_person_may_wave_it_through(world: World) -> None:
    """A person who manages it waives the proof, with a reason; an agent does not, and the log says who did."""
    rules(world, "clean")
    task = taken(world)
    eva = world.acting(person(world, "eva", Role.ADMIN))
    with pytest.raises(Forbidden):
        world.on(task, proof.waive, by=HUB, reason="I am in a hurry")
    eva.on(task, proof.waive, by=HUB, reason="only words")

    assert complete(world, task).status is Status.COMPLETED
    (line,) = [each for each in world.log() if each.kind == "task.waived"]
    assert (line.actor, line.detail["reason"]) == ("eva", "only words")


def test_a_person_who_completes_it_has_decided(world: World) -> None:
    """A person's own completion is accepted, and the log lists the missing demands."""
    rules(world, "clean", "tests")
    task = taken(world)
    eva = world.acting(person(world, "eva", Role.ADMIN))

    assert eva.on(task, task_actions.complete, by=HUB, result="fine").status is Status.COMPLETED
    (line,) = [each for each in world.log() if each.kind == "task.waived"]
    assert (line.actor, line.detail["missing"]) == ("eva", ["clean", "tests"])


def test_it_goes_to_review_where_the_project_says_so(world: World) -> None:
    """Instead of a refusal the work is handed in, with what is missing; only a person approves it without proof."""
    rules(world, "tests", unproven=Unproven.REVIEW)
    task = complete(world, world.accept(world.send(to="bob", sender="ann")))
    assert task.status is Status.IN_REVIEW
    assert "the task is not done yet: tests (not seen)" in world.mail("ann")[-1]

    with pytest.raises(Lacking):
        world.on(task, task_actions.approve, by="ann", comment=None)
    eva = world.acting(person(world, "eva", Role.ADMIN))
    assert eva.on(task, task_actions.approve, by=HUB, comment="I looked").status is Status.COMPLETED


def test_review_is_by_another_than_the_author(world: World) -> None:
    """A task that lacks only a review is handed in by its completion, and completed by whoever approves it."""
    rules(world, "review")
    task = complete(world, world.accept(world.send(to="bob", sender="ann")))
    assert task.status is Status.IN_REVIEW
    assert world.mail("ann")[-1] == "all done"
    assert missing(world, task) == ("review",)

    approved = world.on(task, task_actions.approve, by="ann", comment=None)
    assert (approved.status, approved.result) == (Status.COMPLETED, "all done")


@on_one_engine
def test_a_completion_that_lacks_more_than_a_review_is_refused(world: World) -> None:
    """A task that asks for tests and a review is not handed in before the tests were seen."""
    rules(world, "tests", "review")
    task = taken(world)
    assert missing(world, task) == ("tests", "review")
    saw(world, command=TESTS, code=0)
    assert complete(world, task).status is Status.IN_REVIEW


def test_the_notice_of_a_review_is_no_result(world: World) -> None:
    """A task handed in without words has its sender told, and the words before it are its result."""
    task = world.accept(world.send(to="bob", sender="ann"))
    world.on(task, task_actions.comment, text="it is on the branch", by="bob")
    world.on(task, task_actions.submit, by="bob")
    assert world.mail("ann") == ["it is on the branch", "handed in for review"]

    approved = world.on(task, task_actions.approve, by="ann", comment=None)
    assert approved.result == "it is on the branch"


@on_one_engine
def test_an_artifact_is_one_of_its_holders_own(world: World) -> None:
    """A task that asks for an artifact counts one that its holder shared for it since they took it."""
    rules(world, "artifact")
    task = taken(world)
    assert missing(world, task) == ("artifact",)
    run = world.do(runs.current, world.id)
    for by, is_one in (("ann", False), ("bob", True)):
        world.do(artifacts.post, run, by=by, name="r", kind="text", content="x", task=str(task.id))
        (found,) = world.do(proof.of_task, world.task(task)).findings
        assert (found.verdict is Verdict.MET) is is_one


def test_its_holder_does_not_say_when_it_is_done(world: World) -> None:
    """A task's own demands go before the project's, and its holder cannot set them."""
    rules(world, "clean")
    task = taken(world)
    with pytest.raises(Forbidden):
        world.on(task, proof.put_contract, ["clean", "tests"], by="bob")
    world.acting(person(world, "eva", Role.ADMIN)).on(task, proof.put_contract, [], by=HUB)
    assert complete(world, task).status is Status.COMPLETED


@on_one_engine
def test_an_agent_asks_for_more_and_never_for_less(world: World) -> None:
    """An agent that gives work may ask for more than its project does; that it asks for less, a person says."""
    rules(world, "clean", "tests")
    task = world.send(to=None, sender="ann")
    world.on(task, proof.put_contract, ["clean", "tests", "review"], by="ann")

    with pytest.raises(Forbidden, match=r"less than its project does \(tests\)"):
        world.on(task, proof.put_contract, ["clean"], by="ann")
    world.on(task, proof.put_contract, None, by="ann")
    assert world.do(proof.demands, task) == ("clean", "tests")


def test_whoever_takes_it_is_told(world: World) -> None:
    """An agent that takes a task hears by mail what it asks for; once, whichever tool it took it with."""
    rules(world, "tests", "within docs/")
    task = taken(world)
    world.start(task)
    (told,) = [text for text in world.mail("bob") if "is done when" in text]
    assert told == (
        f"T-{task.number} is done when the tests, `make test`, run by themselves after the last change, passed; "
        "only docs/ was changed"
    )


@on_one_engine
@pytest.mark.parametrize("demand", ["", "tidy", "within /etc", "within ../x", "tests passed"])
def test_nonsense_is_no_demand(world: World, demand: str) -> None:
    """A demand is one of a short list; anything else is refused in one sentence."""
    with pytest.raises(Invalid):
        rules(world, demand)


def test_what_was_seen_is_forgotten(world: World) -> None:
    """Sightings are kept for three months; the findings at a completion stay."""
    rules(world, "clean")
    task = taken(world)
    saw(world, command="ls")
    complete(world, task)
    world.clock.advance(proof.KEEP + timedelta(days=1))
    world.do(proof.forget)

    kept = world.do(proof.of_task, world.task(task))
    assert (kept.sightings, [each.verdict for each in kept.findings]) == ([], [Verdict.MET])


@on_one_engine
def test_a_machines_own_work_asks_for_nothing(world: World) -> None:
    """The project's demands are not made of a machine's own agent, whose work no hook sees."""
    rules(world, "clean")
    task = replace(taken(world), assignee="node:atlas")
    assert world.do(proof.demands, task) == ()
