"""The turns of several writers: calls gather while a writer is busy, and form the next turn together.

One writer at a time is best, as its calls never wait for each other. But while it is busy with a long call, which may
be slow or blocked, another takes the waiting calls, also those of the same turn.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice

from hubbub.model.errors import StoreUnavailable
from hubbub.store.engine.pending_calls import PendingCall, Turn

LONG = 0.2  # seconds in one call, after which another writer takes the waiting calls


class _Turn(Iterator[PendingCall]):
    """The calls that wait as a writer's turn begins, one by one, until another turn begins."""

    def __init__(self, pool: "WriterPool", number: int, begun: int) -> None:
        self._pool, self._left, self._begun = pool, number, begun

    def __next__(self) -> PendingCall:
        while self._left:
            self._left -= 1
            call = self._pool.take(self._begun)
            if call is None:
                break
            if not call.is_abandoned:
                return call
        self._left = 0
        raise StopIteration

    def ahead(self) -> list[PendingCall]:
        return self._pool.look(self._left, self._begun)


class WriterPool:
    """Writers, each a thread, that call `write` with a turn."""

    def __init__(self, write: Callable[[Turn], None], writers: int, most: int) -> None:
        self._write, self._most = write, most
        self._waiting: deque[PendingCall] = deque()
        self._changed = threading.Condition()
        self._busy: dict[int, float] = {}  # busy writers, and when each began its call
        self._begun = 0  # turns
        self._watching = 0  # writers that will check whether another takes long
        self._closed = False
        self._threads = [
            threading.Thread(target=self._serve, name=f"hubbub-writer-{number}", daemon=True)
            for number in range(writers)
        ]
        for thread in self._threads:
            thread.start()

    def add(self, call: PendingCall) -> None:
        """Queue the call. Raises `StoreUnavailable` once closed."""
        with self._changed:
            if self._closed:
                raise StoreUnavailable("the hub is closing; nothing of this call was kept")
            self._waiting.append(call)
            if len(self._waiting) == 1 and len(self._busy) < len(self._threads):
                self._changed.notify()

    def close(self) -> None:
        """Finish the waiting calls."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _serve(self) -> None:
        while (turn := self._next()) is not None:
            try:
                self._write(turn)
            finally:
                with self._changed:
                    del self._busy[threading.get_ident()]
                    self._changed.notify()

    def _next(self) -> _Turn | None:
        """Wait for this writer's turn, and return its calls; None at the end."""
        with self._changed:
            while True:
                left = self._until_turn()
                if self._waiting and left <= 0:
                    self._go_on()
                    self._begun += 1
                    return _Turn(self, min(len(self._waiting), self._most), self._begun)
                if self._closed and not self._waiting:
                    self._changed.notify_all()
                    return None
                watches = bool(self._waiting)
                self._watching += watches
                self._changed.wait(left if watches else None)
                self._watching -= watches

    def _until_turn(self) -> float:
        """Return the seconds until no writer is busy that is expected to finish soon."""
        return max(self._busy.values()) + LONG - time.monotonic() if self._busy else 0

    def take(self, begun: int) -> PendingCall | None:
        """Take the next call for the turn of that number; None if a later turn has begun."""
        with self._changed:
            if not self._waiting or self._begun != begun:
                return None
            call = self._waiting.popleft()
            self._go_on()
            if self._waiting and not self._watching and len(self._busy) < len(self._threads):
                self._changed.notify()  # wakes a writer to check whether this one takes long
            return call

    def look(self, number: int, begun: int) -> list[PendingCall]:
        """Return the next calls of the turn of that number, without taking them."""
        with self._changed:
            self._go_on()
            return list(islice(self._waiting, number)) if self._begun == begun else []

    def _go_on(self) -> None:
        """Note that this writer begins another call."""
        self._busy[threading.get_ident()] = time.monotonic()
