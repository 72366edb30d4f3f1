"""SQL for the agents that are placed on machines."""

from collections.abc import Sequence
from uuid import UUID

from hubbub.model.fleet.managed_agents import ManagedAgent
from hubbub.store.table import Table
from hubbub.store.tx import Tx

_TABLE = Table("placements", ManagedAgent, joined={"node": "m.name"}, alias="p")
_COLUMNS = _TABLE.selected
_placement = _TABLE.record
_PUT = _TABLE.putting("project_id", "agent")
_FROM = "placements p JOIN machines m ON m.id = p.machine"


def put(tx: Tx, placement: ManagedAgent) -> None:
    """Store a placement in place of the agent's old one."""
    tx.run(_PUT, **_TABLE.row(placement))


def find(tx: Tx, project_id: UUID, agent: str) -> ManagedAgent | None:
    row = tx.one(
        f"SELECT {_COLUMNS} FROM {_FROM} WHERE p.project_id = :project_id AND p.agent = :agent",
        project_id=project_id,
        agent=agent,
    )
    return _placement(row) if row else None


def of_project(tx: Tx, project_id: UUID) -> Sequence[ManagedAgent]:
    """List the project's placements, by the agents' names."""
    rows = tx.all(
        f"SELECT {_COLUMNS} FROM {_FROM} WHERE p.project_id = :project_id ORDER BY p.agent",
        project_id=project_id,
    )
    return [_placement(row) for row in rows]


def of_machine(tx: Tx, machine: UUID) -> Sequence[ManagedAgent]:
    """List the machine's placements, by the agents' names."""
    rows = tx.all(
        f"SELECT {_COLUMNS} FROM {_FROM} WHERE p.machine = :machine ORDER BY p.agent", machine=machine
    )
    return [_placement(row) for row in rows]


def delete(tx: Tx, project_id: UUID, agent: str) -> None:
    tx.run(
        "DELETE FROM placements WHERE project_id = :project_id AND agent = :agent",
        project_id=project_id,
        agent=agent,
    )
