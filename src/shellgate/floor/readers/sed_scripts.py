"""The scripts of `sed`: their commands that write, read and run."""

import re
from collections.abc import Iterator

from shellgate.floor.arguments.actions import Action, FloorVerdict, RunShell, TouchPath, Use
from shellgate.floor.arguments.shell_words import plain
from shellgate.verdicts import ask

_BLANK = re.compile(r"[\s;{}]*")
_NUMBER = re.compile(r"\s*(\d+(~\d+)?|\$|first|[+~]\d+)")
_FLAGS = re.compile(r"[gpiImMe0-9]*")
_RUNS = "The sed script runs its own output: only running it tells."


def commands(script: str) -> Iterator[Action]:
    """Yield what a script does beyond editing."""
    yield from _Script(script).read()


class _Script:
    """One pass over a script."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def read(self) -> Iterator[Action]:
        while True:
            self._skip(_BLANK)
            self._address()
            if self.at >= len(self.text):
                return
            command = self.text[self.at]
            self.at += 1
            yield from self._command(command)

    def _skip(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return found[0] if found else ""

    def _address(self) -> None:
        r"""Skip the addresses before a command: numbers, `$`, `/…/`, `\\c…c`, and what joins them."""
        while self.at < len(self.text):
            self._skip(re.compile(r"[\s,!+~]*"))
            sign = self.text[self.at : self.at + 1]
            if sign == "/":
                self._delimited(sign, 1)
            elif sign == "\\":
                self.at += 1
                self._delimited(self.text[self.at : self.at + 1], 1)
            elif not self._skip(_NUMBER):
                return
            self._skip(re.compile(r"[IM]*(?=[\s,!a-zA-Z{])"))

    def _delimited(self, delimiter: str, count: int) -> None:
        """Skip `count` parts that end with the delimiter; it also begins the first."""
        self.at += 1
        while self.at < len(self.text) and count:
            sign = self.text[self.at]
            if sign == "\\":
                self.at += 1
            elif sign == delimiter:
                count -= 1
            self.at += 1

    def _command(self, command: str) -> Iterator[Action]:
        if command == "s":
            yield from self._substitute()
        elif command == "y":
            self._delimited(self.text[self.at : self.at + 1], 2)
        elif command in "wW":
            yield TouchPath(plain(self._line()), Use.WRITE)
        elif command in "rR":
            yield TouchPath(plain(self._line()), Use.READ)
        elif command == "e":
            code = self._line()
            yield RunShell(plain(code)) if code else FloorVerdict(ask("F9", _RUNS))
        elif command in "aic":
            while self._line().endswith("\\"):
                self.at += 1
        elif command in ":btT#":
            self._line()

    def _substitute(self) -> Iterator[Action]:
        self._delimited(self.text[self.at : self.at + 1], 2)
        flags = self._skip(_FLAGS)
        if "e" in flags:
            yield FloorVerdict(ask("F9", _RUNS))
        if self.text[self.at : self.at + 1] == "w":
            self.at += 1
            yield TouchPath(plain(self._line()), Use.WRITE)

    def _line(self) -> str:
        end = self.text.find("\n", self.at)
        end = len(self.text) if end < 0 else end
        line = self.text[self.at : end].strip()
        self.at = end
        return line
