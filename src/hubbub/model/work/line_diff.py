"""Matching of an edited text's lines with those of the text before: a longest common subsequence.

Equal lines at both ends are matched first, so that the effort depends on the edit. The middle is compared exactly
(Myers' greedy algorithm) up to `FEW` differences, and by `difflib` beyond: that may leave frequent lines unmatched, but
does not take minutes over a rewritten text. `difflib` alone would treat a third of a memory of list items and blank
lines as new after three edits.
"""

from collections.abc import Sequence
from difflib import SequenceMatcher

FEW = 500  # differing lines that are compared exactly

Pairs = list[tuple[int, int]]


def align(before: Sequence[str], after: Sequence[str]) -> list[int | None]:
    """Return for each line of `after` the index of the same line in `before`, or None if it is new.

    The indices rise: a moved line counts as new in one of its places.
    """
    shorter = min(len(before), len(after))
    head = 0
    while head < shorter and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < shorter - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    pairs = _exactly(old, new)
    if pairs is None:
        pairs = _roughly(old, new)
    origins: list[int | None] = [None] * len(after)
    origins[:head] = range(head)
    origins[len(after) - tail :] = range(len(before) - tail, len(before))
    for old_at, new_at in pairs:
        origins[head + new_at] = head + old_at
    return origins


def _exactly(old: Sequence[str], new: Sequence[str]) -> Pairs | None:
    """Return the pairs of a longest common subsequence, last first; None if more than `FEW` lines differ.

    `reach[k]` is how far into `old` one gets on diagonal k (index in `old` minus index in `new`) with that many
    lines dropped or added.
    """
    reach = {1: 0}
    trail: list[dict[int, int]] = []
    for differences in range(min(FEW, len(old) + len(new)) + 1):
        trail.append(dict(reach))
        for diagonal in range(-differences, differences + 1, 2):
            at = _begin(reach, diagonal, differences)
            while at < len(old) and at - diagonal < len(new) and old[at] == new[at - diagonal]:
                at += 1
            reach[diagonal] = at
            if at >= len(old) and at - diagonal >= len(new):
                return _walk_back(trail, len(old), len(new))
    return None


def _begin(reach: dict[int, int], diagonal: int, differences: int) -> int:
    """Return the start of the search on `diagonal`: its neighbour's end plus an added or a dropped line."""
    adds = diagonal == -differences or (diagonal != differences and reach[diagonal - 1] < reach[diagonal + 1])
    return reach[diagonal + 1] if adds else reach[diagonal - 1] + 1


def _walk_back(trail: Sequence[dict[int, int]], old_at: int, new_at: int) -> Pairs:
    """Collect the pairs on the way that `trail` took to the ends of both texts, last first."""
    pairs: Pairs = []
    for differences in range(len(trail) - 1, -1, -1):
        reach, diagonal = trail[differences], old_at - new_at
        begun = _begin(reach, diagonal, differences) if differences else 0
        while old_at > begun and new_at > begun - diagonal:
            old_at, new_at = old_at - 1, new_at - 1
            pairs.append((old_at, new_at))
        if begun == reach.get(diagonal + 1):
            new_at -= 1
        else:
            old_at -= 1
    return pairs


def _roughly(old: Sequence[str], new: Sequence[str]) -> Pairs:
    blocks = SequenceMatcher(None, old, new).get_matching_blocks()
    return [(a + step, b + step) for a, b, size in blocks for step in range(size)]
