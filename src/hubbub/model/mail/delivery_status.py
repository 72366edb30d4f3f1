"""Progress of a letter: stored, notified, seen, acknowledged; or dead, because nobody came to read it."""

from enum import StrEnum, auto


class DeliveryStatus(StrEnum):
    """The stations of a letter, in order; a `dead` letter was never read by anyone."""

    STORED = auto()
    NOTIFIED = auto()
    SEEN = auto()
    ACKED = auto()
    DEAD = auto()

    @classmethod
    def by(
        cls, notified_at: int | None, seen_at: int | None, acked_at: int | None, dead_at: int | None
    ) -> "DeliveryStatus":
        """Return the last station of a letter with these times."""
        times = (dead_at, cls.DEAD), (acked_at, cls.ACKED), (seen_at, cls.SEEN), (notified_at, cls.NOTIFIED)
        return next((station for at, station in times if at is not None), cls.STORED)
