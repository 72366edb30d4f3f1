"""Large JSON in pieces: encoding it at once would keep every other thread waiting."""

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, chain, islice
from types import NoneType
from typing import Any, NamedTuple

from hubbub.model.json_text import compact

Encode = Callable[[object], bytes]  # to JSON without blanks

SOME = 50  # members of a list or an object that are encoded at once
LONG = 64 * 1024  # characters of a text
SENT = 256 * 1024  # bytes that are sent at once
_ODD = re.compile(r"[^ -~]+")  # characters that encoders may write in several ways
_DEL = b"\x7f"  # the only one of them in ASCII that JSON may hold as it is
_ALIKE = frozenset({str, int, bool, NoneType})  # types that all encoders of UTF-8 write alike; float is none
_SINGLE = _ALIKE | {float}  # types of values without members
_OBJECT = (dict, Mapping)  # in this order, as the second takes longer to tell


class LazyRows:
    """A list in a reply whose rows are made one after the other, and once: they never all exist at the same time."""

    def __init__(self, rows: Iterable[object]) -> None:
        self._rows = iter(rows)

    def __iter__(self) -> Iterator[object]:
        return self._rows


class EncodedRow(NamedTuple):
    """A row as encoders of UTF-8 write it, and as they write that in a text: an answer holds both."""

    json: bytes
    quoted: bytes

    @classmethod
    def of(cls, row: str) -> "EncodedRow":
        """Return the row with that JSON, without blanks and with nothing escaped that need not be."""
        return cls(row.encode(), compact(row)[1:-1].encode())

    @property
    def size(self) -> int:
        return len(self.json) + len(self.quoted)


class EncodedRows:
    """A list of rows encoded for an earlier answer, sent again as they are.

    They hold nothing but texts, integers, flags, nulls, and arrays and objects of these, which all encoders write
    alike.
    """

    def __init__(self, rows: Iterable[EncodedRow]) -> None:
        self.rows = list(rows)

    @property
    def value(self) -> list[Any]:
        """Return the list itself."""
        return list(json.loads(b"[%b]" % b",".join(row.json for row in self.rows)))


class Chunk(NamedTuple):
    """A piece to be encoded at once; an `inner` one goes without its brackets or quotes."""

    value: object
    inner: bool = True

    def encoded(self, encode: Encode) -> bytes:
        return encode(self.value)[1:-1] if self.inner else encode(self.value)

    def quoted(self, encode: Encode, as_text: Encode) -> bytes:
        """Return the piece as `encode` writes it in a text, where `as_text` has encoded it."""
        return encode(self.encoded(as_text).decode())[1:-1]


class EncodedChunk(NamedTuple):
    """Rows that are already JSON."""

    rows: Sequence[EncodedRow]

    def encoded(self, encode: Encode) -> bytes:
        return _said_by(encode, b",".join([row.json for row in self.rows]))

    def quoted(self, encode: Encode, _as_text: Encode) -> bytes:
        return _said_by(encode, b",".join([row.quoted for row in self.rows]))


class Mark(NamedTuple):
    """Punctuation between pieces."""

    text: bytes

    def encoded(self, _encode: Encode) -> bytes:
        return self.text

    def quoted(self, _encode: Encode, _as_text: Encode) -> bytes:
        return self.text.replace(b'"', b'\\"')


Part = Chunk | EncodedChunk | Mark
Chunks = Iterator[Part]


def cut(value: object) -> Chunks:
    """Yield the parts of a value."""
    members: Iterable[Iterable[Part]]
    match value:
        case EncodedRows():
            members = ([EncodedChunk(some)] for some in _by_size(value.rows))
        case Mapping() if len(value) > SOME:
            members = ([Chunk(some)] for some in _by_some(iter(value.items()), dict))
        case Mapping():
            members = (chain(cut(name), [Mark(b":")], cut(each)) for name, each in value.items())
        case list() | tuple() if len(value) <= SOME:
            members = map(cut, value)
        case LazyRows() | list() | tuple():
            members = ([Chunk(some)] for some in _by_some(iter(value), list))
        case str() if len(value) > LONG:
            texts = (Chunk(value[place : place + LONG]) for place in range(0, len(value), LONG))
            return chain([Mark(b'"')], texts, [Mark(b'"')])
        case _:
            return iter([Chunk(value, inner=False)])
    return _within((b"{", b"}") if isinstance(value, Mapping) else (b"[", b"]"), members)


def encoded(value: object, encode: Encode) -> Iterator[bytes]:
    """Yield the JSON of a value piece by piece; joined, they equal the result of `encode`."""
    return (part.encoded(encode) for part in cut(value))


def gathered(pieces: Iterable[bytes]) -> list[bytes]:
    """Join small pieces of JSON into pieces of the size that is sent at once."""
    found, some, length = list[bytes](), list[bytes](), 0
    for piece in pieces:
        if some and len(piece) >= SENT:  # not copied
            found.append(b"".join(some))
            some, length = [], 0
        some.append(piece)
        length += len(piece)
        if length >= SENT:
            found.append(b"".join(some))
            some, length = [], 0
    return [*found, b"".join(some)]


def is_large(value: object) -> bool:
    """Tell whether a value is to be encoded in pieces: it is long, or has rows."""
    if isinstance(value, str):
        return len(value) > LONG
    if type(value) in _SINGLE:
        return False
    if isinstance(value, _OBJECT):
        return len(value) > SOME or any(map(is_large, value.values()))
    return isinstance(value, LazyRows | EncodedRows) or (
        isinstance(value, list | tuple) and len(value) > SOME
    )


def is_flat(value: object) -> bool:
    """Tell whether a value is an object of texts, integers, flags and nulls, which encoders write alike."""
    return type(value) is dict and _ALIKE.issuperset(map(type, value.values()))


def has_rows(value: object) -> bool:
    """Tell whether a value is an object with a placeholder for rows."""
    return isinstance(value, _OBJECT) and any(
        isinstance(each, LazyRows | EncodedRows) for each in value.values()
    )


def complete(value: Any) -> Any:
    """Return the value with a list in place of each `LazyRows`."""
    return _replaced(value, LazyRows, list)


def whole(value: Any) -> Any:
    """Return the value with its rows in place of every placeholder."""
    return _replaced(complete(value), EncodedRows, lambda rows: rows.value)


def _replaced(value: Any, kind: type, by: Callable[[Any], object]) -> Any:
    if isinstance(value, kind):
        return by(value)
    if isinstance(value, _OBJECT) and not _SINGLE.issuperset(map(type, value.values())):
        return {name: _replaced(each, kind, by) for name, each in value.items()}
    return value


def _by_some(members: Iterator[Any], kind: Callable[[Iterable[Any]], Any]) -> Iterator[Any]:
    while some := kind(islice(members, SOME)):
        yield some


def _by_size(rows: Sequence[EncodedRow]) -> Iterator[Sequence[EncodedRow]]:
    """Yield rows by so many as are sent at once."""
    ends = [*accumulate([len(row.json) for row in rows])]
    start = before = 0
    while start < len(rows):
        end = bisect_left(ends, before + SENT, start, len(rows) - 1) + 1
        yield rows[start:end]
        start, before = end, ends[end - 1]


def _within(brackets: tuple[bytes, bytes], members: Iterable[Iterable[Part]]) -> Chunks:
    opening, closing = brackets
    before = opening
    for member in members:
        yield Mark(before)
        yield from member
        before = b","
    yield Mark(closing if before == b"," else opening + closing)


def _said_by(encode: Encode, written: bytes) -> bytes:
    """Return what encoders of UTF-8 have written as `encode` writes it."""
    if _is_usual(encode) or (written.isascii() and _DEL not in written):
        return written
    return _ODD.sub(lambda odd: encode(odd[0])[1:-1].decode(), written.decode()).encode()


@lru_cache(maxsize=16)
def _is_usual(encode: Encode) -> bool:
    """Tell whether an encoder escapes nothing that need not be."""
    return encode("é\x7f") == '"é\x7f"'.encode()
