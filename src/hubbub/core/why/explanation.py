"""Explanations: facts of the hub, each with a sentence made from it.

Only facts of the same transaction are told. Names, titles and output of programs are others' text: they
appear short, every character visible, and in quotes where they could be taken for the hub's own words.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum, auto
from typing import TypeAlias

from hubbub.core.why.sentences import WORDS
from hubbub.model.timestamps import duration_text
from hubbub.model.visible_text import cut, visible

NAME_LENGTH = 80  # characters of a name in a sentence
_VALUE = re.compile(r"\{(\w+)\}")
_PLAIN = re.compile(r"[\w:@/+-]+(\.[\w:@/+-]+)*")


@dataclass(frozen=True, slots=True)
class RelativeTime:
    """A past or future moment, and its distance from now in milliseconds."""

    at: int
    span: int
    is_past: bool

    def __str__(self) -> str:
        return _filled(
            WORDS["ago" if self.is_past else "ahead"],
            {"at": moment(self.at), "span": duration_text(self.span)},
        )


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase: the key of its words, and the values for them; as text it is English."""

    key: str
    values: Mapping[str, "Value"]

    def __str__(self) -> str:
        text = WORDS.get(self.key)
        if text is None:
            text = WORDS[f"{self.key}_{'one' if self.values['count'] == 1 else 'other'}"]
        return _filled(text, {name: _told(value) for name, value in self.values.items()})

    def shape(self) -> dict[str, object]:
        """Return the phrase as JSON."""
        return {"key": self.key, "values": {name: _shape(value) for name, value in self.values.items()}}


Value: TypeAlias = "str | int | RelativeTime | Phrase | Sequence[Value]"
NOTHING = ""  # a value for a part of a sentence that does not apply


def say(key: str, **values: Value) -> Phrase:
    """Make the phrase of that key, filled with these values."""
    return Phrase(key, values)


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact of the hub: its `kind` is stable, its `detail` is JSON; times in it are Unix milliseconds."""

    kind: str
    phrase: Phrase
    detail: Mapping[str, object]

    @property
    def sentence(self) -> str:
        """Return the phrase in English, as tools tell it."""
        return str(self.phrase)

    @property
    def words(self) -> dict[str, object]:
        """Return the phrase for readers that word it in another language."""
        return self.phrase.shape()


class SubjectKind(StrEnum):
    """The kind of a subject."""

    TASK = auto()
    AGENT = auto()
    MACHINE = auto()
    THING = auto()  # that can be leased
    FILE = auto()


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation of a task, an agent, a machine, a thing or a file."""

    kind: SubjectKind
    name: str
    facts: Sequence[Fact]

    @property
    def sentence(self) -> str:
        """Return all of it in one paragraph."""
        return " ".join(fact.sentence for fact in self.facts)


def named(name: str) -> str:
    """Format a name for a sentence; in quotes unless it is one word."""
    if len(name) <= NAME_LENGTH and _PLAIN.fullmatch(name) and visible(name) == name:
        return name
    return quoted(name)


def quoted(text: str, length: int = NAME_LENGTH) -> str:
    """Format others' text for a sentence: its first line, with a visible end."""
    line = text.strip().partition("\n")[0]
    return '"' + cut(visible(cut(line, length)), 2 * length).replace('"', "'") + '"'


def listed(names: Iterable[str]) -> str:
    """Join names: `a`, `a and b`, `a, b and c`."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def moment(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def ago(at: int, now: int) -> RelativeTime:
    """Make a past moment, with the time since then."""
    return RelativeTime(at, now - at, is_past=True)


def ahead(at: int, now: int) -> RelativeTime:
    """Make a future moment, with the time until then."""
    return RelativeTime(at, at - now, is_past=False)


def _filled(text: str, values: Mapping[str, str]) -> str:
    return _VALUE.sub(lambda name: values[name[1]], text)


def _told(value: Value) -> str:
    if isinstance(value, (str, int, RelativeTime, Phrase)):
        return str(value)
    return listed(map(_told, value))


def _shape(value: Value) -> object:
    match value:
        case str() | int():
            return value
        case RelativeTime(at, away, is_past):
            return {"at": at, "span": away, "is_past": is_past}
        case Phrase():
            return value.shape()
        case _:
            return [_shape(each) for each in value]
