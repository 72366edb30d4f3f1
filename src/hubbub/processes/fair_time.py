"""Time as a busy machine should be given it: a bound in it grows with the number of programs that want a processor."""

import os
import time


def slowness() -> float:
    """Return the slowdown against an idle machine: the number of processes that want each processor."""
    try:
        return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    except (AttributeError, OSError):  # there is none on Windows
        return 1.0


class FairTime:
    """A clock that stands nearly still while a machine is starved: what takes longer there has the time it needs.

    Look at it often: each stretch between two looks counts by the slowness at its end.
    """

    def __init__(self) -> None:
        self._looked_at = time.monotonic()
        self._passed = 0.0

    def passed(self) -> float:
        """Return the seconds that an idle machine would have needed so far."""
        now = time.monotonic()
        self._passed += (now - self._looked_at) / slowness()
        self._looked_at = now
        return self._passed
