"""Resource limits of one command. They are generous: they stop runaway commands, not large ones.

They apply to each process of the command, except for the number of processes, which the kernel counts for the user; it
does not count those of the superuser at all.
"""

import resource
from pathlib import Path

FILE_SIZE = 16 * 1024**3  # bytes of a file that it writes
MEMORY = 16 * 1024**3  # bytes of memory that a process can write to; merely reserved memory does not count
MORE_PROCESSES = 2_048  # and threads, beside those running already
CORE = 0  # no core dump, which would hold the process's secrets


def apply_limits() -> None:
    """Bind this process and its descendants to the limits."""
    _lower(resource.RLIMIT_CORE, CORE)
    _lower(resource.RLIMIT_FSIZE, FILE_SIZE)
    _lower(resource.RLIMIT_DATA, MEMORY)
    _lower(resource.RLIMIT_NPROC, _running() + MORE_PROCESSES)


def _lower(kind: int, most: int) -> None:
    """Lower both limits, the soft and the hard one; never raise them."""
    _soft, hard = resource.getrlimit(kind)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (most, most))


def _running() -> int:
    """Return the number of the machine's processes and threads, which the system keeps."""
    try:
        return int(Path("/proc/loadavg").read_bytes().split()[3].partition(b"/")[2])
    except OSError:
        return 0
