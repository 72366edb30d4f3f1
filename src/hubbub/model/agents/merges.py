"""Predicted merges: branches of agents, and whether two of them would conflict."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

KEEP = timedelta(days=14)  # after the last commit on a branch
MOST_PATHS = 2_000  # of one branch
MOST_FILES = 50  # in conflict, of one forecast


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchHead:
    """The newest commit of an agent on a branch, with the paths that the branch has changed since it began.

    `emptied` are the folders from which it has taken files: git follows a folder that was renamed.
    """

    project_id: UUID
    repository: str
    agent: str
    branch: str
    head: str
    tree: str
    paths: tuple[str, ...]
    emptied: tuple[str, ...]
    host: str | None
    told_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeForecast:
    """Git's answer for the merge of two branches at two commits; `files` are in conflict, none if it is clean.

    `first` is the agent whose branch is better merged first.
    """

    project_id: UUID
    repository: str
    one_agent: str
    one_branch: str
    one_head: str
    other_agent: str
    other_branch: str
    other_head: str
    files: tuple[str, ...]
    first: str
    found_at: int


def meet(one: BranchHead, other: BranchHead) -> bool:
    """Tell whether two branches touch the same place, so that git has to say whether they conflict."""
    mine, theirs = frozenset(one.paths), frozenset(other.paths)
    return (
        not mine.isdisjoint(theirs)
        or _is_below(mine, theirs)
        or _is_below(theirs, mine)
        or _is_below(mine, frozenset(other.emptied))
        or _is_below(theirs, frozenset(one.emptied))
    )


def goes_first(one: BranchHead, other: BranchHead) -> BranchHead:
    """Return the branch to merge first: the one that changes fewer files, then the older."""
    return min(one, other, key=lambda each: (len(each.paths), each.told_at, each.agent))


def _is_below(paths: frozenset[str], folders: frozenset[str]) -> bool:
    """Tell whether one of the paths lies in one of the folders."""
    return bool(folders) and any(not folders.isdisjoint(_above(each)) for each in paths)


def _above(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path
