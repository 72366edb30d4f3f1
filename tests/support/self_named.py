"""Agents with names of any kind, as the documented tool sets let them have."""

from uuid import UUID

from hubbub.core.agents import agents
from hubbub.store.tx import Tx


def by_a_tool_set(tx: Tx, project_id: UUID, name: str) -> None:
    """Have an agent name itself, by the rules of a documented tool set."""
    door, tx.door = tx.door, "relay"
    agents.meet(tx, project_id, name)
    tx.door = door
