"""A mutant: a small wrong in the product that breaks one sentence of the specification, and the test that will notice.

It is a file in the folder of its layer: two lines that say the sentence and the test, and then a patch as `git diff`
prints it. The lines that it takes away, with those around them, stand once in the file: their numbers do not matter.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent
BREAKS, TEST = "Breaks: ", "Test: "
SIMULATE = "simulate"  # in the place of a test: seeds of the simulator, until a promise breaks
FILE, END = "--- a/", "@@"  # in a patch, how a file begins, and where lines that stand together end


class DoesNotApply(Exception):
    """The source is no longer what the patch was made for."""


@dataclass(frozen=True)
class Hunk:
    """Lines of a file, before and after the mutation."""

    before: str
    after: str

    @classmethod
    def of(cls, lines: list[str]) -> Self:
        return cls(_side(lines, " -"), _side(lines, " +"))


@dataclass(frozen=True)
class Mutant:
    """A mutant as its file describes it; `changes` are the hunks of each file that it changes."""

    name: str
    layer: str
    breaks: str
    test: str
    changes: Mapping[str, list[Hunk]]

    @classmethod
    def read(cls, file: Path) -> Self:
        """The mutant of a file; `ValueError` if it is not as the others are."""
        breaks, test, *patch = file.read_text("utf-8").splitlines()
        if not breaks.startswith(BREAKS) or not test.startswith(TEST):
            raise ValueError(f"{file.name} does not begin with what it breaks and with its test")
        return cls(
            name=file.stem,
            layer=file.parent.name,
            breaks=breaks.removeprefix(BREAKS),
            test=test.removeprefix(TEST),
            changes=_changes(patch),
        )

    @property
    def is_simulated(self) -> bool:
        """True if the simulator has to notice the mutant, rather than a test."""
        return self.test == SIMULATE

    @property
    def part(self) -> str:
        """The folder of tests that is to notice."""
        return "/".join(self.test.partition("::")[0].split("/")[:2])

    def applied(self, root: Path) -> dict[Path, str]:
        """Return the files of a checkout with the mutation applied. Raises `DoesNotApply`."""
        return {root / file: _changed(root / file, hunks) for file, hunks in self.changes.items()}


def all_mutants() -> list[Mutant]:
    """The whole list, by layer and name."""
    return [Mutant.read(file) for file in sorted(FOLDER.glob("*/*.patch"))]


@cache
def tests_in(module: Path) -> frozenset[str]:
    """Return the tests of a module, as pytest names them behind it; none if there is no such module."""
    return frozenset(_tests(ast.parse(module.read_text("utf-8")), "")) if module.is_file() else frozenset()


def _tests(place: ast.Module | ast.ClassDef, above: str) -> Iterator[str]:
    for node in place.body:
        if isinstance(node, ast.ClassDef):
            yield from _tests(node, f"{above}{node.name}::")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield f"{above}{node.name}"


def is_there(test: str, root: Path) -> bool:
    """Tell whether a checkout has the test."""
    module, _, name = test.partition("::")
    return name in tests_in(root / module)


def _changes(patch: list[str]) -> dict[str, list[Hunk]]:
    changes: dict[str, list[Hunk]] = {}
    hunks: list[Hunk] = []
    lines: list[str] = []
    for line in [*patch, END]:
        if line.startswith((FILE, END, "diff ")):
            hunks += [Hunk.of(lines)] if lines else []
            lines = []
        if line.startswith(FILE):
            hunks = changes.setdefault(line.removeprefix(FILE), [])
        elif changes and not line.startswith((END, "diff ", "index ", "+++ b/")):
            lines.append(line)
    return changes


def _side(lines: list[str], marks: str) -> str:
    return "".join(f"{line[1:]}\n" for line in lines if (line or " ")[0] in marks)


def _changed(file: Path, hunks: list[Hunk]) -> str:
    text = "\n" + (file.read_text("utf-8") if file.is_file() else "")
    for hunk in hunks:
        if (found := text.count("\n" + hunk.before)) != 1:
            raise DoesNotApply(f"{file.name} has these lines {found} times:\n{hunk.before}")
        text = text.replace("\n" + hunk.before, "\n" + hunk.after)
    return text[1:]
