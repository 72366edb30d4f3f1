"""The gate's facts about its machine; everything else it reads from the call."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Protocol


class FileSystem(Protocol):
    """The gate's look-ups in the file system: nothing is changed."""

    def snapshot(self) -> "FileSystem":
        """The same, remembering what was looked at: one decision sees one state."""

    def resolve(self, path: str) -> str:
        """Return where an absolute path leads once every link on it is followed, whether or not its end exists."""

    def is_folder(self, path: str) -> bool: ...

    def matches(self, folder: str, pattern: str) -> list[str]:
        """Return what a shell pattern of one component stands for in a folder just now, by name."""

    def beneath(self, folder: str, most: int) -> list[str] | None:
        """The files in a folder and in those beneath it, without what Git keeps; None if there are more."""

    def look(self, path: str) -> os.stat_result | None:
        """Return what is at an absolute path once links are followed; None if there is nothing that we can see."""

    def contents(self, path: str, most: int) -> bytes | None:
        """Return the content of a regular file, links followed; None if we cannot read one, or it is larger."""

    def identities(self, places: Iterable[str]) -> frozenset[tuple[int, int]]:
        """Device and inode of every file at or beneath these places; links are not followed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A machine, as one call finds it."""

    home: str  # of the person whose machine it is; absolute, links resolved
    cwd: str  # where relative paths begin; absolute
    roots: tuple[str, ...]  # the folders that agents work in
    own: tuple[str, ...]  # the product's own folders: configuration, tokens, audit log
    homes: tuple[str, ...] = ()  # of all users; `home` is one whether or not it is named here
    variables: Mapping[str, str] = field(default_factory=dict)  # what commands find in their environment
    files: FileSystem
    user: str = ""
    lookup: Callable[[str], str | None] = lambda _user: None  # the home of a user by name

    def absolute(self, path: str, cwd: str | None = None) -> str:
        """The path without `.`; `..` is left in place, since where it leads is the file system's to say."""
        joined = PurePosixPath(cwd or self.cwd) / path
        return str(joined)
