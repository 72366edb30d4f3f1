"""Read-only access to this machine's file system; only regular files are opened."""

import os
import stat
import time
from collections import deque
from collections.abc import Iterable
from functools import lru_cache

from shellgate import globs

LINKS = 40  # that are followed on one path, as in the kernel
MATCHES = 10_000  # names that a pattern may expand to, at most
SETTLED = 1_000_000_000  # nanoseconds after which another change of a folder surely has another time
LOOKED_AT = 20_000  # files in protected folders that are compared with another name, at most

Identity = tuple[int, int]  # device and inode


class Disk:
    """The file system that this process sees."""

    def snapshot(self) -> "Disk":
        """Return a view that reads each fact once from now on: one state for one decision."""
        return Snapshot()

    def target(self, path: str) -> tuple[str | None, bool]:
        """Return the target of a link, None if it is none; and whether anything is there."""
        try:
            return os.readlink(path), True  # noqa: PTH115, a path is text here, and this is done at each of its steps
        except FileNotFoundError:
            return None, False
        except (OSError, ValueError):
            return None, True

    def resolve(self, path: str) -> str:
        found, links = "", 0
        is_there = True  # beneath a missing path there are no links
        waiting = path.split("/")[::-1]
        while waiting:
            name = waiting.pop()
            if name == "..":
                found = found.rpartition("/")[0]
                is_there = True
            elif name not in ("", "."):
                target = None
                if links < LINKS and is_there:
                    target, is_there = self.target(f"{found}/{name}")
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
        fits = globs.component(pattern)
        try:
            with os.scandir(folder) as entries:
                found = [entry.name for entry in entries if fits(entry.name)]
        except (OSError, ValueError):
            return []
        return sorted(found)[:MATCHES]

    def beneath(self, folder: str, most: int) -> list[str] | None:
        found: list[str] = []
        waiting, seen = [folder], 0
        while waiting:
            try:
                with os.scandir(waiting.pop()) as entries:
                    for entry in entries:
                        seen += 1
                        if not entry.is_dir(follow_symlinks=False):
                            found.append(entry.path)
                        elif entry.name != ".git":
                            waiting.append(entry.path)
                        if seen > most:
                            return None
            except (OSError, ValueError):
                continue
        return found

    def look(self, path: str) -> os.stat_result | None:
        try:
            return os.stat(path)  # noqa: PTH116, what is at the path a moment later is looked at again
        except (OSError, ValueError):
            return None

    def contents(self, path: str, most: int) -> bytes | None:
        status = self.look(path)
        if status is None or not stat.S_ISREG(status.st_mode):  # opening a device may have an effect already
            return None
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
            with open(descriptor, "rb") as file:  # noqa: PTH123, a descriptor
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    return None
                found = file.read(most + 1)
        except (OSError, ValueError):
            return None
        return found if len(found) <= most else None

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


class Snapshot(Disk):
    """The file system as one decision sees it: a fact that was read stays so until the decision is made."""

    def __init__(self) -> None:
        self._targets: dict[str, tuple[str | None, bool]] = {}
        self._resolved: dict[str, str] = {}
        self._looked: dict[str, os.stat_result | None] = {}
        self._matched: dict[tuple[str, str], list[str]] = {}
        self._read: dict[tuple[str, int], bytes | None] = {}

    def snapshot(self) -> Disk:
        return self

    def target(self, path: str) -> tuple[str | None, bool]:
        if path not in self._targets:
            self._targets[path] = super().target(path)
        return self._targets[path]

    def resolve(self, path: str) -> str:
        if path not in self._resolved:
            self._resolved[path] = super().resolve(path)
        return self._resolved[path]

    def look(self, path: str) -> os.stat_result | None:
        if path not in self._looked:
            self._looked[path] = super().look(path)
        return self._looked[path]

    def matches(self, folder: str, pattern: str) -> list[str]:
        if (folder, pattern) not in self._matched:
            self._matched[folder, pattern] = super().matches(folder, pattern)
        return [*self._matched[folder, pattern]]

    def contents(self, path: str, most: int) -> bytes | None:
        if (path, most) not in self._read:
            self._read[path, most] = super().contents(path, most)
        return self._read[path, most]


class Elsewhere(Snapshot):
    """The file system of another machine, assumed to have the same layout; the content of its files is unknown."""

    def contents(self, path: str, most: int) -> bytes | None:
        return None

    def beneath(self, folder: str, most: int) -> list[str] | None:
        return None


def _inside(folder: str, status: os.stat_result) -> tuple[frozenset[Identity], tuple[str, ...]]:
    """Return the files in a folder, and its folders. Names come and go with the time of its last change."""
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
        pass  # an agent, which runs as the same user, cannot read it either
    return frozenset(files), tuple(folders)
