"""Steering of work that is in other hands."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from hubbub.core.actions import task_actions
from hubbub.core.agents import scopes
from hubbub.core.mail import messages, threads
from hubbub.core.presence import presences
from hubbub.core.work import completion, completion_checks, transfers
from hubbub.model.agents.scopes import Scope
from hubbub.model.errors import BeingChecked, Conflict, Forbidden, Invalid, InvalidTransition, NotHolder
from hubbub.model.lifecycle import HELD, Event, Status
from hubbub.model.people.rights import HUB
from hubbub.model.records import Task
from hubbub.store.tx import Tx
from tests.core.conftest import World, in_status, on_one_engine, person

S = Status


@pytest.fixture
def chief(world: World) -> World:
    """The world as a person sees it, who has no name among the agents."""
    return world.acting(person(world, "mia"))


def test_a_person_completes_what_somebody_works_on(chief: World) -> None:
    """A task that a person completes keeps the result; who worked on it hears of that, and so does its sender."""
    task = in_status(chief, S.WORKING)
    done = chief.on(task, task_actions.complete, by=HUB, result="it was done elsewhere")

    assert (done.status, done.result) == (S.COMPLETED, "it was done elsewhere")
    assert chief.mail("bob") == ['mia completed T-1 "count the lines": it was done elsewhere']
    assert chief.mail("ann") == ["it was done elsewhere"]
    (completed,) = [each for each in chief.log() if each.kind == "task.completed"]
    assert completed.actor == "mia"


def test_who_has_not_said_yes_is_told_nothing(chief: World) -> None:
    """A task that lies unread in an inbox goes from there without a word."""
    task = in_status(chief, S.DELIVERED)
    chief.on(task, task_actions.release, by=HUB, reason="not now")

    assert chief.mail("bob") == []


def test_another_agent_has_no_say(world: World) -> None:
    """An actor that neither has the task nor is a person neither completes, nor blocks, nor releases it."""
    task = in_status(world, S.WORKING)
    attempts: tuple[Callable[[], object], ...] = (
        lambda: world.on(task, task_actions.complete, by="ann", result=""),
        lambda: world.on(task, task_actions.block, by="ann", reason="no"),
        lambda: world.on(task, task_actions.unblock, by="ann", reason=None),
        lambda: world.on(task, task_actions.release, by="ann", reason="mine"),
    )
    for refused in attempts:
        with pytest.raises(NotHolder):
            refused()
    assert world.task(task).status is S.WORKING


def test_work_is_blocked_and_goes_on(chief: World) -> None:
    """A blocked task says why, its holder hears of it from others, and it goes on where it was."""
    task = in_status(chief, S.WORKING)
    blocked = chief.on(task, task_actions.block, by=HUB, reason="the disk is full")
    going_on = chief.on(task, task_actions.unblock, by=HUB, reason=None)

    assert (blocked.status, going_on.status, going_on.assignee) == (S.BLOCKED, S.WORKING, "bob")
    assert [each.detail["reason"] for each in chief.log() if each.kind == "task.blocked"] == [
        "the disk is full"
    ]
    assert chief.mail("bob") == [
        'mia blocked T-1 "count the lines": the disk is full',
        'mia unblocked T-1 "count the lines"',
    ]


def test_its_holder_is_not_told_of_what_it_did(world: World) -> None:
    """An agent that blocks and releases its own task is sent nothing about it."""
    task = in_status(world, S.WORKING)
    world.on(task, task_actions.block, by="bob", reason="stuck")
    released = world.on(task, task_actions.release, by="bob", reason="somebody else knows more")

    assert (released.status, released.assignee) == (S.QUEUED, None)
    assert world.mail("bob") == []


@on_one_engine
@pytest.mark.parametrize("status", [S.QUEUED, S.DELIVERED, S.COMPLETED, S.WORKING])
def test_only_what_is_blocked_can_be_unblocked(chief: World, status: Status) -> None:
    """To unblock anything else is refused, and so is to block what nobody has begun or what has ended."""
    task = in_status(chief, status)
    with pytest.raises(InvalidTransition):
        chief.on(task, task_actions.unblock, by=HUB, reason=None)
    if status is not S.WORKING:
        with pytest.raises(InvalidTransition):
            chief.on(task, task_actions.block, by=HUB, reason="no")


def test_work_that_was_handed_in_is_approved(chief: World) -> None:
    """Approved work is completed with what its maker said last of it; the comment reaches the maker."""
    task = in_status(chief, S.IN_REVIEW)
    thread = messages.Thread(name=str(task.id))
    chief.do(messages.send, chief.id, sender="bob", to="ann", body="there are three", thread=thread)
    done = chief.on(task, task_actions.approve, by=HUB, comment="well counted")

    assert (done.status, done.result) == (S.COMPLETED, "there are three")
    assert chief.mail("bob") == ['mia approved T-1 "count the lines": well counted']
    assert chief.mail("ann") == ["there are three", "there are three"]


def hand_in(world: World, task: Task, text: str | None) -> None:
    """Have bob hand a task in, and say what came of it if there is anything to say."""

    def submit(tx: Tx, task: Task) -> None:
        submitted = transfers.move_to(tx, task, S.IN_REVIEW, by="bob")
        if text is not None:
            task_actions.comment(tx, submitted, text, by="bob")

    world.on(task, submit)


def test_the_result_is_what_was_handed_in(chief: World) -> None:
    """The result is what was handed in, whatever is said about it later, and by the approval; a third hears of it."""
    task = in_status(chief, S.WORKING)
    chief.on(task, task_actions.comment, "not yet", by="bob")
    hand_in(chief, task, "there are three\n\nProof: wc")
    chief.pass_time(timedelta(seconds=1))
    chief.on(task, task_actions.comment, "are you sure?", by="ann")
    chief.on(task, task_actions.comment, "quite", by="bob")
    done = chief.on(task, task_actions.approve, by=HUB, comment="well counted")

    assert done.result == "there are three\n\nProof: wc"
    assert chief.mail("ann")[-1] == "there are three\n\nProof: wc"
    assert chief.mail("bob")[-1] == 'mia approved T-1 "count the lines": well counted'


def test_what_was_handed_in_again_is_the_result(chief: World) -> None:
    """The last result handed in after a send-back counts; one without a word keeps the words before."""
    task = in_status(chief, S.WORKING)
    for text in ("two", "three", None):
        hand_in(chief, task, text)
        chief.pass_time(timedelta(seconds=1))
        chief.on(task, task_actions.request_changes, by=HUB, comment="count again")
        chief.pass_time(timedelta(seconds=1))
    hand_in(chief, task, None)

    assert chief.on(task, task_actions.approve, by=HUB, comment="fine").result == "three"


@pytest.mark.parametrize(("since", "result"), [(None, "fine"), ("there are three", "there are three")])
def test_work_that_was_handed_in_without_a_word(chief: World, since: str | None, result: str) -> None:
    """The holder's last words are the result; without any, the approval's words are."""
    task = in_status(chief, S.WORKING)
    hand_in(chief, task, None)
    chief.pass_time(timedelta(seconds=1))
    chief.on(task, task_actions.comment, "the lines?", by=HUB)
    if since is not None:
        chief.on(task, task_actions.comment, since, by="bob")

    assert chief.on(task, task_actions.approve, by=HUB, comment="fine").result == result


def test_how_a_part_ended_is_not_the_result(chief: World) -> None:
    """The end of a part of the work is told as an answer to the whole, and is not handed in."""
    task = in_status(chief, S.WORKING)
    part = chief.send(sender="bob", to="bob", parent=str(task.id))
    chief.start(part)
    chief.on(part, completion.end, Event.COMPLETE, by="bob", text="a part", result="a part")
    hand_in(chief, task, None)

    assert chief.mail("ann") == ["a part"]
    assert chief.on(task, task_actions.approve, by=HUB, comment=None).result == "approved"


def test_changes_are_requested(chief: World) -> None:
    """Work that is sent back is its maker's again, who is told what to change."""
    task = in_status(chief, S.IN_REVIEW)
    again = chief.on(task, task_actions.request_changes, by=HUB, comment="count the empty ones, too")

    assert (again.status, again.assignee) == (S.WORKING, "bob")
    assert chief.mail("bob") == ['mia asked for changes to T-1 "count the lines": count the empty ones, too']


@on_one_engine
@pytest.mark.parametrize("status", [each for each in S if each is not S.IN_REVIEW])
def test_only_what_was_handed_in_is_reviewed(chief: World, status: Status) -> None:
    """A task outside review can be neither approved nor sent back."""
    task = in_status(chief, status)
    with pytest.raises(InvalidTransition):
        chief.on(task, task_actions.approve, by=HUB, comment=None)
    with pytest.raises(InvalidTransition):
        chief.on(task, task_actions.request_changes, by=HUB, comment="no")


def test_nobody_approves_their_own_work(world: World) -> None:
    """An agent that did the work neither approves it nor sends it back; any other may."""
    task = in_status(world, S.IN_REVIEW)
    with pytest.raises(Forbidden):
        world.on(task, task_actions.approve, by="bob", comment=None)
    assert world.on(task, task_actions.approve, by="ann", comment=None).status is S.COMPLETED


def test_what_is_being_checked_is_not_completed(chief: World) -> None:
    """While a hook looks at a task nobody completes it by hand either."""
    task = in_status(chief, S.WORKING)
    chief.on(task, completion_checks.begin, by="bob")
    with pytest.raises(BeingChecked):
        chief.on(task, task_actions.complete, by=HUB, result="done")


@on_one_engine
@pytest.mark.parametrize("status", sorted(HELD))
def test_a_held_task_is_released_into_the_open_queue(chief: World, status: Status) -> None:
    """Anyone may claim a released task; its old holder's reports are refused."""
    task = in_status(chief, status)
    before = chief.task(task)
    released = chief.on(task, task_actions.release, by=HUB, reason="bob is away")

    assert (released.status, released.assignee, released.addressed) == (S.QUEUED, None, False)
    assert released.epoch == before.epoch + 1
    assert [each.kind.value for each in chief.inbox("bob") if each.task_id is not None] == []
    (happened,) = [each for each in chief.log() if each.kind == "task.released"]
    assert happened.actor == "mia"
    assert happened.detail.items() >= {"reason": "bob is away", "taken_from": "bob"}.items()
    assert chief.on(released, task_actions.accept, "ann").assignee == "ann"


@on_one_engine
@pytest.mark.parametrize("status", [S.QUEUED, S.COMPLETED, S.CANCELLED])
def test_what_nobody_has_is_not_released(chief: World, status: Status) -> None:
    """A task that is free or has ended cannot be released."""
    with pytest.raises(InvalidTransition):
        chief.on(in_status(chief, status), task_actions.release, by=HUB, reason="why not")


def test_a_comment_reaches_the_other_end(world: World) -> None:
    """A comment goes to whoever has the task, from them to its sender; where there is nobody, the log keeps it."""
    task, free = world.send(), world.send(to=None, sender=HUB)
    world.on(task, task_actions.comment, "any news?", by=HUB)
    world.on(task, task_actions.comment, "not yet", by="bob")
    nobody = world.on(free, task_actions.comment, "who takes this?", by=HUB)

    assert world.mail("bob")[-1] == "any news?"
    assert world.mail("ann") == ["not yet"]
    assert nobody is None
    assert (world.log()[-1].kind, world.log()[-1].detail["reason"]) == ("task.noted", "who takes this?")
    assert [each.body for each in world.do(threads.of_task, task, limit=9)] == ["any news?", "not yet"]


def test_an_answer_to_everyone_is_to_nobody_in_particular(world: World) -> None:
    """An answer to a message goes to its sender, or to its receiver; after a broadcast the receiver must be named."""
    own = world.do(messages.send, world.id, sender="ann", to="bob", body="hello")
    everyone, _rows = world.do(messages.broadcast, world.id, sender="ann", body="all", recipients=["bob"])

    assert (messages.answered_by(own, "bob"), messages.answered_by(own, "ann")) == ("ann", "bob")
    assert messages.answered_by(everyone, "bob") == "ann"
    with pytest.raises(Invalid):
        messages.answered_by(everyone, "ann")


def test_what_an_agent_has_declared_is_released(chief: World) -> None:
    """Files that a person releases stand in nobody's way; the agent hears who did it and why."""
    bob = chief.report("bob")
    chief.do(scopes.declare, chief.project, bob, Scope.of(None, ["src/app.py"]))
    was = chief.do(presences.release_scope, chief.project, "bob", by=HUB, reason="ann needs it")

    assert was.files == ("src/app.py",)
    assert chief.do(scopes.check, chief.project, Scope.of(None, ["src/app.py"])) == []
    assert chief.mail("bob") == ["mia released what you had declared to work on (src/app.py): ann needs it"]
    (changed,) = [each for each in chief.log() if each.kind == "agent.scope_change"][1:]
    assert (changed.actor, changed.agent, changed.detail["files"]) == ("mia", "bob", [])


def test_there_has_to_be_something_to_release(chief: World) -> None:
    """An agent that is not there, or has declared nothing, has nothing that could be released."""
    for _attempt in range(2):
        with pytest.raises(Conflict):
            chief.do(presences.release_scope, chief.project, "bob", by=HUB, reason="tidy")
        chief.report("bob")


def test_a_title_says_nothing_invisible(chief: World) -> None:
    """A sentence shows a short and visible part of a title that is long or has invisible characters."""
    task = chief.send(text="x", title="a\u202eb" + "long " * 60)
    chief.start(task)
    chief.on(task, task_actions.release, by=HUB, reason="")

    (told,) = chief.mail("bob")
    assert "\\u202e" in told
    assert len(told) < 200
