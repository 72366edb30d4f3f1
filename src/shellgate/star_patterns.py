"""Patterns with `*`: in a text, in a sequence of words, in a path. None takes longer than its length times the other's.

A pattern that an agent could make slow would be a way past the gate: so nothing here backtracks.
"""

import fnmatch
import unicodedata
from collections.abc import Callable, Sequence
from typing import TypeVar

ANY = "*"  # as a whole word: any number of words, perhaps none
DEEP = "**"  # as a whole segment of a path: any number of segments, perhaps none

Item = TypeVar("Item")


def fits_text(pattern: str, text: str) -> bool:
    """Tell whether the whole text fits a pattern in which `*` is any run of characters, and all else is itself."""
    if "*" not in pattern:
        return pattern == text
    first, *middle, last = pattern.split("*")
    if not text.startswith(first) or not text.endswith(last) or len(text) < len(first) + len(last):
        return False
    at, end = len(first), len(text) - len(last)
    for piece in middle:
        found = text.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def fits_all(
    pattern: Sequence[str],
    items: Sequence[Item],
    fits: Callable[[str, Item], bool],
    *,
    wild: str,
    may_skip: Callable[[int], bool] = lambda _index: False,
) -> bool:
    """Tell whether the items fit the pattern one by one, where `wild` stands for any number of them.

    The item at an index that `may_skip` may also be left out.
    """
    places = _reached(pattern, {0}, wild)
    for index, item in enumerate(items):
        after = set(places) if may_skip(index) else set()
        for place in places:
            if place < len(pattern):
                if pattern[place] == wild:
                    after.add(place)
                elif fits(pattern[place], item):
                    after.add(place + 1)
        places = _reached(pattern, after, wild)
    return len(pattern) in places


def _reached(pattern: Sequence[str], places: set[int], wild: str) -> set[int]:
    """Return the places, and those behind each `wild` at one of them, which may stand for nothing."""
    for place in sorted(places):
        while place < len(pattern) and pattern[place] == wild:
            place += 1  # noqa: PLW2901
            places.add(place)
    return places


def fits_path(pattern: str, path: str, *, is_wide: bool) -> bool:
    """Tell whether a path fits a pattern, both relative to one folder, as in a `.gitignore`.

    `*`, `?` and `[…]` are within a segment, `**` is any number of segments, and a pattern without a slash fits in every
    folder. One that ends in a slash stands for everything below. If `is_wide`, so is every pattern, and neither
    capitals nor the ways to compose a letter make a difference.
    """
    text, fixed = (_folded(path), _folded(pattern)) if is_wide else (path, pattern)
    segments = [each for each in fixed.split("/") if each not in ("", ".")]
    if "/" not in fixed.rstrip("/"):
        segments.insert(0, DEEP)
    if fixed.endswith("/") or (is_wide and segments[-1:] != [DEEP]):
        segments.append(DEEP)
    items = [each for each in text.split("/") if each not in ("", ".")]
    return fits_all(segments, items, _fits_segment, wild=DEEP)


def _fits_segment(pattern: str, segment: str) -> bool:
    return fnmatch.fnmatchcase(segment, pattern)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()
