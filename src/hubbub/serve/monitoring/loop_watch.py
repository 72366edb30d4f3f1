"""A watch over the event loop: a blocker is logged, with the stack of the loop's thread at that moment.

While the loop is blocked nobody else is answered. The loop sets a mark again and again, and a thread beside it
checks the age of the last one; so it also sees a loop that never goes on.
"""

import asyncio
import logging
import sys
import threading
import time
import traceback
from typing import NamedTuple

log = logging.getLogger(__name__)

HELD_UP, GOES_ON = "the event loop is held up", "the event loop goes on"
THREAD = "hubbub-loop-watch"
LOOKS = 4  # in the time after which the loop is late


class Mark(NamedTuple):
    """A moment at which the loop was free, and its thread's processor time by then, in seconds."""

    at: float
    used: float


class LoopWatch:
    """Works while `run` runs, in the loop that it watches: logs delays of more than `limit` milliseconds.

    `longest` is the longest delay, in seconds. Without a limit nothing is watched.
    """

    def __init__(self, limit: int | None) -> None:
        self._limit = (limit or 0) / 1e3
        self._pause = self._limit / LOOKS
        self._mark, self._thread = _now(), threading.get_ident()
        self._over = threading.Event()
        self.longest = 0.0

    async def run(self) -> None:
        """Watch, until cancelled."""
        if not self._limit:
            return
        self._mark, self._thread = _now(), threading.get_ident()
        looking = threading.Thread(target=self._look, name=THREAD, daemon=True)
        looking.start()
        try:
            while True:
                await asyncio.sleep(self._pause)
                self._mark = _now()
        finally:
            self._over.set()

    def _look(self) -> None:
        while not self._over.wait(self._pause):
            mark = self._mark
            if self._late(mark) > self._limit:
                self._say(mark)

    def _late(self, mark: Mark) -> float:
        return time.monotonic() - mark.at - self._pause

    def _say(self, mark: Mark) -> None:
        """Log the loop's stack and, once it goes on, its delay and its thread's working time."""
        frame = sys._current_frames().get(self._thread)  # noqa: SLF001  # the only way to another thread's stack
        stack = "".join(traceback.format_stack(frame)) if frame is not None else ""
        log.warning(HELD_UP, extra={"late_ms": round(self._late(mark) * 1e3), "stack": stack})
        while self._mark is mark:
            if self._over.wait(self._pause):
                return
        late = self._mark.at - mark.at - self._pause
        self.longest = max(self.longest, late)
        worked = self._mark.used - mark.used
        log.warning(GOES_ON, extra={"late_ms": round(late * 1e3), "worked_ms": round(worked * 1e3)})


def _now() -> Mark:
    return Mark(time.monotonic(), time.thread_time())
