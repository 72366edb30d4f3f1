"""Identities of worker processes, and whether they still live."""

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

KIND = "work"


@dataclass(frozen=True, slots=True)
class Instance:
    """One process of one machine. `started` tells it from a later one with the same number."""

    host: str
    pid: int
    started: str

    @classmethod
    def mine(cls) -> "Instance":
        return cls(_host(), os.getpid(), _started(os.getpid()) or "0")

    @classmethod
    def parse(cls, text: str | None) -> "Instance | None":
        """Return the instance that `text` names; None if it is not a worker's."""
        kind, _, rest = (text or "").partition(":")
        host, _, process = rest.partition(":")
        pid, _, started = process.partition(":")
        return cls(host, int(pid), started) if kind == KIND and pid.isdecimal() else None

    def __str__(self) -> str:
        return f"{KIND}:{self.host}:{self.pid}:{self.started}"

    @property
    def whereabouts(self) -> str:
        """Return where it runs, in words for people."""
        return f"already runs as process {self.pid} on {self.host}"

    @property
    def is_here(self) -> bool:
        """Tell whether it ran on this machine, so that we can know whether it lives."""
        return self.host == _host()

    @property
    def is_dead(self) -> bool:
        """Tell whether it ran here and is gone."""
        return self.is_here and _started(self.pid) != self.started


def is_run_here(name: str) -> bool:
    """Tell whether a `hubbub work` of this machine was told to be this agent, though the hub may not know it yet."""
    return any(_tells(words, name) for words in _command_lines())


def _tells(words: list[str], name: str) -> bool:
    """Tell whether the words are `hubbub work` and, somewhere after it, the agent's name."""
    place = words.index("work") if "work" in words else 0
    is_worker = place > 0 and Path(words[place - 1]).name == "hubbub"
    return is_worker and any(word == name or word.startswith(f"{name}=") for word in words[place:])


def _command_lines() -> Iterator[list[str]]:
    """Yield the words of each process's command line, as far as they can be read."""
    if not Path("/proc/self/cmdline").exists():
        shown = subprocess.run(["/bin/ps", "-axo", "args="], capture_output=True, text=True, check=False)
        yield from map(str.split, shown.stdout.splitlines())
        return
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended
            yield file.read_text("utf-8", errors="replace").split("\0")


def _host() -> str:
    return socket.gethostname().replace(":", "-")


def _started(pid: int) -> str | None:
    """Return the process's start time, in the system's words; None if it is gone, or only its exit code is left."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return _started_by_ps(pid) if not Path("/proc/self/stat").exists() else None
    except OSError:
        return None
    return None if fields[0] in ("Z", "X") else fields[19]


def _started_by_ps(pid: int) -> str | None:
    """Return the start time of the process, on systems without /proc."""
    shown = subprocess.run(
        ["/bin/ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    status, _, started = shown.stdout.strip().partition(" ")
    return "-".join(started.split()) if started and not status.startswith("Z") else None
