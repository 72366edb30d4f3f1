"""Compares the calls of bash with those that the reader saw, program after program."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from shellgate.shell.program import Program
from shellgate.shell.read import read
from shellgate.world import World
from tests.shellgate.shell.fuzzer.matching import missed
from tests.shellgate.shell.fuzzer.programs import Writer
from tests.shellgate.shell.fuzzer.running import Bash
from tests.shellgate.shell.shell_worlds import world

Reader = Callable[[str, World], Program]


@dataclass(slots=True)
class Findings:
    """The findings of so many programs."""

    programs: int = 0
    doubted: int = 0  # programs
    calls: int = 0
    clear_calls: int = 0  # of programs without a doubt: those that the comparison is about
    misses: list[str] = field(default_factory=list)  # each a few lines for people

    def add(self, other: "Findings") -> None:
        self.programs += other.programs
        self.doubted += other.doubted
        self.calls += other.calls
        self.clear_calls += other.clear_calls
        self.misses += other.misses

    def told(self) -> dict[str, object]:
        """Return the findings as JSON values."""
        return asdict(self)


class Fuzzer:
    """Tries programs in one folder; the first `made_small` that are missed are made as small as they can be."""

    def __init__(self, folder: Path, reader: Reader = read, *, made_small: int = 10) -> None:
        self._made_small = made_small
        self._bash = Bash(folder)
        self._reader = reader
        self._world = world(str(folder / "work"), str(folder / "home"), val="m env")

    def run(self, seed: int, programs: int) -> Findings:
        """So many programs of a seed."""
        writer, findings = Writer(seed), Findings()
        for _ in range(programs):
            self._try(writer.program(), findings)
        return findings

    def _try(self, text: str, findings: Findings) -> None:
        program = self._reader(text, self._world)
        calls = self._bash.run(text)
        findings.programs += 1
        findings.calls += len(calls)
        if program.doubts:
            findings.doubted += 1
            return
        findings.clear_calls += len(calls)
        call = missed(calls, program)
        if call is not None:
            small = self._smallest(text) if len(findings.misses) < self._made_small else text
            findings.misses.append(
                f"missed {call.words} in {call.folder}\n  of {text!r}\n  as small as {small!r}"
            )

    def _smallest(self, text: str) -> str:
        """A program that is missed likewise, with as much taken away as can be."""
        size = len(text) // 2
        while size:
            start = 0
            while start < len(text):
                shorter = text[:start] + text[start + size :]
                if missed(self._bash.run(shorter), self._reader(shorter, self._world)) is not None:
                    text = shorter
                else:
                    start += size
            size //= 2
        return text
