"""Warnings about tasks that make no progress: each is sent once, by whichever hub notices it."""

from datetime import timedelta

from hubbub.core.actions import task_actions
from hubbub.core.limits import accounts
from hubbub.core.work import late_tasks
from hubbub.model.records import Condition
from hubbub.store.tx import Tx
from tests.core.conftest import RACERS, World, finish

HALF_AN_HOUR, AN_HOUR = timedelta(minutes=30), timedelta(hours=1)
MOMENT = timedelta(milliseconds=1)


def look(tx: Tx) -> None:
    """Warn of the tasks that are late by now."""
    late_tasks.settle(tx, late_tasks.due(tx))


def told_late(world: World) -> list[object]:
    """The numbers of the tasks that the hub told to be late, in order, after it has looked again."""
    world.do(look)
    return [each.detail["number"] for each in world.log() if each.kind == "task.late"]


def keep_reporting(
    world: World, name: str, duration: timedelta, condition: Condition = Condition.WORKING
) -> None:
    """Let time pass while an agent sends signs of life."""
    for _ in range(duration // timedelta(minutes=5)):
        world.report(name, condition)
        world.clock.advance(timedelta(minutes=5))


def test_what_nobody_begins_is_told_once(world: World) -> None:
    """Half an hour after a task was sent and not begun it is told to be late, once, also where it is free."""
    sent, _free = world.send(), world.send(to=None)
    world.clock.advance(HALF_AN_HOUR - timedelta(minutes=1))
    assert told_late(world) == []
    world.clock.advance(timedelta(minutes=1))
    assert told_late(world) == [1, 2]
    world.clock.advance(AN_HOUR)
    assert told_late(world) == [1, 2]
    (told, _other) = (each for each in world.log() if each.kind == "task.late")
    assert (told.task_id, told.agent, told.detail["status"]) == (sent.id, "bob", "delivered")
    assert told.detail["since"] == sent.updated_at + HALF_AN_HOUR // MOMENT


def test_what_is_late_anew_is_told_anew(world: World) -> None:
    """A task that changed hands has its half hour again, and is told of again after it."""
    task = world.send()
    world.clock.advance(HALF_AN_HOUR)
    assert told_late(world) == [1]
    world.on(task, task_actions.reassign, to="代码1号", by="ann")
    assert told_late(world) == [1]
    world.clock.advance(HALF_AN_HOUR)
    assert told_late(world) == [1, 1]


def test_what_waits_for_a_pause_is_not_told(world: World) -> None:
    """A task that a paused account keeps from being begun is told half an hour after the pause, and no earlier."""
    world.do(accounts.put, world.project, "max", ["bob"])
    world.do(accounts.pause, world.project, "max", None, by="eve")
    world.send()
    world.clock.advance(AN_HOUR)
    assert told_late(world) == []
    world.do(accounts.resume, world.project, "max", by="eve")
    world.clock.advance(HALF_AN_HOUR - timedelta(minutes=1))
    assert told_late(world) == []
    world.clock.advance(timedelta(minutes=1))
    assert told_late(world) == [1]


def test_what_waits_for_something_is_not_late(world: World) -> None:
    """A task with an open dependency is not late; half an hour after that is completed it is."""
    first = world.start(world.send())
    world.send(to=None, needs=[first])
    keep_reporting(world, "bob", timedelta(minutes=50))
    assert told_late(world) == []
    finish(world, first)
    world.clock.advance(HALF_AN_HOUR - timedelta(minutes=1))
    assert told_late(world) == []
    world.clock.advance(timedelta(minutes=1))
    assert told_late(world) == [2]


def test_whoever_says_nothing_of_their_work_is_told_of(world: World) -> None:
    """A task under way of which its holder, who is there, says nothing for an hour is late."""
    world.report("bob", Condition.WORKING)
    task = world.start(world.send())
    keep_reporting(world, "bob", timedelta(minutes=55))
    assert told_late(world) == []
    world.on(task, task_actions.progress, "bob", note="half of it")
    keep_reporting(world, "bob", timedelta(minutes=55))
    assert told_late(world) == []
    keep_reporting(world, "bob", timedelta(minutes=10))
    assert told_late(world) == [1]


def test_whoever_waits_for_a_person_is_not_late(world: World) -> None:
    """Work that stands still since its holder waits for an answer needs somebody for that, and is not late."""
    world.report("bob", Condition.WORKING)
    world.start(world.send())
    keep_reporting(world, "bob", 2 * AN_HOUR, Condition.WAITING)
    assert told_late(world) == []


def test_several_hubs_tell_it_once(world: World) -> None:
    """However many hubs look at the same moment, each late task is told once."""
    for _ in range(3):
        world.send()
    world.clock.advance(HALF_AN_HOUR)
    assert world.race(*[look] * RACERS) == [None] * RACERS
    assert sorted(map(str, told_late(world))) == ["1", "2", "3"]


def test_what_was_begun_meanwhile_is_not_told(world: World) -> None:
    """A task that is begun between the look and the telling is not told to be late; the others are, each once."""
    tasks = [world.send() for _ in range(3)]
    world.clock.advance(HALF_AN_HOUR)
    due = world.do(late_tasks.due)
    world.accept(tasks[0])
    for _ in range(2):
        world.do(late_tasks.settle, due)

    assert len(due) == 3
    assert sorted(map(str, told_late(world))) == ["2", "3"]
    assert not world.do(late_tasks.due)
