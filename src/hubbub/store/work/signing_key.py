"""SQL for the key by which the hub signs its statements on tasks."""

from hubbub.store.tx import Tx


def find(tx: Tx) -> str | None:
    row = tx.one("SELECT private FROM signing_key")
    return row["private"] if row is not None else None


def keep(tx: Tx, private: str) -> None:
    """Store the key, unless another was stored first."""
    tx.run(
        "INSERT INTO signing_key (one, private, made_at) VALUES (1, :private, :now) ON CONFLICT (one) DO NOTHING",
        private=private,
        now=tx.now,
    )
