"""SQL for late tasks, and for the reports of them.

`model/log/attention.py` decides when a task is late. Here the same condition selects from all tasks at once, so that
only the late ones are checked one by one.
"""

from uuid import UUID

from hubbub.model.fleet.approvals import ApprovalStatus
from hubbub.model.lifecycle import Status
from hubbub.model.records import Condition
from hubbub.store.limits.accounts import HELD_UNTIL
from hubbub.store.tx import Tx

# A CROSS JOIN, so that SQLite starts from each project's open tasks instead of all tasks ever.
_DUE = f"""WITH waiting AS (
        SELECT t.id, t.project_id, t.assignee, t.updated_at, CASE WHEN t.gated = 0 THEN 0 ELSE
            (SELECT CASE WHEN count(*) = count(CASE WHEN n.status = :completed THEN 1 END) THEN max(n.ended_at) END
             FROM dependencies d JOIN tasks n ON n.id = d.needs_id WHERE d.task_id = t.id) END AS ready_at
        FROM projects p CROSS JOIN tasks t
        WHERE t.project_id = p.id AND t.status IN (:queued, :delivered) AND t.updated_at <= :unbegun_since
    ), paused AS (
        SELECT w.id, CASE WHEN w.updated_at > w.ready_at THEN w.updated_at ELSE w.ready_at END AS ready_at,
               {HELD_UNTIL} AS held_until
        FROM waiting w LEFT JOIN agents a ON a.project_id = w.project_id AND a.name = w.assignee
        LEFT JOIN accounts c ON c.project_id = a.project_id AND c.name = a.account WHERE w.ready_at IS NOT NULL
    ), late AS (
        SELECT id, CASE WHEN held_until > ready_at THEN held_until ELSE ready_at END + :unbegun AS since FROM paused
        UNION ALL
        SELECT t.id, CASE WHEN h.paused_until > t.updated_at AND h.paused_until > h.since THEN h.paused_until
                          WHEN t.updated_at > h.since THEN t.updated_at ELSE h.since END + :silent AS since
        FROM projects p CROSS JOIN tasks t
        JOIN agents a ON a.project_id = t.project_id AND a.name = t.assignee JOIN presences h ON h.id = a.presence_id
        WHERE t.project_id = p.id AND t.status = :working AND t.updated_at <= :silent_since
          AND h.ended_at IS NULL AND h.condition <> :held_up
          AND NOT EXISTS (SELECT 1 FROM approvals q
                          WHERE q.project_id = t.project_id AND q.who = t.assignee AND q.status = :pending)
    )
    SELECT late.id FROM late LEFT JOIN late_tasks told ON told.task_id = late.id
    WHERE late.since <= :now AND (told.since IS NULL OR told.since <> late.since)
    ORDER BY late.since LIMIT :limit"""


def due(tx: Tx, *, unbegun: int, silent: int, limit: int) -> list[UUID]:
    """List the late tasks without a report, the longest late first.

    Late are tasks that nobody began for `unbegun` milliseconds, though they wait for nothing, and those whose present
    agent has reported nothing for `silent`.
    """
    rows = tx.all(
        _DUE,
        now=tx.now,
        unbegun=unbegun,
        silent=silent,
        unbegun_since=tx.now - unbegun,
        silent_since=tx.now - silent,
        completed=Status.COMPLETED,
        queued=Status.QUEUED,
        delivered=Status.DELIVERED,
        working=Status.WORKING,
        held_up=Condition.WAITING,
        pending=ApprovalStatus.PENDING,
        limit=limit,
    )
    return [row["id"] for row in rows]


def note(tx: Tx, task_id: UUID, since: int) -> bool:
    """Note that a task is reported as late since then; False if it was already."""
    return tx.any(
        """INSERT INTO late_tasks (task_id, since) VALUES (:task_id, :since)
           ON CONFLICT (task_id) DO UPDATE SET since = excluded.since WHERE late_tasks.since <> excluded.since
           RETURNING task_id""",
        task_id=task_id,
        since=since,
    )
