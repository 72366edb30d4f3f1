"""The processes of this machine, as the kernel lists them: their command lines and parents."""

from collections.abc import Iterator
from pathlib import Path


def commands() -> Iterator[tuple[int, bytes]]:
    """Each process with its command line, whose words end with a zero byte."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            yield int(entry.name), command(int(entry.name))


def command(pid: int) -> bytes:
    """The command line of a process; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def parent(pid: int) -> int:
    """The process that started this one, or took it over; 0 if it has ended."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0
