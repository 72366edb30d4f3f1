"""An account of why something is as it is: facts that the hub has, each with the sentence that is made from it.

Nothing is said that is no fact of the transaction in which the account is given. Names, titles and what programs say
are others' text: they stand in it short, every character visible, and in quotes where they could be taken for ours.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum, auto

from hubbub.model.approvals import cut, visible
from hubbub.model.moments import span

NAME_LENGTH = 80  # characters of a name in a sentence
_PLAIN = re.compile(r"[\w:@/+-]+(\.[\w:@/+-]+)*")


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that the hub knows: its `kind` is stable, its `detail` is JSON; moments in it are Unix milliseconds."""

    kind: str
    sentence: str
    detail: Mapping[str, object]


class Kind(StrEnum):
    """What can be asked about."""

    TASK = auto()
    AGENT = auto()
    MACHINE = auto()
    FILE = auto()


@dataclass(frozen=True, slots=True)
class Account:
    """Why a task, an agent, a machine or a file is as it is."""

    kind: Kind
    name: str
    facts: Sequence[Fact]

    @property
    def sentence(self) -> str:
        """All of it in one paragraph."""
        return " ".join(fact.sentence for fact in self.facts)


def named(name: str) -> str:
    """A name in a sentence; in quotes unless it is one word."""
    if len(name) <= NAME_LENGTH and _PLAIN.fullmatch(name) and visible(name) == name:
        return name
    return quoted(name)


def quoted(text: str, length: int = NAME_LENGTH) -> str:
    """Others' text in a sentence: its first line, which ends where it seems to."""
    line = text.strip().partition("\n")[0]
    return '"' + cut(visible(cut(line, length)), 2 * length).replace('"', "'") + '"'


def listed(names: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def counted(number: int, noun: str) -> str:
    """`1 task`, `2 tasks`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def moment(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def ago(at: int, now: int) -> str:
    """A moment that has passed, and how long ago."""
    return f"{moment(at)} ({span(now - at)} ago)"


def ahead(at: int, now: int) -> str:
    """A moment that is to come, and in how long."""
    return f"{moment(at)} (in {span(at - now)})"
