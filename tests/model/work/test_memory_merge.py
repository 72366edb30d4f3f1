"""Two sides changed a document: nothing of either is lost, and what both changed is said."""

from collections import Counter

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from hubbub.model.work.memory import KEY_LENGTH, MemoryPart, require_parts
from hubbub.model.work.memory_merge import MergeConflict, merge, merge_text

LABEL = "conflict from file 2026-11-21 14:03"

PARTS = st.builds(MemoryPart, st.none() | st.sampled_from("abcd"), st.sampled_from(["", "1", "2", "3", "4"]))
DOCUMENTS = st.lists(PARTS, max_size=6).map(
    lambda parts: list({part.key or object(): part for part in parts}.values())
)
TEXTS = st.text("ab\n", max_size=4)


@given(DOCUMENTS, DOCUMENTS)
def test_one_side_alone(base: list[MemoryPart], changed: list[MemoryPart]) -> None:
    """Where one side changed nothing, or both the same, the document is what the other made of it."""
    for ours, theirs in ((base, changed), (changed, base), (changed, changed)):
        assert merge(base, ours, theirs, label=LABEL) == (changed, [])


@given(DOCUMENTS, DOCUMENTS, DOCUMENTS)
@example([], [MemoryPart("a", "1"), MemoryPart("b", "2")], [MemoryPart("a", "2"), MemoryPart("b", "1")])
def test_nothing_is_lost(base: list[MemoryPart], ours: list[MemoryPart], theirs: list[MemoryPart]) -> None:
    """The outcome has each side's writes, ours under its own key, in a document whose keys are all different."""
    parts, _clashes = merge(base, ours, theirs, label=LABEL)
    require_parts(parts)
    assert {part for part in ours if part not in base} <= {*parts}
    assert {part.content for part in theirs if part not in base} <= {part.content for part in parts}


@pytest.mark.system
@given(DOCUMENTS, DOCUMENTS, DOCUMENTS)
def test_merging_again_changes_nothing(
    base: list[MemoryPart], ours: list[MemoryPart], theirs: list[MemoryPart]
) -> None:
    """A merge that is done again, because nobody noted that it was done, gives the same parts, none of them twice."""
    assume(all(len(set(parts)) == len(parts) for parts in (base, ours, theirs)))  # twins cannot be told apart
    parts, _clashes = merge(base, ours, theirs, label=LABEL)
    assert Counter(merge(base, parts, theirs, label="another label").parts) == Counter(parts)


@given(DOCUMENTS, DOCUMENTS, DOCUMENTS)
def test_only_what_both_changed_clashes(
    base: list[MemoryPart], ours: list[MemoryPart], theirs: list[MemoryPart]
) -> None:
    """A section that only one side changed is as that side has it, and is no clash."""
    parts, clashes = merge(base, ours, theirs, label=LABEL)
    before, here, there = ({part.key: part for part in side if part.key} for side in (base, ours, theirs))
    for key in {*before, *here, *there}:
        if there.get(key) in (here.get(key), before.get(key)) or here.get(key) == before.get(key):
            one_sided = there.get(key) if here.get(key) == before.get(key) else here.get(key)
            assert one_sided is None or one_sided in parts
            assert key not in [clash.key for clash in clashes]


BASE = [
    MemoryPart(None, "# Notes"),
    MemoryPart("a", "1"),
    MemoryPart("b", "2"),
    MemoryPart(None, "\n---\nlog"),
]


def test_a_clash_keeps_both() -> None:
    """A part that both changed stays ours, and theirs follows as a section whose key says so."""
    ours = [MemoryPart(None, "# Mine"), MemoryPart("a", "mine"), *BASE[2:]]
    theirs = [MemoryPart(None, "# Yours"), MemoryPart("a", "yours"), *BASE[2:]]
    parts, clashes = merge(BASE, ours, theirs, label=LABEL)
    assert parts == [
        MemoryPart(None, "# Mine"),
        MemoryPart(LABEL, "# Yours"),
        MemoryPart("a", "mine"),
        MemoryPart(f"a ({LABEL})", "yours"),
        *BASE[2:],
    ]
    assert clashes == [MergeConflict(None, LABEL), MergeConflict("a", f"a ({LABEL})")]


def test_new_sections_of_one_key() -> None:
    """A section that both made, with different contents, is a clash too; with the same content it is one section."""
    assert merge([], [MemoryPart("a", "1")], [MemoryPart("a", "2")], label="x").parts == [
        MemoryPart("a", "1"),
        MemoryPart("a (x)", "2"),
    ]
    assert merge([], [MemoryPart("a", "1")], [MemoryPart("a", "1")], label="x") == (
        [MemoryPart("a", "1")],
        [],
    )


def test_deleting_is_changing() -> None:
    """A part deleted by one side and rewritten by the other stays rewritten, and is a clash; an unchanged one is
    deleted.
    """
    rewritten = [BASE[0], MemoryPart("a", "new"), *BASE[2:]]
    deleted = [BASE[0], BASE[3]]
    expected = ([BASE[0], MemoryPart("a", "new"), BASE[3]], [MergeConflict("a", None)])
    assert merge(BASE, rewritten, deleted, label=LABEL) == expected
    assert merge(BASE, deleted, rewritten, label=LABEL) == expected


def test_what_both_append_stays() -> None:
    """Text appended on both sides stays, ours first; text that both have appended alike is there once."""
    mine, yours, same = MemoryPart(None, "mine"), MemoryPart(None, "yours"), MemoryPart(None, "same")
    merged = merge(BASE, [*BASE, same, mine], [*BASE, same, yours], label=LABEL)
    assert merged == ([*BASE, same, mine, yours], [])


def test_the_order_of_who_moved() -> None:
    """Parts that one side moved stand where it put them; where both did, ours counts."""
    moved, other = [BASE[2], BASE[0], BASE[1], BASE[3]], [BASE[3], *BASE[:3]]
    changed = [BASE[0], MemoryPart("a", "new"), *BASE[2:]]
    for ours, theirs in ((moved, changed), (changed, moved)):
        assert merge(BASE, ours, theirs, label=LABEL).parts == [BASE[2], BASE[0], changed[1], BASE[3]]
    assert merge(BASE, moved, other, label=LABEL).parts == moved


def test_the_key_of_a_clash() -> None:
    """The key that tells of a clash is as long as a key may be, and another one than those that are there."""
    key = "k" * KEY_LENGTH
    parts, _clashes = merge(
        [],
        [MemoryPart(key, "1"), MemoryPart("a", "1"), MemoryPart("a (x)", "")],
        [MemoryPart(key, "2"), MemoryPart("a", "2")],
        label="x",
    )
    assert [part.key for part in parts] == [key, "a", "a (x)", f"{'k' * (KEY_LENGTH - 4)} (x)", "a (x, 2)"]


@given(TEXTS, TEXTS, TEXTS)
def test_texts_are_merged_whole(base: str, ours: str, theirs: str) -> None:
    """The changed side of a text in one piece counts; where both changed it, the outcome holds both."""
    merged = merge_text(base, ours, theirs, label=LABEL)
    if base in (ours, theirs):
        assert merged == (theirs if ours == base else ours, False)
    else:
        assert ours in merged.text
        assert theirs in merged.text
    assert merge_text(base, merged.text, theirs, label="again").text == merged.text


def test_clashing_texts() -> None:
    """Two texts that have nothing to do with each other follow each other, the second under a heading that says why."""
    assert merge_text(None, "mine", "yours", label="x") == ("mine\n\n## x\n\nyours", True)
    assert merge_text(None, "mine and yours", "yours", label="x") == ("mine and yours", False)
