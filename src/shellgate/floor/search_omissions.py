"""Omissions of searches: paths closed to agents or changed by people only, links to them, and secrets.

Nobody was asked about these: to read one, name it, or its folder.
"""

import os
import posixpath
import stat
from collections.abc import Iterator

from shellgate import paths, protected_names
from shellgate.paths import Access
from shellgate.world import World

LOOKED_AT = 2_000  # names in a searched folder that are checked for omissions, at most
TOLD = 500  # names in a folder that is left out, at most
_UNSEARCHED = "node_modules"  # where searching would take long


def left_out(folder: str, name: str, world: World) -> bool:
    """Tell whether a search of a folder omits the entry `name`, by that name or another of the same file."""
    below = protected_names.components(f"/{name}")
    if protected_names.unwritten(below) or protected_names.may_be_secret(below):
        return True
    path = posixpath.join(folder, name)
    if paths.forbidden(path, Access.READ, world) is not None:
        return True
    return paths.is_guarded_elsewhere(path, world)


def omitted(folder: str, world: World) -> list[str]:
    """List the present omissions of a search of a folder, links to them and files behind these included.

    For people who try the gate: a search itself checks each of its matches.
    """
    return list(dict.fromkeys(_omitted(folder, world)))


def _omitted(folder: str, world: World) -> Iterator[str]:
    waiting = [folder]
    closed: frozenset[tuple[int, int]] | None = None
    for path in _beneath(waiting, LOOKED_AT):
        status = _status(path)
        if status is None:
            continue
        if left_out(folder, posixpath.relpath(path, folder), world) or _leads_away(path, status, world):
            yield from _all_of(path, world)
        elif stat.S_ISDIR(status.st_mode):
            if posixpath.basename(path) != _UNSEARCHED:
                waiting.append(path)
        elif status.st_nlink > 1:
            closed = world.files.identities(paths.closed_folders(world)) if closed is None else closed
            if (status.st_dev, status.st_ino) in closed:
                yield path


def _leads_away(path: str, status: os.stat_result, world: World) -> bool:
    """Tell whether it is a link to a closed path."""
    return stat.S_ISLNK(status.st_mode) and paths.protected(path, Access.READ, world) is not None


def _beneath(waiting: list[str], most: int) -> Iterator[str]:
    """Yield the content of the waiting folders, and of those added meanwhile; `most` names in all."""
    seen = 0
    for folder in waiting:
        try:
            found = os.listdir(folder)  # noqa: PTH208, paths are text here
        except OSError:
            continue
        for name in sorted(found)[: most - seen]:
            yield posixpath.join(folder, name)
        seen += len(found)
        if seen >= most:
            return


def _all_of(path: str, world: World) -> Iterator[str]:
    """Yield an omitted path, its target, and everything beneath, by either way."""
    led = world.files.resolve(path)
    ways = dict.fromkeys((path, led))
    yield from ways
    waiting = [led]
    for each in _beneath(waiting, TOLD):
        yield from (posixpath.join(way, posixpath.relpath(each, led)) for way in ways)
        status = _status(each)
        if status is not None and stat.S_ISDIR(status.st_mode):
            waiting.append(each)


def _status(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None
