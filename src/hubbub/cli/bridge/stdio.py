"""Lines on standard input and output: the client's side of the bridge."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable

from hubbub.cli.bridge import wire
from hubbub.cli.bridge.wire import Message

STDIN, STDOUT = 0, 1
CHUNK = 65_536
WAITING_LINES = 100  # read ahead, at most


async def lines() -> AsyncIterator[bytes]:
    """The lines of standard input, read by a thread, so that any kind of file will do; ends with the input."""
    queue: asyncio.Queue[bytes | None] = asyncio.Queue(WAITING_LINES)
    loop = asyncio.get_running_loop()

    def put(line: bytes | None) -> None:
        asyncio.run_coroutine_threadsafe(queue.put(line), loop).result()

    threading.Thread(target=_read, args=(put,), daemon=True).start()
    while (line := await queue.get()) is not None:
        if line.strip():
            yield line


def _read(put: Callable[[bytes | None], None]) -> None:
    # Not through sys.stdin: its lock, held by a thread that waits, would keep the process from ending.
    rest = b""
    while chunk := os.read(STDIN, CHUNK):
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            put(line)
    put(rest)
    put(None)


class Output:
    """Standard output, a message a line; only messages go there."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    async def __call__(self, message: Message) -> None:
        """Write one message. Raises `BrokenPipeError` when nobody reads any more."""
        async with self._turn:
            await asyncio.to_thread(_write, wire.encoded(message) + b"\n")


def _write(content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(STDOUT, view) :]
