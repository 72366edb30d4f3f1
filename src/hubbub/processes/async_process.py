"""Programs that an event loop starts, each in a process group of its own, and waits for.

The loop's own means are not used: uvloop forks, and runs Python in the child before that becomes the program. A lock
that another thread held at that moment, such as one of SQLite, is held in the child for ever, while the loop waits for
the child and answers nobody. `subprocess` runs no Python in between.
"""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import BinaryIO

from hubbub.processes.process_group import ProcessGroup


class AsyncProcess(ProcessGroup):
    """A program that was started by this process, from within an event loop."""

    def _began(self) -> None:
        # All in one step: a cancellation finds either no program or one to end.
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        threading.Thread(target=self._reap, name="hubbub-child", daemon=True).start()

    async def wait(self) -> int:
        """Wait for the end of the program, even if others still hold its output; return its exit code."""
        await self._ended.wait()
        assert self.code is not None
        return self.code

    def _reap(self) -> None:
        self.reap()
        with suppress(RuntimeError):  # the loop may have ended before the program
            self._loop.call_soon_threadsafe(self._ended.set)


@asynccontextmanager
async def reading(pipe: BinaryIO) -> AsyncIterator[asyncio.StreamReader]:
    """Open a reader of a pipe for the duration of the context.

    It is our own, since asyncio does not report the end of a program whose pipes others still hold.
    """
    reader = asyncio.StreamReader()
    transport, _protocol = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), pipe
    )
    try:
        yield reader
    finally:
        transport.close()
