"""How many tasks end in each hour, and how long they had waited."""

import pytest

from hubbub.core.actions import task_actions
from hubbub.core.work import completion, tasks, throughput
from hubbub.core.work.throughput import Step, Throughput
from hubbub.model.lifecycle import Event
from hubbub.store.tx import Tx
from tests.core.conftest import World

HOUR = 3_600_000
BEGIN = 500_000 * HOUR


def told(world: World, **asked: int) -> Throughput:
    return world.do(throughput.throughput, world.id, **{"since": 0, "until": 2**53, "step": HOUR, **asked})


def end(world: World, at: int, waited: int | None = None) -> None:
    """Have a task end at a moment: completed as soon as it was begun, after it has waited; or cancelled."""
    sent = world.at(at - (waited or 0), tasks.send, world.id, sender="ann", to="bob", text="count the lines")

    def last(tx: Tx) -> None:
        task = tasks.find(tx, [world.id], str(sent.id), lock=True)
        if waited is None:
            completion.end(tx, task, Event.CANCEL, by="ann", text="", result=None)
        else:
            begun = task_actions.start(tx, task, "bob", is_read=False)
            completion.end(tx, begun, Event.COMPLETE, by="bob", text="three", result="three")

    world.at(at, last)


def test_tasks_are_counted_by_the_hour_in_which_they_ended(world: World) -> None:
    """Each hour tells how many tasks ended, and the median wait of those that were begun; an empty one is left out."""
    for waited in (10_000, 20_000, 60_000):
        end(world, BEGIN + HOUR - 1, waited)
    end(world, BEGIN)
    end(world, BEGIN + 2 * HOUR)
    first, last = Step(BEGIN, 4, 20_000), Step(BEGIN + 2 * HOUR, 1, None)
    assert told(world).steps == [first, last]
    assert told(world, since=BEGIN + 1).steps == [Step(BEGIN, 3, 20_000), last]
    assert told(world, since=BEGIN + HOUR).steps == [last]
    assert told(world, until=BEGIN + 2 * HOUR).steps == [first]
    assert told(world, step=4 * HOUR).steps == [Step(BEGIN, 5, 20_000)]


def test_of_too_many_tasks_the_last_are_counted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where more tasks ended than are looked at, only whole steps are told, and from when on they are."""
    monkeypatch.setattr(throughput, "MOST", 2)
    for hour in range(3):
        end(world, BEGIN + hour * HOUR)
    assert told(world) == Throughput(BEGIN + 2 * HOUR, [Step(BEGIN + 2 * HOUR, 1, None)])
