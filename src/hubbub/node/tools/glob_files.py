"""Finding files by patterns of their paths. Folders are walked by descriptor, and no link is followed."""

import heapq
import os
import posixpath
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from hubbub.model.fleet.calls import RefusalCode, ToolResult, as_json
from hubbub.node.system import open_beneath, safe_open
from hubbub.node.system.safe_open import NotOpened
from hubbub.node.tools import list_results
from hubbub.node.tools.file_tool import FileCall
from hubbub.node.tools.withheld_files import is_withheld
from shellgate import globs, paths
from shellgate.floor.search_omissions import left_out
from shellgate.paths import Access

MATCHES = 1_000  # in an answer, at most
LONGEST = 1_000  # characters of a pattern
PATIENCE = 30.0  # seconds that one search may take
DEEP = "**"  # any folders, perhaps none

Places = frozenset[tuple[int, int]]  # progress of a path: a number of an alternative, and a name of it


@dataclass(frozen=True, slots=True)
class _Match:
    path: str  # from the folder where the walk began
    changed_at: int  # nanoseconds


def glob(call: FileCall) -> ToolResult:
    """Return `{matches}`: paths from `cwd`, the last changed first; `truncated` if there are more."""
    pattern = call.text("pattern")
    folder, rest = globs.split(pattern)
    walk = _Walk(call, _alternatives(rest))
    with safe_open.folder(call.target, call.world, Access.LIST) as at:
        newest = heapq.nsmallest(MATCHES, walk.matches(at), key=lambda each: (-each.changed_at, each.path))
    start = call.target if folder.startswith("~") else folder
    value: dict[str, object] = {
        "matches": [list_results.readable(posixpath.join(start, each.path)) for each in newest]
    }
    if not walk.was_cut and walk.found <= MATCHES:
        return ToolResult(value=value)
    value["truncated"] = True
    more = (
        f"The search ended after {PATIENCE:.0f} s, so there may be more."
        if walk.was_cut
        else f"The newest {MATCHES:,} of {walk.found:,} are shown."
    )
    return ToolResult(value=value, texts=(as_json(value), more))


class _Walk:
    """One walk through a folder, with all alternatives of a pattern at once."""

    def __init__(self, call: FileCall, alternatives: list[list[str]]) -> None:
        self._call, self._alternatives = call, alternatives
        self._ends = time.monotonic() + PATIENCE
        self.was_cut, self.found = False, 0

    def matches(self, at: int) -> Iterator[_Match]:
        """Yield the matches, unordered. The walk ends when its time is over or nobody waits for it."""
        waiting = [("", self._settled({(number, 0) for number in range(len(self._alternatives))}))]
        while waiting:
            folder, places = waiting.pop()
            if self._call.is_cancelled or time.monotonic() > self._ends:
                self.was_cut = True
                return
            for entry in _entries(at, folder):
                after = self._after(places, entry.name)
                path = f"{folder}/{entry.name}" if folder else entry.name
                fits = any(place == len(self._alternatives[number]) for number, place in after)
                goes_on = bool(after) and entry.is_dir(follow_symlinks=False)
                if (fits or goes_on) and self._may_show(path, entry):
                    if fits:
                        self.found += 1
                        yield _Match(path, _changed_at(entry))
                    if goes_on:
                        waiting.append((path, after))

    def _after(self, places: Places, name: str) -> Places:
        """Return the places after a name."""
        after: set[tuple[int, int]] = set()
        for number, place in places:
            names = self._alternatives[number]
            if place == len(names):
                continue
            if names[place] == DEEP:
                if not name.startswith("."):
                    after.add((number, place))
            elif globs.component(names[place])(name):
                after.add((number, place + 1))
        return self._settled(after)

    def _settled(self, places: set[tuple[int, int]]) -> Places:
        """Return the places, and those after a `**` that stands for nothing."""
        for number, place in sorted(places):
            names = self._alternatives[number]
            beyond = place
            while beyond < len(names) and names[beyond] == DEEP:
                beyond += 1
                places.add((number, beyond))
        return frozenset(places)

    def _may_show(self, path: str, entry: os.DirEntry[str]) -> bool:
        world, absolute = self._call.world, posixpath.join(self._call.target, path)
        if left_out(self._call.target, path, world) or is_withheld(absolute, self._call.place):
            return False
        if not entry.is_symlink():
            return True
        return paths.protected(absolute, Access.READ, world) is None


def _changed_at(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_mtime_ns
    except OSError:
        return 0  # it has just vanished


@contextmanager
def _listed(at: int, folder: str) -> Iterator[int]:
    above = open_beneath.open_folder(at, folder)
    try:
        with open_beneath.listable(above) as readable:
            yield readable
    finally:
        os.close(above)


def _entries(at: int, folder: str) -> Iterator[os.DirEntry[str]]:
    """Yield the entries of a folder; none if it is gone, or has become a link."""
    try:
        with _listed(at, folder) as readable, os.scandir(readable) as entries:
            yield from entries
    except OSError:
        return


def _alternatives(pattern: str) -> list[list[str]]:
    """Split a pattern into names and patterns of names, once for each way to choose in braces."""
    if len(pattern) > LONGEST:
        raise NotOpened(RefusalCode.INVALID, f"is a pattern of more than {LONGEST:,} characters")
    chosen = [[name for name in each.split("/") if name not in ("", ".")] for each in globs.braces(pattern)]
    return [names for names in chosen if names]
