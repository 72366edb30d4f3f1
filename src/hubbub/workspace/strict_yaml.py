"""Strict parser of unchecked YAML that people write, into plain values.

No object is ever built for a tag: we follow the parser's events, and know text, numbers, true and false, null, lists
and maps, as in YAML 1.2. Size, depth and number of values are bounded, counting aliases by their content, so that
no file can fill the memory.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import yaml

from hubbub.workspace.team_errors import TeamError, shown

SIZE_LIMIT = 1024 * 1024  # bytes
VALUES = 20_000
DEPTH = 16

Value: TypeAlias = "str | float | bool | list[Value] | dict[str, Value] | None"

NULL = {"", "~", "null", "Null", "NULL"}
TRUE, FALSE = {"true", "True", "TRUE"}, {"false", "False", "FALSE"}
NUMBER = re.compile(
    r"""[-+]?[0-9]+ | 0o[0-7]+ | 0x[0-9a-fA-F]+
      | [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
      | [-+]?\.(inf|Inf|INF) | \.(nan|NaN|NAN)""",
    re.VERBOSE,
)
SOME_NUMBER = 0.0  # no key takes a number, so its value does not matter

NO_TEXT = re.compile("[\0\ud800-\udfff]")
BAD_ESCAPE = "an escape that is no character"
TEXT, LIST, MAP = (f"tag:yaml.org,2002:{kind}" for kind in ("str", "seq", "map"))


def read(path: Path) -> Value:
    """Return the content of a YAML file, None if it is empty.

    Raises `FileNotFoundError`, and `TeamError` with the line for any fault of the file or its YAML.
    """
    text = _text(path)
    try:
        return _Document(text).value()
    except _Wrong as error:
        line, problem = error.line, error.problem
    except yaml.reader.ReaderError as error:
        line, problem = text.count("\n", 0, error.position) + 1, "a character that is not allowed"
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        problem = ", ".join(filter(None, [error.context, error.problem]))
    raise TeamError(f"{path.name}: line {line}: {problem}")


def _text(path: Path) -> str:
    """Return a file's content. Raises `FileNotFoundError`; pipes and devices, which might never end, are not opened."""
    try:
        if path.exists() and not path.is_file():
            raise TeamError(f"{path.name}: is not a file")
        with path.open("rb") as file:
            content = file.read(SIZE_LIMIT + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise TeamError(f"{path.name}: cannot be read: {error.strerror}") from None
    if len(content) > SIZE_LIMIT:
        raise TeamError(f"{path.name}: is larger than {SIZE_LIMIT // 1024} KiB")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise TeamError(f"{path.name}: line {line}: not UTF-8 text") from None


class _Wrong(Exception):
    """An error of ours, beside those of the parser."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line, self.problem = line, problem


class _Document:
    """The one document of a text, built from the events of the parser."""

    def __init__(self, text: str) -> None:
        self._events: Iterator[yaml.Event] = yaml.parse(text, Loader=yaml.SafeLoader)
        self._line = 1  # where the last event ended
        self._anchored: dict[str, tuple[Value, int]] = {}
        self._count = 0

    def value(self) -> Value:
        self._next()  # the stream begins
        value = None
        if not isinstance(begin := self._next(), yaml.StreamEndEvent):
            value = self._value(self._next(), 0)
            self._next()  # the document ends
            begin = self._next()
        if not isinstance(begin, yaml.StreamEndEvent):
            raise _wrong(begin, "a second document; one is enough")
        return value

    def _next(self) -> yaml.Event:
        try:
            event: yaml.Event = next(self._events)
        except (ValueError, OverflowError):  # the scanner trusts the number in an escape
            raise _Wrong(self._line, BAD_ESCAPE) from None
        self._line = event.end_mark.line + 1 if event.end_mark else self._line
        return event

    def _value(self, event: yaml.Event, depth: int) -> Value:
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event)
        before = self._count
        self._add(event, 1)
        if depth > DEPTH:
            raise _wrong(event, f"nested more than {DEPTH} deep")
        value: Value
        if isinstance(event, yaml.ScalarEvent):
            value = _scalar(event)
        elif isinstance(event, yaml.SequenceStartEvent):
            value = self._list(event, depth)
        else:
            assert isinstance(event, yaml.MappingStartEvent)
            value = self._map(event, depth)
        if event.anchor:
            self._anchored[event.anchor] = value, self._count - before
        return value

    def _list(self, start: yaml.SequenceStartEvent, depth: int) -> list[Value]:
        _refuse_tag(start, LIST)
        items = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            items.append(self._value(event, depth + 1))
        return items

    def _map(self, start: yaml.MappingStartEvent, depth: int) -> dict[str, Value]:
        _refuse_tag(start, MAP)
        found: dict[str, Value] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                raise _wrong(event, "a key has to be text")
            key = _content(event)
            if key in found:
                raise _wrong(event, f"{shown(key)} is there twice")
            found[key] = self._value(self._next(), depth + 1)
        return found

    def _alias(self, event: yaml.AliasEvent) -> Value:
        if event.anchor not in self._anchored:
            raise _wrong(event, f"*{event.anchor} stands for nothing that ends before it")
        value, count = self._anchored[event.anchor]
        self._add(event, count)
        return value

    def _add(self, event: yaml.Event, count: int) -> None:
        self._count += count
        if self._count > VALUES:
            raise _wrong(event, f"more than {VALUES:,} values, each alias counted in full")


def _scalar(event: yaml.ScalarEvent) -> Value:
    text = _content(event)
    if event.tag is not None or not event.implicit[0]:  # a tag or quotes mark it as text
        return text
    if text in NULL:
        return None
    if text in TRUE or text in FALSE:
        return text in TRUE
    return SOME_NUMBER if NUMBER.fullmatch(text) else text


def _content(event: yaml.ScalarEvent) -> str:
    _refuse_tag(event, TEXT)
    if NO_TEXT.search(event.value):
        raise _wrong(event, BAD_ESCAPE)
    return str(event.value)


def _refuse_tag(event: yaml.ScalarEvent | yaml.CollectionStartEvent, own: str) -> None:
    if event.tag not in (None, "!", own):
        raise _wrong(event, f"the tag {shown(event.tag)} is not allowed")


def _wrong(event: yaml.Event, problem: str) -> _Wrong:
    return _Wrong(event.start_mark.line + 1 if event.start_mark else 1, problem)
