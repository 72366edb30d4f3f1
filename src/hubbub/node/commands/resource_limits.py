"""What one command may use of the machine. The numbers are wide: they stop what has gone wild, not what is large.

They hold for each process of the command, except for the number of processes, which the kernel counts for the user; it
does not count those of the superuser at all.
"""

import resource
from pathlib import Path

FILE_SIZE = 16 * 1024**3  # bytes of a file that it writes
MEMORY = 16 * 1024**3  # bytes of memory that a process can write to; what it only reserves does not count
MORE_PROCESSES = 2_048  # and threads, beside those that the machine runs already
CORE = 0  # no image of a process that has crashed, which would hold its secrets


def apply_limits() -> None:
    """Bind this process to them, and all that it starts."""
    _lower(resource.RLIMIT_CORE, CORE)
    _lower(resource.RLIMIT_FSIZE, FILE_SIZE)
    _lower(resource.RLIMIT_DATA, MEMORY)
    _lower(resource.RLIMIT_NPROC, _running() + MORE_PROCESSES)


def _lower(kind: int, most: int) -> None:
    """Both limits, the one that can be raised again and the one that cannot; never above what they are."""
    _soft, hard = resource.getrlimit(kind)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (most, most))


def _running() -> int:
    """How many processes and threads the machine has; the system says so without counting."""
    try:
        return int(Path("/proc/loadavg").read_bytes().split()[3].partition(b"/")[2])
    except OSError:
        return 0
