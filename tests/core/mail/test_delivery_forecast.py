"""The forecast for the sender of a letter, from the hub's knowledge of its receiver."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from hubbub.core.agents import last_activity
from hubbub.core.mail import delivery_forecast
from hubbub.core.presence import wakes
from hubbub.model.mail.wakes import (
    BUSY,
    TURNS,
    DeliveryChannel,
    DeliveryForecast,
    HookPhase,
    WakeMethod,
    Waker,
    WakeResult,
)
from hubbub.model.records import Condition
from hubbub.store.tx import Connection, Row, Tx
from tests.core.conftest import TEN_MINUTES, World, on_one_engine


class Held:
    """The connections held open at this hub: the same for everybody."""

    def __init__(self, way: DeliveryChannel) -> None:
        self.way = way

    def way_to(self, _project_id: UUID, _agent: str) -> DeliveryChannel:
        return self.way


def waker(world: World, method: WakeMethod, *, idle: bool = True) -> Waker:
    return Waker(project_id=world.id, agent="bob", instance="one", method=method, client="c", idle=idle)


def told(outlook: DeliveryForecast) -> tuple[str, bool]:
    return outlook.wake, outlook.likely_seen


def outlook(world: World, way: DeliveryChannel | None = None) -> tuple[str, bool]:
    return told(world.do(delivery_forecast.forecast, world.id, "bob", Held(way) if way else None))


@on_one_engine
@pytest.mark.parametrize(
    ("method", "way"), [("monitor", "native"), ("queue", "native"), ("prompt", "native"), ("rewake", "hook")]
)
def test_a_waker_that_wakes_an_idle_client_will_be_heard(world: World, method: str, way: str) -> None:
    """A door of the client itself is native, a hook that ends to wake it is a hook; both are likely to be seen."""
    world.do(wakes.register, waker(world, WakeMethod(method)), TEN_MINUTES)

    assert outlook(world) == (way, True)


def test_hooks_at_turns_are_heard_by_who_is_busy(world: World) -> None:
    """An agent in a turn hears at its next step; one that has ended its turn only when the next begins."""
    turns = waker(world, WakeMethod.TURN, idle=False)
    world.do(wakes.glance, turns, HookPhase.TOOL)
    assert outlook(world) == ("hook", True)

    world.do(wakes.glance, turns, HookPhase.TURN)
    assert outlook(world) == ("hook", False)

    world.do(wakes.glance, turns, HookPhase.PROMPT)
    world.clock.advance(BUSY)
    assert outlook(world) == ("hook", False)
    world.clock.advance(TURNS)
    assert outlook(world) == ("none", False)


def test_a_call_or_a_stream_held_open_is_native(world: World) -> None:
    """An agent that waits in a call, or follows its inbox, sees a letter while it comes."""
    assert outlook(world, DeliveryChannel.WAIT) == ("native", True)
    assert outlook(world, DeliveryChannel.STREAM) == ("native", True)


def test_a_worker_sees_what_comes_while_it_is_there(world: World) -> None:
    """`hubbub work` will see a letter while it is there, and not when it has left."""
    world.report("bob", runtime="work")
    assert outlook(world) == ("worker", True)

    world.report("bob", Condition.OFFLINE)
    assert outlook(world) == ("none", False)


def test_who_cannot_be_woken_is_not_said_to_be(world: World) -> None:
    """Neither being there nor a waker that just said that it cannot wakes anybody."""
    world.report("bob")
    assert outlook(world) == ("none", False)

    monitor = waker(world, WakeMethod.MONITOR)
    world.do(wakes.register, monitor, TEN_MINUTES)
    probe = world.do(wakes.probe, world.id, "bob")
    taken = world.do(wakes.take, monitor).wake
    assert taken is not None
    assert taken.id == probe.id
    world.do(wakes.report, taken, WakeResult.CANNOT)
    assert outlook(world) == ("none", False)


def test_who_keeps_no_heartbeat_is_not_said_to_be_away(world: World) -> None:
    """An agent that was seen to act and never was there sees a letter when it looks, and is not said to be away."""
    never = world.do(delivery_forecast.forecast, world.id, "ann")
    world.do(last_activity.note, world.id, "bob", tool="relay.get_messages")
    acts = world.do(delivery_forecast.forecast, world.id, "bob")

    assert never.note == "It is offline: it sees this when it starts."
    assert acts.note == "It sends no heartbeat: it sees this when it next looks."
    assert told(acts) == ("none", False)


def test_people_are_woken_by_nobody(world: World) -> None:
    """Mail for `hub` is for people, who read it when they look."""
    assert told(world.do(delivery_forecast.forecast, world.id, "hub")) == ("none", False)


class Counted:
    """A connection that counts the statements that are run over it."""

    def __init__(self, db: Connection) -> None:
        self.db, self.count = db, 0

    def query(self, sql: str, values: Mapping[str, object]) -> Sequence[Row]:
        self.count += 1
        return self.db.query(sql, values)

    def tell(self, sql: str, values: Mapping[str, object]) -> None:
        self.query(sql, values)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.db, name)


def reads(world: World, name: str) -> int:
    """Return the number of reads for a forecast about `name`."""

    def count(tx: Tx) -> int:
        counted = Counted(tx.db)
        delivery_forecast.forecast(replace(tx, db=counted), world.id, name)
        return counted.count

    return world.do(count)


def test_the_sender_waits_for_three_reads_at_most(world: World) -> None:
    """A forecast costs a send little, whatever the receiver: present, past or unknown agents, and people."""
    world.report("bob")
    world.do(wakes.register, waker(world, WakeMethod.MONITOR), TEN_MINUTES)
    world.report("代码1号", Condition.OFFLINE)

    assert [reads(world, name) for name in ("bob", "代码1号", "ann", "nobody", "hub")] == [2, 3, 3, 3, 0]
