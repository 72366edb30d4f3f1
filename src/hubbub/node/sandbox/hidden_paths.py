"""Paths on the machine, or in the folders of work, that commands must not see or change."""

import os
import stat
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from shellgate import protected_names
from shellgate.world import World

FULL_OF_FILES = frozenset({"node_modules", ".venv", "venv", "__pycache__", ".tox", "target"})
MOST_ENTRIES = 4_000  # of all roots together that are searched for each command


def hidden(world: World) -> tuple[str, ...]:
    """Return the keys of all users and the product's own folders, if they are visible from here.

    Folders and files, links resolved, none within another.
    """
    closed = [
        f"{home}/{name}" for home in (world.home, *world.homes) for name in protected_names.CLOSED_IN_HOMES
    ]
    found = {path for path in map(os.path.realpath, [*closed, *world.own]) if status(path)}
    return tuple(sorted(path for path in found if not any(is_within(path, each) for each in found - {path})))


def open_roots(world: World, closed: Sequence[str]) -> tuple[str, ...]:
    """Return the roots with links resolved, without those that lead to a hidden path."""
    roots = {os.path.realpath(root) for root in world.roots}
    return tuple(sorted(root for root in roots if not any(is_within(root, each) for each in closed)))


def status(path: str) -> os.stat_result | None:
    """Return the status of a path, links followed; None if nothing is there, or its folder is closed to us.

    `Path.exists` raises in a closed folder, such as another user's home. A command cannot look there either.
    """
    try:
        return Path(path).stat()
    except OSError:
        return None


def is_within(path: str, folder: str) -> bool:
    """Tell whether a path is the folder or beneath it, by name."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


@dataclass(frozen=True, slots=True)
class MarkedPaths:
    """Paths in the roots that may not be changed, and those that may not even be read; links resolved."""

    repositories: tuple[str, ...]  # every `.git`, a folder or a file
    secrets: tuple[str, ...]  # every `.env` that is no template


def marked(roots: Sequence[str]) -> MarkedPaths:
    """Find them in the roots themselves, and beneath them within `MOST_ENTRIES` entries, level by level."""
    repositories, secrets = set(), set()
    for entry in _entries(roots):
        if entry.name.isascii() and not entry.name.startswith("."):
            continue  # most of them, and time counts
        name = protected_names.folded(entry.name)
        if name == ".git":
            repositories.add(os.path.realpath(entry.path))
        elif protected_names.is_environment(name):
            secrets.add(os.path.realpath(entry.path))
    return MarkedPaths(
        tuple(sorted(path for path in repositories if status(path))),
        tuple(sorted(path for path in secrets if (found := status(path)) and stat.S_ISREG(found.st_mode))),
    )


def _entries(roots: Sequence[str]) -> Iterator["os.DirEntry[str]"]:
    """Yield the entries; links are not followed. An entry of a root itself is never missed, however many there are."""
    level, left = [entry for root in roots for entry in _listed(root)], MOST_ENTRIES
    yield from level
    waiting = deque(level)
    while waiting and left > 0:
        if _leads_on(folder := waiting.popleft()):
            found = _listed(folder.path)[:left]
            left -= len(found)
            yield from found
            waiting.extend(found)


def _listed(folder: str) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []  # the command cannot read it either


def _leads_on(entry: "os.DirEntry[str]") -> bool:
    return (
        entry.is_dir(follow_symlinks=False)
        and entry.name not in FULL_OF_FILES
        and entry.name.casefold() != ".git"
    )
