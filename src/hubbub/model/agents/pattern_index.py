"""Paths and patterns, indexed so that the intersecting ones are found without trying all.

They are grouped by folders, since the fixed beginning decides most. The rest is walked together (`pattern_automata`),
and among the intersecting ones only the more specific are picked out, by the bits of a number: a thousand patterns that
all intersect a thousand others take no longer than a thousand that do not.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from hubbub.model.agents.path_patterns import folder_of, folders_above, is_glob
from hubbub.model.agents.pattern_automata import (
    BITS,
    EVERYTHING,
    Automaton,
    StepBudget,
    Token,
    laid,
    price,
    tokens_of,
)

_SEGMENTS = 4  # of a path, looked up in the time of one step
_TOKENS = 8  # of a pattern, read in that time
_ENTRIES = 4  # passed on in that time

_Rank = tuple[bool, int, str]  # see `patterns.specificity`


class _Entry(NamedTuple):
    """A path or a pattern of the index."""

    rank: _Rank
    text: str
    tokens: Sequence[Token]  # a path's are its characters

    @classmethod
    def of(cls, text: str) -> "_Entry":
        if not is_glob(text):
            return cls((True, 0, text), text, text)
        tokens = tokens_of(text)
        return cls((False, sum(isinstance(token, str) for token in tokens), text), text, tokens)

    @property
    def is_path(self) -> bool:
        return self.rank[0]

    def is_everything(self, cut: int) -> bool:
        """Tell whether it matches every path that begins with its first `cut` characters."""
        return len(self.tokens) - cut == len(EVERYTHING) and [*self.tokens[cut:]] == EVERYTHING

    def laid(self, cut: int) -> str:
        """Return the rest after these characters, laid out as an automaton reads it."""
        return self.text[cut:] if self.is_path else laid(self.tokens[cut:])


class PatternIndex:
    """Normalised entries, to be compared with others on one `StepBudget`."""

    def __init__(self, entries: Iterable[str], effort: StepBudget | None = None) -> None:
        self._effort = effort if effort is not None else StepBudget()
        paths: set[str] = set()
        self._patterns: dict[str, list[str]] = {}  # by the folder that holds their matches
        for entry in entries:
            if is_glob(entry):
                self._patterns.setdefault(folder_of(entry), []).append(entry)
            else:
                paths.add(entry)
        self._paths, self._sorted_paths = paths, sorted(paths)
        self._folders = sorted(self._patterns)
        self._length = sum(len(each) for patterns in self._patterns.values() for each in patterns)
        self._read: dict[str, _Entry] = {}
        self._at: dict[str, _Group] = {}
        self._below: dict[str, _Group] = {}

    def meeting(self, entry: str) -> list[str]:
        """Return the entries that intersect with `entry`."""
        found = [entry] if entry in self._paths else []
        other = self._entry(entry)
        for group in self._groups(entry):
            group.meet(other, above=None)
            found += group.taken()
        self._effort.spend(len(found) // _ENTRIES)
        return found

    def common(self, others: Iterable[str]) -> set[str]:
        """Return the more specific entry of each intersecting pair of one of these and one of the others."""
        found: set[str] = set()
        touched: dict[int, _Group] = {}
        for text in self._walking(others, found):
            other = self._entry(text)
            for group in self._groups(text):
                touched[id(group)] = group
                if group.meet(other, above=other.rank):
                    found.add(text)
        for group in touched.values():
            found.update(group.taken())
        return found

    def _walking(self, others: Iterable[str], found: set[str]) -> Iterator[str]:
        """Yield the others that must be compared one by one; add the common entries of all the rest to `found`.

        The rest are the paths, unless comparing the patterns here with all paths one by one is less work.
        """
        paths: list[str] = []
        for text in others:
            if is_glob(text):
                yield text
            else:
                paths.append(text)
        found |= self._paths.intersection(paths)
        if not self._patterns:
            return
        length = sum(map(len, paths))
        if self._length * (length // BITS + 1) >= length:
            yield from paths
            return
        turned = PatternIndex(paths, self._effort)
        for patterns in self._patterns.values():
            for each in patterns:
                found.update(turned.meeting(each))

    def _groups(self, entry: str) -> Iterator["_Group"]:
        """Yield the groups that may hold an entry which intersects with `entry`."""
        self._effort.spend(entry.count("/") // _SEGMENTS + 1)
        if not is_glob(entry):
            yield from (self._group_at(each) for each in folders_above(entry) if each in self._patterns)
            return
        within = folder_of(entry)
        yield from (
            self._group_at(each)
            for each in folders_above(within)
            if each in self._patterns and each != within
        )
        yield self._group_below(within)

    def _group_at(self, folder: str) -> "_Group":
        if folder not in self._at:
            self._at[folder] = self._group(folder, self._patterns[folder])
        return self._at[folder]

    def _group_below(self, folder: str) -> "_Group":
        """Return the group of paths and patterns in the folder, at any depth."""
        if folder not in self._below:
            inside = [*_beginning(self._sorted_paths, folder)]
            for each in _beginning(self._folders, folder):
                inside += self._patterns[each]
            self._below[folder] = self._group(folder, inside)
        return self._below[folder]

    def _group(self, folder: str, inside: Sequence[str]) -> "_Group":
        self._effort.spend(len(inside) // _ENTRIES)
        return _Group(len(folder), sorted(map(self._entry, inside)), self._effort)

    def _entry(self, text: str) -> _Entry:
        """Return the parsed entry; each text is parsed once."""
        known = self._read.get(text)
        if known is None:
            known = self._read[text] = _Entry.of(text)
            self._effort.spend(0 if known.is_path else len(text) // _TOKENS + 1)
        return known


def _beginning(texts: Sequence[str], start: str) -> Sequence[str]:
    """Return the part of the sorted texts that begins with `start`."""
    first = bisect_left(texts, start)
    last = bisect_left(texts, start[:-1] + chr(ord(start[-1]) + 1)) if start else len(texts)
    return texts[first:last]


class _Group:
    """Entries with the same first `cut` characters, compared by the rest."""

    def __init__(self, cut: int, ranked: Sequence[_Entry], effort: StepBudget) -> None:
        self._cut = cut
        self._whole = [each for each in ranked if each.is_everything(cut)]
        self._first_whole = len(self._whole)  # from here on they are taken
        self._blocks = [*_blocks([each for each in ranked if not each.is_everything(cut)], cut, effort)]

    def meet(self, other: _Entry, *, above: _Rank | None) -> bool:
        """Mark the entries that intersect with `other` and rank above; True if some lower ones intersect, too."""
        first = bisect_right(self._whole, above, key=_rank) if above is not None else 0
        self._first_whole = min(self._first_whole, first)
        is_met = first > 0
        tokens = None if other.is_everything(self._cut) else other.tokens
        for block in self._blocks:
            is_met |= block.meet(tokens, above)
        return is_met

    def taken(self) -> list[str]:
        """Return the marked entries and clear the marks."""
        found = [each.text for each in self._whole[self._first_whole :]]
        self._first_whole = len(self._whole)
        for block in self._blocks:
            found += block.taken()
        return found


class _Block:
    """Entries of a group that share one automaton, by rank."""

    def __init__(self, entries: Sequence[tuple[_Entry, str]], cut: int, effort: StepBudget) -> None:
        self._entries = [entry for entry, _pattern in entries]
        self._patterns = [pattern for _entry, pattern in entries]
        self._cut, self._effort = cut, effort
        self._marked = 0

    @cached_property
    def _automaton(self) -> Automaton:
        self._effort.spend(price(self._patterns))
        return Automaton(self._patterns)

    @cached_property
    def _ends(self) -> int:
        return sum(self._automaton.ends)

    def meet(self, tokens: Sequence[Token] | None, above: _Rank | None) -> bool:
        """Mark like `_Group.meet`; None stands for the tokens of a pattern that matches everything."""
        automaton, met = self._automaton, self._ends
        if tokens is None:
            self._effort.spend(1)
        else:
            met &= automaton.walk(tokens, self._cut, automaton.starts, self._effort)
        lower = 0
        if met and above is not None:
            first = bisect_right(self._entries, above, key=_rank)
            lower = met & (automaton.ends[first] - 1) if first < len(self._entries) else met
        self._marked |= met ^ lower
        return lower > 0

    def taken(self) -> list[str]:
        marked, self._marked = self._marked, 0
        if not marked:
            return []
        return [
            each.text for each, end in zip(self._entries, self._automaton.ends, strict=True) if marked & end
        ]


def _rank(entry: _Entry) -> _Rank:
    return entry.rank


def _blocks(entries: Iterable[_Entry], cut: int, effort: StepBudget) -> Iterator[_Block]:
    taken: list[tuple[_Entry, str]] = []
    bits = 0
    for each in entries:
        pattern = each.laid(cut)
        if taken and bits + len(pattern) > BITS:
            yield _Block(taken, cut, effort)
            taken, bits = [], 0
        taken.append((each, pattern))
        bits += len(pattern) + 2
    if taken:
        yield _Block(taken, cut, effort)
