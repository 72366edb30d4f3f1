"""Dependencies: what is held back until something else is completed, and what lets it go."""

from datetime import timedelta
from uuid import UUID

import pytest

from hubbub.core.actions import inbox, task_actions
from hubbub.core.mail import messages
from hubbub.core.people import runs
from hubbub.core.work import completion, dependencies, tasks, transfers
from hubbub.model.errors import NeededTask, Unavailable, Unmet
from hubbub.model.lifecycle import ENDED, Event, Status
from hubbub.model.people.rights import HUB
from hubbub.model.records import Activity, Task
from hubbub.model.work.permissions import VerbManner
from hubbub.store.tx import Operation, Tx
from tests.core.conftest import World, errors_of, finish, member

S, E = Status, Event
LOST = ENDED - {S.COMPLETED}


def needing(world: World, *needs: Task, to: str | None = "bob", text: str = "sum up") -> Task:
    return world.send(to=to, text=text, needs=needs)


def told_of(world: World, task: Task) -> list[str]:
    """Return the log's entries on the task, in order."""
    return [each.kind for each in world.log() if each.task_id == task.id]


def last_of(world: World, task: Task) -> Activity:
    return [each for each in world.log() if each.task_id == task.id][-1]


def completing(world: World, task: Task) -> Operation[object]:
    def operation(tx: Tx) -> object:
        locked = tasks.find(tx, [world.id], str(task.id), lock=True)
        return completion.end(tx, locked, E.COMPLETE, by="ann", text="done", result="done")

    return operation


def test_it_waits_for_what_it_needs(world: World) -> None:
    """A task that needs others is queued though it has an assignee: in no inbox, and in its run like any other."""
    need = world.send(to="ann")
    held = needing(world, need)

    assert (held.status, held.assignee, held.addressed, held.gated) == (S.QUEUED, "bob", True, True)
    assert (held.delivery_id, held.delivered_at) == (None, None)
    assert world.inbox("bob") == []
    assert world.task(held) == held
    assert last_of(world, held).detail["delivery_id"] is None


@pytest.mark.parametrize("operation", [task_actions.accept, task_actions.start])
@pytest.mark.parametrize("to", ["bob", None])
def test_what_is_held_back_cannot_be_had(world: World, operation: object, to: str | None) -> None:
    """Accepting or starting it is refused to everybody, and the refusal names what is missing, in order."""
    assert operation in (task_actions.accept, task_actions.start)
    have = task_actions.accept if operation is task_actions.accept else task_actions.start
    first, second = world.start(world.send()), world.send(to=None)
    held = needing(world, second, finish(world, world.send()), first, to=to)

    with pytest.raises(Unmet) as refusal:
        world.on(held, have, "bob")
    assert refusal.value.needs == (
        NeededTask(str(second.id), second.number, "queued"),
        NeededTask(str(first.id), first.number, "working"),
    )
    assert isinstance(refusal.value, Unavailable)
    assert f"T-{second.number} (queued)" in str(refusal.value)
    assert world.task(held) == held


def test_the_last_need_lets_it_go(world: World) -> None:
    """With the last thing that it needs completed, and not before, it is in its assignee's inbox, like new."""
    needs = [world.send(to="ann", text=f"part {number}") for number in range(3)]
    held = needing(world, *needs)
    for need in needs[::-1]:
        assert world.task(held) == held
        done = finish(world, need, by="ann")

    let_go = world.task(held)
    assert (let_go.status, let_go.epoch, let_go.attempt) == (S.DELIVERED, held.epoch, 1)
    assert let_go.delivered_at == done.ended_at
    (letter,) = world.inbox("bob")
    assert (letter.delivery.id, letter.text) == (let_go.delivery_id, "sum up")
    assert told_of(world, held) == ["task.sent", "task.delivered"]
    assert world.do(tasks.counts, [world.id]) == {S.COMPLETED: 3, S.DELIVERED: 1}
    assert world.accept(held).status is S.ACCEPTED


def test_who_lets_it_go_is_recorded(world: World) -> None:
    """The log names who completed the last need as the one who delivered, and the row by which it came."""
    need = world.send(to="ann")
    held = needing(world, need)
    finish(world, need, by="ann")
    delivered = last_of(world, held)

    assert (delivered.kind, delivered.actor, delivered.agent) == ("task.delivered", "ann", "bob")
    assert (delivered.detail["before"], delivered.detail["after"]) == ("queued", "delivered")
    assert delivered.detail["delivery_id"] == str(world.task(held).delivery_id)


def test_what_came_meanwhile_comes_first(world: World) -> None:
    """A task that is let go comes behind what its assignee was sent while it was held back."""
    need = world.send(to="ann")
    held = needing(world, need)
    world.do(messages.send, world.id, sender="ann", to="bob", body="soon")
    finish(world, need, by="ann")

    assert world.mail("bob") == ["soon", "sum up"]
    world.do(inbox.ack, world.id, "bob", str(held.id))
    assert world.mail("bob") == ["soon"]


@pytest.mark.parametrize(("by", "actor"), [("ann", "ann"), (HUB, HUB)])
def test_a_free_task_becomes_ready(world: World, by: str, actor: str) -> None:
    """One without an assignee may be claimed from then on, and the log says that it is ready."""
    need = world.send(to="ann")
    free = needing(world, need, to=None)
    finish(world, need, by=by)

    assert world.task(free) == free
    ready = last_of(world, free)
    assert (ready.kind, ready.actor, ready.agent) == ("task.ready", actor, None)
    assert ready.detail == {"number": free.number}
    assert world.start(free).assignee == "bob"


def test_needs_that_are_met_hold_nothing_back(world: World) -> None:
    """A task whose needs are all completed when it is sent is delivered at once."""
    needs = [finish(world, world.send()) for _ in range(2)]
    task = needing(world, *needs)

    assert (task.status, task.gated, task.delivery_id) == (S.DELIVERED, True, task.id)
    assert world.mail("bob") == ["sum up"]
    assert world.accept(task).status is S.ACCEPTED


def test_needs_are_kept_in_order(world: World) -> None:
    """The dependencies of a task are known in the order in which they were named, of one task and of all of a run."""
    first, second, third = (world.send() for _ in range(3))
    one, two = needing(world, third, first), needing(world, second, third, first)
    run = world.do(runs.current, world.id)

    assert world.do(dependencies.of_task, one) == [third.id, first.id]
    assert world.do(dependencies.of_task, first) == ()
    assert world.do(dependencies.of_run, run) == {
        one.id: [third.id, first.id],
        two.id: [second.id, third.id, first.id],
    }
    for name in ("monday", "tuesday"):
        run = world.do(runs.start, world.id, name, by="ann")
    assert world.do(dependencies.of_run, run) == {}


@pytest.mark.parametrize("event", [E.FAIL, E.CANCEL, E.EXPIRE])
def test_only_completing_lets_go(world: World, event: Event) -> None:
    """A need that failed, was cancelled or expired holds until it is retried and completed."""
    need = world.send(to="ann", ttl=timedelta(hours=1))
    held = needing(world, need)
    finish(world, need, event, by="ann")
    assert world.task(held) == held
    with pytest.raises(Unmet):
        world.accept(held)

    world.on(need, task_actions.retry, by="ann", ttl=None)
    finish(world, need, by="ann")
    assert world.task(held).status is S.DELIVERED


def test_a_chain_comes_free_step_by_step(world: World) -> None:
    """In a line of tasks each comes free with the end of the one before it, and none sooner."""
    line = [world.send()]
    for _ in range(4):
        line.append(needing(world, line[-1]))
    for place, task in enumerate(line):
        statuses = [world.task(each).status for each in line[place:]]
        assert statuses == [S.DELIVERED] + [S.QUEUED] * (len(statuses) - 1)
        finish(world, task)


def test_one_end_lets_many_go(world: World) -> None:
    """All that waited for one task come free together, oldest first."""
    need = world.send(to="ann")
    held = [needing(world, need, text=f"part {number}") for number in range(3)]
    other = needing(world, need, world.send(to="ann"))
    finish(world, need, by="ann")

    assert world.mail("bob") == ["part 0", "part 1", "part 2"]
    delivered = [each.task_id for each in world.log() if each.kind == "task.delivered"]
    assert delivered == [task.id for task in held]
    assert world.task(other) == other


def test_racing_ends_deliver_once(world: World) -> None:
    """The later of the last needs completed at the same time frees the task: it is delivered, and once."""
    for turn in range(1, 6):
        needs = [world.send(to="ann") for _ in range(2)]
        held, free = needing(world, *needs), needing(world, *needs, to=None)
        outcomes = world.race(*[completing(world, need) for need in needs])

        assert errors_of(outcomes) == []
        assert world.task(held).status is S.DELIVERED
        assert len(world.inbox("bob")) == turn
        assert told_of(world, held) == ["task.sent", "task.delivered"]
        assert told_of(world, free) == ["task.sent", "task.ready"]


def test_made_while_its_need_ends(world: World) -> None:
    """A task that is sent in the moment in which its need is completed is delivered: by one of the two, once."""
    for turn in range(1, 9):
        need = world.send(to="ann")

        def send(tx: Tx, need: Task = need) -> Task:
            seen = tasks.find(tx, [world.id], str(need.id))
            return tasks.send(tx, world.id, sender="ann", to="bob", text="sum up", needs=[seen])

        outcomes = world.race(send, completing(world, need))
        assert errors_of(outcomes) == []
        assert isinstance(outcomes[0], Task)
        assert world.task(outcomes[0]).status is S.DELIVERED
        assert world.mail("bob") == ["sum up"] * turn


def test_racing_ends_in_a_web_do_not_stand_still(world: World) -> None:
    """Tasks that need each other in many ways, all ended at once, all end, and each is delivered at most once."""
    first = [world.send(to="ann") for _ in range(4)]
    second = [needing(world, *first, text=f"part {number}") for number in range(4)]
    outcomes = world.race(
        *[completing(world, task) for pair in zip(second, first, strict=True) for task in pair]
    )

    assert errors_of(outcomes) == []
    assert {world.task(task).status for task in (*first, *second)} == {S.COMPLETED}
    assert world.inbox("bob") == []
    assert all(told_of(world, task).count("task.delivered") <= 1 for task in second)


def test_what_is_held_back_is_given_to_another(world: World) -> None:
    """Reassigned, it is held back for its new assignee, in whose inbox it comes, and in no other."""
    need = world.send(to="代码1号")
    held = needing(world, need)
    moved = world.on(held, task_actions.reassign, to="ann", by="ann")

    assert (moved.status, moved.assignee, moved.delivery_id) == (S.QUEUED, "ann", None)
    assert world.inbox("ann") == []
    finish(world, need, by="代码1号")
    (letter,) = [each for each in world.inbox("ann") if each.task_id == held.id]
    assert letter.delivery.id == world.task(held).delivery_id != held.id
    assert world.inbox("bob") == []


@pytest.mark.parametrize("status", sorted(LOST))
def test_what_is_retried_is_held_back_again(world: World, status: Status) -> None:
    """A task that ended while it was held back, and is retried, waits again for what it needs."""
    need = world.send(to="ann")
    held = needing(world, need)
    events = {S.FAILED: E.FAIL, S.CANCELLED: E.CANCEL, S.EXPIRED: E.EXPIRE}
    finish(world, held, events[status])
    again = world.on(held, task_actions.retry, by="ann", ttl=None)

    assert (again.status, again.assignee, again.delivery_id) == (S.QUEUED, "bob", None)
    assert world.inbox("bob") == []
    finish(world, need, by="ann")
    assert world.task(held).status is S.DELIVERED
    assert world.mail("bob") == ["sum up"]


def test_what_has_ended_is_not_let_go(world: World) -> None:
    """A task cancelled while it was held back stays cancelled when its dependency is completed."""
    need = world.send(to="ann")
    held = finish(world, needing(world, need), E.CANCEL)
    finish(world, need, by="ann")

    assert world.task(held) == held
    assert world.inbox("bob") == []


def test_a_need_that_is_reopened_holds_back_again(world: World) -> None:
    """A delivered task that has not begun cannot be accepted while its dependency is open again; then it can."""
    need = world.send(to="ann")
    held = needing(world, need)
    finish(world, need, by="ann")
    delivered = world.task(held)
    world.on(need, task_actions.reopen, by="ann")

    with pytest.raises(Unmet):
        world.accept(held)
    assert world.task(held) == delivered
    finish(world, need, by="ann")
    assert world.task(held) == delivered
    assert world.mail("bob") == ["sum up"]
    assert world.accept(held).status is S.ACCEPTED


def test_given_to_another_it_waits_for_a_reopened_need(world: World) -> None:
    """A delivered task is held back again when it changes hands while a dependency is open, and then comes once."""
    need = world.send(to="代码1号")
    held = needing(world, need)
    finish(world, need, by="代码1号")
    world.on(need, task_actions.reopen, by="ann")
    moved = world.on(held, task_actions.reassign, to="ann", by="ann")

    assert (moved.status, moved.assignee) == (S.QUEUED, "ann")
    assert world.inbox("bob") == []
    finish(world, need, by="代码1号")
    assert [letter.task_id for letter in world.inbox("ann") if letter.task_id] == [held.id]


@pytest.mark.parametrize("status", [S.WORKING, S.BLOCKED, S.IN_REVIEW])
def test_what_has_begun_goes_on(world: World, status: Status) -> None:
    """Work that has begun goes on, though something that it needed is reopened."""
    need = finish(world, world.send())
    task = world.start(needing(world, need))
    world.on(need, task_actions.reopen, by="ann")
    if status is not S.WORKING:
        world.on(task, tasks.step, E.BLOCK if status is S.BLOCKED else E.SUBMIT)
        assert world.start(task).status is S.WORKING
    assert finish(world, task).status is S.COMPLETED


def test_what_is_moved_on_is_let_be(world: World) -> None:
    """A held task that somebody moved on is not delivered when its need is completed: it is under way."""
    need = world.send(to="ann")
    moved = world.on(needing(world, need), transfers.move_to, S.WORKING, by="ann")
    finish(world, need, by="ann")

    assert world.task(moved) == moved
    assert world.inbox("bob") == []


def test_what_is_put_back_is_held_back(world: World) -> None:
    """Work that had begun, and is put back while its need is open again, waits for that."""
    need = finish(world, world.send())
    task = world.start(needing(world, need))
    world.on(need, task_actions.reopen, by="ann")
    again = world.on(task, task_actions.reopen, by="ann")

    def tasks_of_bob() -> list[UUID]:  # beside the word that his was put back
        return [letter.task_id for letter in world.inbox("bob") if letter.task_id is not None]

    assert (again.status, again.assignee, again.delivery_id) == (S.QUEUED, "bob", None)
    assert tasks_of_bob() == [need.id]
    finish(world, need)
    assert tasks_of_bob() == [task.id]


def test_the_acknowledged_are_not_delivered_twice(world: World) -> None:
    """A task that is let go twice, as its need was reopened in between, is one letter."""
    need = world.send(to="ann")
    held = needing(world, need)
    finish(world, need, by="ann")
    world.do(inbox.ack, world.id, "bob", str(held.id))
    world.on(need, task_actions.reopen, by="ann")
    finish(world, need, by="ann")

    assert world.inbox("bob") == []
    assert world.task(held).status is S.ACCEPTED
    assert told_of(world, held).count("task.delivered") == 1


@pytest.mark.parametrize("manner", [VerbManner.ANSWER, VerbManner.BOARD])
def test_what_waits_is_not_taken_by_who_makes_it_theirs(world: World, manner: VerbManner) -> None:
    """Nobody takes a free task by making it their own, in whatever words, before what it needs is completed."""
    task = world.send(None, needs=[world.send("bob")])

    taker = world.acting(member(world.project, agent="代码1号"))
    with pytest.raises(Unmet):
        taker.on(task, task_actions.reassign, to="代码1号", by="代码1号", manner=manner)
    assert world.task(task) == task
