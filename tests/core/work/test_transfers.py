"""Transfers of tasks, also when their holder is gone."""

from dataclasses import replace
from datetime import timedelta

import pytest

from hubbub.core import expiry
from hubbub.core.actions import completion_reports, inbox, task_actions
from hubbub.core.work import completion, tasks, transfers
from hubbub.model.errors import Conflict, InvalidTransition, NotHolder, UnknownAgent
from hubbub.model.lifecycle import ENDED, OPEN, Event, Status
from hubbub.model.records import Condition, Letter, LetterKind, Task
from hubbub.model.work.permissions import VerbManner
from hubbub.store.mail import messages as rows
from hubbub.store.tx import Operation
from tests.core.conftest import TEN_MINUTES, World, errors_of, in_status, on_one_engine

S, E = Status, Event
HOUR = timedelta(hours=1)
TWO_HOURS = timedelta(hours=2)


def retry(world: World, task: Task, ttl: timedelta | None = HOUR) -> Task:
    return world.on(task, task_actions.retry, by="ann", ttl=ttl)


def reassign(world: World, task: Task, to: str = "代码1号") -> Task:
    return world.on(task, task_actions.reassign, to=to, by="ann")


def released(world: World, task: Task) -> list[object]:
    """The reasons for which a task came free."""
    return [
        each.detail["reason"]
        for each in world.log()
        if each.kind == "task.released" and each.task_id == task.id
    ]


@on_one_engine
@pytest.mark.parametrize("status", sorted(OPEN - {S.QUEUED} | {S.COMPLETED}))
def test_what_is_given_to_its_holder_on_a_board_stays_as_it_is(world: World, status: Status) -> None:
    """A board's issue that is assigned to whoever has it is the same as before, and nobody hears of it."""
    task = in_status(world, status)
    mail, log = world.mail("bob"), world.log()
    assert world.on(task, task_actions.reassign, to="bob", by="ann", manner=VerbManner.BOARD) == task
    assert (world.mail("bob"), world.log()) == (mail, log)


@on_one_engine
@pytest.mark.parametrize("status", [S.FAILED, S.CANCELLED, S.EXPIRED])
def test_what_ended_badly_is_tried_again(world: World, status: Status) -> None:
    """A failed, cancelled or expired task is delivered again, like new."""
    task = in_status(world, status)
    again = retry(world, task)

    assert (again.id, again.status, again.assignee, again.sender) == (task.id, S.DELIVERED, "bob", "ann")
    assert (again.epoch, again.attempt) == (task.epoch + 1, task.attempt + 1)
    assert (again.result, again.accepted_at, again.started_at, again.ended_at) == (None, None, None, None)
    assert again.delivered_at == again.updated_at
    (letter,) = world.inbox("bob")
    assert letter.delivery.id == again.delivery_id != task.id
    assert world.do(tasks.counts, [world.id]) == {S.DELIVERED: 1}


def test_nothing_else_is_tried_again(world: World) -> None:
    """A task that is open, or was completed, refuses a retry, and stays as it is."""
    for status in OPEN | {S.COMPLETED}:
        task = in_status(world, status)
        mail = world.mail("bob")
        with pytest.raises(InvalidTransition):
            retry(world, task)
        assert world.task(task) == task
        assert world.mail("bob") == mail


def test_a_retry_has_its_own_time(world: World) -> None:
    """A retried task has a fresh time to begin, by default as long as it had, or none; and it keeps its context."""
    task = world.send(ttl=timedelta(minutes=1), context="today")
    world.pass_time(TWO_HOURS)
    again = retry(world, task)

    assert again.context == "today"
    assert again.expires_at == again.updated_at + 3_600_000
    world.on(task, task_actions.cancel, by="ann", reason=None)
    world.pass_time(timedelta(minutes=1))
    again = retry(world, task, ttl=None)
    assert again.expires_at == again.updated_at + 3_600_000
    timeless = world.on(world.send(), task_actions.cancel, by="ann", reason=None)
    assert retry(world, timeless, ttl=None).expires_at is None


def test_a_claimed_task_is_tried_again_by_anyone(world: World) -> None:
    """A task that was claimed from the open queue and failed goes back there when it is retried."""
    task = world.start(world.send(to=None))
    world.on(task, completion.end, E.FAIL, by="bob", text="no", result="no")
    again = retry(world, task)

    assert (again.status, again.assignee, again.delivery_id) == (S.QUEUED, None, None)
    assert again.epoch == task.epoch + 1
    assert given(world, "bob") == []


def test_what_is_open_is_given_to_another(world: World) -> None:
    """An open task is delivered to whom it is given, like new, and is out of the old inbox, whatever its status."""
    for status in OPEN:
        task = in_status(world, status)
        moved = reassign(world, task)

        assert (moved.status, moved.assignee, moved.addressed) == (S.DELIVERED, "代码1号", True)
        assert (moved.epoch, moved.attempt) == (task.epoch + 1, task.attempt + 1)
        assert (moved.accepted_at, moved.started_at, moved.leased) == (None, None, False)
        assert moved.delivered_at == moved.updated_at
        assert moved.expires_at == task.expires_at
        assert given(world, "bob") == []
        assert world.inbox("代码1号")[-1].delivery.id == moved.delivery_id
        recorded = world.log()[-1]
        assert (recorded.kind, recorded.actor) == ("task.reassigned", "ann")
        assert recorded.detail["taken_from"] == task.assignee


def test_what_has_ended_is_given_to_nobody(world: World) -> None:
    """An ended task refuses to be reassigned, stays as it is, and lies in nobody's inbox."""
    for status in ENDED:
        task = in_status(world, status)
        with pytest.raises(InvalidTransition):
            reassign(world, task)
        assert world.task(task) == task
    assert world.inbox("代码1号") == []


def test_only_the_known_can_be_given_work(world: World) -> None:
    """A reassignment to a name that was never seen is refused, and the task stays where it lies."""
    task = world.send()
    with pytest.raises(UnknownAgent):
        reassign(world, task, to="nobody")
    assert world.task(task) == task
    assert world.mail("bob") == ["count the lines"]


def test_the_old_holder_is_refused(world: World) -> None:
    """Actions and reports of the old holder of a reassigned task are refused, and change nothing."""
    task = world.start(world.send())
    moved = reassign(world, task)

    with pytest.raises(NotHolder):
        world.accept(task)
    with pytest.raises(NotHolder):
        world.do(completion_reports.report, world.id, "bob", task=str(task.id), result="late")
    assert world.task(task) == moved
    assert world.do(completion_reports.search, [world.id], limit=10) == []


def test_a_look_from_before_the_handover_changes_nothing(world: World) -> None:
    """An action on a task as it was an epoch ago is refused, though status and assignee are the same again."""
    task = world.send()
    moved = reassign(world, task, to="bob")
    with pytest.raises(Conflict, match="has changed meanwhile"):
        world.do(task_actions.accept, task, "bob")
    assert world.task(task) == moved
    assert world.mail("bob") == ["count the lines"]


def test_racing_reassignments_deliver_once(world: World) -> None:
    """However many reassign a task at once, it lies in one inbox, and its epoch counts every change."""
    for turn in range(1, 4):
        task = world.send(text=f"task {turn}")
        outcomes = world.race(
            *[
                lambda tx, to=to, task=task: task_actions.reassign(
                    tx, tasks.find(tx, [world.id], str(task.id), lock=True), to=to, by="ann"
                )
                for to in ("ann", "代码1号") * 3
            ]
        )
        assert errors_of(outcomes) == []
        assert world.task(task).epoch == 7
        everywhere = [text for name in ("ann", "bob", "代码1号") for text in world.mail(name)]
        assert everywhere.count(f"task {turn}") == 1


@pytest.mark.parametrize("how", ["silent", "left", "replaced"])
def test_claimed_work_of_the_gone_is_free_again(world: World, how: str) -> None:
    """Work claimed from the open queue goes back there when its agent is gone, with the reason recorded."""
    world.report("bob")
    begun, accepted = world.start(world.send(to=None)), world.accept(world.send(to=None))
    match how:
        case "silent":
            world.pass_time(TEN_MINUTES)
        case "left":
            world.report("bob", Condition.OFFLINE)
        case _:
            world.report("bob", instance="second")

    for held in (begun, accepted):
        free = world.task(held)
        assert (free.status, free.assignee, free.leased) == (S.QUEUED, None, False)
        assert (free.epoch, free.attempt) == (held.epoch + 1, held.attempt + 1)
        assert (free.accepted_at, free.started_at) == (None, None)
        assert released(world, held) == [f"bob is gone ({how})"]
    assert world.accept(begun, by="ann").assignee == "ann"


def test_the_living_keep_their_work(world: World) -> None:
    """Nothing is taken from an agent whose heartbeat is heard, however long it works."""
    world.report("bob")
    held = [world.start(world.send(to=None, ttl=HOUR)), world.start(world.send(ttl=HOUR))]
    for _ in range(20):
        world.pass_time(timedelta(minutes=9))
        world.report("bob")

    assert [world.task(task) for task in held] == held


def test_others_keep_their_work(world: World) -> None:
    """One agent's departure takes nothing from another, nor from its namesake in another project."""
    other = world.elsewhere("other")
    for home in (world, other):
        home.report("bob")
        home.report("ann")
    kept = [(world, world.start(world.send(to=None), by="ann")), (other, other.start(other.send(to=None)))]
    world.report("bob", Condition.OFFLINE)

    assert [home.task(task) for home, task in kept] == [task for _home, task in kept]


@pytest.mark.parametrize("status", [S.ACCEPTED, S.WORKING, S.BLOCKED])
def test_addressed_work_waits_for_its_agent(world: World, status: Status) -> None:
    """Work addressed to an agent by name stays as it was while the agent is gone, and is delivered again to it."""
    world.report("bob")
    held = in_status(world, status)
    world.do(inbox.ack, world.id, "bob", str(held.id))
    world.report("bob", Condition.OFFLINE)
    assert world.task(held) == held
    assert world.inbox("bob") == []

    world.report("bob")
    again = world.task(held)
    assert (again.status, again.assignee, again.addressed) == (S.DELIVERED, "bob", True)
    assert (again.epoch, again.attempt) == (held.epoch + 1, held.attempt + 1)
    (letter,) = world.inbox("bob")
    assert letter.delivery.id == again.delivery_id
    assert released(world, held) == ["bob is back after it was gone"]


def test_an_agent_that_was_killed_finds_its_work_again(world: World) -> None:
    """A new run of an agent's program gets what the last one had begun, though that never said goodbye."""
    world.report("bob", instance="first")
    task = world.start(world.send())
    world.report("bob", instance="second")

    assert world.task(task).status is S.DELIVERED
    assert world.mail("bob") == ["count the lines"]


def test_it_is_delivered_again_once(world: World) -> None:
    """A return delivers again once; later heartbeats of the same stay do not."""
    world.report("bob")
    task = world.accept(world.send())
    world.report("bob", Condition.OFFLINE)
    world.report("bob")
    world.report("bob", Condition.WORKING)

    assert world.task(task).attempt == 2
    assert world.mail("bob") == ["count the lines"]


def test_what_was_begun_since_is_not_delivered_again(world: World) -> None:
    """A task taken up after its agent had gone, or before it first came, is not lost with it."""
    early = world.start(world.send())
    world.report("bob")
    world.report("bob", Condition.OFFLINE)
    world.clock.advance(timedelta(seconds=1))
    late = world.start(world.send())
    world.report("bob")

    assert world.task(late) == late
    assert world.task(early).attempt == 2


def test_unread_work_is_not_delivered_twice(world: World) -> None:
    """Unacknowledged mail still lies in the inbox when the agent is back, once and under the same id."""
    world.report("bob")
    task = world.send()
    world.report("bob", Condition.OFFLINE)
    world.report("bob")

    assert world.task(task) == task
    assert [letter.delivery.id for letter in world.inbox("bob")] == [task.id]


def test_a_claim_without_heartbeat_does_not_lapse(world: World) -> None:
    """An agent that claimed without a heartbeat keeps the work, come what may."""
    world.report("bob")
    held = [
        world.on(world.send(to=None), task_actions.start, "bob", leased=False),
        world.on(world.send(), task_actions.accept, "bob", leased=False),
    ]
    world.report("bob", Condition.OFFLINE)
    world.report("bob")

    assert [world.task(task) for task in held] == held


def test_work_handed_in_is_not_delivered_again(world: World) -> None:
    """Work at the reviewer waits there, though its agent goes and comes back."""
    world.report("bob")
    task = in_status(world, S.IN_REVIEW)
    world.report("bob", Condition.OFFLINE)
    world.report("bob")
    assert world.task(task) == task


def test_a_late_return_does_not_find_its_work_expired(world: World) -> None:
    """Delivered again, a task has the same time to begin as at first, each time, however late its agent is back."""
    world.report("bob")
    task = world.start(world.send(ttl=HOUR))
    for _ in range(3):
        world.pass_time(TWO_HOURS)
        assert world.task(task).status is S.WORKING
        world.report("bob")
        again = world.task(task)
        assert again.status is S.DELIVERED
        assert again.expires_at == again.updated_at + 3_600_000
        world.start(task)


def test_a_dead_claim_does_not_cost_the_task_its_time(world: World) -> None:
    """A task that comes free again has as long to be begun as it had when it was claimed."""
    task = world.send(to=None, ttl=HOUR)
    world.clock.advance(timedelta(minutes=40))
    world.report("bob")
    claimed = world.start(task)
    world.clock.advance(TWO_HOURS)
    world.do(expiry.settle)
    free = world.task(task)

    assert free.status is S.QUEUED
    assert (free.expires_at or 0) - free.updated_at == (claimed.expires_at or 0) - (claimed.accepted_at or 0)


def test_rows_are_acknowledged_or_withdrawn(world: World) -> None:
    """The last of all rows that a task ever had counts; an older one is never pending."""
    world.report("bob")
    task = world.send()
    ids = [task.delivery_id]
    ids.append(reassign(world, task, to="ann").delivery_id)
    ids.append(reassign(world, task, to="bob").delivery_id)
    world.accept(task)
    world.report("bob", instance="second")
    ids.append(world.task(task).delivery_id)

    ways = []
    for row_id in ids:
        assert row_id is not None
        row = world.do(rows.find_delivery, row_id)
        assert row is not None
        ways.append("acked" if row.acked_at else "withdrawn" if row.withdrawn_at else "pending")
    assert ways == ["withdrawn", "withdrawn", "acked", "pending"]


BEGUN = (S.WORKING, S.BLOCKED, S.IN_REVIEW)
LOST = (S.FAILED, S.CANCELLED, S.EXPIRED)


def given(world: World, name: str) -> list[Letter]:
    """The tasks in an inbox, without what its owner is told of them."""
    return [letter for letter in world.inbox(name) if letter.kind is LetterKind.TASK]


def put_back(world: World, task: Task) -> Task:
    return world.on(task, task_actions.reopen, by="ann")


def pass_on(world: World, task: Task, to: str = "代码1号") -> Task:
    return world.on(task, transfers.pass_on, to=to, by="ann")


def move(world: World, task: Task, target: Status) -> Task:
    return world.on(task, transfers.move_to, target, by=task.assignee or "ann")


@on_one_engine
@pytest.mark.parametrize(
    ("status", "kind"), [*[(s, "task.released") for s in BEGUN], (S.COMPLETED, "task.reopened")]
)
def test_what_has_begun_is_put_back(world: World, status: Status, kind: str) -> None:
    """Work that has begun, or was completed, lies in its agent's inbox again like new, with who did it on record."""
    task = in_status(world, status)
    again = put_back(world, task)

    assert (again.status, again.assignee, again.addressed, again.leased) == (S.DELIVERED, "bob", True, False)
    assert (again.epoch, again.attempt) == (task.epoch + 1, task.attempt + 1)
    assert (again.result, again.accepted_at, again.started_at, again.ended_at) == (None, None, None, None)
    (letter,) = given(world, "bob")
    assert letter.delivery.id == again.delivery_id
    recorded = world.log()[-1]
    assert (recorded.kind, recorded.actor) == (kind, "ann")
    assert recorded.detail["reason"] == "put back by ann"
    assert (recorded.detail["before"], recorded.detail["after"]) == (status, "delivered")


@on_one_engine
@pytest.mark.parametrize("status", [S.QUEUED, S.DELIVERED, S.ACCEPTED])
def test_what_has_not_begun_is_at_the_start(world: World, status: Status) -> None:
    """Putting back what nobody has begun changes nothing, and is not recorded."""
    task = in_status(world, status)
    before = world.log()

    assert put_back(world, task) == task == world.task(task)
    assert world.log() == before


@on_one_engine
@pytest.mark.parametrize("status", LOST)
def test_what_is_lost_is_not_steered(world: World, status: Status) -> None:
    """A task that failed, was cancelled or expired is neither put back, passed on nor moved: that takes a retry."""
    task = in_status(world, status)
    for steer in (put_back, pass_on, lambda world, task: move(world, task, S.WORKING)):
        with pytest.raises(InvalidTransition, match=f"a task that is {status}$"):
            steer(world, task)

    assert world.task(task) == task
    assert world.inbox("代码1号") == []


def test_what_is_put_back_stays_whose_it_is(world: World) -> None:
    """A task claimed and begun from the open queue is put back into its agent's inbox, not into the queue."""
    again = put_back(world, world.start(world.send(to=None)))

    assert (again.status, again.assignee, again.addressed) == (S.DELIVERED, "bob", False)
    assert world.mail("bob") == ['ann put back T-1 "count the lines"', "count the lines"]


def test_nobodys_work_is_put_back_for_anyone(world: World) -> None:
    """A task that was moved on while it was free is free again when it is put back."""
    again = put_back(world, move(world, world.send(to=None), S.WORKING))

    assert (again.status, again.assignee, again.delivery_id) == (S.QUEUED, None, None)
    assert world.accept(again).assignee == "bob"


def test_what_is_put_back_has_its_time_again(world: World) -> None:
    """Put back long after it was given, a task has the same time to begin as at first; without a ttl, all of it."""
    task = world.start(world.send(ttl=HOUR))
    world.pass_time(TWO_HOURS)
    again = put_back(world, task)

    assert again.expires_at == again.updated_at + 3_600_000
    assert put_back(world, world.start(world.send())).expires_at is None


@on_one_engine
@pytest.mark.parametrize("status", [S.QUEUED, S.DELIVERED, S.ACCEPTED])
def test_what_has_not_begun_is_passed_on_like_new(world: World, status: Status) -> None:
    """A task that nobody has begun is delivered to whom it is passed on, as in a reassignment."""
    task = in_status(world, status)
    passed = pass_on(world, task)

    assert (passed.status, passed.assignee, passed.addressed) == (S.DELIVERED, "代码1号", True)
    assert (passed.epoch, passed.accepted_at) == (task.epoch + 1, None)
    assert given(world, "bob") == []
    assert world.inbox("代码1号")[-1].delivery.id == passed.delivery_id
    assert (world.log()[-1].kind, world.log()[-1].actor) == ("task.reassigned", "ann")


@on_one_engine
@pytest.mark.parametrize("status", BEGUN)
def test_what_has_begun_is_passed_on_as_it_is(world: World, status: Status) -> None:
    """Work that has begun keeps its status and times, and lies in its new agent's inbox, no lease of anybody's."""
    task = in_status(world, status)
    passed = pass_on(world, task)

    assert (passed.status, passed.assignee, passed.addressed) == (status, "代码1号", True)
    assert (passed.epoch, passed.leased) == (task.epoch + 1, False)
    assert (passed.accepted_at, passed.started_at) == (task.accepted_at, task.started_at)
    assert given(world, "bob") == []
    (letter,) = given(world, "代码1号")
    assert letter.delivery.id == passed.delivery_id
    world.do(inbox.ack, world.id, "代码1号", str(task.id))
    assert world.task(task) == passed
    assert world.inbox("代码1号") == []


def test_what_is_passed_on_was_completed_when_it_was(world: World) -> None:
    """A completed task in other hands ended when it did: what needed it has been ready since then."""
    task = in_status(world, S.COMPLETED)
    world.pass_time(TEN_MINUTES)

    assert pass_on(world, task).ended_at == task.ended_at


def test_what_is_completed_is_passed_on_as_it_is(world: World) -> None:
    """A completed task stays completed in other hands, with its result, and asks nothing of anybody."""
    task = in_status(world, S.COMPLETED)
    mail = world.mail("ann")
    passed = pass_on(world, task)

    assert (passed.status, passed.assignee, passed.result) == (S.COMPLETED, "代码1号", task.result)
    assert passed.epoch == task.epoch + 1
    assert world.inbox("代码1号") == []
    assert world.mail("ann") == mail
    assert world.log()[-1].kind == "task.reassigned"


@on_one_engine
@pytest.mark.parametrize("status", sorted(set(Status) - {*LOST, S.QUEUED}))
def test_who_had_it_is_refused(world: World, status: Status) -> None:
    """The former holder of a passed-on task has it no more, and the log says from whom it was taken."""
    task = in_status(world, status)
    passed = pass_on(world, task)

    assert world.log()[-1].detail["taken_from"] == "bob"
    with pytest.raises(NotHolder):
        world.start(task)
    with pytest.raises(NotHolder):
        world.do(completion_reports.report, world.id, "bob", task=str(task.id), result="late")
    assert world.task(task) == passed


def test_work_may_be_passed_on_to_who_is_yet_to_come(world: World) -> None:
    """A name that was never seen is taken, and its agent finds the work when it comes."""
    for status in (S.DELIVERED, S.WORKING):
        pass_on(world, in_status(world, status), to="carol")
    assert world.mail("carol") == ["count the lines"] * 2


STEPS = {S.WORKING: "task.started", S.IN_REVIEW: "task.submitted", S.BLOCKED: "task.blocked"}


@on_one_engine
@pytest.mark.parametrize("target", STEPS)
@pytest.mark.parametrize("status", sorted(set(Status) - set(LOST)))
def test_a_task_is_moved_from_anywhere(world: World, status: Status, target: Status) -> None:
    """Whatever a task is, unless it is lost, it is moved on or back in one step, and stays whose it is."""
    task = in_status(world, status)
    before = len(world.log())
    moved = move(world, task, target)

    assert (moved.status, moved.assignee, moved.addressed) == (target, task.assignee, task.addressed)
    assert (moved.ended_at, moved.result) == (None, None)
    assert moved.accepted_at is not None
    assert moved.started_at is not None
    recorded = world.log()[before:]
    if status is target:
        assert (moved, recorded) == (task, [])
    else:
        assert given(world, "bob") == []
        (step,) = recorded
        assert (step.kind, step.actor, step.task_id) == (STEPS[target], task.assignee or "ann", task.id)
        assert (step.detail["before"], step.detail["after"]) == (status, target)
    assert world.do(tasks.counts, [world.id]) == {target: 1}


def test_a_move_leaves_the_hold_as_it_is(world: World) -> None:
    """A move of a task that says nothing of its hold leaves that as it is: a lease, or none."""
    held = world.on(world.send(), task_actions.accept, "bob", leased=True)
    free_of_time = world.on(world.send(), task_actions.accept, "bob", leased=False)

    assert [move(world, task, S.WORKING).leased for task in (held, free_of_time)] == [True, False]


def test_a_reason_alone_is_on_record(world: World) -> None:
    """A reason for the status that a task has already is its note and in the log, and the task stays as it is."""
    blocked = move(world, world.start(world.send()), S.BLOCKED)
    again = world.on(blocked, transfers.move_to, S.BLOCKED, by="bob", reason="no key yet")

    assert again == blocked == replace(world.task(blocked), note=None)
    assert world.task(blocked).note == "no key yet"
    noted = world.log()[-1]
    assert (noted.kind, noted.actor, noted.task_id) == ("task.noted", "bob", blocked.id)
    assert noted.detail["reason"] == "no key yet"


def test_what_is_moved_back_from_its_end_is_in_new_hands(world: World) -> None:
    """An old report on a completed task that goes on is refused; one on a task that was not completed is taken."""
    for status, rise in ((S.COMPLETED, 1), (S.IN_REVIEW, 0), (S.DELIVERED, 0)):
        task = in_status(world, status)
        assert move(world, task, S.WORKING).epoch == task.epoch + rise


def test_racing_steps_leave_one_truth(world: World) -> None:
    """Put back, passed on, moved and completed at once, a task ends up in one status and at most one inbox."""
    for _ in range(3):
        task = world.start(world.send())

        def on_it(operation: object, task: Task = task, **more: object) -> Operation[object]:
            return lambda tx: operation(tx, tasks.find(tx, [world.id], str(task.id), lock=True), **more)  # type: ignore[operator]

        outcomes = world.race(
            on_it(task_actions.reopen, by="ann"),
            on_it(transfers.pass_on, to="代码1号", by="ann"),
            on_it(transfers.move_to, target=S.IN_REVIEW, by="ann"),
            on_it(completion.end, event=E.COMPLETE, by="ann", text="done", result="done"),
        )
        assert errors_of(outcomes) == []
        # In the order of `seq`, which is given out while the task is locked; numbers of transactions may be older.
        mine = [each for each in world.log() if each.task_id == task.id and "after" in each.detail]
        told = [each.detail for each in sorted(mine, key=lambda each: each.seq)]
        assert [each["after"] for each in told[:-1]] == [each["before"] for each in told[1:]]
        assert told[-1]["after"] == world.task(task).status
        waiting = [
            name
            for name in ("ann", "bob", "代码1号")
            for each in world.inbox(name)
            if each.task_id == task.id
        ]
        assert waiting in ([], [world.task(task).assignee])
