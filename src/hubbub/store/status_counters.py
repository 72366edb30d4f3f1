"""SQL for the counters of writers: tasks in each status, the contents of inboxes, and sequence numbers."""

from typing import Literal
from uuid import UUID

from hubbub.store import many_rows
from hubbub.store.tx import Connection, CounterChanges, Tx


def flush(db: Connection, tally: CounterChanges) -> None:
    """Add the changes to the stored counts. The engines call this last before a commit, after all work that was left.

    Always in the same order, so that two transactions that change the same rows do not deadlock; and last, so that
    the rows, which every sender of a project needs, are locked only for a moment.
    """
    numbers = [(*counter, more) for counter, more in sorted(tally.numbers.items())]
    for listed, values in many_rows.parts(numbers):
        db.tell(
            f"""INSERT INTO counters (project_id, noun, value) VALUES {listed}
                ON CONFLICT (project_id, noun) DO UPDATE SET value = counters.value + excluded.value""",
            values,
        )
    tasks = [(*each, change) for each, change in sorted(tally.tasks.items()) if change]
    for listed, values in many_rows.parts(tasks):
        db.tell(
            f"""INSERT INTO task_tally (project_id, status, tasks) VALUES {listed}
                ON CONFLICT (project_id, status) DO UPDATE SET tasks = task_tally.tasks + excluded.tasks""",
            values,
        )
    changed = (
        (*each, tally.pending[each], tally.unread[each])
        for each in sorted(tally.pending.keys() | tally.unread.keys())
    )
    for listed, values in many_rows.parts([each for each in changed if each[2] or each[3]]):
        db.tell(
            f"""INSERT INTO inbox_tally (project_id, recipient, pending, unread) VALUES {listed}
                ON CONFLICT (project_id, recipient) DO UPDATE SET
                    pending = inbox_tally.pending + excluded.pending,
                    unread = inbox_tally.unread + excluded.unread""",
            values,
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
    changed: int = sum(getattr(each, which).get((project_id, recipient), 0) for each in (tx.before, tx.tally))
    return changed + (int(row["kept"]) if row is not None else 0)
