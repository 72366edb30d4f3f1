"""SQL for the key by which the hub signs what it says of tasks."""

from hubbub.store.tx import Tx


def find(tx: Tx) -> str | None:
    row = tx.one("SELECT private FROM signing_key")
    return row["private"] if row is not None else None


def keep(tx: Tx, private: str) -> None:
    """Keep the key, unless another was there first."""
    tx.run(
        "INSERT INTO signing_key (one, private, made_at) VALUES (1, :private, :now) ON CONFLICT (one) DO NOTHING",
        private=private,
        now=tx.now,
    )
