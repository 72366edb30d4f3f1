"""Paths of a repository, and patterns of them: how they are written, what they match, whether two of them can meet.

    *    any characters of one segment, perhaps none     ?     one character of a segment
    **   as a whole segment: any number of segments, at the end at least one; elsewhere like *
    a/   everything below the folder, as a/**            .     the whole repository, as **

Every other character stands for itself, brackets and backslashes too, and capitals differ from small letters.

Two patterns *intersect* when some path matches both. Each is read as an automaton; one is walked token by token while
the places where the other may be are kept as the bits of one number. A step is a few operations on such numbers,
whatever the patterns are, so that no pattern takes long: the time is that of one length times the other over the width
of a machine word.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache
from itertools import islice

from hubbub.model.errors import Invalid

LENGTH = 1024  # characters of one path or pattern

WHOLE = "."
_DEEP = "**"
_WILD = re.compile(r"[*?]")
_DRIVE = re.compile(r"[A-Za-z]:[/\\]")
_UNWRITTEN = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # control characters, halves of surrogate pairs


class _Wild(Enum):
    ONE = auto()  # a character of a segment
    SOME = auto()  # characters of a segment, perhaps none
    DEEP = auto()  # segments, each with the slash behind it, perhaps none


_Token = str | _Wild
_LONGER: set[_Token] = {"/", _Wild.SOME, _Wild.DEEP}  # all but what stands for one character of a segment
_EVERYTHING: list[_Token] = [_Wild.DEEP, _Wild.SOME]


def normalise(entry: str) -> str:
    """The one way to write a path or a pattern: in NFC, without `.`, `..` and double slashes; a folder ends in one.

    Raises `Invalid` for what is empty, absolute, outside the repository, too long, or has control characters.
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
    """Whether a normalised entry can match more than the one path that it looks like."""
    return "*" in entry or "?" in entry or entry.endswith("/") or entry == WHOLE


def folder_of(entry: str) -> str:
    """The folder that holds whatever a normalised pattern matches: with a slash at its end, or `""` for the root."""
    fixed = "" if entry == WHOLE else _WILD.split(entry, maxsplit=1)[0]
    return fixed[: fixed.rfind("/") + 1]


def matches(pattern: str, path: str) -> bool:
    """Whether the normalised `pattern` matches the path, in which no character is wild."""
    if not is_glob(pattern):
        return pattern == path
    compiled = _compiled(pattern)
    if not path.startswith(compiled.folder):
        return False
    return compiled.is_folder or _meet(path, compiled, len(compiled.folder))


def intersects(one: str, other: str) -> bool:
    """Whether some path could match both normalised entries."""
    if not is_glob(one):
        return matches(other, one)
    if not is_glob(other):
        return matches(one, other)
    compiled, against = _compiled(one), _compiled(other)
    shorter, longer = sorted((compiled.folder, against.folder), key=len)
    return longer.startswith(shorter) and _meet(compiled.tokens, against, len(shorter))


def more_specific(one: str, other: str) -> str:
    """The one of two entries that says more: a path rather than a pattern, the pattern with more fixed characters."""
    return max(one, other, key=_specificity)


def folders_above(path: str) -> Iterator[str]:
    """The folders that a path lies in, from the root on; itself, if it is a folder."""
    at = 0
    while at <= len(path):
        yield path[:at]
        at = path.find("/", at) + 1 or len(path) + 1


class Arranged:
    """Normalised entries, arranged by folders, so that those that meet another are found without trying all."""

    def __init__(self, entries: Iterable[str]) -> None:
        self._paths: set[str] = set()
        self._patterns: dict[str, list[str]] = {}  # by the folder that holds what they match
        for entry in entries:
            if is_glob(entry):
                self._patterns.setdefault(folder_of(entry), []).append(entry)
            else:
                self._paths.add(entry)

    def meeting(self, entry: str) -> Iterator[str]:
        """Those that intersect with `entry`."""
        if is_glob(entry):
            yield from self._meeting_pattern(entry, folder_of(entry))
            return
        if entry in self._paths:
            yield entry
        for folder in folders_above(entry):
            yield from (each for each in self._patterns.get(folder, ()) if matches(each, entry))

    def _meeting_pattern(self, pattern: str, within: str) -> Iterator[str]:
        yield from (path for path in self._paths if path.startswith(within) and matches(pattern, path))
        for folder, patterns in self._patterns.items():
            if folder.startswith(within) or within.startswith(folder):
                yield from (each for each in patterns if intersects(each, pattern))


def _specificity(entry: str) -> tuple[bool, int, str]:
    return (False, _compiled(entry).fixed, entry) if is_glob(entry) else (True, 0, entry)


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
    """Go up from the folder `kept`, as `..` does."""
    if not kept:
        raise Invalid(f"the path {text!r} leaves the repository; name one inside it")
    if kept.pop() == _DEEP:
        raise Invalid(f"the path {text!r} goes up from `**`, which is no one folder; write it without `..`")


def _tokens(entry: str) -> list[_Token]:
    segments = _spelled_out(entry).split("/")
    tokens: list[_Token] = []
    for segment in segments[:-1]:
        if segment != _DEEP:
            tokens += [*_segment(segment), "/"]
        elif tokens[-1:] != [_Wild.DEEP]:
            tokens.append(_Wild.DEEP)
    if segments[-1] == _DEEP and tokens[-1:] != [_Wild.DEEP]:
        tokens.append(_Wild.DEEP)
    return [*tokens, *_segment(segments[-1])]


def _spelled_out(entry: str) -> str:
    if entry == WHOLE:
        return _DEEP
    return entry + _DEEP if entry.endswith("/") else entry


def _segment(segment: str) -> list[_Token]:
    """The tokens of one segment. Stars alone may stand for nothing here: where that fits, a character does as well."""
    wild: Mapping[str, _Token] = {"*": _Wild.SOME, "?": _Wild.ONE}
    return [wild.get(character, character) for character in re.sub(r"\*+", "*", segment)]


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A pattern as an automaton.

    It has a place before each token and one behind the last, except that DEEP has two: *open*, where segments may
    begin or be left out, and *deep*, inside of them. A set of places is a number with those bits; the fields are the
    places before the tokens of one kind.
    """

    folder: str
    fixed: int  # characters that stand for themselves
    is_folder: bool  # it matches everything below its folder, at any depth
    tokens: Sequence[_Token]
    characters: Mapping[str, int]  # each one's places
    ones: int
    singles: int  # `ones`, and all characters but the slash
    somes: int
    opens: int
    deeps: int
    end: int

    def settled(self, places: int) -> int:
        """Those places, and where one is as well without reading anything."""
        opened = places & self.opens
        places |= opened << 1 | opened << 2
        return places | (places & self.somes) << 1

    def after(self, token: _Token, places: int) -> int:
        """Where one may be, from `places`, when the other has read `token`."""
        if token is _Wild.DEEP:
            from_the_first_on = -(places & -places) & (self.end * 2 - 1)
            return places | self._after_slash(from_the_first_on)
        if token is _Wild.SOME:
            passable = self.singles | self.somes
            # The carry of the sum runs from each place through all passable ones behind it, to the first that is not.
            return places | (((places & passable) + passable) ^ passable)
        if token == "/":
            return self._after_slash(places)
        fitting = self.singles if token is _Wild.ONE else self.characters.get(token, 0) | self.ones
        return self.settled((places & fitting) << 1 | places & (self.somes | self.deeps))

    def _after_slash(self, places: int) -> int:
        deep = places & self.deeps
        return self.settled((places & self.characters.get("/", 0) | deep) << 1 | deep)


@lru_cache(maxsize=256)  # what is live at one time, mostly; a pattern may take 100 KB
def _compiled(entry: str) -> _Pattern:
    tokens = _tokens(entry)
    places: dict[_Token, int] = {}
    deeps, at = 0, 1
    for token in tokens:
        places[token] = places.get(token, 0) | at
        at <<= 1
        if token is _Wild.DEEP:
            deeps |= at
            at <<= 1
    folder = folder_of(entry)
    return _Pattern(
        folder=folder,
        fixed=sum(isinstance(token, str) for token in tokens),
        is_folder=tokens[len(folder) :] == _EVERYTHING,
        tokens=tokens,
        characters={token: bits for token, bits in places.items() if isinstance(token, str)},
        ones=places.get(_Wild.ONE, 0),
        singles=sum(bits for token, bits in places.items() if token not in _LONGER),
        somes=places.get(_Wild.SOME, 0),
        opens=places.get(_Wild.DEEP, 0),
        deeps=deeps,
        end=at,
    )


def _meet(tokens: Iterable[_Token], pattern: _Pattern, agreed: int) -> bool:
    """Whether something matches both, which agree in their first characters."""
    places = pattern.settled(1 << agreed)
    for token in islice(tokens, agreed, None):
        places = pattern.after(token, places)
        if not places:
            return False
    return places & pattern.end > 0
