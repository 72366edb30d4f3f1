"""Files changed by an `apply_patch`: several clients give their models this one tool for editing."""

from __future__ import annotations

_FILE_LINES = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")
_MOST_PATHS = 200  # of one patch


def patched(patch: str) -> list[str]:
    """List the files that a patch adds, updates, deletes or moves to, each once, in its order."""
    paths: dict[str, None] = {}
    for line in patch.split("\n"):
        for mark in _FILE_LINES:
            if line.startswith(mark) and len(paths) < _MOST_PATHS:
                paths.setdefault(line[len(mark) :].strip())
    paths.pop("", None)
    return list(paths)
