"""The load of this machine, as its system reports it."""

import os
from pathlib import Path

from hubbub.model.fleet.nodes import Load

MEMORY = Path("/proc/meminfo")  # Linux has it
KIB = 1024


def measure() -> Load | None:
    """Return this machine's load; None if its system does not report it."""
    try:
        load1 = os.getloadavg()[0]
    except (AttributeError, OSError):  # there is none on Windows
        return None
    used, total = _memory()
    return Load(load1=round(load1, 2), cpus=os.cpu_count() or 1, memory_used=used, memory_total=total)


def _memory() -> tuple[int | None, int | None]:
    """Return the bytes of memory in use, and in all."""
    try:
        lines = MEMORY.read_text(encoding="ascii").splitlines()
        sizes = {
            name: int(rest.split()[0]) * KIB for name, _, rest in (line.partition(":") for line in lines)
        }
        total = sizes["MemTotal"]
        return total - sizes["MemAvailable"], total
    except (OSError, ValueError, LookupError):
        return None, None
