"""Lines on standard input and output: the client's side of the bridge.

The event loop itself reads and writes, whenever that need not wait: asking another thread takes longer.
"""

import asyncio
import fcntl
import os
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress

STDIN, STDOUT = 0, 1
CHUNK = 65_536
PIPE = 1024 * 1024  # bytes, the most that an unprivileged user may have
AHEAD = 4  # chunks read ahead; then the client has to wait


@contextmanager
def unblocked() -> Iterator[None]:
    """Set input and output non-blocking; restore them afterwards, as others may use them too.

    A pipe for output is enlarged for a whole long answer, if the system allows it: otherwise each piece that the client
    reads would need another write.
    """
    blocking = {file: os.get_blocking(file) for file in (STDIN, STDOUT)}
    try:
        for file in blocking:
            os.set_blocking(file, False)
        if hasattr(fcntl, "F_SETPIPE_SZ"):
            with suppress(OSError):  # it is no pipe, or there are many large ones
                fcntl.fcntl(STDOUT, fcntl.F_SETPIPE_SZ, PIPE)
        yield
    finally:
        for file, was_blocking in blocking.items():
            os.set_blocking(file, was_blocking)


class StdinLines:
    """The lines of standard input, of any kind of file. To be iterated over once; ends with the input."""

    def __init__(self) -> None:
        self._chunks: deque[bytes] = deque()
        self._news = asyncio.Event()
        self._is_watched = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        parts: list[bytes] = []
        while chunk := await self._next():
            end, *more = chunk.split(b"\n")
            parts.append(end)
            for start in more:
                if line := b"".join(parts).strip():
                    yield line
                parts = [start]
        if line := b"".join(parts).strip():
            yield line

    async def _next(self) -> bytes:
        """Return the next chunk; an empty one at the end."""
        if not self._chunks:
            self._watch()
        while not self._chunks:
            self._news.clear()
            await self._news.wait()
        return self._chunks.popleft()

    def _watch(self) -> None:
        """Read input as it comes, from now on; from a file that cannot be watched, piece by piece."""
        try:
            if not self._is_watched:
                asyncio.get_running_loop().add_reader(STDIN, self._read)
                self._is_watched = True
        except PermissionError:
            self._read()

    def _read(self) -> None:
        chunk = os.read(STDIN, CHUNK)
        self._chunks.append(chunk)
        self._news.set()
        if self._is_watched and (not chunk or len(self._chunks) == AHEAD):
            asyncio.get_running_loop().remove_reader(STDIN)
            self._is_watched = False


class StdoutLines:
    """Standard output, a message a line; only messages go there."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    async def __call__(self, line: bytes) -> None:
        """Write one message. Raises `BrokenPipeError` if nobody reads any more."""
        async with self._turn:
            rest, written = memoryview(line), 0
            while written <= len(rest):
                rest = rest[written:]
                try:
                    written = os.writev(STDOUT, (rest, b"\n"))
                except BlockingIOError:
                    written = 0
                    await self._until_writable()

    async def _until_writable(self) -> None:
        loop, writable = asyncio.get_running_loop(), asyncio.Event()
        loop.add_writer(STDOUT, writable.set)
        try:
            await writable.wait()
        finally:
            loop.remove_writer(STDOUT)
