"""Patterns as automata: many of them are walked at once, in countable steps.

An automaton has a place before each token of a pattern and one behind the last. DEEP has two: *open*, where segments
may begin or be left out, and *deep*, inside of them. The possible places are the bits of one number. Several patterns
lie one after the other in the same number, each with a separating bit above it that is no place: so one step, a few
operations, takes all of them on together.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum, auto

from hubbub.model.errors import Invalid

WHOLE = "."
DEEP = "**"
STEPS = 200_000  # of one comparison: a third of a second, at most
BITS = 8_192  # of one automaton: a step takes no longer than that, and no character more memory


class Wild(Enum):
    ONE = auto()  # a character of a segment
    SOME = auto()  # characters of a segment, perhaps none
    DEEP = auto()  # segments, each with the slash behind it, perhaps none


Token = str | Wild
EVERYTHING: list[Token] = [Wild.DEEP, Wild.SOME]  # at any depth


class TooCostly(Invalid):
    """Paths and patterns that would take too long to compare."""

    def __init__(self) -> None:
        super().__init__(
            "these paths and patterns take too long to compare with the others; name folders instead, or fewer and"
            " shorter patterns"
        )


class StepBudget:
    """Budget of steps for a comparison. Raises `TooCostly` when they are spent."""

    def __init__(self, steps: int = STEPS) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise TooCostly


def tokens_of(entry: str) -> list[Token]:
    """Split a normalised path or pattern into tokens."""
    segments = _spelled_out(entry).split("/")
    tokens: list[Token] = []
    for segment in segments[:-1]:
        if segment != DEEP:
            tokens += [*_segment(segment), "/"]
        elif tokens[-1:] != [Wild.DEEP]:
            tokens.append(Wild.DEEP)
    if segments[-1] == DEEP and tokens[-1:] != [Wild.DEEP]:
        tokens.append(Wild.DEEP)
    return [*tokens, *_segment(segments[-1])]


def _spelled_out(entry: str) -> str:
    if entry == WHOLE:
        return DEEP
    return entry + DEEP if entry.endswith("/") else entry


def _segment(segment: str) -> list[Token]:
    """Split one segment into tokens. Wherever a star may match nothing, a character may match, too."""
    wild: Mapping[str, Token] = {"*": Wild.SOME, "?": Wild.ONE}
    return [wild.get(character, character) for character in re.sub(r"\*+", "*", segment)]


class _Only(dict[int, str]):
    """Translates some characters to ones, and all others to zeros."""

    def __init__(self, characters: str) -> None:
        super().__init__({ord(each): "1" for each in characters})

    def __missing__(self, _character: int) -> str:
        return "0"


# Stands for a place that is not before a character, in a laid-out pattern: no entry contains any of these.
_ONE, _SOME, _OPEN, _INSIDE, _END, _SPACER = "\1\2\3\4\5\6"
_LAID: Mapping[Token, str] = {Wild.ONE: _ONE, Wild.SOME: _SOME, Wild.DEEP: _OPEN + _INSIDE}


def laid(tokens: Iterable[Token]) -> str:
    """Lay out tokens for an automaton: one character a place. A path is laid out already."""
    return "".join([token if isinstance(token, str) else _LAID[token] for token in tokens])


class Automaton:
    """Patterns, laid out by `laid`, that are walked together.

    The places before a character are computed on demand: most are never needed.
    """

    __slots__ = (
        "_characters",
        "_deeps",
        "_layout",
        "_ones",
        "_opens",
        "_passable",
        "_places",
        "_singles",
        "_somes",
        "_spacers",
        "ends",
        "starts",
    )

    def __init__(self, patterns: Sequence[str]) -> None:
        self._layout = "".join([f"{each}{_END}{_SPACER}" for each in patterns])[::-1]
        self.starts: int = 0
        self.ends: list[int] = []  # the last place of each
        at = 0
        for each in patterns:
            self.starts |= 1 << at
            self.ends.append(1 << at + len(each))
            at += len(each) + 2
        self._characters: dict[str, int] = {}
        self._ones, self._somes = self._before(_ONE), self._before(_SOME)
        self._opens, self._deeps = self._before(_OPEN), self._before(_INSIDE)
        self._spacers = self._before(_SPACER)
        self._places = ((1 << at) - 1) ^ self._spacers
        self._passable = self._places ^ self._before("/" + _OPEN + _INSIDE + _END)
        self._singles = self._passable ^ self._somes

    def _before(self, characters: str) -> int:
        """Return the places before any of these characters."""
        return int(self._layout.translate(_Only(characters)), 2)

    def walk(self, tokens: Sequence[Token], begin: int, places: int, effort: StepBudget) -> int:
        """Return the places reached from `places` when the other has read its tokens from `begin` on; 0 if none."""
        places = self._settled(places)
        at = begin
        for at in range(begin, len(tokens)):
            places = self._after(tokens[at], places)
            if not places:
                break
        effort.spend(at - begin + 1)
        return places

    def _settled(self, places: int) -> int:
        """Return the places, and those that can be reached from them without reading anything."""
        opened = places & self._opens
        places |= opened << 1 | opened << 2
        return places | (places & self._somes) << 1

    def _after(self, token: Token, places: int) -> int:
        """Return the places reached from `places` when the other has read `token`."""
        if token is Wild.DEEP:
            # Below each spacer the difference is what completes the places there to it: with them, all bits from the
            # first place on. Where there is none, it is the spacer itself.
            from_the_first_on = (places | (self._spacers - places)) & self._places
            return places | self._after_slash(from_the_first_on)
        if token is Wild.SOME:
            passable = self._passable
            # The carry of the sum runs from each place through all passable ones behind it, to the first that is not.
            return places | (((places & passable) + passable) ^ passable)
        if token == "/":
            return self._after_slash(places)
        fitting = self._singles if token is Wild.ONE else self._of(token) | self._ones
        return self._settled((places & fitting) << 1 | places & (self._somes | self._deeps))

    def _after_slash(self, places: int) -> int:
        deep = places & self._deeps
        return self._settled((places & self._of("/") | deep) << 1 | deep)

    def _of(self, character: str) -> int:
        """Return the places before a character."""
        known = self._characters.get(character)
        if known is not None:
            return known
        if character not in self._layout:
            return 0
        if self._layout.isascii():
            known = self._characters[character] = self._before(character)
            return known
        self._characters = _before_each(self._layout)
        return self._characters[character]


def _before_each(layout: str) -> dict[str, int]:
    """Compute the places before each character at once: faster than one by one, where translating is slow."""
    places: dict[str, int] = {}
    at = 1
    for character in reversed(layout):
        places[character] = places.get(character, 0) | at
        at <<= 1
    return places


def price(patterns: Sequence[str]) -> int:
    """Return the cost of an automaton for these patterns, in steps."""
    return sum(len(each) // (32 if each.isascii() else 4) for each in patterns) + 1
