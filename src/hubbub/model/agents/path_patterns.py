"""Paths of a repository and patterns of them: their notation, what they match, and whether two of them can meet.

    *    any characters of one segment, perhaps none     ?     one character of a segment
    **   as a whole segment: any number of segments, at the end at least one; elsewhere like *
    a/   everything below the folder, as a/**            .     the whole repository, as **

Every other character stands for itself, brackets and backslashes too, and capitals differ from small letters.

Two patterns *intersect* when some path matches both. One is walked token by token, while the possible places in the
other are kept (`pattern_automata`). No pattern takes long: the time is the product of both lengths, divided by the
width of a machine word. Of many patterns (`pattern_index`) all candidates are walked at once.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from hubbub.model.agents.pattern_automata import (
    DEEP,
    EVERYTHING,
    WHOLE,
    Automaton,
    StepBudget,
    Token,
    laid,
    tokens_of,
)
from hubbub.model.errors import Invalid

LENGTH = 1024  # characters of one path or pattern

_WILD = re.compile(r"[*?]")
_DRIVE = re.compile(r"[A-Za-z]:[/\\]")
_UNWRITTEN = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # control characters, halves of surrogate pairs


def normalise(entry: str) -> str:
    """Bring a path or a pattern to its one form: in NFC, without `.`, `..` and double slashes; folders end in a slash.

    Raises `Invalid` if it is empty, absolute, outside the repository, too long, or has control characters.
    """
    text = unicodedata.normalize("NFC", entry)
    _require_text(text)
    kept: list[str] = []
    segments = text.split("/")
    for segment in segments:
        if segment == "..":
            _leave(kept, text)
        elif segment not in ("", "."):
            kept.append(segment)
    if not kept:
        return WHOLE
    return "/".join(kept) + ("/" if segments[-1] in ("", ".", "..") else "")


def is_glob(entry: str) -> bool:
    """Tell whether a normalised entry may match more than the one path that it looks like."""
    return "*" in entry or "?" in entry or entry.endswith("/") or entry == WHOLE


def folder_of(entry: str) -> str:
    """Return the folder that holds every match of a normalised pattern, with a slash at its end; `""` for the root."""
    fixed = "" if entry == WHOLE else _WILD.split(entry, maxsplit=1)[0]
    return fixed[: fixed.rfind("/") + 1]


def matches(pattern: str, path: str) -> bool:
    """Tell whether the normalised `pattern` matches the path, in which no character is wild."""
    if not is_glob(pattern):
        return pattern == path
    compiled = _compiled(pattern)
    if not path.startswith(compiled.folder):
        return False
    return compiled.is_folder or _meet([*path], compiled, len(compiled.folder))


def intersects(one: str, other: str) -> bool:
    """Tell whether some path matches both normalised entries."""
    if not is_glob(one):
        return matches(other, one)
    if not is_glob(other):
        return matches(one, other)
    compiled, against = _compiled(one), _compiled(other)
    shorter, longer = sorted((compiled.folder, against.folder), key=len)
    return longer.startswith(shorter) and _meet(compiled.tokens, against, len(shorter))


def more_specific(one: str, other: str) -> str:
    """Return the more specific of two entries: a path before a pattern, else the pattern with more fixed characters."""
    return max(one, other, key=specificity)


def folders_above(path: str) -> Iterator[str]:
    """Yield the folders that a path lies in, from the root on; a folder includes itself."""
    at = 0
    while at <= len(path):
        yield path[:at]
        at = path.find("/", at) + 1 or len(path) + 1


def specificity(entry: str) -> tuple[bool, int, str]:
    """Return a sort key that puts the most specific entry last."""
    return (False, fixed(entry), entry) if is_glob(entry) else (True, 0, entry)


def fixed(pattern: str) -> int:
    """Count the characters of a pattern that stand for themselves; slashes count, except those of `**/`."""
    return sum(isinstance(token, str) for token in tokens_of(pattern))


def _require_text(text: str) -> None:
    if not text:
        raise Invalid("a path is empty; `.` is the whole repository")
    if len(text) > LENGTH:
        raise Invalid(f"a path has {len(text):,} characters; at most {LENGTH:,} are allowed")
    if _UNWRITTEN.search(text):
        raise Invalid(f"the path {text!r} has control characters; name it without them")
    if text.startswith("/") or _DRIVE.match(text):
        raise Invalid(f"the path {text!r} is absolute; name it from the root of the repository")


def _leave(kept: list[str], text: str) -> None:
    """Go up from the folder `kept`, for a `..`."""
    if not kept:
        raise Invalid(f"the path {text!r} leaves the repository; name one inside it")
    if kept.pop() == DEEP:
        raise Invalid(f"the path {text!r} goes up from `**`, which is not one folder; write it without `..`")


@dataclass(frozen=True, slots=True)
class _Pattern:
    folder: str
    is_folder: bool  # it matches everything below its folder, at any depth
    tokens: Sequence[Token]
    automaton: Automaton


@lru_cache(maxsize=256)  # a pattern may take 100 KB
def _compiled(entry: str) -> _Pattern:
    tokens, folder = tokens_of(entry), folder_of(entry)
    return _Pattern(folder, tokens[len(folder) :] == EVERYTHING, tokens, Automaton([laid(tokens)]))


def _meet(tokens: Sequence[Token], pattern: _Pattern, agreed: int) -> bool:
    """Tell whether some path matches both; they agree in their first characters."""
    automaton = pattern.automaton
    places = automaton.walk(tokens, agreed, automaton.starts << agreed, StepBudget())
    return places & automaton.ends[0] > 0
