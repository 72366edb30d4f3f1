"""The seat of an agent, which one live worker has at a time."""

import pytest

from hubbub.client import HubRefused
from hubbub.worker.name_lease import NameLease
from tests.cli.processes import RunningHub


def be_elsewhere(hub: RunningHub, seconds: float) -> None:
    """A sign of life of ada from another machine, good for so long."""
    facts = {"instance": "elsewhere", "hostname": "far-away", "ttl_seconds": seconds, "take": True}
    hub.client().put("/agents/ada/presence", facts)


def test_waits_for_silence_elsewhere(hub: RunningHub) -> None:
    """A name that is live on another machine is waited for, which is said, and taken once that has fallen silent."""
    said: list[str] = []
    be_elsewhere(hub, 1.0)
    seat = NameLease(hub.client(), "ada", runtime="work", workdir=".", say=said.append)
    assert seat.take()
    assert [each.partition(";")[0] for each in said] == ["'ada' is live as elsewhere on far-away"]
    assert hub.client().agent("ada")["instance"] == str(seat.instance)


def test_leaves_the_name_to_the_living(hub: RunningHub) -> None:
    """If whoever has the name gives a sign of life meanwhile, they keep it."""
    be_elsewhere(hub, 1.0)
    seat = NameLease(hub.client(), "ada", runtime="work", workdir=".", say=lambda _: be_elsewhere(hub, 600.0))
    with pytest.raises(HubRefused, match="'ada' is live as elsewhere"):
        seat.take()


def test_waiting_may_be_interrupted(hub: RunningHub) -> None:
    """A worker that is told to stop while it waits for its name does not take it."""
    be_elsewhere(hub, 600.0)
    seat = NameLease(hub.client(), "ada", runtime="work", workdir=".", say=lambda _: seat.interrupted.set())
    assert not seat.take()


def test_knows_when_it_was_thought_gone(hub: RunningHub) -> None:
    """A beat tells whether the hub had ended the presence meanwhile; it is taken again by that."""
    seat = NameLease(hub.client(), "ada", runtime="work", workdir=".", say=print)
    seat.take()
    assert not seat.beat(["something"])
    assert hub.client().agent("ada")["doing"] == "something"
    seat.give_up()
    assert seat.beat([])
    assert hub.client().agent("ada")["live"]
