"""The hub on this machine's data, if one runs: commands in the background end with it."""

import os
from pathlib import Path

LOCK = "hubbub.lock"  # held by a hub as long as it runs


def pid_of(data: Path) -> int | None:
    """Return a descriptor that becomes readable when the hub ends; None if there is no hub, or no way to tell.

    The lock is checked and never taken, not even for a moment: a hub that just starts would find it taken.
    """
    try:
        file = (data / LOCK).stat().st_ino
        locks = Path("/proc/locks").read_text("ascii").splitlines()
        holders = [int(words[4]) for words in map(str.split, locks) if _is_of(words, file)]
        return os.pidfd_open(holders[0]) if holders else None
    except OSError:
        return None


def _is_of(words: list[str], file: int) -> bool:
    return words[1] == "FLOCK" and words[3] == "WRITE" and words[5].rpartition(":")[2] == str(file)
