"""Content of git's own files: settings, and the names in an index. Nothing is looked up here."""

import re
from functools import lru_cache

_SECTION = re.compile(r'\[\s*([A-Za-z0-9.-]+)(?:[ \t]+"((?:\\.|[^"\\\n])*)")?\s*\]')
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*(=?)")
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b", '"': '"', "\\": "\\"}

_HEADER = 12  # bytes of an index before its first entry
_FIXED = 62  # bytes of an entry before its name
_EXTENDED = 0x4000  # in the flags of an entry: it has two more bytes of them
_PADDED = 8  # an entry ends at a multiple of this number of bytes


@lru_cache(maxsize=8)
def settings(text: str) -> tuple[tuple[str, str], ...] | None:
    """Return the settings in one of git's files, in order; None for a text that git may reject or parse otherwise."""
    found: list[tuple[str, str]] = []
    section, at = "", 1 if text.startswith("\ufeff") else 0
    while at < len(text):
        if text[at].isspace():
            at += 1
        elif text[at] in "#;":
            at = (text.find("\n", at) + 1) or len(text)
        elif text[at] == "[":
            if (header := _SECTION.match(text, at)) is None:
                return None
            within = re.sub(r"\\(.)", r"\1", header[2]) if header[2] is not None else None
            section = header[1].lower() + ("" if within is None else f".{within}")
            at = header.end()
        else:
            if not section or (key := _KEY.match(text, at)) is None:
                return None
            value, at = _value(text, key.end()) if key[2] else ("true", key.end())
            if value is None:
                return None
            found.append((f"{section}.{key[1]}", value))
    return tuple(found)


def _value(text: str, at: int) -> tuple[str | None, int]:
    """Return a value, and the start of the next line; no value if the line is malformed."""
    value, kept, is_quoted = "", 0, False
    while at < len(text) and text[at] != "\n":
        sign = text[at]
        at += 1
        if sign == '"':
            is_quoted = not is_quoted
            kept = len(value)
        elif sign == "\\":
            escaped = text[at : at + 2] if text[at : at + 2] == "\r\n" else text[at : at + 1]
            at += len(escaped)
            if escaped not in ("\n", "\r\n"):
                if escaped not in _ESCAPES:
                    return None, at
                value += _ESCAPES[escaped]
                kept = len(value)
        elif sign in "#;" and not is_quoted:
            end = text.find("\n", at)
            at = end if end >= 0 else len(text)
        elif value or not sign.isspace() or is_quoted:
            value += sign
            kept = len(value) if is_quoted or not sign.isspace() else kept
    return (None if is_quoted else value[:kept]), at


@lru_cache(maxsize=4)
def index(data: bytes) -> tuple[str, ...] | None:
    """Return the names in an index; None for one that we cannot parse."""
    if data[:4] != b"DIRC" or len(data) < _HEADER:
        return None
    version, count = int.from_bytes(data[4:8]), int.from_bytes(data[8:12])
    if version not in (2, 3, 4):
        return None
    found: list[str] = []
    at, before = _HEADER, b""
    for _ in range(count):
        flags = int.from_bytes(data[at + _FIXED - 2 : at + _FIXED])
        start = at + _FIXED + (2 if version > 2 and flags & _EXTENDED else 0)
        kept = b""
        if version > 3:
            dropped, start = _number(data, start)
            kept = before[: len(before) - dropped] if dropped <= len(before) else b""
        end = data.find(b"\0", start)
        if end < 0:
            return None
        before = kept + data[start:end]
        found.append(before.decode("utf-8", "surrogateescape"))
        at = end + 1 if version > 3 else end + _PADDED - (end - at) % _PADDED
    return tuple(found)


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of variable length, as git packs it, and its end."""
    number = 0
    while at < len(data):
        byte = data[at]
        at += 1
        number = (number << 7) | (byte & 127)
        if not byte & 128:
            break
        number += 1
    return number, at
