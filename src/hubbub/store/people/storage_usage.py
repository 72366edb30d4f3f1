"""SQL for the number of bytes that each token has stored in a day."""

from uuid import UUID

from hubbub.store.tx import Tx


def add(tx: Tx, subject: UUID, day: int, stored: int) -> int:
    """Add to the subject's amount of that day; return the new amount, at all hubs."""
    row = tx.one(
        """INSERT INTO usage (subject, day, stored) VALUES (:subject, :day, :stored)
           ON CONFLICT (day, subject) DO UPDATE SET stored = usage.stored + excluded.stored RETURNING stored""",
        subject=subject,
        day=day,
        stored=stored,
    )
    assert row is not None  # an upsert always returns a row
    return int(row["stored"])


def of_day(tx: Tx, day: int) -> dict[UUID, int]:
    """Return the amount that each subject has stored that day."""
    return {row["subject"]: row["stored"] for row in tx.all("SELECT * FROM usage WHERE day = :day", day=day)}


def forget(tx: Tx, before: int) -> None:
    """Drop the days before `before`."""
    tx.run("DELETE FROM usage WHERE day < :before", before=before)
