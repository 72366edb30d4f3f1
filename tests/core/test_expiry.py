"""Settling of everything overdue: tasks that nobody began in time, agents that have fallen silent."""

from datetime import timedelta

import pytest

from hubbub.core import expiry
from hubbub.core.actions import task_actions
from hubbub.core.agents import agents
from hubbub.core.presence import presences
from hubbub.core.work import tasks
from hubbub.model.errors import InvalidTransition
from hubbub.model.lifecycle import Event, Status
from hubbub.model.people.rights import HUB
from hubbub.model.records import Condition, LetterKind, Profile, Task
from hubbub.store.tx import Tx
from tests.core.conftest import TEN_MINUTES, World, errors_of

S = Status
HOUR = timedelta(hours=1)


def ripe(world: World, status: Status, ttl: timedelta = HOUR) -> Task:
    """A task of that status, with a time to begin."""
    task = world.send(to=None if status is S.QUEUED else "bob", ttl=ttl)
    match status:
        case S.ACCEPTED:
            world.accept(task)
        case S.WORKING | S.BLOCKED | S.IN_REVIEW:
            world.start(task)
    if status in (S.BLOCKED, S.IN_REVIEW):
        world.on(task, tasks.step, Event.BLOCK if status is S.BLOCKED else Event.SUBMIT)
    return world.task(task)


@pytest.mark.parametrize("status", [S.QUEUED, S.DELIVERED, S.ACCEPTED])
def test_what_nobody_began_expires(world: World, status: Status) -> None:
    """A task that was not begun in time expires: it leaves the inbox, and its sender hears of it from the hub."""
    task = ripe(world, status)
    world.pass_time(HOUR)
    expired = world.task(task)

    assert (expired.status, expired.result, expired.epoch) == (S.EXPIRED, None, task.epoch)
    assert expired.ended_at == expired.updated_at
    assert world.inbox("bob") == []
    (notice,) = world.inbox("ann")
    assert (notice.kind, notice.sender, notice.in_reply_to, notice.outcome) == (
        LetterKind.REPLY,
        HUB,
        task.id,
        S.EXPIRED,
    )
    assert notice.text == "expired: nobody began it within 3600 s"
    recorded = next(each for each in world.log() if each.kind == "task.expired")
    assert (recorded.actor, recorded.agent) == (HUB, task.assignee)


@pytest.mark.parametrize("status", [S.WORKING, S.BLOCKED, S.IN_REVIEW])
def test_what_was_begun_does_not_expire(world: World, status: Status) -> None:
    """A task that was begun in time stays, however long it takes."""
    task = ripe(world, status)
    world.pass_time(10 * HOUR)
    assert world.task(task) == task
    assert not world.do(expiry.is_due)


def test_what_has_no_time_limit_waits(world: World) -> None:
    """A task without a ttl never expires."""
    tasks_sent = [world.send(), world.send(to=None)]
    world.pass_time(timedelta(days=1000))
    assert [world.task(task) for task in tasks_sent] == tasks_sent


def test_time_runs_out_exactly(world: World) -> None:
    """A task is due in the millisecond in which its time is up, and not before."""
    task = world.send(ttl=timedelta(milliseconds=1500))
    until = task.expires_at or 0

    assert until == task.created_at + 1500
    assert not world.at(until - 1, expiry.is_due)
    world.at(until - 1, expiry.settle)
    assert world.task(task) == task
    assert world.at(until, expiry.is_due)
    world.at(until, expiry.settle)
    assert world.task(task).ended_at == until
    assert not world.at(until, expiry.is_due)


def test_silence_is_due_as_well(world: World) -> None:
    """An agent that has been silent for too long is overdue like a task."""
    until = world.report("bob").expires_at
    assert not world.at(until - 1, expiry.is_due)
    assert world.at(until, expiry.is_due)


def test_everything_overdue_is_settled_at_once(world: World) -> None:
    """However much is overdue, in however many projects, one sweep settles all of it, and each thing once."""
    other = world.elsewhere("other")

    def send_many(tx: Tx) -> None:
        for number in range(expiry.BATCH + 20):
            home = (world, other)[number % 2]
            tasks.send(tx, home.id, sender="ann", to="bob", text=f"{number}", ttl=HOUR)

    world.do(send_many)
    other.report("bob")
    world.report("bob")
    world.pass_time(HOUR)

    for home in (world, other):
        assert home.do(tasks.counts, [home.id]) == {S.EXPIRED: expiry.BATCH // 2 + 10}
        assert home.kinds().count("task.expired") == expiry.BATCH // 2 + 10
        assert home.kinds().count("agent.timeout") == 1
    assert not world.do(expiry.is_due)


def test_claimed_work_of_the_silent_is_offered_again(world: World) -> None:
    """Work that a silent agent had claimed and begun is free again, not expired, though its time is over."""
    world.report("bob")
    task = world.start(world.send(to=None, ttl=HOUR))
    world.pass_time(5 * HOUR)

    assert world.task(task).status is S.QUEUED
    world.pass_time(HOUR)
    assert world.task(task).status is S.EXPIRED


def test_the_parents_hear_of_an_expiry(world: World) -> None:
    """An expired child is told upwards like any that ends."""
    parent = world.send(sender="代码1号")
    world.send(parent=str(parent.id), ttl=HOUR)
    world.pass_time(HOUR)
    assert [letter.in_reply_to for letter in world.inbox("代码1号")] == [parent.id]


def test_a_second_life_is_told_its_own_length(world: World) -> None:
    """The notice of an expiry says how long the task waited this time, not since it was first sent."""
    task = world.send(ttl=HOUR)
    world.pass_time(5 * HOUR)
    world.on(task, task_actions.retry, by="ann", ttl=timedelta(minutes=1))
    world.pass_time(timedelta(minutes=1))
    assert world.mail("ann")[-1] == "expired: nobody began it within 60 s"


def test_expiring_races_with_beginning(world: World) -> None:
    """A task that expires in the moment in which it is begun either was begun or has expired."""
    for turn in range(1, 7):
        task = world.send(ttl=HOUR)
        world.clock.advance(HOUR)

        def begin(tx: Tx, ref: str = str(task.id)) -> object:
            return task_actions.start(tx, tasks.find(tx, [world.id], ref, lock=True), "bob")

        outcomes = world.race(expiry.settle, begin, expiry.settle)
        has_begun = errors_of(outcomes) == []

        assert set(errors_of(outcomes)) <= {InvalidTransition}
        assert world.task(task).status is (S.WORKING if has_begun else S.EXPIRED)
        story = [each.kind for each in world.log() if each.task_id == task.id]
        assert story == ["task.sent", *(["task.started"] if has_begun else ["task.expired", "message.dead"])]
        assert sum(world.do(tasks.counts, [world.id]).values()) == turn


def test_expiring_races_with_accepting(world: World) -> None:
    """A task that is accepted in the moment in which it expires has expired, whoever was first; it is told once."""
    for turn in range(1, 7):
        task = world.send(ttl=HOUR)
        world.clock.advance(HOUR)

        def accept(tx: Tx, ref: str = str(task.id)) -> object:
            return task_actions.accept(tx, tasks.find(tx, [world.id], ref, lock=True), "bob")

        outcomes = world.race(expiry.settle, accept, expiry.settle)
        world.do(expiry.settle)

        assert set(errors_of(outcomes)) <= {InvalidTransition}
        assert world.task(task).status is S.EXPIRED
        assert len(world.inbox("ann")) == turn
        assert world.inbox("bob") == []


def test_silence_races_with_a_report(world: World) -> None:
    """An agent that reports in the moment in which its silence is noted was gone once, and is there."""
    for turn in range(1, 7):
        world.report("bob")
        world.clock.advance(TEN_MINUTES)

        def report(tx: Tx) -> object:
            return presences.report(
                tx,
                world.id,
                "bob",
                instance="first",
                condition=Condition.IDLE,
                profile=Profile(),
                ttl=TEN_MINUTES,
            )

        outcomes = world.race(expiry.settle, report, expiry.settle)

        assert errors_of(outcomes) == []
        assert world.kinds().count("agent.timeout") == turn
        assert world.do(agents.condition, world.id, "bob") is Condition.IDLE
