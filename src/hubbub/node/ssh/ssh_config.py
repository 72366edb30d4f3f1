"""The files of the SSH configuration, parsed like OpenSSH: the first value for a host is the one that counts.

If a program would have to run to decide, the answer is a refusal: it would run past the gate.
"""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hubbub.model.fleet.calls import RefusalCode
from hubbub.node.ssh.destination import Destination
from hubbub.node.ssh.not_connected import NotConnected, not_followed

USERS = ".ssh"  # the user's own folder, in the home
SYSTEMS = Path("/etc/ssh")
SIZE = 1024 * 1024  # bytes of a file
DEEPEST = 16  # levels of files that include files
_LINE = re.compile(r"([A-Za-z0-9]+)(?:\s*=\s*|\s+)(\S.*)", re.DOTALL)
_WORD = re.compile(r'"([^"]*)"|(#.*)|([^\s"]\S*)')
_LISTS = frozenset({"identityfile", "certificatefile"})  # keywords whose values all count
_PROXIES = {"proxycommand": "proxyjump", "proxyjump": "proxycommand"}  # the first of either counts


@dataclass(slots=True)
class HostOptions:
    """The files' words for one host, by keyword in small letters."""

    words: dict[str, list[str]] = field(default_factory=dict)

    def one(self, keyword: str) -> str | None:
        """Return the first word; None for a missing keyword, or `none`."""
        said = self.words.get(keyword)
        return None if not said or said[0].casefold() == "none" else said[0]

    def every(self, keyword: str) -> list[str] | None:
        """Return all words; an empty list for `none`, None for a missing keyword."""
        said = self.words.get(keyword)
        return None if said is None else [each for each in said if each.casefold() != "none"]

    def is_on(self, keyword: str) -> bool:
        return (self.one(keyword) or "").casefold() in ("yes", "true")

    def take(self, keyword: str, words: Sequence[str]) -> None:
        """Take the words of a line."""
        if keyword in _LISTS:
            self.words.setdefault(keyword, []).extend(words)
        elif _PROXIES.get(keyword) not in self.words:
            self.words.setdefault(keyword, list(words))


def read(destination: Destination, home: Path, local_user: str) -> HostOptions:
    """Read the user's and the system's options of a host. Raises `NotConnected`."""
    reading = _Reading(destination, home, local_user)
    reading.everything()
    if reading.has_final:  # blocks that apply once all others are known
        reading.is_final = True
        reading.everything()
    return reading.values


class _Reading:
    """One host's way through the files."""

    def __init__(self, destination: Destination, home: Path, local_user: str) -> None:
        self._destination, self._home, self._local_user = destination, home, local_user
        self.values = HostOptions()
        self.is_final = self.has_final = False

    def everything(self) -> None:
        for folder, name in ((self._home / USERS, "config"), (SYSTEMS, "ssh_config")):
            self._file(folder / name, folder, 0)

    def _file(self, file: Path, folder: Path, depth: int) -> None:
        if depth > DEEPEST:
            raise not_followed("its files include one another without end")
        is_meant = True
        for keyword, words in _lines(file, is_users=folder != SYSTEMS):
            if keyword == "host":
                is_meant = _fits(words, self._destination.host)
            elif keyword == "match":
                is_meant = self._matches(words)
            elif is_meant and keyword == "include":
                for each in words:
                    self._include(each, folder, depth)
            elif is_meant:
                self.values.take(keyword, words)

    def _include(self, pattern: str, folder: Path, depth: int) -> None:
        if pattern.startswith("~/"):
            pattern, folder = pattern[2:], self._home
        elif pattern.startswith("/"):
            pattern, folder = pattern[1:], Path("/")
        try:
            found = sorted(folder.glob(pattern))
        except (ValueError, NotImplementedError):
            raise not_followed("it includes something that is not a file's name") from None
        for each in found:
            self._file(each, folder if folder == SYSTEMS else self._home / USERS, depth + 1)

    def _matches(self, words: Sequence[str]) -> bool:
        """Tell whether all criteria of a `Match` hold; those after a failing one are not evaluated."""
        rest = iter(words)
        for each in rest:
            name, sign, value = each.partition("=")
            name, wanted = name.removeprefix("!").casefold(), not name.startswith("!")
            if name in ("final", "canonical"):
                self.has_final = True
                holds = self.is_final
            elif name == "all":
                holds = True
            else:
                holds = self._holds(name, value if sign else next(rest, ""))
            if holds is not wanted:
                return False
        return True

    def _holds(self, criterion: str, patterns: str) -> bool:
        if criterion == "exec":
            raise NotConnected(
                RefusalCode.FAILED,
                "the SSH configuration has a program tell about it (Match exec); that is not run here",
            )
        known = {
            "host": self.values.one("hostname") or self._destination.host,
            "originalhost": self._destination.host,
            "user": self._destination.user or self.values.one("user") or self._local_user,
            "localuser": self._local_user,
        }
        if criterion not in known:
            raise not_followed(f"it has a Match that is not by {', '.join(known)}, all or final")
        return _fits(patterns.split(","), known[criterion])


def _lines(file: Path, *, is_users: bool) -> Iterator[tuple[str, list[str]]]:
    """Yield the meaningful lines of a file: the keyword in small letters, and its words."""
    for number, line in enumerate(_text(file, is_users=is_users).splitlines(), 1):
        if not (line := line.strip()) or line.startswith("#"):
            continue
        found = _LINE.fullmatch(line)
        words = _words(found[2]) if found is not None else None
        if found is None or not words:
            raise not_followed(f"line {number} of a file of it is none")
        yield found[1].casefold(), words


def _words(text: str) -> list[str] | None:
    """Split into words, without quotes and comments; None if a quote does not end."""
    words, at = [], 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        found = _WORD.match(text, at)
        if found is None:
            return None
        if found[2] is not None:
            break
        words.append(found[1] if found[1] is not None else found[3])
        at = found.end()
    return words


def _text(file: Path, *, is_users: bool) -> str:
    """Read a file; empty if there is none. Others must not be able to write the user's file."""
    try:
        with file.open("rb") as opened:
            about = os.fstat(opened.fileno())
            if is_users and (
                about.st_uid not in (os.geteuid(), 0) or about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            ):
                raise not_followed("others may write it")
            return opened.read(SIZE).decode("utf-8", "surrogateescape")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError:
        raise not_followed("a file of it cannot be read") from None


def _fits(patterns: Sequence[str], text: str) -> bool:
    """Tell whether a pattern matches, and none that begins with `!` does. `*` and `?` stand for characters."""
    text = text.casefold()
    fitting = [each for each in patterns if _pattern(each.removeprefix("!")).fullmatch(text)]
    return bool(fitting) and not any(each.startswith("!") for each in fitting)


def _pattern(written: str) -> re.Pattern[str]:
    signs = {"*": ".*", "?": "."}
    return re.compile("".join(signs.get(each) or re.escape(each) for each in written.casefold()), re.DOTALL)
