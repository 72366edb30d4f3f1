"""Presence of an agent reported by its client."""

import pytest

from hubbub.core.agents import agents
from hubbub.core.people import tokens
from hubbub.core.presence import presences, wakes
from hubbub.model.agents.file_claims import TTL
from hubbub.model.mail.wakes import HookPhase, WakeMethod, Waker
from hubbub.model.people.accounts import Token
from hubbub.model.people.rights import SYSTEM, Role
from hubbub.model.records import Condition, Presence, Profile
from hubbub.store.tx import MustWrite, Tx
from tests.core.conftest import World, person


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


def _leave(world: World, instance: str) -> Presence | None:
    return world.do(presences.leave, world.id, "ann", instance=instance)


def _speak(world: World, door: str = "hub") -> Presence:
    """Have the agent itself speak at a door, by its client's connection."""

    def report(tx: Tx) -> Presence:
        tx.door = door
        profile = Profile()
        return presences.report(
            tx, world.id, "ann", instance="by MCP", condition=Condition.WORKING, profile=profile, ttl=TTL
        )

    return world.do(report)


def test_an_agent_goes_with_its_client(world: World) -> None:
    """Where a client that is killed says goodbye, an agent that spoke by our own tools is gone a minute later."""
    _speak(world)
    attend(world)

    assert _leave(world, "first") is None
    world.clock.advance(presences.BACK_SOON)

    assert world.do(agents.condition, world.id, "ann") is Condition.OFFLINE


def test_an_agent_that_is_heard_again_stays(world: World) -> None:
    """A client that begins again within the minute keeps its agent as it was."""
    before = _speak(world)
    _leave(world, "first")
    world.clock.advance(presences.BACK_SOON / 2)
    attend(world)
    world.clock.advance(presences.BACK_SOON)

    now = world.do(agents.presence, world.id, "ann")
    assert now is not None
    assert (now.id, world.do(agents.condition, world.id, "ann")) == (before.id, Condition.WORKING)


def test_another_run_of_the_client_keeps_its_agent(world: World) -> None:
    """One of two windows of a client that ends takes nothing from the other; nor from a documented tool set's agent."""
    _speak(world)
    waker = Waker(
        project_id=world.id,
        agent="ann",
        instance="other",
        method=WakeMethod.TURN,
        client="claude-code",
        idle=False,
    )
    world.do(wakes.glance, waker, HookPhase.PROMPT)
    _leave(world, "first")
    world.clock.advance(presences.BACK_SOON)
    assert world.do(agents.condition, world.id, "ann") is Condition.WORKING

    _speak(world, "commhub")
    _leave(world, "other")
    world.clock.advance(presences.BACK_SOON)
    assert world.do(agents.condition, world.id, "ann") is Condition.WORKING


def test_a_replaced_worker_takes_nothing_along(world: World) -> None:
    """The goodbye of an instance that another has replaced ends nobody's presence."""
    world.report("ann", instance="first")
    world.report("ann", instance="second")
    assert _leave(world, "first") is None
    world.clock.advance(presences.BACK_SOON)
    assert world.do(agents.condition, world.id, "ann") is not Condition.OFFLINE


def test_an_agent_goes_with_its_last_token(world: World) -> None:
    """When the last token that is bound to an agent is revoked it is gone at once; a worker says so itself."""
    owner = world.acting(person(world, "boss", Role.OWNER))
    made = [
        owner.do(tokens.for_project, world.project, role=Role.MEMBER, agent="ann")[0] for _each in range(2)
    ]

    def revoke(tx: Tx, token: Token) -> None:
        presences.end_of_token(tx, tokens.revoke(tx, token.id))

    _speak(world)
    owner.do(revoke, made[0])
    assert world.do(agents.condition, world.id, "ann") is Condition.WORKING
    owner.do(revoke, made[1])
    assert world.do(agents.condition, world.id, "ann") is Condition.OFFLINE
    world.report("ann", runtime="work")
    owner.do(revoke, made[1])
    assert world.do(agents.condition, world.id, "ann") is not Condition.OFFLINE
