"""SQL for dependencies: tasks that must be completed before another may be claimed."""

from collections.abc import Sequence
from uuid import UUID

from hubbub.model.errors import NeededTask
from hubbub.model.lifecycle import Status
from hubbub.model.records import Run
from hubbub.store.tx import Tx


def insert(tx: Tx, task_id: UUID, needs: Sequence[UUID]) -> None:
    """Store the tasks that a task needs, in this order."""
    for position, needs_id in enumerate(needs):
        tx.run(
            "INSERT INTO dependencies (task_id, position, needs_id) VALUES (:task_id, :position, :needs_id)",
            task_id=task_id,
            position=position,
            needs_id=needs_id,
        )


def unmet(tx: Tx, task_id: UUID) -> list[NeededTask]:
    """Return the needed tasks that are not completed, in order."""
    rows = tx.all(
        """SELECT t.id, t.number, t.status FROM dependencies d JOIN tasks t ON t.id = d.needs_id
           WHERE d.task_id = :task_id AND t.status <> :completed ORDER BY d.position""",
        task_id=task_id,
        completed=Status.COMPLETED,
    )
    return [NeededTask(str(row["id"]), row["number"], row["status"]) for row in rows]


def of_task(tx: Tx, task_id: UUID) -> list[UUID]:
    """Return the ids of the needed tasks, in order."""
    return tx.column("SELECT needs_id FROM dependencies WHERE task_id = :id ORDER BY position", id=task_id)


def of_run(tx: Tx, run: Run) -> dict[UUID, list[UUID]]:
    """Return the needs of each of the run's tasks, in order; tasks without needs are left out."""
    rows = tx.all(
        """SELECT d.task_id, d.needs_id FROM tasks t JOIN dependencies d ON d.task_id = t.id
           WHERE t.run_id = :run_id AND t.gated = 1 ORDER BY d.task_id, d.position""",
        run_id=run.id,
    )
    needs: dict[UUID, list[UUID]] = {}
    for row in rows:
        needs.setdefault(row["task_id"], []).append(row["needs_id"])
    return needs


def waiting_for(tx: Tx, needs_id: UUID) -> list[UUID]:
    """List the tasks that need this one, oldest first."""
    return tx.column("SELECT task_id FROM dependencies WHERE needs_id = :id ORDER BY task_id", id=needs_id)
