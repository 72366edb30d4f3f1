"""What every editor offers, and the words they share."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol

Keys = tuple[str, ...]
MISSING = object()  # what is found where nothing is
BOM = "\ufeff"
LINE_END = re.compile(r"\r?\n")


class Unreadable(Exception):
    """The file cannot be edited without guessing; the message says why, in a part of a sentence."""


@dataclass(frozen=True, slots=True)
class Trace:
    """What an edit put around its entry, so that taking it out leaves the bytes that were there before.

    `lead` and `tail` stand right before and after the entry, `comma` says that the neighbour before it got one, `made`
    counts the containers around it that are ours too. `old` is the text that had to give way: to the entry, or to the
    container around it, if that is ours.
    """

    lead: str = ""
    tail: str = ""
    comma: bool = False
    made: int = 0
    old: str | None = None

    def facts(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)

    @staticmethod
    def of(facts: Mapping[str, Any]) -> "Trace":
        """From JSON."""
        return Trace(facts["lead"], facts["tail"], facts["comma"], facts["made"], facts["old"])

    def in_lines_of(self, text: str, end: str) -> "Trace":
        """The same in a text whose lines ended with `end` when the entry was put there, and perhaps do no more."""
        if end in LINE_END.findall(text):
            return self
        old = None if self.old is None else ended(self.old, newline(text))
        return replace(
            self, lead=ended(self.lead, newline(text)), tail=ended(self.tail, newline(text)), old=old
        )


class Editor(Protocol):
    """One language of configuration files. All raise `Unreadable` for a text that they cannot edit safely."""

    def load(self, text: str) -> Any:
        """What the text says; an empty text says nothing: `{}`."""

    def put(self, text: str, keys: Keys, value: Any) -> tuple[str, Trace]:
        """The text with `value` at `keys`, in place of what is there, and how to take it out."""

    def take(self, text: str, keys: Keys, trace: Trace) -> str:
        """The text without what is at `keys`, or with what stood there before it."""

    def append(self, text: str, keys: Keys, value: Any) -> tuple[str, Trace]:
        """The text with `value` at the end of the list at `keys`, which is made if need be."""

    def drop(self, text: str, keys: Keys, index: int, trace: Trace) -> str:
        """The text without the element `index` of the list at `keys`."""

    def snippet(self, keys: Keys, value: Any) -> str:
        """What a person would paste to have `value` at `keys`."""


def find(data: Any, keys: Keys) -> Any:
    """What is at `keys`, else `MISSING`."""
    for key in keys:
        if not isinstance(data, dict) or key not in data:
            return MISSING
        data = data[key]
    return data


def without(data: Any, keys: Keys) -> Any:
    """A copy of `data` without what is at `keys`, and without the containers that are empty or nothing then."""
    if not isinstance(data, dict) or not keys or keys[0] not in data:
        return data
    inner = without(data[keys[0]], keys[1:]) if len(keys) > 1 else {}
    rest = {key: value for key, value in data.items() if key != keys[0]}
    return rest if inner == {} or inner is None else {**rest, keys[0]: inner}


def require_same(before: Any, after: Any, keys: Keys) -> None:
    """Raise `Unreadable` unless the two say the same apart from what is at `keys`, in the same order."""
    if _ordered(without(before, keys)) != _ordered(without(after, keys)):
        raise Unreadable("cannot be changed without touching what is not ours")


def newline(text: str) -> str:
    """How the text ends its lines."""
    return "\r\n" if "\r\n" in text else "\n"


def ended(text: str, end: str) -> str:
    """The text with each of its lines ended by `end`."""
    return LINE_END.sub(end, text)


def joined(before: str, lead: str, after: str) -> str:
    """What was around lines of ours, without the `lead` that they were given; still on lines of their own."""
    left = before.removesuffix(lead)
    is_parted = not after or not left.removeprefix(BOM) or left.endswith("\n")
    return left + ("" if is_parted else newline(before)) + after


def unit(text: str) -> str:
    """One step of the text's indentation: that of its first indented line, else two blanks."""
    for line in text.splitlines():
        depth = line[: len(line) - len(line.lstrip(" \t"))]
        if depth and line.strip():
            return "\t" if depth.startswith("\t") else depth
    return "  "


def _ordered(data: Any) -> Any:
    """`data` so that comparing it looks at the order of keys too."""
    if isinstance(data, Mapping):
        return [(key, _ordered(value)) for key, value in data.items()]
    if isinstance(data, Sequence) and not isinstance(data, str):
        return [_ordered(each) for each in data]
    return (type(data).__name__, data)
