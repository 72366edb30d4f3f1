"""The time as the hub tells it."""

import time


def now() -> int:
    """Unix milliseconds, UTC."""
    return time.time_ns() // 1_000_000
