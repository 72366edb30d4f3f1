"""Paths and patterns: their syntax, the paths that they match, and whether two of them can meet."""

import re
from functools import cache
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.model.agents.path_patterns import (
    LENGTH,
    folder_of,
    intersects,
    is_glob,
    matches,
    more_specific,
    normalise,
)
from hubbub.model.agents.pattern_index import PatternIndex
from hubbub.model.errors import Invalid
from tests.support.each_row import each_row

SEGMENTS = ("a", "b", "ab", "*", "?", "a*", "*b", "?a", "**", "a**b", "***")
SHORT = [pattern for depth in (1, 2) for pattern in map("/".join, product(SEGMENTS, repeat=depth))]
PATTERNS = st.lists(st.sampled_from(SEGMENTS), min_size=1, max_size=3).map("/".join) | st.sampled_from(
    [".", "a/"]
)

# Two of these that can meet do so in a path of at most four segments, as each has two that are fixed where others may
# be left out, and with names of at most two characters.
NAMES = ["".join(name) for length in (1, 2) for name in product("ab", repeat=length)]
PATHS = ["/".join(names) for depth in (1, 2, 3, 4) for names in product(NAMES, repeat=depth)]

WRITTEN = st.text("ab.*?/\\é é", min_size=1, max_size=12) | st.text(min_size=1, max_size=40)


def segments_match(pattern: list[str], path: list[str]) -> bool:
    """Match by the letter of the rules: one segment after the other."""
    if not pattern or not path:
        return not pattern and not path
    first, *rest = pattern
    if first == "**":
        if not rest:
            return True
        return segments_match(rest, path) or segments_match(pattern, path[1:])
    return segment_matches(first, path[0]) and segments_match(rest, path[1:])


@cache
def segment_matches(pattern: str, segment: str) -> bool:
    wild = {"*": ".*", "?": "."}
    return bool(re.fullmatch("".join(wild.get(each, re.escape(each)) for each in pattern), segment))


@cache
def matched(pattern: str) -> frozenset[str]:
    """All the paths that a pattern matches, found by trying each."""
    spelled = "**" if pattern == "." else re.sub("/$", "/**", pattern)
    return frozenset(path for path in PATHS if segments_match(spelled.split("/"), path.split("/")))


@pytest.mark.system
def test_patterns_match_what_they_say() -> None:
    """A pattern matches the paths that its rules, tried segment by segment, allow, and no others."""
    for pattern in [*SHORT, ".", "a/", "**/a/**", "a/**/b", "**/a/b"]:
        assert {path for path in PATHS if matches(pattern, path)} == matched(pattern), pattern


def test_short_patterns_meet_where_some_path_matches_both() -> None:
    """Two patterns of one or two segments intersect exactly when there is a path that both match."""
    for one, other in product(SHORT, repeat=2):
        assert intersects(one, other) == bool(matched(one) & matched(other)), (one, other)


@given(PATTERNS, PATTERNS)
def test_patterns_meet_where_some_path_matches_both(one: str, other: str) -> None:
    """Two patterns of any depth intersect exactly when there is a path that both match, in whatever order."""
    assert intersects(one, other) == intersects(other, one) == bool(matched(one) & matched(other))


@given(WRITTEN)
def test_an_entry_meets_itself(entry: str) -> None:
    """Every path and every pattern intersects with itself: there is none that nothing matches."""
    try:
        written = normalise(entry)
    except Invalid:
        return
    assert intersects(written, written)


@each_row(
    ("pattern", "path", "fits"),
    [
        ("src/*", "src/a.py", True),
        ("src/*", "src/a/b.py", False),
        ("src/?.py", "src/a.py", True),
        ("src/?.py", "src/.py", False),
        ("src/**", "src/a/b.py", True),
        ("src/**", "src", False),
        ("src/", "src/a/b.py", True),
        ("src/", "src", False),
        ("**/test_*.py", "test_a.py", True),
        ("**/test_*.py", "x/y/test_a.py", True),
        ("src/**/a.py", "src/a.py", True),
        ("src**/a.py", "src/x/a.py", False),
        (".", "a/b/c", True),
        ("[ab].py", "a.py", False),
        ("[ab].py", "[ab].py", True),
        ("src/A.py", "src/a.py", False),
        ("a\\*.py", "a\\b.py", True),
        ("文档/*.md", "文档/读我.md", True),
    ],
)
def test_examples(pattern: str, path: str, *, fits: bool) -> None:
    """`*` and `?` stay in their segment, `**` does not, brackets and backslashes are as any character."""
    assert matches(pattern, path) is fits


@each_row(
    ("one", "other", "meet"),
    [
        ("*a" * 512, "*b" * 512, False),
        ("*a" * 511 + "*", "*b" * 511 + "*", True),
        ("a*" * 511 + "b", "a" * 1024, False),
        ("*?" * 512, "a" * 511, False),
        ("*?" * 512, "a" * 512, True),
        ("?*/" * 341 + "a", "*?/" * 341 + "b", False),
        ("**/*a/" * 170, "**/*b/" * 170, True),
        ("*a*/" * 255 + "*b", "*b*/" * 255 + "*a", False),
        ("**/a*/" * 170 + "b", "**/*b/" * 170 + "a", False),
    ],
)
def test_hostile_patterns(one: str, other: str, *, meet: bool) -> None:
    """Patterns that could be tried in endlessly many ways are decided in as many steps as they have characters."""
    assert max(len(one), len(other)) <= LENGTH
    assert intersects(one, other) is intersects(other, one) is meet


@given(WRITTEN)
def test_normalising_again_changes_nothing(entry: str) -> None:
    """A normalised path is inside the repository, and stays as it is when it is normalised again."""
    try:
        written = normalise(entry)
    except Invalid:
        return
    assert normalise(written) == written
    assert written == "." or not {"", ".", ".."} & {*written.removesuffix("/").split("/")}


@each_row(
    ("entry", "written"),
    [
        ("./a/../b", "b"),
        ("a//b", "a/b"),
        ("a/./b", "a/b"),
        ("src/auth/", "src/auth/"),
        ("src/auth//", "src/auth/"),
        ("src/auth/.", "src/auth/"),
        ("src/auth/x/..", "src/auth/"),
        (".", "."),
        ("./", "."),
        ("a/..", "."),
        ("a\\b", "a\\b"),
        ("...", "..."),
        (" a b ", " a b "),
        ("cafe\u0301", "caf\u00e9"),
        ("a" * LENGTH, "a" * LENGTH),
    ],
)
def test_one_way_to_write(entry: str, written: str) -> None:
    """Detours and doubled slashes go, a folder keeps its slash, accents are composed, all else stays."""
    assert normalise(entry) == written


@each_row(
    ("entry", "reason"),
    [
        ("", "is empty"),
        ("/etc/passwd", "is absolute"),
        ("C:\\src\\a.py", "is absolute"),
        ("c:/src/a.py", "is absolute"),
        ("..", "leaves the repository"),
        ("a/../../b", "leaves the repository"),
        ("../a", "leaves the repository"),
        ("a/**/../b", "goes up from `\\*\\*`"),
        ("a\0b", "control characters"),
        ("a\nb", "control characters"),
        ("a\x85b", "control characters"),
        ("a\ud800b", "control characters"),
        ("a" * (LENGTH + 1), "1,025 characters; at most 1,024"),
    ],
)
def test_what_is_no_path(entry: str, reason: str) -> None:
    """An entry that is empty, absolute, outside the repository, too long or unwritable is refused with the reason."""
    with pytest.raises(Invalid, match=reason) as refusal:
        normalise(entry)
    assert str(refusal.value).isprintable()


@given(PATTERNS, st.sampled_from(PATHS))
def test_a_folder_holds_what_a_pattern_matches(pattern: str, path: str) -> None:
    """Whatever a pattern matches lies in its folder."""
    assert path.startswith(folder_of(pattern)) or not matches(pattern, path)


ENTRIES = st.lists(PATTERNS | st.sampled_from(PATHS), max_size=6)


@given(ENTRIES, PATTERNS | st.sampled_from(PATHS))
def test_arranged_entries_are_found_by_what_meets_them(entries: list[str], entry: str) -> None:
    """Exactly the entries that intersect with another are found among many, be they and it paths or patterns."""
    assert {*PatternIndex(entries).meeting(entry)} == {each for each in entries if intersects(each, entry)}


@given(ENTRIES, ENTRIES)
def test_of_each_pair_that_meets_the_one_that_says_more(entries: list[str], others: list[str]) -> None:
    """The more specific entry of each pair that intersects is what two lists have in common."""
    pairs = [pair for pair in product(entries, others) if intersects(*pair)]
    assert PatternIndex(entries).common(others) == {more_specific(*pair) for pair in pairs}


def test_folders() -> None:
    """The folder of a pattern is as deep as its names are fixed."""
    patterns = ["src/a/*.py", "src/a*/b", "src/", "**/a", ".", "src/a?"]
    assert list(map(folder_of, patterns)) == ["src/a/", "src/", "src/", "", "", "src/"]
    assert all(map(is_glob, patterns))
    assert not is_glob("src/a.py")


@each_row(
    ("less", "more"),
    [
        (".", "src/"),
        ("src/", "src/*.py"),
        ("src/*.py", "src/a.py"),
        ("src/*?????????", "src/a"),
        ("a*", "b*"),
    ],
)
def test_the_more_specific(less: str, more: str) -> None:
    """A path says more than a pattern, and a pattern more if more of it is fixed; then the alphabet decides."""
    assert more_specific(less, more) == more_specific(more, less) == more
