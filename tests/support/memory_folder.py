"""A folder in memory for data that no test needs to keep, since a disk has to be waited for at each commit."""

import os
import shutil
from pathlib import Path

MEMORY = Path("/dev/shm")
ENOUGH = 2 * 2**30  # bytes; a container may have 64 MB


def in_memory() -> Path | None:
    """A folder in memory, where the system has one with enough room; None for the usual one, on a disk."""
    if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= ENOUGH:
        return MEMORY
    return None
