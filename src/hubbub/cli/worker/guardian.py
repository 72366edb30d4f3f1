"""The guardian: a small process beside the worker that outlives it, to kill the commands a killed worker leaves behind.

It reads from the worker `+GROUP` when a command begins and `-GROUP` when it has ended. The pipe closes with the worker,
however that ends; then every process group that is still open is killed, so that no command goes on unseen while
its task is delivered again.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress


class Guardian:
    """The worker's end of the pipe. May be used by several threads at once."""

    def __init__(self) -> None:
        from hubbub.model.starting import script  # what is started by it finds no packages

        self._process = subprocess.Popen(
            script(__file__),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
        )

    def watch(self, group: int) -> None:
        """From now on the process group dies with this process."""
        self._tell(f"+{group}\n")

    def forget(self, group: int) -> None:
        self._tell(f"-{group}\n")

    def close(self) -> None:
        """Let it go; it kills what it still watches."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode())


def kill_group(group: int, signal_number: int) -> None:
    """Send a signal to a process group, if there still is one."""
    with suppress(ProcessLookupError, PermissionError):  # macOS says EPERM of a group that only has zombies
        os.killpg(group, signal_number)


def guard(lines: Iterable[str]) -> None:
    """Follow what the worker says until it is gone, then kill what it left."""
    groups: set[int] = set()
    for line in lines:
        group = int(line[1:])
        if line.startswith("+"):
            groups.add(group)
        else:
            groups.discard(group)
    for group in groups:
        kill_group(group, signal.SIGKILL)


if __name__ == "__main__":
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    guard(sys.stdin)
