"""The comparison of a dialect's documents with its tests.

Each documented sentence has an id; `requires` marks the tests that prove it. `test_requirements.py` compares
both ways: a sentence without a test fails, and a test can only name sentences that there are. Every run of the tests
tells in the end which of them it has not proven (`tests/runner/reporting.py`).
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True, slots=True)
class Section:
    """Sentences that stand together, and in which document and part of it."""

    where: str
    sentences: Mapping[str, str]


class Requirements:
    """All sentences of a dialect, by ids such as `send_task.ttl_seconds.default`."""

    def __init__(self, dialect: str, sections: Mapping[str, Section]) -> None:
        self.dialect = dialect
        self.sections = sections
        self.ids = [f"{name}.{key}" for name, section in sections.items() for key in section.sentences]

    def requires(self, *ids: str) -> pytest.MarkDecorator:
        """Mark a test as the proof of these sentences. An id that does not exist fails at once."""
        unknown = set(ids) - set(self.ids)
        if unknown or not ids:
            raise LookupError(f"no such requirement: {', '.join(sorted(unknown))}")
        return pytest.mark.requires(*(f"{self.dialect}: {each}" for each in ids))


def proven(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Every test in the modules of `folder`, by name, with the ids that it is marked with."""
    for module in sorted(folder.glob("test_*.py")):
        for node in ast.parse(module.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                yield f"{module.name}::{node.name}", list(_ids(node.decorator_list))


def _ids(decorators: Iterable[ast.expr]) -> Iterator[str]:
    for decorator in decorators:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "requires":
            yield from (str(ast.literal_eval(argument)) for argument in decorator.args)
