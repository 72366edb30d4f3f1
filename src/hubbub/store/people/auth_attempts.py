"""SQL for authentication attempts, and for the browsers in which people have signed in before."""

from uuid import UUID

from hubbub.store.tx import Tx


def count(tx: Tx, subject: str, window: int) -> tuple[int, int]:
    """Count one more attempt of the subject; return their number within `window` milliseconds, and its start."""
    row = tx.one(
        """INSERT INTO tries (subject, began_at, tries) VALUES (:subject, :now, 1)
           ON CONFLICT (subject) DO UPDATE SET
               tries = CASE WHEN tries.began_at <= :over THEN 1 ELSE tries.tries + 1 END,
               began_at = CASE WHEN tries.began_at <= :over THEN :now ELSE tries.began_at END
           RETURNING tries, began_at""",
        subject=subject,
        now=tx.now,
        over=tx.now - window,
    )
    assert row is not None  # an upsert always returns a row
    return row["tries"], row["began_at"]


def take_back(tx: Tx, subject: str) -> None:
    """Count one attempt fewer."""
    tx.run("UPDATE tries SET tries = tries - 1 WHERE subject = :subject AND tries > 0", subject=subject)


def forget(tx: Tx, before: int) -> None:
    """Drop the attempts of windows that began before `before`."""
    tx.run("DELETE FROM tries WHERE began_at < :before", before=before)


def put_browser(tx: Tx, browser_hash: str, user_id: UUID) -> None:
    """Remember the browser as one in which the person signs in."""
    tx.run(
        """INSERT INTO known_browsers (hash, user_id, seen_at) VALUES (:hash, :user_id, :now)
           ON CONFLICT (hash) DO UPDATE SET seen_at = excluded.seen_at""",
        hash=browser_hash,
        user_id=user_id,
        now=tx.now,
    )


def knows(tx: Tx, browser_hash: str, user_id: UUID, since: int) -> bool:
    """Tell whether the person has signed in there since then."""
    return tx.any(
        "SELECT 1 AS known FROM known_browsers WHERE hash = :hash AND user_id = :user_id AND seen_at >= :since",
        hash=browser_hash,
        user_id=user_id,
        since=since,
    )


def drop_browsers(tx: Tx, user_id: UUID) -> None:
    """Forget the person's browsers."""
    tx.run("DELETE FROM known_browsers WHERE user_id = :user_id", user_id=user_id)


def forget_browsers(tx: Tx, before: int) -> None:
    """Drop browsers last used before `before`."""
    tx.run("DELETE FROM known_browsers WHERE seen_at < :before", before=before)
