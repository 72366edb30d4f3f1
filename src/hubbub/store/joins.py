"""SQL for the codes by which machines join: of each only its hash is kept."""

from hubbub.model.machines import JoinCode
from hubbub.store.tx import Row, Tx

_COLUMNS = "project_id, node, created_by, created_at, expires_at"


def _code(row: Row) -> JoinCode:
    return JoinCode(**row)


def insert(tx: Tx, code: JoinCode, secret_hash: str) -> None:
    tx.run(
        f"""INSERT INTO join_codes (hash, {_COLUMNS}, used_at)
            VALUES (:hash, :project_id, :node, :created_by, :created_at, :expires_at, NULL)""",
        hash=secret_hash,
        project_id=code.project_id,
        node=code.node,
        created_by=code.created_by,
        created_at=code.created_at,
        expires_at=code.expires_at,
    )


def use(tx: Tx, secret_hash: str) -> JoinCode | None:
    """The code of that secret, which is used up by this; None if it was before, is too old, or never was."""
    row = tx.one(
        f"""UPDATE join_codes SET used_at = :now
            WHERE hash = :hash AND used_at IS NULL AND expires_at > :now RETURNING {_COLUMNS}""",
        hash=secret_hash,
        now=tx.now,
    )
    return _code(row) if row else None


def forget(tx: Tx, before: int) -> None:
    """Drop those that were good until before `before`, used or not."""
    tx.run("DELETE FROM join_codes WHERE expires_at < :before", before=before)
