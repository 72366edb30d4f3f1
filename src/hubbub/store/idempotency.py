"""SQL for the answers to keyed writes."""

from hubbub.store.tx import Row, Tx


def find(tx: Tx, owner: str, key: str) -> Row | None:
    return tx.one(
        "SELECT digest, reply FROM idempotency WHERE owner = :owner AND key = :key", owner=owner, key=key
    )


def insert(tx: Tx, owner: str, key: str, digest: str, reply: str) -> None:
    tx.run(
        """INSERT INTO idempotency (owner, key, digest, reply, created_at)
           VALUES (:owner, :key, :digest, :reply, :now)""",
        owner=owner,
        key=key,
        digest=digest,
        reply=reply,
        now=tx.now,
    )


def forget(tx: Tx, before: int) -> None:
    """Drop the answers that were given before `before`."""
    tx.run("DELETE FROM idempotency WHERE created_at < :before", before=before)
