"""Scopes: when two of them overlap, in what, and where to look for those that could."""

from collections.abc import Mapping
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.model.agents.path_patterns import matches
from hubbub.model.agents.pattern_automata import TooCostly
from hubbub.model.agents.scopes import (
    FILES,
    PLACE,
    AgentConflict,
    Area,
    Overlap,
    Scope,
    ScopeIndex,
    overlap,
    place_of,
)
from hubbub.model.errors import Invalid, ScopeConflict
from tests.support.each_row import each_row

LONG = "n" * (PLACE - 3)
SEGMENTS = st.sampled_from(["a", "b", "a-b", "é", "*", "?", "a*", "**", LONG])
FILES_ = st.lists(SEGMENTS, min_size=1, max_size=3).map("/".join) | st.sampled_from([".", "a/", f"a/{LONG}/"])
SLUGS = ("backend", "docs", "empty")
SCOPES = st.builds(Scope.of, st.none() | st.sampled_from(SLUGS), st.lists(FILES_, max_size=4))
PATTERNS = st.lists(FILES_, min_size=1, max_size=3).map(tuple)


def area(slug: str, *patterns: str) -> Area:
    return Area(slug=slug, number=1, name=slug.title(), description=None, patterns=patterns)


def areas_of(backend: tuple[str, ...], docs: tuple[str, ...]) -> Mapping[str, Area]:
    """Two areas; a scope may name a third that the project does not have."""
    return {"backend": area("backend", *backend), "docs": area("docs", *docs)}


AREAS = st.builds(areas_of, PATTERNS, PATTERNS)
PROJECT = areas_of(("src/", "*.toml"), ("docs/**", "**/*.md"))


def found(one: Scope, other: Scope) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    common = overlap(one, other, PROJECT)
    return (common.areas, common.files) if common else None


@pytest.mark.system
@given(SCOPES, SCOPES, AREAS)
def test_an_overlap_is_the_same_from_both_sides(one: Scope, other: Scope, areas: Mapping[str, Area]) -> None:
    """Whether two scopes overlap, and in what, does not depend on who asks."""
    assert overlap(one, other, areas) == overlap(other, one, areas)


@given(SCOPES, AREAS)
def test_a_scope_overlaps_with_itself(scope: Scope, areas: Mapping[str, Area]) -> None:
    """Two who declare the same are in each other's way, unless they declare nothing."""
    common = overlap(scope, scope, areas)

    if not scope:
        assert common is None
    else:
        assert common is not None
        assert {scope.area} - {None} <= {*common.areas}
        assert {*scope.files} <= {*common.files}


@given(SCOPES, SCOPES, AREAS)
def test_whoever_overlaps_is_within_reach(one: Scope, other: Scope, areas: Mapping[str, Area]) -> None:
    """The common part of two scopes is found by looking up one's reach among the other's places."""
    places, folders = ScopeIndex(one, areas).reach()
    near = Scope(
        other.area if other.area in places else None,
        tuple(
            file
            for file in other.files
            if place_of(file) in places or any(place_of(file).startswith(folder) for folder in folders)
        ),
    )

    assert overlap(one, near, areas) == overlap(one, other, areas)


@given(FILES_)
def test_places_fit_into_an_index(entry: str) -> None:
    """The place of an entry is bounded, begins with a slash, and for a pattern ends with one."""
    (written,) = Scope.of(None, [entry]).files
    place = place_of(written)

    assert len(place) <= PLACE
    assert place.startswith("/")
    assert place.endswith("/") or matches(written, written)


@each_row(
    ("one", "other", "common"),
    [
        (Scope(None, ("src/a.py",)), Scope(None, ("src/a.py", "src/b.py")), ((), ("src/a.py",))),
        (Scope(None, ("src/a.py",)), Scope(None, ("src/A.py",)), None),
        (Scope(None, ("lib/a.py",)), Scope(None, ("lib/*.py", "lib/a*")), ((), ("lib/a.py",))),
        (Scope(None, ("lib/*.py",)), Scope(None, ("lib/auth_*",)), ((), ("lib/auth_*",))),
        (Scope(None, ("lib/",)), Scope(None, ("lib",)), None),
        (Scope("backend"), Scope("backend"), (("backend",), ())),
        (Scope("backend"), Scope("docs"), None),
        (Scope("backend"), Scope(None, ("src/a.py", "lib/a.py")), (("backend",), ("src/a.py",))),
        (Scope("backend"), Scope("backend", ("src/a.py",)), (("backend",), ("src/a.py",))),
        (Scope("backend"), Scope("docs", ("*.toml",)), (("backend",), ("*.toml",))),
        (
            Scope("backend", ("docs/x.txt",)),
            Scope("docs", ("src/y.md",)),
            (("backend", "docs"), ("docs/x.txt", "src/y.md")),
        ),
        (Scope("elsewhere"), Scope("elsewhere"), (("elsewhere",), ())),
        (Scope("elsewhere"), Scope(None, ("elsewhere",)), None),
        (Scope(), Scope("backend", (".",)), None),
    ],
)
def test_what_overlaps(one: Scope, other: Scope, common: object) -> None:
    """Overlapping are the same area, entries that meet (the more specific is named), a file in the other's area."""
    assert found(one, other) == common


def test_a_scope_is_written_in_one_way() -> None:
    """A declared scope has each file once, as `normalise` writes it, in the order in which they were declared."""
    scope = Scope.of("back.end-1", ["src//b.py", "./src/a.py", "src/x/../b.py", "docs/"])

    assert scope == Scope("back.end-1", ("src/b.py", "src/a.py", "docs/"))
    assert Scope.of("后端", []).area == "后端"
    assert not Scope.of(None, [])


@each_row("slug", ["", " ", "a b", "/src", "-a", ".a", "a/b", "a\n", "a" * 65])
def test_what_is_no_slug(slug: str) -> None:
    """An area's slug is one short word; anything else is refused by a sentence that says so."""
    with pytest.raises(Invalid, match="1 to 64 letters"):
        Scope.of(slug, [])


def test_a_scope_has_at_most_a_thousand_files() -> None:
    """A thousand files are a scope, one more is refused with the advice to name folders."""
    files = [f"src/{number}.py" for number in range(FILES + 1)]

    assert len(Scope.of(None, files[:-1]).files) == FILES
    with pytest.raises(Invalid, match="more than 1,000 paths; name folders"):
        Scope.of(None, files)


def test_a_scope_has_bounded_characters() -> None:
    """A thousand paths of a usual length are a scope; of a hundred and thirty thousand characters it is refused."""
    files = [f"src/{'n' * 110}/{number}.py" for number in range(FILES)]

    assert len(Scope.of(None, files).files) == FILES
    with pytest.raises(Invalid, match="more than 131,072 characters in all; name folders"):
        Scope.of(None, ["x" * 20 + each for each in files])


def patterns(make: str) -> Scope:
    """A thousand different ones, of which `make` says how they are written."""
    return Scope.of(None, [make.format(number) for number in range(FILES)])


@pytest.mark.system
@each_row(
    ("make", "other", "common"),
    [
        ("**/test_{}_*.py", "**/part_*_{}.py", 0),
        ("**/*a{}*", "**/*b{}*", 1990),  # all meet all; of each pair one is named, and ten of those are two
        ("src/module_{}/**", "src/module_{}/*.py", FILES),
        ("src/deep/er/module_{}/file.py", "**/test_{}_*.py", 0),
        ("**/test_{}_*.py", "src/deep/er/module_{}/file.py", 0),
        ("**/文档{}*.md", "**/读我{}*.md", 0),
    ],
)
def test_a_thousand_patterns_are_compared_with_a_thousand(make: str, other: str, common: int) -> None:
    """The most patterns that a scope may have are compared with as many others in as many steps as are allowed."""
    found = overlap(patterns(make), patterns(other), {})

    assert (len(found.files) if found else 0) == common


def test_what_takes_too_long_to_compare_is_refused() -> None:
    """Patterns in which each character could match in many places are given up after so many steps, with advice."""
    one, other = (
        Scope(None, tuple(f"**/{each * 470}*q{number}" for number in range(100))) for each in ("*a", "*b")
    )

    with pytest.raises(TooCostly, match=r"take too long to compare .* name folders instead"):
        overlap(one, other, {})


def test_any_two_scopes_can_be_compared() -> None:
    """The patterns of a scope are as long, without their folders, as can be compared with as many others."""
    one, other = (
        Scope.of(None, [f"src/**/{each * 470}*q{number}" for number in range(34)]) for each in ("*a", "*b")
    )

    assert overlap(one, other, {}) is not None
    with pytest.raises(Invalid, match="more than 32,768 characters, without the folders"):
        Scope.of(None, [*one.files, *other.files])


def test_a_refused_scope_says_whose_way_it_is_in() -> None:
    """The sentence of a refusal names the agents; what they have in common goes with it."""
    conflicts = [AgentConflict(name, uuid4(), Overlap(("backend",), ())) for name in ("ann", "代码1号")]
    refusal = ScopeConflict(conflicts)

    assert str(refusal) == "the scope overlaps with the scopes of others: 'ann', '代码1号'"
    assert refusal.conflicts == tuple(conflicts)
