"""The gate's facts about its machine; everything else it reads from the call."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Protocol


class FileSystem(Protocol):
    """The gate's look-ups in the file system: nothing is changed."""

    def snapshot(self) -> "FileSystem":
        """Return the same with a memory of its facts: one decision sees one state."""

    def resolve(self, path: str) -> str:
        """Return the target of an absolute path with every link followed, whether or not its end exists."""

    def is_folder(self, path: str) -> bool: ...

    def matches(self, folder: str, pattern: str) -> list[str]:
        """Return the present matches of a shell pattern of one component in a folder, by name."""

    def beneath(self, folder: str, most: int) -> list[str] | None:
        """The files in a folder and in those beneath it, without what Git keeps; None if there are more."""

    def look(self, path: str) -> os.stat_result | None:
        """Return the status of an absolute path, links followed; None if we can see nothing there."""

    def contents(self, path: str, most: int) -> bytes | None:
        """Return the content of a regular file, links followed; None if we cannot read one, or it is larger."""

    def identities(self, places: Iterable[str]) -> frozenset[tuple[int, int]]:
        """Device and inode of every file at or beneath these places; links are not followed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A machine, as one call finds it."""

    home: str  # of the machine's owner; absolute, links resolved
    cwd: str  # where relative paths begin; absolute
    roots: tuple[str, ...]  # the folders that agents work in
    own: tuple[str, ...]  # the product's own folders: configuration, tokens, audit log
    homes: tuple[str, ...] = ()  # of all users; `home` is one whether or not it is named here
    variables: Mapping[str, str] = field(default_factory=dict)  # in the environment of commands
    files: FileSystem
    user: str = ""
    lookup: Callable[[str], str | None] = lambda _user: None  # the home of a user by name

    def absolute(self, path: str, cwd: str | None = None) -> str:
        """Return the path without `.`; `..` is left in place, since its target depends on the file system."""
        joined = PurePosixPath(cwd or self.cwd) / path
        return str(joined)
