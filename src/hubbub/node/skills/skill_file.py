"""One skill: its `SKILL.md`, read without following a link, and the hash of all files beside it."""

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum, auto
from pathlib import Path
from typing import Any

import yaml

FILE = "SKILL.md"
FENCE = "---"
NAME = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?", re.IGNORECASE)
DESCRIPTION_LENGTH = 1024
FRONT_SIZE = 4096  # characters of YAML: reading deep nesting takes the square of its length
SIZE = 256 * 1024  # bytes of a SKILL.md
FOLDER_SIZE = 16 * 1024 * 1024  # bytes of all files of a skill
MOST_FILES = 1000
LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # the fast one is there almost everywhere


class SkillOrigin(StrEnum):
    """The owner of a skill."""

    HUB = auto()  # comes with the product
    USER = auto()  # of the person whose machine it is
    PROJECT = auto()  # in folders that agents and strangers write to


class UnusableSkill(Exception):
    """The folder holds no usable skill; the message says why."""


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill, as it was when it was read."""

    name: str
    description: str
    origin: SkillOrigin
    folder: Path
    text: str  # after the front matter

    def digest(self) -> str:
        """Return the SHA-256 over its `SKILL.md` as read, and the present names and contents of all other files.

        Raises `UnusableSkill` if that is too much for a skill.
        """
        total = hashlib.sha256(f"{self.name}\0{self.description}\0{self.text}".encode())
        size = count = 0
        for path, content in _others(self.folder):
            size, count = size + len(content), count + 1
            if size > FOLDER_SIZE or count > MOST_FILES:
                raise UnusableSkill(f"it has more than {MOST_FILES} files, or {FOLDER_SIZE} bytes")
            total.update(
                f"\0{path}\0{hashlib.sha256(content).hexdigest()}".encode("utf-8", "surrogateescape")
            )
        return total.hexdigest()


def read(folder: Path, descriptor: int, origin: SkillOrigin) -> Skill:
    """Read the skill in an open folder. Raises `UnusableSkill`; `FileNotFoundError` without a `SKILL.md`."""
    with closing(_Opened(FILE, descriptor)) as file:
        try:
            content = file.read(SIZE).decode()
        except UnicodeDecodeError:
            raise UnusableSkill(f"{FILE} is not UTF-8 text") from None
    front, text = _split(content.removeprefix("\ufeff"))
    name, description = front.get("name"), front.get("description")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise UnusableSkill("its name must be 1 to 64 letters, digits, dots, hyphens or underscores")
    if not isinstance(description, str) or not description.strip():
        raise UnusableSkill("it has no description")
    if len(description) > DESCRIPTION_LENGTH:
        raise UnusableSkill(f"its description is longer than {DESCRIPTION_LENGTH} characters")
    return Skill(name, " ".join(description.split()), origin, folder, text)


def _split(content: str) -> tuple[dict[str, Any], str]:
    """Split the front matter between two lines of three dashes from the text after it."""
    lines = content.splitlines(keepends=True)
    ends = [index for index, line in enumerate(lines) if line.rstrip() == FENCE]
    if len(ends) < 2 or ends[0] != 0:
        raise UnusableSkill(f"{FILE} does not begin with YAML between two lines of {FENCE}")
    yaml_text = "".join(lines[1 : ends[1]])
    if len(yaml_text) > FRONT_SIZE:
        raise UnusableSkill(f"its front matter is longer than {FRONT_SIZE} characters")
    try:
        front = yaml.load(yaml_text, Loader=LOADER)  # noqa: S506  # it makes nothing but text, and merges nothing
    except (yaml.YAMLError, RecursionError):
        raise UnusableSkill("its front matter is not YAML") from None
    if not isinstance(front, dict):
        raise UnusableSkill("its front matter is not a mapping")
    return front, "".join(lines[ends[1] + 1 :]).strip()


class _Opened:
    """A regular file of an open folder, opened without following a link."""

    def __init__(self, name: str, folder: int) -> None:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            self._descriptor = os.open(name, flags, dir_fd=folder)
        except FileNotFoundError:
            raise
        except OSError:
            raise UnusableSkill(f"{name} cannot be read, or is a link") from None
        if not stat.S_ISREG(os.fstat(self._descriptor).st_mode):
            self.close()
            raise UnusableSkill(f"{name} is not a file")

    def read(self, most: int) -> bytes:
        content = bytearray()
        while chunk := os.read(self._descriptor, 65_536):
            content += chunk
            if len(content) > most:
                raise UnusableSkill(f"it is larger than {most} bytes")
        return bytes(content)

    def close(self) -> None:
        os.close(self._descriptor)


def _others(skill: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a skill beside its `SKILL.md`: path and content; for a link, its target, unfollowed."""
    for folder, folders, files, descriptor in os.fwalk(skill, onerror=_refuse, follow_symlinks=False):
        folders.sort()
        for name in sorted(files + folders):
            path = (Path(folder) / name).relative_to(skill)
            kind = os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode
            if stat.S_ISLNK(kind):
                yield str(path), os.fsencode(os.readlink(name, dir_fd=descriptor))
            elif not stat.S_ISDIR(kind) and path != Path(FILE):
                with closing(_Opened(name, descriptor)) as file:
                    yield str(path), file.read(FOLDER_SIZE)


def _refuse(error: OSError) -> None:
    raise UnusableSkill("one of its folders cannot be read") from error
