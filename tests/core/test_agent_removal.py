"""Removal of an agent with everything that it had."""

import json

import pytest

from hubbub.core import agent_removal
from hubbub.core.actions import inbox
from hubbub.core.agents import agents
from hubbub.core.mail import deadletters, messages
from hubbub.core.people import access, tokens
from hubbub.model.errors import Forbidden, Invalid, Unauthorized, UnknownAgent
from hubbub.model.lifecycle import Status
from hubbub.model.people.rights import Role
from hubbub.model.records import Condition
from tests.core.conftest import World, member, on_one_engine, person
from tests.support.self_named import by_a_tool_set


@pytest.fixture
def boss(world: World) -> World:
    """A person who manages the project."""
    return world.acting(person(world, "boss", Role.ADMIN))


def test_what_it_had_is_free_dead_or_over(world: World, boss: World) -> None:
    """Its token ends, its work goes back to the queue, its unread mail is dead, and its sender is told."""
    _token, secret = boss.do(tokens.for_project, world.project, role=Role.MEMBER, agent="typo")
    world.report("typo", Condition.WORKING)
    world.report("ann", Condition.IDLE)
    claimed, begun = world.send(None), world.send("typo")
    world.accept(claimed, "typo")
    world.start(begun, "typo")
    world.do(messages.send, world.id, sender="ann", to="typo", body="are you there?")

    boss.do(agent_removal.remove, world.project, "typo")

    assert [world.task(each).status for each in (claimed, begun)] == [Status.QUEUED, Status.QUEUED]
    assert [world.task(each).assignee for each in (claimed, begun)] == [None, None]
    with pytest.raises(Unauthorized):
        world.do(access.authenticate, secret)
    with pytest.raises(UnknownAgent):
        world.do(agents.find, world.id, "typo")
    assert [each.recipient for each in world.do(deadletters.of_project, world.id, limit=9)] == ["typo"]
    (told,) = world.do(inbox.read, world.id, "ann", 9)
    assert told.text.startswith("M-1 was not read by typo: that agent was removed from the project.")
    removed = world.log()[-1]
    assert (removed.kind, removed.agent) == ("agent.removed", "typo")
    assert json.loads(removed.patch or "") == {"agents": {"typo": None}}


def test_who_comes_by_that_name_later_is_new(world: World, boss: World) -> None:
    """A name that was removed may be met again; the mail that nobody read is there."""
    world.report("ann", Condition.IDLE)
    world.do(agents.meet, world.id, "typo")
    world.do(messages.send, world.id, sender="ann", to="typo", body="hello")
    boss.do(agent_removal.remove, world.project, "typo")
    world.report("typo", Condition.IDLE)
    assert [each.text for each in world.do(inbox.read, world.id, "typo", 9)] == ["hello"]


def test_only_people_who_manage_remove(world: World, boss: World) -> None:
    """No agent's token removes an agent, and no member; nobody removes whom nobody knows, or a machine."""
    world.do(agents.meet, world.id, "typo")
    for who in (member(world.project, Role.ADMIN), person(world, "eve", Role.MEMBER)):
        with pytest.raises(Forbidden):
            world.acting(who).do(agent_removal.remove, world.project, "typo")
    with pytest.raises(UnknownAgent):
        boss.do(agent_removal.remove, world.project, "nobody")
    with pytest.raises(Invalid, match="stands for a machine"):
        boss.do(agent_removal.remove, world.project, "node:box")


@on_one_engine
@pytest.mark.parametrize("name", ["x y", "$(id)", "-x", "a/b", "a;b", "x" * 65, "a\nb"])
def test_an_agent_is_called_what_all_can_write(world: World, boss: World, name: str) -> None:
    """At the hub's own doors nobody makes an agent whose name a shell or an address would not take.

    One that has named itself by the rules of a documented tool set is let be.
    """
    with pytest.raises(Invalid, match="an agent's name has"):
        boss.do(tokens.for_project, world.project, role=Role.MEMBER, agent=name)
    if "\n" not in name:
        with pytest.raises(Invalid, match="an agent's name has"):
            world.do(agents.meet, world.id, name)
        world.do(by_a_tool_set, world.id, name)
        boss.do(tokens.for_project, world.project, role=Role.MEMBER, agent=name)
    boss.do(tokens.for_project, world.project, role=Role.MEMBER, agent="代码-1.b_c@d+e")
