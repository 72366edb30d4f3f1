"""Compares the calls of bash with those that the reader saw, in many programs at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from unittest.mock import patch

import shellgate.shell.read as reading
from shellgate.shell import bash, walk
from shellgate.shell.findings import Findings as Notes
from shellgate.shell.program import Program
from shellgate.shell.syntax.tree import Tree, parse
from tests.shellgate.shell.fuzzer.matching import missed
from tests.shellgate.shell.fuzzer.programs import Writer
from tests.shellgate.shell.fuzzer.running import TOGETHER, Bash, Call
from tests.shellgate.shell.shell_worlds import world


@dataclass(slots=True)
class Findings:
    """The findings of so many programs."""

    programs: int = 0
    doubted: int = 0  # programs, which a person would be asked about
    calls: int = 0  # of the others
    misses: list[str] = field(default_factory=list)  # each a few lines for people

    def add(self, other: "Findings") -> None:
        self.programs += other.programs
        self.doubted += other.doubted
        self.calls += other.calls
        self.misses += other.misses

    def told(self) -> dict[str, object]:
        """Return the findings as JSON values."""
        return asdict(self)


class _DoubtedError(Exception):
    """There is a doubt, so the rest does not matter."""


class _Doubtless(Notes):
    """Notes that end a reading at its first doubt, since none is ever taken back."""

    def doubt(self, reason: str, source: str = "") -> None:
        raise _DoubtedError


def _parsed(source: bytes) -> Tree:
    """Parse a text; what the tree doubts is a doubt of the reading, too."""
    tree = parse(source)
    if tree.doubts:
        raise _DoubtedError
    return tree


@contextmanager
def _in_haste() -> Iterator[None]:
    """Have a reading end at its first doubt, and not ask bash whether it understands the text.

    Of a refusal, which is a doubt, it is soon enough to hear when something was missed.
    """
    with (
        patch.object(reading, "Findings", _Doubtless),
        patch.object(walk, "parse", _parsed),
        patch.object(bash, "refuses", lambda _text: False),
    ):
        yield


class Fuzzer:
    """Tries programs in one folder; the first `made_small` that are missed are made as small as they can be."""

    def __init__(self, folder: Path, *, made_small: int = 10) -> None:
        self._made_small = made_small
        self._bash = Bash(folder)
        self._worlds = [
            world(str(self._bash.work(number)), str(self._bash.home(number)), val="m env")
            for number in range(TOGETHER)
        ]

    def run(self, seed: int, programs: int) -> Findings:
        """So many programs of a seed."""
        writer, findings = Writer(seed), Findings()
        texts = (writer.program() for _ in range(programs))
        while self._try(texts, findings):
            pass
        return findings

    def _try(self, texts: Iterator[str], findings: Findings) -> bool:
        """Try some of them; False if there are no more."""
        self._bash.tidy(*range(TOGETHER))
        clear = self._clear(texts, findings)
        called = self._bash.together([text for text, _program in clear])
        for number, ((text, program), calls) in enumerate(zip(clear, called, strict=True)):
            if missed(calls, program) is None:
                findings.calls += len(calls)
            elif call := missed(calls, reading.read(text, self._worlds[number])):
                findings.misses.append(
                    self._miss(text, call, shrinks=len(findings.misses) < self._made_small)
                )
            else:
                findings.doubted += 1
        return bool(clear)

    def _clear(self, texts: Iterator[str], findings: Findings) -> list[tuple[str, Program]]:
        """Return as many of them as one bash may run, of those that the reader does not doubt."""
        clear: list[tuple[str, Program]] = []
        with (
            patch.object(reading, "Findings", _Doubtless),
            patch.object(bash, "refuses", lambda _text: False),
        ):
            for text in texts:
                findings.programs += 1
                try:
                    clear.append((text, reading.read(text, self._worlds[len(clear)])))
                except _DoubtedError:
                    findings.doubted += 1
                if len(clear) == TOGETHER:
                    break
        return clear

    def _miss(self, text: str, call: Call, *, shrinks: bool) -> str:
        where = "" if self._is_missed(text) else ", beside others and not alone"
        small = self._smallest(text) if shrinks else text
        return f"missed {call.words} in {call.folder}{where}\n  of {text!r}\n  as small as {small!r}"

    def _is_missed(self, text: str) -> bool:
        return missed(self._bash.alone(text), reading.read(text, self._worlds[0])) is not None

    def _smallest(self, text: str) -> str:
        """A program that is missed likewise, with as much taken away as can be."""
        size = len(text) // 2
        while size:
            start = 0
            while start < len(text):
                shorter = text[:start] + text[start + size :]
                if self._is_missed(shorter):
                    text = shorter
                else:
                    start += size
            size //= 2
        return text
