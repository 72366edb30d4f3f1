"""How far a letter got: stored, notified, seen, acknowledged; or nobody came to read it."""

from enum import StrEnum, auto


class DeliveryStatus(StrEnum):
    """The stations of a letter, in their order; `dead` is what nobody came to read."""

    STORED = auto()
    NOTIFIED = auto()
    SEEN = auto()
    ACKED = auto()
    DEAD = auto()

    @classmethod
    def by(
        cls, notified_at: int | None, seen_at: int | None, acked_at: int | None, dead_at: int | None
    ) -> "DeliveryStatus":
        """How far a letter with these times got."""
        times = (dead_at, cls.DEAD), (acked_at, cls.ACKED), (seen_at, cls.SEEN), (notified_at, cls.NOTIFIED)
        return next((station for at, station in times if at is not None), cls.STORED)
