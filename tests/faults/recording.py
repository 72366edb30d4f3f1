"""A program's disk operations beneath one folder, recorded step by step; and disk errors where a test wants them."""

import itertools
import os
import stat
import threading
from dataclasses import dataclass
from errno import ENOSPC
from pathlib import Path
from typing import NamedTuple

from tests.faults.disk import ROOT, Step

GROWING = ("create", "write", "name", "sync")  # calls for which a disk may have no room


class Note(NamedTuple):
    """A line of the test among the steps, such as what has been answered."""

    said: object


@dataclass(frozen=True, slots=True)
class Fault:
    """An error of the disk: of the call `begin` alone, counted from 0, or of all from then on until it is mended."""

    number: int  # ENOSPC, of calls that need room, or EIO, of all
    begin: int
    stays: bool = False


class Recording:
    """The steps beneath a folder since it is recorded, in the order in which they were done."""

    def __init__(self, root: Path, fault: Fault | None = None) -> None:
        self.root = os.path.realpath(root)
        self.steps: list[Step | Note] = []
        self.fault = fault
        self.calls = 0  # that could have had the fault
        self.failed: list[str] = []  # those that had it
        self.lock = threading.RLock()
        self._numbers = itertools.count(ROOT + 1)
        self._known: dict[tuple[int, int], int] = {}  # by device and inode
        self._look(self.root, ROOT)
        self.begin = len(self.steps)

    def note(self, said: object) -> None:
        with self.lock:
            self.steps.append(Note(said))

    def mend(self) -> None:
        """Have no more errors."""
        self.fault = None

    def do(self, what: str, *given: object) -> None:
        self.steps.append(Step(what, given))

    def fails(self, call: str, path: str) -> int | None:
        """Count a call, and return the errno of its error if it has one."""
        fault = self.fault
        if fault is None or not path.startswith(f"{self.root}/"):
            return None
        if fault.number == ENOSPC and call not in GROWING:
            return None
        self.calls += 1
        if self.calls - 1 != fault.begin and not (fault.stays and self.calls > fault.begin >= 0):
            return None
        self.failed.append(f"{call} {os.path.basename(path)}")
        return fault.number

    def number(self, path: str | int) -> int | None:
        """Return the number of the file behind the path or the descriptor; None if it is not beneath the folder."""
        try:
            status = os.stat(path, follow_symlinks=False) if isinstance(path, str) else os.fstat(path)
        except OSError:
            return None
        return self._known.get((status.st_dev, status.st_ino))

    def made(self, path: str) -> None:
        """Note what is new at the path."""
        if (above := self.number(os.path.dirname(path))) is not None:
            self.do("name", above, {os.path.basename(path): self._new(path)})

    def named(self, path: str, number: int | None) -> None:
        """Note that the path leads to what is known by the number, or nowhere any more."""
        if (above := self.number(os.path.dirname(path))) is not None:
            self.do("name", above, {os.path.basename(path): number})

    def moved(self, before: str, after: str, number: int | None) -> None:
        """Note that something has another path now; within a folder that is one change of names."""
        if os.path.dirname(before) != os.path.dirname(after):
            self.named(after, number)
            self.named(before, None)
        elif (above := self.number(os.path.dirname(after))) is not None:
            self.do("name", above, {os.path.basename(before): None, os.path.basename(after): number})

    def _new(self, path: str) -> int:
        status, number = os.lstat(path), next(self._numbers)
        self._known[status.st_dev, status.st_ino] = number
        mode = stat.S_IMODE(status.st_mode)
        if stat.S_ISDIR(status.st_mode):
            self.do("make_folder", number, mode)
        elif stat.S_ISLNK(status.st_mode):
            self.do("make_link", number, os.readlink(path))
        else:
            self.do("make_file", number, mode)
        return number

    def _look(self, folder: str, at: int) -> None:
        """Note what is there from the beginning, and sure to be."""
        status = os.stat(folder)
        self._known[status.st_dev, status.st_ino] = at
        for entry in sorted(os.scandir(folder), key=lambda each: each.name):
            known = self.number(entry.path)
            number = self._new(entry.path) if known is None else known
            self.do("name", at, {entry.name: number})
            if known is None and entry.is_dir(follow_symlinks=False):
                self._look(entry.path, number)
            elif known is None and entry.is_file(follow_symlinks=False):
                self.do("write", number, 0, Path(entry.path).read_bytes())
                self.do("sync", number)
        self.do("sync", at)
