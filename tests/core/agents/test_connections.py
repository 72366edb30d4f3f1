"""Connections of an agent that has several."""

from datetime import timedelta
from uuid import UUID

from hubbub.core.agents import connections
from hubbub.model.agents.connections import Connection
from hubbub.model.ids import new_id
from tests.core.conftest import World


def test_an_agent_goes_on_by_another_connection_that_was_used_lately(world: World) -> None:
    """Another of its token counts where it speaks for the same agent and was used in the last ten minutes."""
    token, other = new_id(), new_id()

    def begin(name: str, agent: str | None, *, by: UUID = token) -> None:
        world.do(connections.begin, Connection(name, by, "hub", "2025-06-18", asks=False))
        if agent is not None:
            world.do(connections.remember, name, agent)

    begin("its", "bob")
    begin("another agent's", "ann")
    begin("silent", None)
    begin("of another token", "bob", by=other)
    assert not world.do(connections.has_twin, "its")
    begin("a second", "bob")
    assert world.do(connections.has_twin, "its")
    world.clock.advance(timedelta(minutes=11))
    assert not world.do(connections.has_twin, "its")
    world.do(connections.use, "a second")
    assert world.do(connections.has_twin, "its")
    assert not world.do(connections.has_twin, "another agent's")
