"""Merge of two people's changes to the same document.

Parts are compared, not lines: a part that only one side changed is taken from that side, and only a part that both
changed differently is a clash. Then both stay: ours in its place, theirs after it as a section whose key says so.
Deleting counts as a change; if one side deletes a part that the other rewrites, the rewritten part stays.
"""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hubbub.model.work.line_diff import align
from hubbub.model.work.memory import HEADING, KEY_LENGTH, MemoryPart, render

START = -1  # the place before all parts
KEPT_OF_KEY = 128  # least number of characters of a key that remain in the key of a clash


@dataclass(frozen=True, slots=True)
class MergeConflict:
    """A part that both changed. `kept_as` is the key under which theirs is kept; None if one side had deleted it."""

    key: str | None
    kept_as: str | None


class Merged(NamedTuple):
    """A merged document, and its clashes."""

    parts: list[MemoryPart]
    clashes: list[MergeConflict]


class MergedText(NamedTuple):
    """A merged text without parts."""

    text: str
    is_clash: bool


def merge(
    base: Sequence[MemoryPart], ours: Sequence[MemoryPart], theirs: Sequence[MemoryPart], *, label: str
) -> Merged:
    """Merge the document that was `base`, and is now `ours` and `theirs`.

    `label` names the clash in the key of the kept part of theirs: `conventions (LABEL)`. A clash that ours has kept
    already is not kept again. New parts stand where their side put them, ours before theirs.
    """
    return _Merge(base, ours, theirs, label).merged()


def merge_text(base: str | None, ours: str, theirs: str, *, label: str) -> MergedText:
    """Merge a text that is one piece. In a clash theirs follows as a section, unless one contains the other."""
    if theirs == base or (ours != base and theirs in ours):
        return MergedText(ours, is_clash=False)
    if ours == base or ours in theirs:
        return MergedText(theirs, is_clash=False)
    both = render([MemoryPart(None, ours), MemoryPart(label, theirs)])
    return MergedText(both.removesuffix("\n"), is_clash=True)


class _Side:
    """The changes of one side: the present form of each part of the base, their order, and the new parts."""

    def __init__(self, base: Sequence[MemoryPart], parts: Sequence[MemoryPart]) -> None:
        self.parts = parts
        self.origins = _origins(base, parts)
        self.now = {
            origin: part for origin, part in zip(self.origins, parts, strict=True) if origin is not None
        }
        self.order = [origin for origin in self.origins if origin is not None]
        self.written = [
            part
            for origin, part in zip(self.origins, parts, strict=True)
            if origin is None or part != base[origin]
        ]
        self.has_moved = self.order != sorted(self.order)

    def new_after(self, places: Iterable[int]) -> dict[int, list[MemoryPart]]:
        """Group the new parts by the last of `places` that precedes them."""
        kept, place = {*places}, START
        found: dict[int, list[MemoryPart]] = {}
        for origin, part in zip(self.origins, self.parts, strict=True):
            if origin is None:
                found.setdefault(place, []).append(part)
            elif origin in kept:
                place = origin
        return found


class _Merge:
    def __init__(
        self, base: Sequence[MemoryPart], ours: Sequence[MemoryPart], theirs: Sequence[MemoryPart], label: str
    ) -> None:
        self._base = base
        self._ours, self._theirs = _Side(base, ours), _Side(base, theirs)
        self._label = label
        self._taken = {part.key for part in (*base, *ours, *theirs)}
        self._written: dict[str, list[str | None]] = {}
        for part in self._ours.written:
            self._written.setdefault(part.content, []).append(part.key)
        self._clashes: list[MergeConflict] = []

    def merged(self) -> Merged:
        settled = {index: self._settle(index) for index in range(len(self._base))}
        order = self._order({index for index, parts in settled.items() if parts})
        ours, theirs = self._ours.new_after(order), self._new_of_theirs(order)
        parts: list[MemoryPart] = []
        for place in (START, *order):
            parts += [*settled.get(place, ()), *_joined(ours.get(place, ()), theirs.get(place, ()))]
        return Merged(parts, self._clashes)

    def _settle(self, index: int) -> list[MemoryPart]:
        """Settle a part of the base: to nothing, one part, or in a clash two."""
        base, ours, theirs = self._base[index], self._ours.now.get(index), self._theirs.now.get(index)
        if theirs in (ours, base):
            return [ours] if ours else []
        if ours == base:
            return [theirs] if theirs else []
        if ours is None and theirs is not None and theirs.key in self._written.get(theirs.content, ()):
            return []  # an earlier merge has kept it, in another place
        if ours is None or theirs is None:
            self._clashes.append(MergeConflict(base.key, None))
            return [part for part in (ours, theirs) if part]
        return [ours, *self._keep(theirs)]

    def _keep(self, theirs: MemoryPart) -> list[MemoryPart]:
        """Make the section that keeps their clashing part, unless an earlier merge has kept it."""
        if any(_tells_of(key, theirs.key) for key in self._written.get(theirs.content, ())):
            return []
        key = self._free_key(theirs.key)
        self._taken.add(key)
        self._clashes.append(MergeConflict(theirs.key, key))
        return [MemoryPart(key, theirs.content)]

    def _free_key(self, key: str | None) -> str:
        number, label = 1, self._label
        while True:
            suffix = f" ({label})"
            free = label if key is None else key[: KEY_LENGTH - len(suffix)] + suffix
            if free not in self._taken:
                return free
            number += 1
            label = f"{self._label}, {number}"

    def _new_of_theirs(self, order: Sequence[int]) -> Mapping[int, list[MemoryPart]]:
        """Group their new parts that ours lacks by the place they follow; one with a key of ours becomes a clash."""
        same = Counter(self._ours.written)
        keys = {part.key for part in self._ours.written if part.key is not None}
        found: dict[int, list[MemoryPart]] = {}
        for place, parts in self._theirs.new_after(order).items():
            for part in parts:
                if same[part]:
                    same[part] -= 1
                    continue
                found.setdefault(place, []).extend(self._keep(part) if part.key in keys else [part])
        return found

    def _order(self, kept: Container[int]) -> list[int]:
        """Order the parts kept of the base: as in ours if we moved something, else as in theirs."""
        first, second = (self._ours, self._theirs) if self._ours.has_moved else (self._theirs, self._ours)
        order = [index for index in first.order if index in kept]
        for before, index in zip([START, *second.order], second.order, strict=False):
            if index in kept and index not in first.now:
                order.insert(order.index(before) + 1 if before in order else 0, index)
        return order


def _tells_of(key: str | None, clashed: str | None) -> bool:
    """Tell whether a merge gives such a key to the kept part of a clash under `clashed`."""
    return key == clashed or (key is not None and key.startswith((clashed or "")[:KEPT_OF_KEY]))


def _joined(ours: Sequence[MemoryPart], theirs: Sequence[MemoryPart]) -> list[MemoryPart]:
    """Join the new parts of both for one place: first the texts without key, which belong to what precedes."""
    (our_text, our_rest), (their_text, their_rest) = _split(ours), _split(theirs)
    return [*our_text, *their_text, *our_rest, *their_rest]


def _split(parts: Sequence[MemoryPart]) -> tuple[Sequence[MemoryPart], Sequence[MemoryPart]]:
    first = next((at for at, part in enumerate(parts) if part.key is not None), len(parts))
    return parts[:first], parts[first:]


def _origins(base: Sequence[MemoryPart], parts: Sequence[MemoryPart]) -> list[int | None]:
    """Return for each of `parts` its index in `base`, matched by key, else by content or position."""
    origins = align([*map(_name, base)], [*map(_name, parts)])
    stayed = {origin for origin in origins if origin is not None}
    missing: dict[str, list[int]] = {}
    for index in reversed(range(len(base))):
        if index not in stayed:
            missing.setdefault(_name(base[index]), []).append(index)
    for at, part in enumerate(parts):
        if origins[at] is None and missing.get(_name(part)):
            origins[at] = missing[_name(part)].pop()
    gone = {index for indices in missing.values() for index in indices if base[index].key is None}
    last = START
    for at, part in enumerate(parts):
        origin = origins[at]
        if origin in stayed:
            last = origin
        elif origin is None and part.key is None:
            rewritten = _rewritten(range(last + 1, len(base)), gone, stayed)
            gone -= {rewritten}
            origins[at] = rewritten
    return origins


def _name(part: MemoryPart) -> str:
    """Return the mark by which a part is recognised: its heading or, without key, its content."""
    return f"{HEADING}{part.key}" if part.key is not None else f"\n{part.content}"


def _rewritten(places: Iterable[int], gone: Container[int], stayed: Container[int]) -> int | None:
    """Return the first of `places` that is gone, before one that stayed."""
    for index in places:
        if index in gone or index in stayed:
            return index if index in gone else None
    return None
