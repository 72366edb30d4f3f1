"""Approvals: rights to ask and to answer; a yes lets exactly one call through."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from hubbub.core import expiry
from hubbub.core.fleet import approvals
from hubbub.model.errors import Conflict, Forbidden, HubError, Invalid, NotFound
from hubbub.model.fleet.approvals import Approval, ApprovalStatus
from hubbub.model.fleet.calls import Principal, Question, QuestionKind
from hubbub.model.fleet.nodes import beside
from hubbub.model.ids import new_id
from hubbub.model.log.attention import MISSED_FOR
from hubbub.model.people.rights import SYSTEM, Role
from hubbub.store.tx import Tx
from tests.core.conftest import RACERS, World, errors_of, member, on_one_engine, person

S = ApprovalStatus
MINUTE = timedelta(seconds=60)
DIGEST = "0123456789abcdef" * 4


def question(world: World, **more: Any) -> Question:
    """Return a question of a machine to the world's actor."""
    told: dict[str, Any] = {
        "who": Principal(project=world.project.slug, name="ann", token_id=str(world.actor.token_id)),
        "node": "box",
        "tool": "execute_command",
        "arguments": {"command": "git push"},
        "folder": "/srv/app",
        "shown": "git push",
        "reason": "it changes what others have",
        "digest": DIGEST,
    }
    return Question(**{**told, **more})


def put(world: World, *, elicitation: bool = False, **more: Any) -> tuple[Approval, str]:
    return world.do(approvals.put, world.project, question(world, **more), MINUTE, elicitation=elicitation)


def status(world: World, approval: Approval) -> ApprovalStatus:
    return world.do(approvals.find, [world.id], str(approval.id)).status


@pytest.fixture
def ada(world: World) -> World:
    """The same world as a person who is a member of the project."""
    return world.acting(person(world, "ada", Role.MEMBER))


def test_a_yes_lets_one_call_through(world: World, ada: World) -> None:
    """The asker may spend an approval once; the log tells each step, and who answered."""
    approval, receipt = put(world)
    approved = ada.do(approvals.answer, str(approval.id), approved=True)
    assert (approved.status, approved.answered_by) == (S.APPROVED, "ada")

    spent = world.do(approvals.spend, approval.id, DIGEST, receipt=receipt)
    assert (spent.status, spent.answered_by) == (S.SPENT, "ada")
    with pytest.raises(Conflict, match="it was approved by ada less than a second ago, and used"):
        world.do(approvals.spend, approval.id, DIGEST, receipt=receipt)

    told = [each for each in world.log() if each.kind.startswith("approval.")]
    assert [(each.kind, each.actor, each.agent) for each in told] == [
        ("approval.asked", "ann", "ann"),
        ("approval.approved", "ada", "ann"),
        ("approval.spent", "hub", "ann"),
    ]
    assert told[0].detail["shown"] == "git push"


def test_a_no_is_a_no(world: World, ada: World) -> None:
    """A denied call can neither be spent nor answered again."""
    approval, receipt = put(world)
    assert ada.do(approvals.answer, str(approval.id), approved=False).status is S.DENIED
    with pytest.raises(Conflict, match="denied by ada"):
        world.do(approvals.spend, approval.id, DIGEST, receipt=receipt)
    with pytest.raises(Conflict, match="denied by ada"):
        ada.do(approvals.answer, str(approval.id), approved=True)


def test_nobodys_answer_is_a_no(world: World, ada: World) -> None:
    """When its time is over a question has expired: nobody can answer it, and nothing is let through."""
    approval, receipt = put(world)
    assert not world.at(approval.expires_at - 1, expiry.is_due)
    world.pass_time(MINUTE)
    assert status(world, approval) is S.EXPIRED
    assert world.kinds()[-1] == "approval.expired"
    with pytest.raises(Conflict, match="nobody waits"):
        ada.do(approvals.answer, str(approval.id), approved=True)
    with pytest.raises(Conflict, match="nobody waits"):
        world.do(approvals.spend, approval.id, DIGEST, receipt=receipt)


def test_a_hub_that_ended_asks_no_more(world: World, ada: World) -> None:
    """Its own machine's questions are withdrawn, who answers hears why, and what is asked by others waits on."""
    ours, gone = (
        world.do(approvals.put, world.project, question(world), MINUTE, hub=hub)[0] for hub in ("new", "old")
    )
    answered, _receipt = world.do(approvals.put, world.project, question(world), MINUTE, hub="old")
    ada.do(approvals.answer, str(answered.id), approved=False)
    other, _receipt = put(world)
    left = world.do(approvals.of_ended_hubs, "new")
    assert left == [(gone.id, "old")]

    for approval_id, _hub in left:
        world.do(approvals.outlive, approval_id)
    world.do(approvals.outlive, answered.id)

    assert [status(world, each) for each in (ours, other, answered)] == [S.PENDING, S.PENDING, S.DENIED]
    assert (status(world, gone), world.kinds()[-1]) == (S.WITHDRAWN, "approval.withdrawn")
    assert world.do(approvals.of_ended_hubs, "new") == []
    assert world.do(approvals.of_hub, "new") == [ours.id]
    with pytest.raises(Conflict, match="or its machine was restarted, so nobody waits"):
        ada.do(approvals.answer, str(gone.id), approved=True)


def test_time_is_over_to_the_millisecond(world: World, ada: World) -> None:
    """Also before the sweep comes by, an answer in the moment in which time is over is too late."""
    approval, _receipt = put(world)
    with pytest.raises(Conflict):
        ada.at(approval.expires_at, approvals.answer, str(approval.id), approved=True)
    answered = ada.at(approval.expires_at - 1, approvals.answer, str(approval.id), approved=True)
    assert answered.status is S.APPROVED


def test_a_yes_does_not_last(world: World, ada: World) -> None:
    """An approval that nobody spends within a minute has expired."""
    approval, receipt = put(world)
    ada.do(approvals.answer, str(approval.id), approved=True)
    world.pass_time(timedelta(minutes=1))
    assert status(world, approval) is S.EXPIRED
    with pytest.raises(Conflict):
        world.do(approvals.spend, approval.id, DIGEST, receipt=receipt)


def test_a_late_yes_may_still_be_used(world: World, ada: World) -> None:
    """An approval in the last moment counts: the machine has a minute to hear of it."""
    approval, receipt = put(world)
    last = approval.expires_at - 1
    ada.at(last, approvals.answer, str(approval.id), approved=True)
    spent = world.at(last + 59_000, approvals.spend, approval.id, DIGEST, receipt=receipt)
    assert spent.status is S.SPENT


@on_one_engine
@pytest.mark.parametrize("role", list(Role))
def test_an_agents_token_never_answers(world: World, role: Role) -> None:
    """Whatever the role of its token, also the one that asked, an agent can neither answer nor look at the queue."""
    approval, _receipt = put(world)
    for agent in (world.acting(member(world.project, role)), world):
        for attempt in (True, False):
            with pytest.raises(Forbidden, match="only a person"):
                agent.do(approvals.answer, str(approval.id), approved=attempt)
        with pytest.raises(Forbidden):
            agent.do(approvals.search, [world.id])
    assert status(world, approval) is S.PENDING


@on_one_engine
@pytest.mark.parametrize(
    ("role", "may"), [(Role.OWNER, True), (Role.ADMIN, True), (Role.MEMBER, True), (Role.VIEWER, False)]
)
def test_people_who_may_write_answer(world: World, role: Role, may: bool) -> None:
    """Owners, admins and members of the project answer; those who only look on do not."""
    somebody = world.acting(person(world, "somebody", role))
    approval, _receipt = put(world)
    if may:
        assert somebody.do(approvals.answer, str(approval.id), approved=True).status is S.APPROVED
    else:
        with pytest.raises(Forbidden):
            somebody.do(approvals.answer, str(approval.id), approved=True)
        assert status(world, approval) is S.PENDING


def test_a_rule_needs_who_manages(world: World, ada: World) -> None:
    """Only managers of the project may allow a new rule in a policy."""
    approval, _receipt = put(world, kind=QuestionKind.RULE)
    with pytest.raises(Forbidden):
        ada.do(approvals.answer, str(approval.id), approved=True)
    admin = world.acting(person(world, "eve", Role.ADMIN))
    assert admin.do(approvals.answer, str(approval.id), approved=True).status is S.APPROVED


def test_people_of_other_projects_know_nothing_of_it(world: World) -> None:
    """An actor outside the project does not find the question."""
    approval, _receipt = put(world)
    stranger = world.acting(person(world.elsewhere("other"), "mallory", Role.OWNER))
    with pytest.raises(NotFound):
        stranger.do(approvals.answer, str(approval.id), approved=True)


def test_only_who_asked_can_use_a_yes(world: World, ada: World) -> None:
    """Without the receipt the approval is not there, also for the token that made the call."""
    approval, receipt = put(world, elicitation=True)
    ada.do(approvals.answer, str(approval.id), approved=True)
    for wrong in ("", "0" * 32, receipt.upper() + "x"):
        with pytest.raises(NotFound):
            world.do(approvals.spend, approval.id, DIGEST, receipt=wrong)
        with pytest.raises(NotFound):
            world.do(approvals.resolve, approval.id, receipt=wrong, approved=True)
    with pytest.raises(NotFound):
        world.do(approvals.spend, new_id(), DIGEST, receipt=receipt)
    assert status(world, approval) is S.APPROVED


def test_a_yes_is_for_one_call(world: World, ada: World) -> None:
    """An approval cannot be spent for a call of another digest."""
    approval, receipt = put(world)
    ada.do(approvals.answer, str(approval.id), approved=True)
    with pytest.raises(Conflict, match="not the call that was approved"):
        world.do(approvals.spend, approval.id, "f" * 64, receipt=receipt)
    assert status(world, approval) is S.APPROVED


def test_the_client_answers_where_its_machine_lets_it(world: World) -> None:
    """A question that was put for it may be answered by the client of the call; the log says that it was."""
    approval, receipt = put(world, elicitation=True)
    machine = world.acting(SYSTEM)
    answered = machine.do(approvals.resolve, approval.id, receipt=receipt, approved=True)
    assert (answered.status, answered.answered_by) == (S.APPROVED, "elicitation")
    assert machine.do(approvals.spend, approval.id, DIGEST, receipt=receipt).status is S.SPENT


def test_the_client_does_not_answer_otherwise(world: World) -> None:
    """Where its machine did not say so when it asked, the client cannot answer."""
    approval, receipt = put(world)
    with pytest.raises(Forbidden, match="does not let"):
        world.acting(SYSTEM).do(approvals.resolve, approval.id, receipt=receipt, approved=True)
    assert status(world, approval) is S.PENDING


def test_a_token_answers_only_what_its_own_program_put(world: World, ada: World) -> None:
    """No token tells what the client of a machine said, nor of another token's question, nor of a rule."""
    machines, machines_receipt = put(world, elicitation=True)
    with pytest.raises(Forbidden, match="a machine asked this itself"):
        world.do(approvals.resolve, machines.id, receipt=machines_receipt, approved=True)
    own, receipt = put(world, elicitation=True, node=beside("ann", "box"))
    with pytest.raises(NotFound):
        ada.do(approvals.resolve, own.id, receipt=receipt, approved=True)
    with pytest.raises(Invalid, match="only people may add a rule"):
        put(world, elicitation=True, node=beside("ann", "box"), kind=QuestionKind.RULE)
    assert (status(world, machines), status(world, own)) == (S.PENDING, S.PENDING)
    answered = world.do(approvals.resolve, own.id, receipt=receipt, approved=True)
    assert (answered.status, answered.answered_by) == (S.APPROVED, "elicitation")


def test_agents_find_what_is_their_own(world: World) -> None:
    """An agent's token finds what was asked for its own calls, and nothing of others'."""
    approval, _receipt = put(world)
    assert world.do(approvals.find, [world.id], str(approval.id)) == approval
    other = world.acting(member(world.project, Role.OWNER))
    for ref in (str(approval.id), "nonsense", ""):
        with pytest.raises(NotFound):
            other.do(approvals.find, [world.id], ref)


def test_people_see_what_waits(world: World, ada: World) -> None:
    """A person sees the questions of their projects, oldest first, all or those of one status."""
    first, _receipt = put(world)
    world.clock.advance(timedelta(milliseconds=1))
    second, _receipt = put(world)
    ada.do(approvals.answer, str(first.id), approved=False)
    assert [each.id for each in ada.do(approvals.search, [world.id])] == [first.id, second.id]
    assert ada.do(approvals.search, [world.id], status=S.PENDING) == [second]
    assert ada.do(approvals.search, [world.id], status=S.DENIED)[0].id == first.id


def test_people_see_what_nobody_answered(world: World, ada: World) -> None:
    """An unanswered question stays visible for a day more, expired; an answered one does not."""
    answered, _receipt = put(world)
    ada.do(approvals.answer, str(answered.id), approved=True)
    world.clock.advance(timedelta(milliseconds=1))
    missed, _receipt = put(world)
    world.pass_time(timedelta(minutes=2))
    world.do(expiry.settle)
    waiting, _receipt = put(world)
    shown = ada.do(approvals.open_or_missed, [world.id])
    assert [(each.id, each.status) for each in shown] == [(missed.id, S.EXPIRED), (waiting.id, S.PENDING)]
    world.clock.advance(timedelta(milliseconds=MISSED_FOR))
    assert missed.id not in [each.id for each in ada.do(approvals.open_or_missed, [world.id])]
    with pytest.raises(Forbidden, match="only a person"):
        world.do(approvals.open_or_missed, [world.id])


def test_what_is_shown_is_what_is_there(world: World) -> None:
    """Each line is a line; invisible or reordering characters are written out; long texts say what is missing."""
    approval, _receipt = put(
        world,
        shown="rm \u202e -rf\u200b x\n&& y\r\t",
        reason="a\x1b[2Jb",
        folder="/srv/\u00a0",
        arguments={"content": "x" * 3000, "deep": [{"a\u200b": "\u2066"}], "n": 1},
    )
    assert approval.shown == r"rm \u202e -rf\u200b x" + "\n" + r"&& y\r\t"
    assert approval.reason == r"a\u001b[2Jb"
    assert approval.folder == r"/srv/\u00a0"
    assert approval.arguments == {
        "content": "x" * 1960 + "… (1040 characters more)",
        "deep": [{r"a\u200b": r"\u2066"}],
        "n": 1,
    }
    assert world.do(approvals.find, [world.id], str(approval.id)) == approval


@on_one_engine
@pytest.mark.parametrize(
    ("patience", "more"),
    [
        (timedelta(), {}),
        (timedelta(days=8), {}),
        (MINUTE, {"digest": "abc"}),
        (MINUTE, {"digest": DIGEST.upper()}),
        (MINUTE, {"shown": " "}),
    ],
)
def test_what_is_no_question_is_refused(world: World, patience: timedelta, more: dict[str, Any]) -> None:
    """A question has a time, a digest and something to show; else nothing is kept."""
    with pytest.raises(Invalid):
        world.do(approvals.put, world.project, question(world, **more), patience)
    assert "approval.asked" not in world.kinds()


def test_nobody_drowns_people_in_questions(world: World, ada: World) -> None:
    """So many questions of one token wait at a time, and no more; others may still ask."""
    first, _receipt = put(world)
    for _ in range(approvals.MOST - 1):
        put(world)
    with pytest.raises(Conflict):
        put(world)
    other = world.acting(member(world.project))
    put(other)
    put(world, who=Principal(project=world.project.slug, name="hub"))
    ada.do(approvals.answer, str(first.id), approved=False)
    put(world)


def test_answers_race(world: World, ada: World) -> None:
    """One of many answers at once counts, and the others are told that it was given."""
    approval, _receipt = put(world)

    def answer(approved: bool) -> Any:
        return lambda tx: approvals.answer(tx, str(approval.id), approved=approved)

    outcomes = ada.race(*[answer(number % 2 == 0) for number in range(RACERS)])
    assert errors_of(outcomes) == [Conflict] * (RACERS - 1)
    (given,) = [outcome for outcome in outcomes if isinstance(outcome, Approval)]
    assert status(world, approval) is given.status


def test_a_yes_is_spent_once_whoever_races(world: World, ada: World) -> None:
    """However often a yes is spent at once, one call goes on."""
    approval, receipt = put(world)
    ada.do(approvals.answer, str(approval.id), approved=True)

    def spend(tx: Tx) -> object:
        return approvals.spend(tx, approval.id, DIGEST, receipt=receipt)

    outcomes = world.race(*[spend] * RACERS)
    assert errors_of(outcomes) == [Conflict] * (RACERS - 1)
    assert world.kinds().count("approval.spent") == 1


def test_answering_races_with_time(world: World, ada: World) -> None:
    """A question that is answered in the moment in which it expires is either, and the log agrees."""
    for _ in range(6):
        approval, _receipt = put(world)
        world.clock.advance(MINUTE - timedelta(milliseconds=2))

        def answer(tx: Tx, ref: str = str(approval.id)) -> object:
            return approvals.answer(tx, ref, approved=True)

        def settle(tx: Tx) -> None:
            tx.now += 10
            expiry.settle(tx)

        outcomes = ada.race(settle, answer, settle)
        assert set(errors_of(outcomes)) <= {Conflict}
        ended = status(world, approval)
        assert ended is (S.EXPIRED if errors_of(outcomes) else S.APPROVED)
        story = [each.kind for each in world.log() if each.detail.get("approval_id") == str(approval.id)]
        assert story == ["approval.asked", f"approval.{ended}"]


def test_what_ended_long_ago_is_forgotten(world: World, ada: World) -> None:
    """Ended questions are kept for a while; waiting ones stay."""
    done, _receipt = put(world)
    ada.do(approvals.answer, str(done.id), approved=False)
    world.clock.advance(approvals.KEEP + timedelta(days=1))
    waiting, _receipt = put(world)
    world.do(expiry.forget)
    assert ada.do(approvals.search, [world.id]) == [waiting]


def test_refusals_tell_no_secret(world: World) -> None:
    """No refusal and no text of an approval holds the receipt or its hash."""
    approval, receipt = put(world)
    with pytest.raises(HubError) as refused:
        world.do(approvals.spend, approval.id, DIGEST, receipt=receipt)
    assert receipt not in str(refused.value)
    assert approval.receipt not in repr(replace(approval))


def test_a_question_is_taken_back_by_whoever_asked_it(world: World, ada: World) -> None:
    """The asker may withdraw a question with its receipt; an answered one stays answered."""
    approval, receipt = put(world, kind=QuestionKind.PROMPT)
    with pytest.raises(NotFound):
        world.do(approvals.take_back, approval.id, receipt="another")
    world.do(approvals.take_back, approval.id, receipt=receipt)
    assert status(world, approval) is S.WITHDRAWN
    with pytest.raises(Conflict, match="it was answered at the client"):
        ada.do(approvals.answer, str(approval.id), approved=True)

    denied, receipt = put(world, kind=QuestionKind.PROMPT)
    ada.do(approvals.answer, str(denied.id), approved=False)
    world.do(approvals.take_back, denied.id, receipt=receipt)
    assert status(world, denied) is S.DENIED


def test_people_see_what_the_caller_asked_lately(world: World, ada: World) -> None:
    """Beside a question stand the last ones of the same caller, newest first; agents are not told."""
    asked = []
    for number in range(7):
        asked.append(put(world, shown=f"make {number}", digest=f"{number:064x}")[0])
        world.pass_time(timedelta(seconds=1))
    named = [each.shown for each in ada.do(approvals.lately, asked[-1])]

    assert named == ["make 5", "make 4", "make 3", "make 2", "make 1"]
    assert world.do(approvals.lately, asked[-1]) == []
