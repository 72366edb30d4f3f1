"""The interface of every editor, and the terms they share."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol

Keys = tuple[str, ...]
MISSING = object()  # the result of `find` for a missing value
BOM = "\ufeff"
LINE_END = re.compile(r"\r?\n")


class Unreadable(Exception):
    """The file cannot be edited without guessing; the message says why, in a part of a sentence."""


@dataclass(frozen=True, slots=True)
class Trace:
    """Text that an edit put around its entry, so that removing the entry restores the earlier bytes.

    `lead` and `tail` stand right before and after the entry, `comma` says that the neighbour before it got one, `made`
    counts the containers around it that are ours too. `old` is the text that the entry replaced, or that the container
    around it replaced if that is ours.
    """

    lead: str = ""
    tail: str = ""
    comma: bool = False
    made: int = 0
    old: str | None = None

    def facts(self) -> dict[str, Any]:
        """Return the trace as JSON values."""
        return asdict(self)

    @staticmethod
    def of(facts: Mapping[str, Any]) -> "Trace":
        """Read a trace from JSON values."""
        return Trace(facts["lead"], facts["tail"], facts["comma"], facts["made"], facts["old"])

    def in_lines_of(self, text: str, end: str) -> "Trace":
        """Return this trace for a text whose lines ended with `end` at the edit's time but may now end otherwise."""
        if end in LINE_END.findall(text):
            return self
        old = None if self.old is None else ended(self.old, newline(text))
        return replace(
            self, lead=ended(self.lead, newline(text)), tail=ended(self.tail, newline(text)), old=old
        )


class Editor(Protocol):
    """One language of configuration files. All methods raise `Unreadable` for a text that they cannot edit safely."""

    def load(self, text: str) -> Any:
        """Return the data of the text; that of an empty text is `{}`."""

    def put(self, text: str, keys: Keys, value: Any) -> tuple[str, Trace]:
        """Return the text with `value` at `keys`, replacing what is there, and the trace for undoing it."""

    def take(self, text: str, keys: Keys, trace: Trace) -> str:
        """Return the text without the entry at `keys`, or with the replaced text restored."""

    def append(self, text: str, keys: Keys, value: Any) -> tuple[str, Trace]:
        """Return the text with `value` added to the list at `keys`, made if missing, and the trace for undoing it."""

    def drop(self, text: str, keys: Keys, index: int, trace: Trace) -> str:
        """Return the text without the element `index` of the list at `keys`."""

    def snippet(self, keys: Keys, value: Any) -> str:
        """Return the text that a person would paste to have `value` at `keys`."""


def find(data: Any, keys: Keys) -> Any:
    """Return the value at `keys`, else `MISSING`."""
    for key in keys:
        if not isinstance(data, dict) or key not in data:
            return MISSING
        data = data[key]
    return data


def without(data: Any, keys: Keys) -> Any:
    """Return a copy of `data` without the value at `keys`, and without containers that are empty or null then."""
    if not isinstance(data, dict) or not keys or keys[0] not in data:
        return data
    inner = without(data[keys[0]], keys[1:]) if len(keys) > 1 else {}
    rest = {key: value for key, value in data.items() if key != keys[0]}
    return rest if inner == {} or inner is None else {**rest, keys[0]: inner}


def require_same(before: Any, after: Any, keys: Keys) -> None:
    """Raise `Unreadable` unless both have the same data apart from the value at `keys`, in the same order."""
    if _ordered(without(before, keys)) != _ordered(without(after, keys)):
        raise Unreadable("cannot be changed without touching entries of others")


def newline(text: str) -> str:
    """Return the line end of the text."""
    return "\r\n" if "\r\n" in text else "\n"


def ended(text: str, end: str) -> str:
    """Return the text with each of its lines ended by `end`."""
    return LINE_END.sub(end, text)


def joined(before: str, lead: str, after: str) -> str:
    """Join the text around lines of ours without their `lead`; the remaining lines stay separate."""
    left = before.removesuffix(lead)
    is_parted = not after or not left.removeprefix(BOM) or left.endswith("\n")
    return left + ("" if is_parted else newline(before)) + after


def unit(text: str) -> str:
    """Return one step of the text's indentation: that of its first indented line, else two blanks."""
    for line in text.splitlines():
        depth = line[: len(line) - len(line.lstrip(" \t"))]
        if depth and line.strip():
            return "\t" if depth.startswith("\t") else depth
    return "  "


def _ordered(data: Any) -> Any:
    """Return `data` in a form whose comparison includes the order of keys."""
    if isinstance(data, Mapping):
        return [(key, _ordered(value)) for key, value in data.items()]
    if isinstance(data, Sequence) and not isinstance(data, str):
        return [_ordered(each) for each in data]
    return (type(data).__name__, data)
