"""Scopes: the part of a repository in which an agent says it works, and whether two scopes overlap.

A scope is an area of the project, files, or both; a file may be a pattern (`patterns`). Two scopes overlap when they
name one area, when some path fits an entry of each, or when a file of one lies inside the area of the other. Two
areas never overlap by their patterns alone.

`overlap` decides. Comparing all scopes of a thousand agents takes too long, so each entry is stored under its *place*:
an area under its slug, a path under itself, a pattern under the folder that holds all its matches. The *reach* of a
scope is the places of every possible overlap: perhaps more than needed, never less.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, NamedTuple, Self
from uuid import UUID

from hubbub.model.agents.path_patterns import folder_of, folders_above, is_glob, normalise
from hubbub.model.agents.pattern_automata import StepBudget
from hubbub.model.agents.pattern_index import PatternIndex
from hubbub.model.errors import Invalid
from hubbub.model.fields import REST, Seen

FILES = 1000  # entries of one scope, or patterns of one area
CHARACTERS = 131_072  # of all of them
WILD = 32_768  # of all patterns, without their folders: the part that is compared
PLACE = 256  # characters of a place: an index takes no long ones

_SLUG = re.compile(r"\w[\w.-]{0,63}")


@dataclass(frozen=True, slots=True)
class Scope:
    """An area and files in their normal form. Make it by `Scope.of`, unless both are normal already."""

    area: str | None = None
    files: tuple[str, ...] = ()

    @classmethod
    def of(cls, area: str | None, files: Iterable[str]) -> Self:
        """Make the scope that an agent declares; each file once, in the given order.

        Raises `Invalid` for a wrong slug, path or pattern, and for more than 1,000 files.
        """
        return cls(None if area is None else slug(area), entries(files))

    def __bool__(self) -> bool:
        return self.area is not None or bool(self.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """A part of a project's repository, with a name for people."""

    slug: Annotated[str, Seen(REST)]
    number: Annotated[int, Seen(REST, "counted in the project, from 1")]
    name: Annotated[str, Seen(REST)]
    description: Annotated[str | None, Seen(REST)]
    patterns: Annotated[tuple[str, ...], Seen(REST)]


@dataclass(frozen=True, slots=True)
class Overlap:
    """The common part of two scopes: slugs and entries, sorted, each once."""

    areas: tuple[str, ...]
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Declaration:
    """The scope that a present agent has declared."""

    agent: str
    presence_id: UUID
    scope: Scope


@dataclass(frozen=True, slots=True)
class AgentConflict:
    """A present agent, and the common part of its scope and another."""

    agent: str
    presence_id: UUID
    overlap: Overlap


class PlaceRange(NamedTuple):
    """Places: single ones, and all those below some folders."""

    places: frozenset[str]
    folders: tuple[str, ...]


def slug(text: str) -> str:
    """Bring the slug of an area to its one form. Raises `Invalid`."""
    composed = unicodedata.normalize("NFC", text)
    if not _SLUG.fullmatch(composed):
        raise Invalid(
            "the slug of an area has 1 to 64 letters, digits, `_`, `-` and `.`, and does not begin with `-` or `.`"
        )
    return composed


def entries(files: Iterable[str]) -> tuple[str, ...]:
    """Bring paths and patterns to their one form, each once, in order.

    Raises `Invalid` for a wrong one, for more than 1,000, for more than 131,072 characters in all, and for more than
    32,768 in patterns, without their folders.
    """
    given = list(islice(files, FILES + 1))
    if len(given) > FILES:
        raise Invalid(f"there are more than {FILES:,} paths; name folders or patterns instead")
    if sum(map(len, given)) > CHARACTERS:
        raise Invalid(
            f"the paths have more than {CHARACTERS:,} characters in all; name folders or patterns instead"
        )
    written = tuple(dict.fromkeys(map(normalise, given)))
    if sum(len(each) - len(folder_of(each)) for each in written if is_glob(each)) > WILD:
        raise Invalid(
            f"the patterns have more than {WILD:,} characters, without the folders in front; name folders instead, or"
            " fewer and shorter patterns"
        )
    return written


def overlap(one: Scope, other: Scope, areas: Mapping[str, Area]) -> Overlap | None:
    """Return the common part of both, given the areas of the project by slug; None if there is none.

    Of two entries that intersect it names the more specific one. The order of the two makes no difference.
    """
    return ScopeIndex(one, areas).overlap(other)


class ScopeIndex:
    """A scope and the areas of its project, indexed for comparing the scope with many others.

    All comparisons draw on one `effort`; they raise `TooCostly` when it is spent.
    """

    def __init__(self, scope: Scope, areas: Mapping[str, Area], effort: StepBudget | None = None) -> None:
        effort = effort if effort is not None else StepBudget()
        own = areas.get(scope.area or "")
        self._scope, self._effort = scope, effort
        self._area = own.patterns if own else ()
        self._files = _Near(scope.files, effort)
        self._covered = _Near(self._area, effort)
        self._inside = _by_area(scope.files, areas.values(), effort)

    def overlap(self, other: Scope) -> Overlap | None:
        """Return the common part with another scope, as the function `overlap` does."""
        files = self._files.common(other.files)
        areas = {self._scope.area} & {other.area} - {None}
        mine_inside = self._inside.get(other.area or "", ())
        theirs_inside = [entry for entry in other.files if self._covered.meeting(entry)] if self._area else []
        if mine_inside:
            areas.add(other.area)
        if theirs_inside:
            areas.add(self._scope.area)
        files.update(mine_inside, theirs_inside)
        if not areas and not files:
            return None
        return Overlap(tuple(sorted(filter(None, areas))), tuple(sorted(files)))

    def reach(self) -> PlaceRange:
        """Return the places of everything that could overlap with the scope."""
        entries = (*self._scope.files, *self._area)
        places = {place_of(entry) for entry in entries}
        self._effort.spend(sum(place.count("/") for place in places))
        places |= {"/" + folder for place in places for folder in folders_above(place[1:])}
        places |= {slug for slug in (self._scope.area, *self._inside) if slug is not None}
        folders = sorted({place_of(entry) for entry in entries if is_glob(entry)})
        return PlaceRange(frozenset(places), tuple(_outermost(folders)))


def repository_of(entry: str) -> str:
    """Return the repository of an entry `repository:path`; `""` for the project's own."""
    return entry.partition(":")[0] if ":" in entry else ""


def place_of(entry: str) -> str:
    """Return the place of a file. It begins with a slash, so that no file is taken for an area."""
    if not is_glob(entry):
        return f"/{entry}"[:PLACE]
    rooted = f"/{folder_of(entry)}"
    return rooted if len(rooted) <= PLACE else rooted[: rooted.rindex("/", 0, PLACE) + 1]


def _by_area(files: Iterable[str], areas: Iterable[Area], effort: StepBudget) -> dict[str, set[str]]:
    """Map each area to the files inside it; areas without files are left out."""
    owners: dict[str, list[str]] = {}
    for area in areas:
        for pattern in area.patterns:
            owners.setdefault(pattern, []).append(area.slug)
    patterns = _Near(owners, effort)
    inside: dict[str, set[str]] = {}
    for entry in files:
        for pattern in patterns.meeting(entry):
            for owner in owners[pattern]:
                inside.setdefault(owner, set()).add(entry)
    return inside


class _Near:
    """Entries indexed by repository: `**` means everything in the project's own, and nothing elsewhere."""

    def __init__(self, entries: Iterable[str], effort: StepBudget) -> None:
        self._arranged = {
            where: PatternIndex(each, effort) for where, each in _by_repository(entries).items()
        }

    def meeting(self, entry: str) -> list[str]:
        """Return the entries that share a path with `entry`."""
        arranged = self._arranged.get(repository_of(entry))
        return arranged.meeting(entry) if arranged is not None else []

    def common(self, others: Iterable[str]) -> set[str]:
        """Return the more specific entry of each pair of one of these and one of the others that share a path."""
        found: set[str] = set()
        for where, each in _by_repository(others).items():
            if where in self._arranged:
                found |= self._arranged[where].common(each)
        return found


def _by_repository(entries: Iterable[str]) -> dict[str, list[str]]:
    sorted_out: dict[str, list[str]] = {}
    for entry in entries:
        sorted_out.setdefault(repository_of(entry), []).append(entry)
    return sorted_out


def _outermost(folders: Iterable[str]) -> Iterator[str]:
    """Yield the sorted folders that lie in no other."""
    last = None
    for folder in folders:
        if last is None or not folder.startswith(last):
            yield folder
            last = folder
