"""A disk as it is when the power fails: what was made sure of is there, and of the rest anything that a disk may do.

It is told step by step what a program does. Content that was written and names that were changed wait until somebody
has them kept, by `fsync` of the file or of the folder. After a power cut

- of the content that waits, each sector of each write is there or is not, in any order, and one of several may
  be torn; a file may have grown without what was written there, and holds zeros or what lay on the disk before;
- a file was cut before what was written into it later, or neither is there;
- of the names that wait in a folder each change is there or is not, but none without the earlier ones of the same
  names. A rename within a folder is one change; between two folders it is one in each.

That is more than most file systems do, and no more than they may.
"""

import hashlib
import os
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

SECTOR = 512
TORN = 0.05  # of the sectors that come to the disk
ROOT = 0  # the number of the folder in which all is


class Step(NamedTuple):
    """One thing that a program has the disk do: a method of `Disk`, and what it is given."""

    what: str
    given: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Write:
    """So many bytes from `begin` on."""

    begin: int
    content: bytes


@dataclass(frozen=True, slots=True)
class Resize:
    """The file is so long, and what was beyond is gone."""

    size: int


@dataclass(slots=True)
class File:
    """A file of the simulated disk: its safe content, and the writes that wait."""

    mode: int
    kept: bytearray = field(default_factory=bytearray)
    waiting: list[Write | Resize] = field(default_factory=list)


@dataclass(slots=True)
class Folder:
    """Names with the numbers of their files, None for a removed name."""

    mode: int
    kept: dict[str, int | None] = field(default_factory=dict)
    waiting: list[Mapping[str, int | None]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Link:
    """A symbolic link."""

    target: str


class LeftFile(NamedTuple):
    """A file after a power cut."""

    mode: int
    content: bytes


class LeftFolder(NamedTuple):
    """A folder after a power cut; what is in it follows by its own path."""

    mode: int


class Same(NamedTuple):
    """Another name of a file that has this one too."""

    path: str


Left = dict[str, LeftFile | LeftFolder | Link | Same]  # by the path, each folder before what is in it


class Luck:
    """Decides how much of the waiting data of one file or folder is on the disk: the `share` of it, by chance."""

    def __init__(self, chance: random.Random, share: float) -> None:
        self._chance, self._share = chance, share
        self.is_sure = share == 1.0

    def has(self, usual: float = 1.0) -> bool:
        """Draw whether something happens to which the share `usual` is normal."""
        return (self.is_sure and usual == 1.0) or self._chance.random() < self._share * usual

    def torn(self, part: bytes) -> bytes:
        """Return what of a sector has come to the disk."""
        if self.is_sure or self._chance.random() >= TORN:
            return part
        return part[: self._chance.randrange(len(part) + 1)]

    def old(self, size: int) -> bytes:
        """Return what lay where a file grew: zeros, or anything."""
        return self._chance.randbytes(size) if self._chance.random() < 0.5 else bytes(size)


class Cut:
    """A power cut: with `share` 1.0 everything has come to the disk, as after a kill, and with 0.0 nothing.

    Without a share it is another one for each file and folder.
    """

    def __init__(self, seed: object = 0, share: float | None = None) -> None:
        self._chance, self._share = random.Random(str(seed)), share

    def luck(self) -> Luck:
        shares = (0.0, 0.3, 0.7, 1.0) if self._share is None else (self._share,)
        return Luck(self._chance, self._chance.choice(shares))


class Disk:
    """Files and folders by their numbers; `ROOT` is there from the beginning."""

    def __init__(self) -> None:
        self._files: dict[int, File] = {}
        self._folders: dict[int, Folder] = {ROOT: Folder(0o700)}
        self._links: dict[int, Link] = {}

    def do(self, step: Step) -> None:
        getattr(self, step.what)(*step.given)

    def make_file(self, at: int, mode: int) -> None:
        self._files[at] = File(mode)

    def make_folder(self, at: int, mode: int) -> None:
        self._folders[at] = Folder(mode)

    def make_link(self, at: int, target: str) -> None:
        self._links[at] = Link(target)

    def name(self, at: int, names: Mapping[str, int | None]) -> None:
        """Change names in a folder, all of these at once."""
        self._folders[at].waiting.append(names)

    def write(self, at: int, begin: int, content: bytes) -> None:
        self._files[at].waiting.append(Write(begin, content))

    def resize(self, at: int, size: int) -> None:
        self._files[at].waiting.append(Resize(size))

    def sync(self, at: int) -> None:
        """Make sure of a file's content, or of a folder's names."""
        everything = Cut(share=1.0).luck()
        if at in self._folders:
            folder = self._folders[at]
            folder.kept, folder.waiting = dict(_names(folder, everything)), []
        else:
            file = self._files[at]
            _apply(file.waiting, file.kept, everything)
            file.waiting = []

    def after(self, cut: Cut) -> Left:
        """Return what is there after a power cut."""
        left: Left = {}
        self._see(ROOT, "", cut, left, {})
        return left

    def _see(self, at: int, above: str, cut: Cut, left: Left, seen: dict[int, str]) -> None:
        for name, number in sorted(_names(self._folders[at], cut.luck()).items()):
            path = f"{above}{name}"
            if number in seen:
                left[path] = Same(seen[number])
            elif number in self._files:
                file, seen[number] = self._files[number], path
                left[path] = LeftFile(file.mode, bytes(_content(file, cut.luck())))
            elif number in self._folders:
                left[path] = LeftFolder(self._folders[number].mode)
                self._see(number, f"{path}/", cut, left, seen)
            else:
                left[path] = self._links[number]


def put(left: Left, target: Path) -> None:
    """Write into an empty folder what is there after a power cut."""
    for name, each in left.items():
        path = target / name
        match each:
            case Same(path=other):
                os.link(target / other, path)
            case LeftFile(mode, content):
                path.write_bytes(content)
                path.chmod(mode)
            case LeftFolder(mode):
                path.mkdir(mode)
            case Link(link):
                path.symlink_to(link)


def digest(left: Left) -> bytes:
    """Return what is equal for equal files and folders only."""
    found = hashlib.sha256()
    for name, each in left.items():
        content = each.content if isinstance(each, LeftFile) else b""
        told = each._replace(content=b"") if isinstance(each, LeftFile) else each
        found.update(f"{(name, told, len(content))}".encode())
        found.update(content)
    return found.digest()


def _names(folder: Folder, luck: Luck) -> dict[str, int]:
    """Return the names of a folder that are on the disk, each with the number of its file."""
    found = dict(folder.kept)
    missed: set[str] = set()  # of names an earlier change of which has not come to the disk
    for change in folder.waiting:
        if missed.isdisjoint(change) and luck.has():
            found.update(change)
        else:
            missed.update(change)
    return {name: number for name, number in found.items() if number is not None}


def _content(file: File, luck: Luck) -> bytearray:
    """The bytes of a file."""
    found = file.kept.copy()
    _apply(file.waiting, found, luck)
    return found


def _apply(waiting: list[Write | Resize], found: bytearray, luck: Luck) -> None:
    """Do to the bytes of a file what has come to the disk of what waits."""
    for each in waiting:
        match each:
            case Write():
                _write(found, each, luck)
            case Resize(size) if luck.has():
                del found[size:]
                found.extend(bytes(size - len(found)))
            case _:
                break


def _write(found: bytearray, write: Write, luck: Luck) -> None:
    """Write what has come to the disk of a write, sector by sector."""
    begin, end = write.begin, write.begin + len(write.content)
    if luck.is_sure:
        found.extend(bytes(max(0, begin - len(found))))
        found[begin:end] = write.content
        return
    while begin < end:
        stop = min(end, begin - begin % SECTOR + SECTOR)
        if luck.has():
            part = write.content[begin - write.begin : stop - write.begin]
            part = part if len(part) == len(write.content) else luck.torn(part)
            found.extend(bytes(max(0, begin - len(found))))
            found[begin : begin + len(part)] = part
        begin = stop
    if len(found) < end and luck.has(0.5):
        found.extend(luck.old(end - len(found)))
