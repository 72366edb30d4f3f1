"""Text from others, as shown to people: no character is hidden, and the length is limited."""

import unicodedata
from collections.abc import Mapping
from itertools import accumulate

SHOWN_LENGTH = 100_000  # characters; more than the longest command that the gate lets people be asked about
STRING_LENGTH = 2_000  # of a string among the arguments, shown beside the command
_MARK = 40  # characters at most of the note on how much is missing

# Invisible characters, or blanks, of other categories.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")


def visible(text: str, *, lines: bool = False) -> str:
    """Return `text` with invisible and reordering characters written out.

    Line ends and tabs too: the result is one line, so that nothing can be pushed out of sight. `lines` keeps line
    ends, for readers who show every line.
    """
    kept = "\n" if lines else ""
    return "".join(each if is_seen(each) or each in kept else _escape(each) for each in text)


def is_seen(character: str) -> bool:
    """Tell whether people see the character, and see it in its place."""
    if " " <= character <= "~":
        return True
    is_selector = "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"
    category = unicodedata.category(character)
    return not (is_selector or character in _BLANK or category[0] in "CZ")


def _escape(character: str) -> str:
    short = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
    number = ord(character)
    return short.get(character) or (f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}")


def cut(text: str, length: int) -> str:
    """Return `text`, or its beginning and how much is missing: at most `length` characters in all."""
    kept = length - _MARK
    return text if len(text) <= length else f"{text[:kept]}… ({len(text) - kept} characters more)"


def beginnings(value: object) -> object:
    """Cut the long texts of some JSON to the part that people may see, which may be a small one."""
    if isinstance(value, str):
        return value[: 4 * STRING_LENGTH]
    if isinstance(value, Mapping):
        return {name: beginnings(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [beginnings(each) for each in value]
    return value


def abridged(value: object) -> object:
    """Prepare JSON for people: long texts are cut, invisible characters written out. Repeating it changes nothing."""
    if isinstance(value, str):
        return _abridged(value)
    if isinstance(value, Mapping):
        return {visible(str(name)): abridged(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [abridged(each) for each in value]
    return value


def _abridged(text: str) -> str:
    """Return `text` as people see it, in at most `STRING_LENGTH` characters; it counts the missing ones of `text`."""
    shown = [visible(each) for each in text[:STRING_LENGTH]]
    if len(text) <= STRING_LENGTH and sum(map(len, shown)) <= STRING_LENGTH:
        return "".join(shown)
    kept = sum(end <= STRING_LENGTH - _MARK for end in accumulate(map(len, shown)))
    return f"{''.join(shown[:kept])}… ({len(text) - kept} characters more)"
