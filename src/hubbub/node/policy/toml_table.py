"""Strict reading of a TOML file: each key once, of its type, and no unknown one.

Every `Invalid` is one sentence that names the file and the key, says what was wrong and what is allowed.
"""

import os
import re
import stat
import tomllib
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from hubbub.model.errors import Invalid

SIZE = 1024 * 1024  # bytes of a file
_SPAN = re.compile(r"([0-9]{1,9})(ms|s|m|h)")
_UNITS = {
    "ms": timedelta(milliseconds=1),
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
}


class TomlTable:
    """One table of the file. Read its keys, then call `finish`, which refuses all others."""

    def __init__(self, file: str, content: Mapping[str, object], name: str = "") -> None:
        self._file, self._content, self._name = file, content, name
        self._known: list[str] = []

    def finish(self) -> None:
        """Raise `Invalid` if there are keys that nobody has read."""
        unknown = sorted(self._content.keys() - set(self._known))
        if unknown:
            raise Invalid(
                f"{self._file}: {self.path(unknown[0])} is not a known key;"
                f" known keys are: {', '.join(map(self.path, self._known))}"
            )

    def has(self, key: str) -> bool:
        return key in self._content

    def table(self, key: str) -> "TomlTable":
        """Return the table of that name, perhaps empty."""
        value = self._get(key, {})
        if not isinstance(value, dict):
            raise self.wrong(key, "a table")
        return TomlTable(self._file, value, self.path(key))

    def tables(self, key: str) -> list["TomlTable"]:
        """Return the tables in the list of that name, perhaps none."""
        allowed = f"tables, each of them begun with [[{self.path(key)}]]"
        items = self.items(key, allowed)
        if not all(isinstance(each, dict) for each in items):
            raise self.wrong(key, allowed)
        return [self.inner(key, each) for each in items if isinstance(each, dict)]

    def inner(self, key: str, content: Mapping[str, object]) -> "TomlTable":
        """Return a table that is an item of the list at the key."""
        return TomlTable(self._file, content, self.path(key))

    def text(self, key: str) -> str | None:
        value = self._get(key)
        if value is not None and not (isinstance(value, str) and value.strip()):
            raise self.wrong(key, "a text")
        return value if isinstance(value, str) else None

    def one_of(self, key: str, allowed: Sequence[str]) -> str | None:
        value = self._get(key)
        if value is None:
            return None
        if not isinstance(value, str) or value not in allowed:
            raise self.wrong(key, f"one of {', '.join(allowed)}")
        return value

    def switch(self, key: str, *, default: bool) -> bool:
        value = self._get(key, default)
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        return tuple(
            self._text_in(each, key, "a list of texts") for each in self.items(key, "a list of texts")
        )

    def items(self, key: str, allowed: str) -> list[object]:
        """Return the list at the key, with any items; an empty one if it is missing."""
        value = self._get(key, [])
        if not isinstance(value, list):
            raise self.wrong(key, allowed)
        return value

    def span(self, key: str, *, most: timedelta, milliseconds: bool = False) -> timedelta | None:
        """Return a duration: a number of seconds, or of milliseconds if so said, or a text such as `90s` or `5m`."""
        value = self._get(key)
        if value is None:
            return None
        unit = timedelta(milliseconds=1) if milliseconds else timedelta(seconds=1)
        found: timedelta | None = None
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= most / unit:
            found = value * unit
        elif isinstance(value, str) and (written := _SPAN.fullmatch(value)):
            found = int(written[1]) * _UNITS[written[2]]
        if found is None or not timedelta(0) < found <= most:
            named = "milliseconds" if milliseconds else "seconds"
            raise self.wrong(
                key, f"a number of {named} over 0, at most {most // unit}, or a text such as 90s or 5m"
            )
        return found

    def wrong(self, key: str, allowed: str) -> Invalid:
        """Make the refusal of the value at the key."""
        return Invalid(f"{self._file}: {self.path(key)} must be {allowed}")

    def path(self, key: str) -> str:
        """Return the key as a person finds it in the file."""
        return f"{self._name}.{key}" if self._name else key

    def _get(self, key: str, default: object = None) -> object:
        self._known.append(key)
        return self._content.get(key, default)

    def _text_in(self, value: object, key: str, allowed: str) -> str:
        if not isinstance(value, str) or not value:
            raise self.wrong(key, allowed)
        return value


def read(file: Path) -> TomlTable | None:
    """Return the table of a whole file; None if there is no such file.

    Raises `Invalid` if it cannot be read, is not TOML, or others may have written it.
    """
    try:
        with file.open("rb") as opened:
            _require_own(os.fstat(opened.fileno()), file.name)
            content = opened.read(SIZE + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Invalid(
            f"{file.name} cannot be read: {(error.strerror or 'no reason given').lower()}"
        ) from None
    if len(content) > SIZE:
        raise Invalid(f"{file.name} is larger than {SIZE} bytes")
    try:
        return TomlTable(file.name, tomllib.loads(content.decode()))
    except UnicodeDecodeError:
        raise Invalid(f"{file.name} must be UTF-8 text") from None
    except (ValueError, RecursionError) as error:  # a number of too many digits is no TOMLDecodeError
        raise Invalid(f"{file.name} is not TOML: {error}") from None


def _require_own(status: os.stat_result, name: str) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise Invalid(f"{name} is not a regular file")
    if status.st_uid not in (os.geteuid(), 0):
        raise Invalid(f"{name} belongs to another user; it must be yours")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise Invalid(f"{name} can be written by others; take that away with: chmod go-w {name}")
