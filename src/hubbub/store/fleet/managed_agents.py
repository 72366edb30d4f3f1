"""SQL for the agents that are placed on machines."""

from collections.abc import Sequence
from uuid import UUID

from hubbub.model.fleet.managed_agents import ManagedAgent
from hubbub.store.table import Table
from hubbub.store.tx import Tx

_TABLE = Table(
    "placements",
    ManagedAgent,
    key=("project_id", "agent"),
    alias="p",
    joined={"node": "m.name"},
    join="JOIN machines m ON m.id = p.machine",
)


put = _TABLE.put


def find(tx: Tx, project_id: UUID, agent: str) -> ManagedAgent | None:
    return _TABLE.one(
        tx, "WHERE p.project_id = :project_id AND p.agent = :agent", project_id=project_id, agent=agent
    )


def of_project(tx: Tx, project_id: UUID) -> Sequence[ManagedAgent]:
    """List the project's placements, by the agents' names."""
    return _TABLE.all(tx, "WHERE p.project_id = :project_id ORDER BY p.agent", project_id=project_id)


def of_machine(tx: Tx, machine: UUID) -> Sequence[ManagedAgent]:
    """List the machine's placements, by the agents' names."""
    return _TABLE.all(tx, "WHERE p.machine = :machine ORDER BY p.agent", machine=machine)


def delete(tx: Tx, project_id: UUID, agent: str) -> None:
    tx.run(
        "DELETE FROM placements WHERE project_id = :project_id AND agent = :agent",
        project_id=project_id,
        agent=agent,
    )
