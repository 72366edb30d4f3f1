"""How busy this machine is, as its system tells."""

import os
from pathlib import Path

from hubbub.model.fleet.nodes import Load

MEMORY = Path("/proc/meminfo")  # Linux has it
KIB = 1024


def measure() -> Load | None:
    """How busy this machine is; None where its system has no word for that."""
    try:
        load1 = os.getloadavg()[0]
    except (AttributeError, OSError):  # there is none on Windows
        return None
    used, total = _memory()
    return Load(load1=round(load1, 2), cpus=os.cpu_count() or 1, memory_used=used, memory_total=total)


def _memory() -> tuple[int | None, int | None]:
    """Bytes that could not be had without taking them from somebody, and how many there are."""
    try:
        lines = MEMORY.read_text(encoding="ascii").splitlines()
        sizes = {
            name: int(rest.split()[0]) * KIB for name, _, rest in (line.partition(":") for line in lines)
        }
        total = sizes["MemTotal"]
        return total - sizes["MemAvailable"], total
    except (OSError, ValueError, LookupError):
        return None, None
