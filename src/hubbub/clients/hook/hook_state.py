"""The memory of one run of a client, on this machine, from one call of a hook to the next.

A shelf is a private folder, and each thing on it a small file of its own: tools run side by side, and so do their
hooks, which then need no lock.
"""

from __future__ import annotations

import hashlib
import os
import time

from hubbub.clients.hook.hub_target import data_folder

LARGEST = 10_000  # bytes of one thing
KEEP = 7 * 24 * 3600  # seconds for which an abandoned shelf is kept
UNCLAIMED = "unclaimed"  # no shelf, but a file whose length is the number of edits that it counts
PRIVATE = 0o700


def digest(path: str, *, largest: int = 4_000_000) -> str | None:
    """Return the SHA-256 of a file's content; None if it is no file, or too large to read in passing."""
    try:
        with open(path, "rb", opener=at_once) as file:
            if os.fstat(file.fileno()).st_size > largest:
                return None
            return hashlib.sha256(file.read(largest)).hexdigest()
    except OSError:
        return None


def at_once(path: str, flags: int) -> int:
    """Open a file for `open`; if it is a pipe, without waiting for a writer."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def recall(shelf: str, name: str) -> str | None:
    """Return the value under that name."""
    return _read(os.path.join(_folder(shelf), key(name)))


def take(shelf: str, name: str) -> str | None:
    """Return the value under that name, and forget it."""
    kept = recall(shelf, name)
    if kept is not None:
        drop(shelf, name)
    return kept


def recall_all(shelf: str) -> list[str]:
    """Return all values on the shelf."""
    folder = _folder(shelf)
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    kept = (_read(os.path.join(folder, name)) for name in names if "." not in name)
    return [each for each in kept if each is not None]


def keep(shelf: str, name: str, value: str) -> None:
    """Store a value under that name, in place of the old one; nothing if the disk takes no writes."""
    folder = _folder(shelf)
    path = os.path.join(folder, key(name))
    draft = f"{path}.{os.getpid()}"
    try:
        os.makedirs(folder, PRIVATE, exist_ok=True)
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(value)
        os.replace(draft, path)
    except OSError:
        return


def drop(shelf: str, name: str) -> None:
    """Forget the value under that name."""
    try:
        os.unlink(os.path.join(_folder(shelf), key(name)))
    except OSError:
        return


def clear(shelf: str) -> None:
    """Forget all values on the shelf."""
    _clear(_folder(shelf))


def tidy() -> None:
    """Forget shelves untouched for a week, and counts older than that."""
    try:
        shelves = [each for each in os.scandir(_room()) if each.stat().st_mtime < time.time() - KEEP]
    except OSError:
        return
    for each in shelves:
        _clear(each.path)


def note_unclaimed() -> None:
    """Count an edit that went on unclaimed, as the hub took too long: one byte each, which needs no lock."""
    try:
        os.makedirs(_room(), PRIVATE, exist_ok=True)
        counter = os.open(os.path.join(_room(), UNCLAIMED), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(counter, b".")
        os.close(counter)
    except OSError:
        return


def unclaimed() -> tuple[int, float] | None:
    """Return the number of recent unclaimed edits, and the Unix time of the last; None if there were none."""
    try:
        counter = os.stat(os.path.join(_room(), UNCLAIMED))
    except OSError:
        return None
    return counter.st_size, counter.st_mtime


def key(name: str) -> str:
    """Return a short name for anything, of letters and digits."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _clear(folder: str) -> None:
    try:
        if os.path.basename(folder) == UNCLAIMED:
            os.unlink(folder)
            return
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
        os.rmdir(folder)
    except OSError:
        return


def _room() -> str:
    return os.path.join(data_folder(), "hooks")


def _folder(shelf: str) -> str:
    return os.path.join(_room(), key(shelf))


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read(LARGEST)
    except OSError:
        return None
