"""SQL for checks of tasks before they count as completed."""

from uuid import UUID

from hubbub.model.records import Check
from hubbub.store.table import Table
from hubbub.store.tx import Tx

_TABLE = Table("checks", Check)

insert = _TABLE.insert


def find(tx: Tx, check_id: UUID) -> Check | None:
    return _TABLE.find(tx, id=check_id)


def latest(tx: Tx, task_id: UUID) -> Check | None:
    """Return the task's last check."""
    return _TABLE.one(tx, "WHERE task_id = :task_id ORDER BY id DESC LIMIT 1", task_id=task_id)


def renew(tx: Tx, check_id: UUID, expires_at: int) -> Check | None:
    """Extend the check until then; None if it has ended."""
    return _TABLE.update(
        tx,
        "SET expires_at = :expires_at WHERE id = :id AND ended_at IS NULL AND expires_at > :now",
        id=check_id,
        expires_at=expires_at,
        now=tx.now,
    )


def end(tx: Tx, check_id: UUID, *, passed: bool | None, output: str | None) -> Check | None:
    """Store the result of the check; None if it has ended, or its time ran out."""
    return _TABLE.update(
        tx,
        """SET ended_at = :now, passed = :passed, output = :output
           WHERE id = :id AND ended_at IS NULL AND expires_at > :now""",
        id=check_id,
        passed=int(passed) if passed is not None else None,
        output=output,
        now=tx.now,
    )
