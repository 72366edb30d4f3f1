"""Programs that an event loop starts, each in a process group of its own, and waits for.

Not by the loop's own means: uvloop forks, and runs Python in the child before that becomes the program. Whatever
another thread held at that moment, such as a lock of SQLite, is held in the child for ever, while the loop waits for
it and answers nobody. `subprocess` runs no Python in between.
"""

import asyncio
import os
import signal
import subprocess
import threading
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import IO

File = int | IO[bytes]


class Child:
    """A program that was started by this process, from within an event loop."""

    def __init__(
        self,
        words: Sequence[str],
        *,
        cwd: str | os.PathLike[str],
        env: Mapping[str, str],
        stdin: File,
        stdout: File,
        stderr: File,
        pass_fds: Collection[int] = (),
    ) -> None:
        """Start it, in one go: a cancellation finds either no program or one to end.

        Raises `OSError` where it cannot be started, and `ValueError` for a NUL character among its words.
        """
        self._process = subprocess.Popen(  # noqa: S603, who calls says what runs, and has asked whether it may
            words,
            cwd=cwd,
            env=env,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
            pass_fds=pass_fds,
        )
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        threading.Thread(target=self._reap, name="hubbub-child", daemon=True).start()

    @property
    def pid(self) -> int:
        """Its process, and the group that it leads."""
        return self._process.pid

    @property
    def code(self) -> int | None:
        """Its exit code, negative after a signal; None while it runs."""
        return self._process.returncode

    async def wait(self) -> int:
        """Wait until it has ended, whoever may still hold its output; return its exit code."""
        await self._ended.wait()
        return self._process.returncode

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to all that is in its group, which may outlive it."""
        with suppress(ProcessLookupError, PermissionError):  # the latter on macOS, of a group of zombies
            os.killpg(self.pid, number)

    def _reap(self) -> None:
        self._process.wait()
        with suppress(RuntimeError):  # the loop may have ended before the program
            self._loop.call_soon_threadsafe(self._ended.set)
