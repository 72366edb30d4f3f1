"""SQL for hand-overs: tasks that wait for one, agents that could take one, and hand-overs made."""

from uuid import UUID

from hubbub.model.lifecycle import Status
from hubbub.model.work.handovers import Handover, IdleAgent
from hubbub.store.table import Table
from hubbub.store.tx import Tx

_TABLE = Table("handovers", Handover, key=("task_id",))
_HELD = f"('{Status.DELIVERED}', '{Status.ACCEPTED}', '{Status.WORKING}')"
_MINUTE = 60_000


def due(tx: Tx, limit: int) -> list[UUID]:
    """List the tasks, most urgent first, whose holder's account is paused for as long as their project says."""
    return tx.column(
        f"""SELECT t.id FROM accounts c
            JOIN projects p ON p.id = c.project_id
            JOIN agents a ON a.project_id = c.project_id AND a.account = c.name
            JOIN tasks t ON t.project_id = a.project_id AND t.assignee = a.name
            LEFT JOIN handovers h ON h.task_id = t.id
            WHERE c.paused_at IS NOT NULL AND p.hand_over_after > 0 AND p.archived_at IS NULL
              AND (c.paused_until IS NULL OR c.paused_until >= :now + p.hand_over_after * {_MINUTE})
              AND t.ended_at IS NULL AND t.status IN {_HELD} AND h.task_id IS NULL
            ORDER BY t.priority, t.number LIMIT :limit""",
        now=tx.now,
        limit=limit,
    )


def idle(tx: Tx, project_id: UUID) -> list[IdleAgent]:
    """List the present agents without a task, by name."""
    rows = tx.all(
        f"""SELECT a.name, a.account, s.runtime FROM agents a JOIN presences s ON s.id = a.presence_id
            WHERE a.project_id = :project_id AND s.ended_at IS NULL AND s.expires_at > :now
              AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.project_id = a.project_id AND t.assignee = a.name
                              AND t.ended_at IS NULL AND t.status IN {_HELD})
            ORDER BY a.name""",
        project_id=project_id,
        now=tx.now,
    )
    return [IdleAgent(name=row["name"], account=row["account"], runtime=row["runtime"]) for row in rows]


note = _TABLE.put


def of_task(tx: Tx, task_id: UUID) -> Handover | None:
    """Return the hand-over of a task; None if there was none."""
    return _TABLE.find(tx, task_id=task_id)
