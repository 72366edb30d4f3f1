"""SQL for the agents that are placed on machines."""

from collections.abc import Sequence
from uuid import UUID

from hubbub.model.placements import Placement, PlacementStatus
from hubbub.store.tx import Row, Tx

_COLUMNS = (
    "p.project_id, p.agent, p.machine, m.name AS node, p.command, p.started_by, p.token_id, p.status, p.since, p.pid, "
    "p.restarts, p.exit_code, p.reported_at"
)
_FROM = "placements p JOIN machines m ON m.id = p.machine"


def _placement(row: Row) -> Placement:
    return Placement(**{**row, "status": PlacementStatus(row["status"])})


def put(tx: Tx, placement: Placement) -> None:
    """Keep a placement, in the place of the one that the agent had."""
    tx.run(
        """INSERT INTO placements (project_id, agent, machine, command, started_by, token_id, status, since, pid,
                                   restarts, exit_code, reported_at)
           VALUES (:project_id, :agent, :machine, :command, :started_by, :token_id, :status, :since, :pid,
                   :restarts, :exit_code, :reported_at)
           ON CONFLICT (project_id, agent) DO UPDATE SET
               machine = excluded.machine, command = excluded.command, started_by = excluded.started_by,
               token_id = excluded.token_id, status = excluded.status, since = excluded.since, pid = excluded.pid,
               restarts = excluded.restarts, exit_code = excluded.exit_code,
               reported_at = excluded.reported_at""",
        project_id=placement.project_id,
        agent=placement.agent,
        machine=placement.machine,
        command=placement.command,
        started_by=placement.started_by,
        token_id=placement.token_id,
        status=placement.status,
        since=placement.since,
        pid=placement.pid,
        restarts=placement.restarts,
        exit_code=placement.exit_code,
        reported_at=placement.reported_at,
    )


def find(tx: Tx, project_id: UUID, agent: str) -> Placement | None:
    row = tx.one(
        f"SELECT {_COLUMNS} FROM {_FROM} WHERE p.project_id = :project_id AND p.agent = :agent",
        project_id=project_id,
        agent=agent,
    )
    return _placement(row) if row else None


def hold(tx: Tx, project_id: UUID, agent: str) -> None:
    """Let nobody else place the agent of that name, or change its placement, before this transaction ends."""
    tx.run(
        f"SELECT name FROM agents WHERE project_id = :project_id AND name = :agent {tx.db.for_update}",
        project_id=project_id,
        agent=agent,
    )


def of_project(tx: Tx, project_id: UUID) -> Sequence[Placement]:
    """The project's placements, by the agents' names."""
    rows = tx.all(
        f"SELECT {_COLUMNS} FROM {_FROM} WHERE p.project_id = :project_id ORDER BY p.agent",
        project_id=project_id,
    )
    return [_placement(row) for row in rows]


def of_machine(tx: Tx, machine: UUID) -> Sequence[Placement]:
    """What is placed on the machine, by the agents' names."""
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
