"""Resource limits of one command. The numbers are wide: they stop runaway commands, not large ones.

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
    """Bind this process and its descendants to the limits."""
    _lower(resource.RLIMIT_CORE, CORE)
    _lower(resource.RLIMIT_FSIZE, FILE_SIZE)
    _lower(resource.RLIMIT_DATA, MEMORY)
    _lower(resource.RLIMIT_NPROC, _running() + MORE_PROCESSES)


def _lower(kind: int, most: int) -> None:
    """Lower both limits, the one that can be raised again and the one that cannot; never raise them."""
    _soft, hard = resource.getrlimit(kind)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (most, most))


def _running() -> int:
    """Return the number of the machine's processes and threads, which the system keeps."""
    try:
        return int(Path("/proc/loadavg").read_bytes().split()[3].partition(b"/")[2])
    except OSError:
        return 0
