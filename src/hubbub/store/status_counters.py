"""SQL for the counters of writers: tasks in each status, the contents of inboxes, and sequence numbers."""

from typing import Literal
from uuid import UUID

from hubbub.store.tx import Connection, CounterChanges, Tx


def flush(db: Connection, tally: CounterChanges) -> None:
    """Add the changes to the stored counts. The engines call this last before a commit.

    Always in the same order, so that two transactions that change the same rows do not deadlock; and last, so that
    the rows, which every sender of a project needs, are locked only for a moment.
    """
    for (project_id, noun), more in sorted(tally.numbers.items()):
        db.tell(
            "UPDATE counters SET value = value + :more WHERE project_id = :project_id AND noun = :noun",
            {"project_id": project_id, "noun": noun, "more": more},
        )
    for (project_id, status), change in sorted(tally.tasks.items()):
        if change:
            db.tell(
                """INSERT INTO task_tally (project_id, status, tasks) VALUES (:project_id, :status, :change)
                   ON CONFLICT (project_id, status) DO UPDATE SET tasks = task_tally.tasks + excluded.tasks""",
                {"project_id": project_id, "status": status, "change": change},
            )
    for inbox in sorted(tally.pending.keys() | tally.unread.keys()):
        pending, unread = tally.pending[inbox], tally.unread[inbox]
        if pending or unread:
            db.tell(
                """INSERT INTO inbox_tally (project_id, recipient, pending, unread)
                   VALUES (:project_id, :recipient, :pending, :unread)
                   ON CONFLICT (project_id, recipient) DO UPDATE SET
                       pending = inbox_tally.pending + excluded.pending,
                       unread = inbox_tally.unread + excluded.unread""",
                {"project_id": inbox[0], "recipient": inbox[1], "pending": pending, "unread": unread},
            )


def counts(tx: Tx, project_id: UUID) -> dict[str, int]:
    """Count the tasks of the project by status, as of the last commit; unused statuses are left out."""
    rows = tx.all(
        "SELECT status, tasks FROM task_tally WHERE project_id = :project_id ORDER BY status",
        project_id=project_id,
    )
    return {row["status"]: row["tasks"] for row in rows}


def totals(tx: Tx) -> dict[str, int]:
    """Count the tasks of all projects by status, as of the last commit."""
    rows = tx.all("SELECT status, CAST(SUM(tasks) AS BIGINT) AS tasks FROM task_tally GROUP BY status")
    return {row["status"]: row["tasks"] for row in rows}


def pending(tx: Tx, project_id: UUID, recipient: str) -> int:
    """Count the rows of the recipient's inbox that are neither acknowledged nor withdrawn."""
    return _in_inbox(tx, "pending", project_id, recipient)


def unread(tx: Tx, project_id: UUID, recipient: str) -> int:
    """Count the waiting rows of the recipient's inbox that it has not read."""
    return _in_inbox(tx, "unread", project_id, recipient)


def _in_inbox(tx: Tx, which: Literal["pending", "unread"], project_id: UUID, recipient: str) -> int:
    """Return the count that this transaction sees: the stored one, its own changes, and those committed with it."""
    row = tx.one(
        f"SELECT {which} AS kept FROM inbox_tally WHERE project_id = :project_id AND recipient = :recipient",
        project_id=project_id,
        recipient=recipient,
    )
    changed: int = sum(getattr(each, which)[project_id, recipient] for each in (tx.before, tx.tally))
    return changed + (int(row["kept"]) if row is not None else 0)
