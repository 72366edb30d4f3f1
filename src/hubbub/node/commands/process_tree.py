"""Processes as the kernel sees them: their descendants, and how to end them all."""

import os
import signal
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")
PS = ("/bin/ps", "-axo", "pid=,ppid=,stat=")


def descendants(ancestor: int, spared: Collection[int] = ()) -> list[int]:
    """Return all living descendants of `ancestor`, except `spared` and their descendants.

    Parents come before their children, so that a parent is signalled before it learns of its child's end.
    """
    children: dict[int, list[int]] = {}
    for pid, parent in _living():
        children.setdefault(parent, []).append(pid)
    found = [ancestor]
    for parent in found:
        found += [pid for pid in children.pop(parent, ()) if pid not in spared]
    return found[1:]


def _living() -> Iterator[tuple[int, int]]:
    """Yield every living process, and its parent."""
    for pid, status, parent in _listed() if PROC.is_dir() else _told():
        if status[:1] not in (b"Z", b"X"):
            yield int(pid), int(parent)


def _listed() -> Iterator[tuple[str, bytes, bytes]]:
    for entry in PROC.iterdir():
        if entry.name.isdecimal():
            with suppress(OSError):
                status, parent = (entry / "stat").read_bytes().rpartition(b") ")[2].split(None, 2)[:2]
                yield entry.name, status, parent


def _told() -> Iterator[tuple[bytes, bytes, bytes]]:
    """Yield the output of `ps`, for systems without files of processes."""
    import subprocess  # a keeper that can do without it should be small

    told = subprocess.run(PS, capture_output=True, check=True).stdout  # noqa: S603  # our own words
    for line in told.splitlines():
        pid, parent, status = line.split()[:3]
        yield pid, status, parent


def send(number: int, pids: Collection[int]) -> None:
    """Send each of them a signal; some may be gone by now."""
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def kill_descendants(ancestor: int, spared: Collection[int] = ()) -> None:
    """Kill all of them. They are stopped first, so that none starts another during the search."""
    found: set[int] = set()
    while new := set(descendants(ancestor, spared)) - found:
        send(signal.SIGSTOP, new)
        found |= new
    send(signal.SIGKILL, found)
