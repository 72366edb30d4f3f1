"""The end of tasks, and the letters about it."""

import pytest

from hubbub.core.actions import task_actions
from hubbub.core.work import completion, completion_checks, tasks
from hubbub.model.errors import BeingChecked, InvalidTransition
from hubbub.model.lifecycle import ENDED, OPEN, Event, Status
from hubbub.model.people.rights import HUB
from hubbub.model.records import LetterKind, Task
from hubbub.store.mail import messages as rows
from hubbub.store.tx import Tx
from tests.core.conftest import World, errors_of, finish, in_status

S, E = Status, Event


@pytest.mark.parametrize("event", [E.COMPLETE, E.FAIL, E.CANCEL])
def test_what_is_open_ends(world: World, event: Event) -> None:
    """A task ends from every open status: out of the inbox, with its result, and its sender hears of it."""
    for told, status in enumerate(OPEN, start=1):
        ended = finish(world, in_status(world, status), event)

        assert ended.status in ENDED
        assert ended.ended_at == ended.updated_at
        assert (ended.result, ended.leased) == ("three", False)
        assert world.inbox("bob") == []
        assert world.mail("ann") == ["three"] * told
        assert world.log()[-2].detail["before"] == status


def test_what_has_ended_does_not_end_again(world: World) -> None:
    """An ended task refuses every ending, stays as it is, and tells nobody again."""
    for status in ENDED:
        task = in_status(world, status)
        before, mail = world.kinds(), world.mail("ann")
        for event in (E.COMPLETE, E.FAIL, E.CANCEL, E.EXPIRE):
            with pytest.raises(InvalidTransition):
                finish(world, task, event)
        assert world.task(task) == task
        assert (world.kinds(), world.mail("ann")) == (before, mail)


def test_the_sender_hears_how_it_ended(world: World) -> None:
    """The sender of a task finds its result in the inbox, as a reply to the task that says how it ended."""
    for event, outcome in ((E.COMPLETE, S.COMPLETED), (E.FAIL, S.FAILED), (E.CANCEL, S.CANCELLED)):
        task = finish(world, world.send(), event)
        letter = world.inbox("ann")[-1]

        assert (letter.kind, letter.sender, letter.text) == (LetterKind.REPLY, "bob", "three")
        assert (letter.in_reply_to, letter.outcome) == (task.id, outcome)


def test_who_knows_already_is_not_told(world: World) -> None:
    """An agent that ends its own task, or was told otherwise, gets no reply."""
    finish(world, world.send(), E.CANCEL, by="ann")
    world.on(world.send(), completion.end, E.COMPLETE, by="bob", text="three", result="three", told="ann")
    finish(world, world.send(to="ann"), by="ann")

    assert world.mail("ann") == []


def test_the_hub_is_told_too(world: World) -> None:
    """A reply to `hub` is sent to `hub`, where people see it."""
    finish(world, world.send(sender=HUB))
    assert world.mail(HUB) == ["three"]


@pytest.mark.parametrize(
    ("event", "acked"), [(E.COMPLETE, True), (E.FAIL, True), (E.CANCEL, False), (E.EXPIRE, False)]
)
def test_an_ended_task_leaves_the_inbox(world: World, event: Event, acked: bool) -> None:
    """A delivery counts as acknowledged when its agent has ended the task; a cancelled or expired one is withdrawn."""
    task = finish(world, world.send(), event)
    row = world.do(rows.find_delivery, task.id)

    assert row is not None
    assert (row.acked_at is not None, row.withdrawn_at is not None) == (acked, not acked)
    assert world.inbox("bob") == []


def test_the_reason_of_a_cancellation_is_its_result(world: World) -> None:
    """The reason is kept as the result and told to the sender; without one the result stays empty."""
    task = world.on(world.send(), task_actions.cancel, by="bob", reason="too late")
    plain = world.on(world.send(), task_actions.cancel, by="bob", reason=None)

    assert (task.status, task.result, plain.result) == (S.CANCELLED, "too late", None)
    assert world.mail("ann") == ["too late", "cancelled"]


def test_completing_and_cancelling_race(world: World) -> None:
    """One of a completion and a cancellation at the same time counts, the other is refused, and one reply is sent."""
    for turn in range(6):
        task = world.start(world.send())
        outcomes = world.race(
            *[lambda tx: _end(tx, world, task, E.COMPLETE)] * 2,  # noqa: B023
            *[lambda tx: _end(tx, world, task, E.CANCEL)] * 2,  # noqa: B023
        )

        assert errors_of(outcomes) == [InvalidTransition] * 3
        assert [o for o in outcomes if isinstance(o, Task)] == [world.task(task)]
        assert len(world.inbox("ann")) == turn + 1
        assert sum(world.do(tasks.counts, [world.id]).values()) == turn + 1


def _end(tx: Tx, world: World, task: Task, event: Event) -> Task:
    locked = tasks.find(tx, [world.id], str(task.id), lock=True)
    return completion.end(tx, locked, event, by="bob", text="over", result="over")


def test_nothing_is_completed_while_it_is_checked(world: World) -> None:
    """A task is not completed while somebody looks at it, by nobody; it may end otherwise, and be completed after."""
    task, unwanted = world.start(world.send()), world.start(world.send())
    check = world.on(task, completion_checks.begin, by="bob")
    world.on(unwanted, completion_checks.begin, by="bob")

    with pytest.raises(BeingChecked):
        finish(world, task)
    assert world.task(task) == task
    assert world.mail("ann") == []
    assert finish(world, unwanted, E.CANCEL).status is S.CANCELLED
    world.on(task, completion_checks.end, check, passed=True, output=None)
    assert finish(world, task).status is S.COMPLETED


def test_a_check_that_died_keeps_nobody_waiting(world: World) -> None:
    """Once the time of a check has run out, the task may be completed."""
    task = world.start(world.send())
    world.on(task, completion_checks.begin, by="bob")
    world.clock.advance(completion_checks.TTL)
    assert finish(world, task).status is S.COMPLETED


def test_results_climb_to_the_parents(world: World) -> None:
    """When a child ends, its text goes to whoever sent its parent, as a reply and as a recorded chained reply."""
    parent = world.send(to="bob", sender="代码1号")
    child = world.send(to="ann", sender="bob", parent=str(parent.id))
    finish(world, child, by="ann", text="three")

    (to_sender,) = [letter for letter in world.inbox("bob") if letter.kind is LetterKind.REPLY]
    (to_parent,) = world.inbox("代码1号")
    assert (to_sender.in_reply_to, to_parent.in_reply_to) == (child.id, parent.id)
    assert (to_parent.text, to_parent.sender, to_parent.outcome) == ("three", "ann", S.COMPLETED)
    chained = next(each for each in world.log() if each.kind == "task.chained")
    assert (chained.agent, chained.task_id) == ("代码1号", parent.id)
    assert chained.detail == {
        "addressee": None,
        "child_id": str(child.id),
        "child_assignee": "ann",
        "child_status": "completed",
    }
    assert world.task(parent) == parent


def test_results_climb_five_levels(world: World) -> None:
    """A result reaches the senders of five ancestors, the nearest first, and no further."""
    line = [world.send(sender="代码1号")]
    for _ in range(7):
        line.append(world.send(sender="代码1号", parent=str(line[-1].id)))
    finish(world, line[-1])

    heard = [letter.in_reply_to for letter in world.inbox("代码1号")]
    assert heard == [task.id for task in line[::-1][:6]]


def test_who_ended_it_does_not_hear_of_it(world: World) -> None:
    """An ancestor's sender who ended the child itself is passed over; those above still hear."""
    top = world.send(sender="代码1号")
    middle = world.send(sender="bob", parent=str(top.id))
    child = world.send(sender="ann", parent=str(middle.id))
    finish(world, child, by="bob")

    assert [letter.kind for letter in world.inbox("bob") if letter.kind is LetterKind.REPLY] == []
    assert [letter.in_reply_to for letter in world.inbox("代码1号")] == [top.id]


def test_an_ended_parent_stays_ended(world: World) -> None:
    """The end of a child is told, and does not reopen what is over."""
    parent = world.send(sender="代码1号")
    child = world.send(parent=str(parent.id))
    over = finish(world, parent)
    finish(world, child, text="late")

    assert world.task(parent) == over
    assert world.mail("代码1号") == ["three", "late"]
