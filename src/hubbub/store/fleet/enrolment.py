"""SQL for the codes by which machines join; only their hashes are stored."""

from hubbub.model.fleet.nodes import JoinCode
from hubbub.store.table import Table
from hubbub.store.tx import Tx

_TABLE = Table("join_codes", JoinCode)
_INSERT = _TABLE.inserting(["hash"])


def insert(tx: Tx, code: JoinCode, secret_hash: str) -> None:
    tx.run(_INSERT, hash=secret_hash, **_TABLE.row(code))


def use(tx: Tx, secret_hash: str) -> JoinCode | None:
    """Use up the code with that secret and return it; None if it was used, has expired, or never existed."""
    return _TABLE.update(
        tx,
        "SET used_at = :now WHERE hash = :hash AND used_at IS NULL AND expires_at > :now",
        hash=secret_hash,
        now=tx.now,
    )


def forget(tx: Tx, before: int) -> None:
    """Delete codes that expired before `before`, used or not."""
    tx.run("DELETE FROM join_codes WHERE expires_at < :before", before=before)
