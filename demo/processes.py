"""The processes of the play: how they are started, watched, killed and, in the end, all gone."""

import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

PATIENCE = timedelta(seconds=10)  # between asking a process to end and ending it


class Vanished(Exception):
    """A process ended that should still be there."""


class Process:
    """A program in a process group of its own. Its standard error is kept."""

    def __init__(self, name: str, command: Sequence[str], environment: Mapping[str, str], cwd: Path) -> None:
        self.name = name
        self.said: list[str] = []
        self._is_mute = False
        self._news = threading.Condition()
        self._popen = subprocess.Popen(
            command,
            cwd=cwd,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            process_group=0,
        )
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def line(self) -> str:
        """The next line of its standard output. Raises `Vanished` if there will be none."""
        assert self._popen.stdout is not None
        line = self._popen.stdout.readline()
        if not line:
            raise Vanished(f"the {self.name} is gone, with exit code {self._popen.wait()}")
        return line.rstrip("\n")

    def rest(self) -> str:
        """Return the remaining standard output."""
        assert self._popen.stdout is not None
        return self._popen.stdout.read()

    def tell(self, line: str) -> None:
        """A line for its standard input."""
        assert self._popen.stdin is not None
        self._popen.stdin.write(f"{line}\n")
        self._popen.stdin.flush()

    def remark(self, fragment: str) -> str:
        """The first line with that fragment that it says on standard error. Raises `Vanished` if it will not."""
        with self._news:
            while True:
                for line in self.said:
                    if fragment in line:
                        return line
                if self._is_mute:
                    raise Vanished(f"the {self.name} is gone, and never said {fragment!r}")
                self._news.wait()

    def kill(self) -> None:
        """Kill the process itself, but neither its group nor what it started."""
        self._popen.kill()
        self._popen.wait()

    def leave(self) -> int:
        """Ask it to end; make it end, if it does not. Returns its exit code."""
        self._popen.terminate()
        return self.end()

    def hush(self) -> None:
        """Close its standard input."""
        assert self._popen.stdin is not None
        self._popen.stdin.close()

    def end(self) -> int:
        """Wait for it to end; make it end, if it does not. Returns its exit code."""
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(PATIENCE.total_seconds())
        self.destroy()
        return self._popen.wait()

    def destroy(self) -> None:
        """End the process and its group, and wait until everything that it left behind is gone."""
        if self._popen.poll() is None:
            os.killpg(self._popen.pid, signal.SIGKILL)
        self._popen.wait()
        self._listener.join(PATIENCE.total_seconds())

    def _listen(self) -> None:
        assert self._popen.stderr is not None
        for line in self._popen.stderr:
            with self._news:
                self.said.append(line.rstrip("\n"))
                self._news.notify_all()
        with self._news:
            self._is_mute = True
            self._news.notify_all()
