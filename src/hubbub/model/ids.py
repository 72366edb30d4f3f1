"""Ids: UUIDs of version 7 (RFC 9562), so that the order of making is the order of sorting."""

import os
import threading
import time
from uuid import UUID

_VERSION = 0x7 << 76
_VARIANT = 0b10 << 62
_lock = threading.Lock()
_last = 0


def new_id() -> UUID:
    """Return a fresh id; within one process each is greater than the last, also within a millisecond.

    The 12 bits beside the milliseconds count on from the last id. The lower 62 bits are random, so that an id cannot be
    guessed, but nothing relies on that.
    """
    global _last
    with _lock:
        tick = max(time.time_ns() // 1_000_000 << 12, _last + 1)
        _last = tick
    random = int.from_bytes(os.urandom(8), "big") >> 2
    return UUID(int=tick >> 12 << 80 | _VERSION | (tick & 0xFFF) << 64 | _VARIANT | random)


def continue_after(other: UUID) -> None:
    """Make only ids that are greater than `other` from now on, and than those made with it, whatever the clock says."""
    global _last
    with _lock:
        _last = max(_last, (other.int >> 80) + 1 << 12)


def made_at(made: UUID) -> int:
    """Return when an id was made, in Unix milliseconds."""
    return made.int >> 80


def parse_id(text: str) -> UUID | None:
    """Parse the id in `text`; None if it is no id, so that nothing can exist by it.

    It accepts the usual form, also in capitals, and its hex digits alone; none of the odd forms that `UUID` accepts.
    """
    try:
        found = UUID(text)
    except ValueError:
        return None
    return found if text.lower() in (str(found), found.hex) else None
