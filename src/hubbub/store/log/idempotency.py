"""SQL for the answers to keyed writes."""

from hubbub.store.tx import Row, Tx


def claim(tx: Tx, owner: str, key: str, digest: str) -> Row:
    """Return the `digest`, `reply` and `refused` of that key; a new key becomes the caller's, with an empty reply.

    A claim of a key that another transaction is just using waits for its commit.
    """
    row = tx.one(
        """INSERT INTO idempotency (owner, key, digest, reply, created_at)
           VALUES (:owner, :key, :digest, '', :now)
           ON CONFLICT (owner, key) DO UPDATE SET key = excluded.key RETURNING digest, reply, refused""",
        owner=owner,
        key=key,
        digest=digest,
        now=tx.now,
    )
    assert row is not None  # an upsert always returns a row
    return row


def keep(tx: Tx, owner: str, key: str, reply: str, *, refused: int | None = None) -> None:
    """Store the answer to the write of a claimed key; `refused`: it is a refusal of the attempts up to that number."""
    tx.run(
        "UPDATE idempotency SET reply = :reply, refused = :refused WHERE owner = :owner AND key = :key",
        refused=refused,
        owner=owner,
        key=key,
        reply=reply,
    )


def forget(tx: Tx, before: int) -> None:
    """Delete the answers given before `before`."""
    tx.run("DELETE FROM idempotency WHERE created_at < :before", before=before)
