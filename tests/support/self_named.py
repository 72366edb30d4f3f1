"""Agents that named themselves, also by names that are refused today and that older projects still know."""

from uuid import UUID

from hubbub.core.snapshots import patches
from hubbub.store.agents import agents
from hubbub.store.tx import Tx


def by_a_tool_set(tx: Tx, project_id: UUID, name: str) -> None:
    """Have the project know an agent that named itself, whatever the rules say now."""
    if agents.meet(tx, project_id, name):
        patch = patches.agent(tx, project_id, name)
        tx.record("agent.met", project_id=project_id, agent=name, patch=patch)
