"""SQL for the tally: how many tasks of a project are in each status, kept by the writers."""

from collections.abc import Mapping
from uuid import UUID

from hubbub.store.tx import Connection, Tx


def flush(db: Connection, changes: Mapping[tuple[UUID, str], int]) -> None:
    """Add `changes` to what is kept. The engines call this last before a commit.

    Always in the same order, so that two transactions that change the same rows wait for each other, not both
    for ever; and last, so that the rows, which every sender of a project needs, are locked for a moment only.
    """
    for (project_id, status), change in sorted(changes.items()):
        if change:
            db.tell(
                """INSERT INTO task_tally (project_id, status, tasks) VALUES (:project_id, :status, :change)
                   ON CONFLICT (project_id, status) DO UPDATE SET tasks = task_tally.tasks + excluded.tasks""",
                {"project_id": project_id, "status": status, "change": change},
            )


def counts(tx: Tx, project_id: UUID) -> dict[str, int]:
    """How many tasks of the project are in each status, as of the last commit; a status nobody has had is left out."""
    rows = tx.all(
        "SELECT status, tasks FROM task_tally WHERE project_id = :project_id ORDER BY status",
        project_id=project_id,
    )
    return {row["status"]: row["tasks"] for row in rows}


def totals(tx: Tx) -> dict[str, int]:
    """Return how many tasks of all projects are in each status, as of the last commit."""
    rows = tx.all("SELECT status, CAST(SUM(tasks) AS BIGINT) AS tasks FROM task_tally GROUP BY status")
    return {row["status"]: row["tasks"] for row in rows}
