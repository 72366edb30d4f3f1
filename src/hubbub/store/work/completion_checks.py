"""SQL for checks of tasks before they count as completed."""

from uuid import UUID

from hubbub.model.records import Check
from hubbub.store.table import Table
from hubbub.store.tx import Tx

_TABLE = Table("checks", Check)
_COLUMNS = _TABLE.selected
_check = _TABLE.record


def insert(tx: Tx, check: Check) -> Check:
    tx.run(_TABLE.insertion, **_TABLE.row(check))
    return check


def find(tx: Tx, check_id: UUID) -> Check | None:
    row = tx.one(f"SELECT {_COLUMNS} FROM checks WHERE id = :id", id=check_id)
    return _check(row) if row else None


def latest(tx: Tx, task_id: UUID) -> Check | None:
    """Return the task's last check."""
    row = tx.one(
        f"SELECT {_COLUMNS} FROM checks WHERE task_id = :task_id ORDER BY id DESC LIMIT 1", task_id=task_id
    )
    return _check(row) if row else None


def renew(tx: Tx, check_id: UUID, expires_at: int) -> Check | None:
    """Extend the check until then; None if it has ended."""
    row = tx.one(
        f"""UPDATE checks SET expires_at = :expires_at WHERE id = :id AND ended_at IS NULL AND expires_at > :now
            RETURNING {_COLUMNS}""",
        id=check_id,
        expires_at=expires_at,
        now=tx.now,
    )
    return _check(row) if row else None


def end(tx: Tx, check_id: UUID, *, passed: bool | None, output: str | None) -> Check | None:
    """Store the result of the check; None if it has ended, or its time ran out."""
    row = tx.one(
        f"""UPDATE checks SET ended_at = :now, passed = :passed, output = :output
            WHERE id = :id AND ended_at IS NULL AND expires_at > :now RETURNING {_COLUMNS}""",
        id=check_id,
        passed=int(passed) if passed is not None else None,
        output=output,
        now=tx.now,
    )
    return _check(row) if row else None
