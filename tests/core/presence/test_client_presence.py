"""Presence of an agent reported by its client."""

import pytest

from hubbub.core.presence import presences
from hubbub.model.agents.file_claims import TTL
from hubbub.model.people.rights import SYSTEM
from hubbub.model.records import Condition, Presence, Profile
from hubbub.store.tx import MustWrite, Tx
from tests.core.conftest import World


def attend(
    world: World, condition: Condition | None = Condition.WORKING, instance: str = "first"
) -> Presence:
    return world.do(
        presences.attend,
        world.id,
        "ann",
        instance=instance,
        condition=condition,
        profile=Profile(runtime="claude-code"),
    )


def test_a_client_opens_the_presence_of_its_agent(world: World) -> None:
    """An agent whose client is heard of is there, under that instance, as that client, for half an hour."""
    presence = attend(world)

    assert (presence.instance, presence.runtime, presence.condition) == (
        "first",
        "claude-code",
        Condition.WORKING,
    )
    assert presence.expires_at == presence.seen_at + TTL.total_seconds() * 1000


def test_who_speaks_for_itself_goes_on_as_it_said(world: World) -> None:
    """A presence that the agent has opened itself is kept alive by its client, and not changed."""
    itself = world.report("ann", Condition.BLOCKED, instance="by MCP")
    world.clock.advance(TTL / 6)

    kept = attend(world)

    assert (kept.id, kept.instance, kept.condition) == (itself.id, "by MCP", Condition.BLOCKED)
    assert kept.expires_at > itself.expires_at


def test_a_client_that_says_nothing_new_costs_nothing(world: World) -> None:
    """A heartbeat right after another needs no write; one that brings another condition does."""
    attend(world)

    def look(condition: Condition | None) -> Presence:
        def read(tx: Tx) -> Presence:
            return presences.attend(
                tx, world.id, "ann", instance="first", condition=condition, profile=Profile()
            )

        return world.store.read_now(SYSTEM, read)

    assert look(Condition.WORKING).condition is Condition.WORKING
    assert look(None).condition is Condition.WORKING
    with pytest.raises(MustWrite):
        look(Condition.IDLE)
    world.clock.advance(TTL / 2)
    with pytest.raises(MustWrite):
        look(Condition.WORKING)


def test_without_a_condition_it_stays(world: World) -> None:
    """A waker's call shows that the agent is there, not what it does."""
    assert attend(world, None).condition is Condition.IDLE
    attend(world)
    world.clock.advance(TTL / 2)
    assert attend(world, None).condition is Condition.WORKING
