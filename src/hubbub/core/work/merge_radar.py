"""The merge radar tells two agents that their branches will conflict, while both still work on them.

After each commit the hook beside an agent reports the head of its branch. The hub answers with the branches of others
that touch the same places. Git, on the agent's machine, says whether they would conflict, and the hook reports that.
The hub tells both agents, once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from hubbub.core.mail import messages
from hubbub.model.agents.file_claims import repository as checked_repository
from hubbub.model.agents.merges import KEEP, MOST_FILES, BranchHead, MergeForecast, goes_first, meet
from hubbub.model.people.rights import HUB
from hubbub.model.records import Project
from hubbub.model.timestamps import milliseconds
from hubbub.model.visible_text import cut, visible
from hubbub.store.agents import scopes as scope_rows
from hubbub.store.tx import Tx
from hubbub.store.work import merges as rows

MOST_COMPARED = 500  # branches of others, newest first
MOST_PAIRS = 20  # that git compares with one commit
NAME_LENGTH = 64  # characters of a name or branch in a sentence
PATH_LENGTH = 200
MOST_NAMED = 3  # files that a sentence names


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Git's judgement on merging another's branch: the files in conflict, or that it is merged already."""

    agent: str
    branch: str
    head: str
    files: tuple[str, ...] = ()
    is_merged: bool = False


# These need no rule of their own, so they are the store's functions.
conflicts = rows.conflicts
newest_head = rows.newest_head


def tell_head(tx: Tx, project: Project, head: BranchHead) -> list[BranchHead]:
    """Store the head of a branch; return the heads of others that git has to compare it with, newest first.

    A branch without changes is merged or not begun, and is forgotten. Records `merge.clear` for each conflict
    that is no longer possible. Raises `Invalid` for a text that cannot be a repository.
    """
    checked_repository(head.repository)
    scope_rows.lock(tx, project.id)
    if not head.paths:
        _forget(tx, head)
        return []
    rows.put_head(tx, head)
    others = rows.heads_of_others(tx, project.id, head.repository, head.agent, MOST_COMPARED)
    met = [each for each in others if meet(head, each)]
    standing = {(each.agent, each.branch) for each in met}
    judged = set()
    for each in rows.forecasts_of(tx, project.id, head.repository, head.agent, head.branch):
        theirs = _theirs(each, head)
        if theirs[:2] not in standing:
            _clear(tx, each)
        elif {each.one_head, each.other_head} == {head.head, theirs[2]}:
            judged.add(theirs)
    return [each for each in met if (each.agent, each.branch, each.head) not in judged][:MOST_PAIRS]


def tell_judgements(
    tx: Tx, project: Project, head: BranchHead, judgements: Sequence[Judgement]
) -> list[MergeForecast]:
    """Store git's judgements on merging other branches with one; return those that conflict.

    A judgement on a commit that is no longer the newest is ignored. Both agents are told of a new conflict. Records
    `merge.conflict` and `merge.clear`.
    """
    scope_rows.lock(tx, project.id)
    mine = rows.head(tx, project.id, head.repository, head.agent, head.branch)
    if mine is None or mine.head != head.head:
        return []
    known = {
        _theirs(each, mine)[:2]: each
        for each in rows.forecasts_of(tx, project.id, mine.repository, mine.agent, mine.branch)
    }
    found = []
    for each in judgements:
        other = rows.head(tx, project.id, mine.repository, each.agent, each.branch)
        if other is None or other.head != each.head or other.agent == mine.agent:
            continue
        if each.is_merged:
            _forget(tx, other)
            continue
        forecast = _forecast(tx, mine, other, each.files)
        before = known.get((other.agent, other.branch))
        _settle(tx, forecast, before)
        found += [forecast] if forecast.files else []
    return found


def forget_agent(tx: Tx, project_id: UUID, agent: str) -> None:
    """Forget the branches of a removed agent."""
    for each in rows.heads_of(tx, project_id, agent):
        _forget(tx, each)


def forget(tx: Tx) -> None:
    """Drop the branches without a commit for long."""
    for each in rows.old_heads(tx, tx.now - milliseconds(KEEP)):
        _forget(tx, each)


def _forget(tx: Tx, head: BranchHead) -> None:
    for each in rows.forecasts_of(tx, head.project_id, head.repository, head.agent, head.branch):
        _clear(tx, each)
    rows.drop_head(tx, head.project_id, head.repository, head.agent, head.branch)


def _forecast(tx: Tx, mine: BranchHead, theirs: BranchHead, files: Sequence[str]) -> MergeForecast:
    one, other = sorted((mine, theirs), key=lambda each: (each.agent, each.branch))
    return MergeForecast(
        project_id=one.project_id,
        repository=one.repository,
        one_agent=one.agent,
        one_branch=one.branch,
        one_head=one.head,
        other_agent=other.agent,
        other_branch=other.branch,
        other_head=other.head,
        files=tuple(files[:MOST_FILES]),
        first=goes_first(one, other).agent,
        found_at=tx.now,
    )


def _settle(tx: Tx, forecast: MergeForecast, before: MergeForecast | None) -> None:
    """Store a forecast, and tell what is new about it."""
    had_conflict = before is not None and bool(before.files)
    rows.put_forecast(tx, forecast)
    if forecast.files and not had_conflict:
        _record(tx, "merge.conflict", forecast)
        for mine in (forecast.one_agent, forecast.other_agent):
            messages.send(
                tx, forecast.project_id, sender=HUB, to=mine, body=warning(forecast, mine), awaited=True
            )
    elif had_conflict and not forecast.files:
        _record(tx, "merge.clear", forecast)


def _clear(tx: Tx, forecast: MergeForecast) -> None:
    rows.drop_forecast(tx, forecast)
    if forecast.files:
        _record(tx, "merge.clear", forecast)


def _record(tx: Tx, kind: str, forecast: MergeForecast) -> None:
    tx.record(
        kind,
        project_id=forecast.project_id,
        agent=forecast.one_agent,
        detail={
            "repository": forecast.repository,
            "agents": [forecast.one_agent, forecast.other_agent],
            "branches": [forecast.one_branch, forecast.other_branch],
            "files": list(forecast.files),
            "first": forecast.first,
        },
    )


def warning(forecast: MergeForecast, mine: str) -> str:
    """Say to one of the two agents that their branches will conflict, where, and which to merge first."""
    ends = [(forecast.one_agent, forecast.one_branch), (forecast.other_agent, forecast.other_branch)]
    (_, own), (other, theirs) = ends if ends[0][0] == mine else ends[::-1]
    named = [_cut(each, PATH_LENGTH) for each in forecast.files[:MOST_NAMED]]
    more = len(forecast.files) - len(named)
    where = ", ".join(named) + (f" and {more} more" if more > 0 else "")
    order = (
        f"Merge yours first, as it changes less; {_named(other)} then rebases on it."
        if forecast.first == mine
        else f"Have {_named(other)} merge first, as that branch changes less; then rebase yours on it."
    )
    return (
        f"Your branch {_named(own)} and {_named(theirs)} of {_named(other)} will conflict in {where}. {order}"
    )


def _theirs(forecast: MergeForecast, head: BranchHead) -> tuple[str, str, str]:
    """Return the other side of a forecast: its agent, branch and commit."""
    if (forecast.one_agent, forecast.one_branch) == (head.agent, head.branch):
        return forecast.other_agent, forecast.other_branch, forecast.other_head
    return forecast.one_agent, forecast.one_branch, forecast.one_head


def _named(text: str) -> str:
    return f"'{_cut(text, NAME_LENGTH)}'"


def _cut(text: str, length: int) -> str:
    return cut(visible(text[: 4 * length]), length).replace("'", "’")
