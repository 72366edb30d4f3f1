"""The file system of this machine, looked at: nothing is opened, nothing is changed."""

import os
import stat
import time
from collections import deque
from collections.abc import Iterable
from functools import lru_cache

from hubbub.node.gate import shapes

LINKS = 40  # that are followed on one path, as in the kernel
MATCHES = 10_000  # names that a pattern is said to stand for, at most
SETTLED = 1_000_000_000  # nanoseconds until one more change of a folder surely has another time
LOOKED_AT = 20_000  # files in protected folders that another name is compared with, at most

Identity = tuple[int, int]  # device and inode


class Disk:
    """The file system that this process sees."""

    def resolve(self, path: str) -> str:
        found, links = "", 0
        waiting = path.split("/")[::-1]
        while waiting:
            name = waiting.pop()
            if name == "..":
                found = found.rpartition("/")[0]
            elif name not in ("", "."):
                target = _target(f"{found}/{name}") if links < LINKS else None
                if target is None:
                    found = f"{found}/{name}"
                else:
                    links += 1
                    found = "" if target.startswith("/") else found
                    waiting += target.split("/")[::-1]
        return found or "/"

    def is_folder(self, path: str) -> bool:
        status = self.look(path)
        return status is not None and stat.S_ISDIR(status.st_mode)

    def matches(self, folder: str, pattern: str) -> list[str]:
        fits = shapes.component(pattern)
        try:
            with os.scandir(folder) as entries:
                found = [entry.name for entry in entries if fits(entry.name)]
        except (OSError, ValueError):
            return []
        return sorted(found)[:MATCHES]

    def look(self, path: str) -> os.stat_result | None:
        try:
            return os.stat(path)  # noqa: PTH116, what is at the path a moment later is looked at again
        except (OSError, ValueError):
            return None

    def identities(self, places: Iterable[str]) -> frozenset[tuple[int, int]]:
        found: set[Identity] = set()
        waiting = deque(places)
        while waiting and len(found) < LOOKED_AT:
            place = waiting.popleft()
            try:
                status = os.lstat(place)
            except OSError:
                continue
            if stat.S_ISDIR(status.st_mode):
                files, folders = _inside(place, status)
                found |= files
                waiting += folders
            else:
                found.add((status.st_dev, status.st_ino))
        return frozenset(found)


def _target(path: str) -> str | None:
    """What a link says; None for what is none."""
    try:
        return os.readlink(path)  # noqa: PTH115, a path is text here, and this is done at each step of each path
    except (OSError, ValueError):
        return None


def _inside(folder: str, status: os.stat_result) -> tuple[frozenset[Identity], tuple[str, ...]]:
    """The files in a folder, and the folders in it. Names come and go with the time of its last change."""
    changed_at = max(status.st_mtime_ns, status.st_ctime_ns)
    if time.time_ns() - changed_at < SETTLED:
        return _read(folder)
    return _remembered(folder, status.st_dev, status.st_ino, changed_at)


@lru_cache(maxsize=4096)
def _remembered(
    folder: str, _device: int, _inode: int, _changed_at: int
) -> tuple[frozenset[Identity], tuple[str, ...]]:
    return _read(folder)


def _read(folder: str) -> tuple[frozenset[Identity], tuple[str, ...]]:
    files, folders = set(), []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    status = entry.stat(follow_symlinks=False)
                    files.add((status.st_dev, status.st_ino))
    except OSError:
        pass  # what we cannot read, an agent that runs as we do cannot either
    return frozenset(files), tuple(folders)
