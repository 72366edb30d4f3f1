"""What people say about an agent: its description, and the area that it works in."""

from dataclasses import replace

import pytest

from hubbub.core import agent_editing, agent_removal, agent_renaming
from hubbub.core.agents import agents, scopes
from hubbub.model.agents.scopes import Scope
from hubbub.model.errors import Conflict, Forbidden, Invalid, ScopeConflict, UnknownAgent
from hubbub.model.people.rights import HUB, Role
from hubbub.model.records import Condition
from tests.core.conftest import World, member, person


@pytest.fixture
def eve(world: World) -> World:
    """A person of the project, in which bob is present."""
    world.report("bob")
    return world.acting(person(world, "eve", Role.ADMIN))


def description(world: World, name: str = "bob") -> str | None:
    return world.do(agents.find, world.id, name).description


def edits(world: World) -> list[object]:
    return [each.detail["description"] for each in world.log() if each.kind == "agent.edited"]


def test_a_person_says_what_an_agent_is_for(world: World, eve: World) -> None:
    """A description is kept without blanks at its ends, is told once for each change, and blanks clear it."""
    for text in (" Reviews the parser\n", "Reviews the parser", "  "):
        eve.do(agent_editing.describe, eve.project, "bob", text)
    assert edits(world) == ["Reviews the parser", None]
    assert description(world) is None


def test_a_description_belongs_to_the_agent(world: World, eve: World) -> None:
    """It outlasts the agent's presence, goes with it under another name, and ends with its removal."""
    eve.do(agent_editing.describe, eve.project, "bob", "Reviews")
    world.report("bob", Condition.OFFLINE)
    world.report("bob")
    assert description(world) == "Reviews"
    world.report("bob", Condition.OFFLINE)
    eve.do(agent_renaming.rename, eve.project, "bob", "rob")
    assert description(world, "rob") == "Reviews"
    eve.do(agent_removal.remove, eve.project, "rob")
    world.report("rob")
    assert description(world, "rob") is None


def test_a_person_moves_an_agent_to_another_area(world: World, eve: World) -> None:
    """Its files stay declared, the agent reads who did it, and moving it where it is does nothing."""
    eve.do(scopes.put_area, eve.project, "web", name="Web", patterns=["web/"])
    presence = world.do(agents.presence, world.id, "bob")
    assert presence is not None
    world.do(scopes.declare, world.project, presence, Scope.of(None, ["docs/a.md"]))
    for _ in range(2):
        eve.do(agent_editing.set_area, eve.project, "bob", "web")
    moved = world.do(agents.presence, world.id, "bob")
    assert moved is not None
    assert (moved.area, moved.files) == ("web", ("docs/a.md",))
    eve.do(agent_editing.set_area, eve.project, "bob", "")
    assert [(each.sender, each.body) for each in world.inbox("bob")] == [
        (HUB, "eve changed your scope: you work in the area web now"),
        (HUB, "eve changed your scope: you work in no area now"),
    ]
    told = [each for each in world.log() if each.kind == "agent.scope_change"]
    assert [(each.actor, each.detail["area"]) for each in told][-2:] == [("eve", "web"), ("eve", None)]


def test_an_area_needs_an_agent_that_is_there(world: World, eve: World) -> None:
    """An absent agent, an area that the project does not have, and one that it blocks are refused."""
    eve.do(scopes.put_area, eve.project, "web", name="Web", patterns=["web/"])
    with pytest.raises(Conflict, match="'ann' is not here"):
        eve.do(agent_editing.set_area, eve.project, "ann", "web")
    with pytest.raises(Invalid, match="no area 'nowhere'; it has web"):
        eve.do(agent_editing.set_area, eve.project, "bob", "nowhere")
    world.report("ann")
    eve.do(agent_editing.set_area, eve.project, "ann", "web")
    with pytest.raises(ScopeConflict):
        eve.do(agent_editing.set_area, replace(eve.project, conflict_mode="block"), "bob", "web")


def test_only_people_edit_an_agent(world: World, eve: World) -> None:
    """An agent's token is refused, and so is the name of an agent that the project does not know."""
    for act in (agent_editing.describe, agent_editing.set_area):
        with pytest.raises(Forbidden):
            world.acting(member(world.project)).do(act, world.project, "bob", "words")
        with pytest.raises(UnknownAgent):
            eve.do(act, eve.project, "nobody", "words")
