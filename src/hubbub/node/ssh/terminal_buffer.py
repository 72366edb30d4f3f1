"""The output of a shell's terminal: kept until it is read, up to a limit; then the oldest goes."""

import asyncio
import codecs
from contextlib import suppress
from datetime import timedelta

MOST = 1024 * 1024  # bytes that are kept
QUIET = timedelta(milliseconds=100)  # of silence after which the output counts as complete
PATIENCE = timedelta(seconds=1)  # for the other side, in all


class TerminalBuffer:
    """The output of one shell since the last read."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._kept = bytearray()
        self._cut = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")  # a character may come in two pieces
        self._come = asyncio.Event()
        self._last = 0.0
        self.over = asyncio.Event()  # no more will come

    def feed(self, chunk: bytes) -> None:
        """Add output."""
        self._kept += chunk
        if len(self._kept) > 2 * self._most:
            self._trim()
        self._last = asyncio.get_running_loop().time()
        self._come.set()

    def end(self) -> None:
        """Note the end of the output."""
        self.over.set()
        self._come.set()

    async def settled(self) -> None:
        """Wait until output has come and nothing follows, or it is over; for no longer than a second."""
        clock = asyncio.get_running_loop().time
        deadline = clock() + PATIENCE.total_seconds()
        while not self.over.is_set():
            until = min(deadline, self._last + QUIET.total_seconds()) if self._kept else deadline
            if until <= clock():
                return
            self._come.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout_at(until):
                    await self._come.wait()

    def take(self) -> str:
        """Return the unread output, with a mark at a cut; bytes that are not UTF-8 are replaced."""
        self._trim()
        text = self._decoder.decode(bytes(self._kept), self.over.is_set())
        mark = f"[… {self._cut} bytes were cut here …]\n" if self._cut else ""
        self._kept.clear()
        self._cut = 0
        return f"{mark}{text}"

    def _trim(self) -> None:
        excess = len(self._kept) - self._most
        if excess > 0:
            del self._kept[:excess]
            self._cut += excess
            self._decoder.reset()
