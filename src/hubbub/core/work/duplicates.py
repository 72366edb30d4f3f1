"""Duplicates: nobody creates or begins a job without hearing of the open task that is the same.

`model.work.duplicates` says whether two tasks are one job. Here a task is compared with the open ones of its project
that share a mark with it, and those concerned are told. The door decides what follows: a documented tool set
creates the task and only records the duplicate, and leaves that until the end of the transaction, where it costs less
for many tasks at once; any other refuses it, unless its caller asks for it anyway.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from hubbub.core.agents import file_claims, scopes
from hubbub.core.agents.agents import OWN_DOORS, presence
from hubbub.core.work import permissions
from hubbub.model.agents.scopes import Scope
from hubbub.model.errors import ANOTHER, Duplicate, Invalid, quoted
from hubbub.model.fleet.nodes import NODE_PREFIX
from hubbub.model.lifecycle import HELD
from hubbub.model.people.rights import HUB
from hubbub.model.records import Task
from hubbub.model.visible_text import cut, visible
from hubbub.model.work.duplicates import Job, Likeness, OnDuplicate, SameBy, alike, job, marks
from hubbub.store.people import projects
from hubbub.store.sequence_numbers import LAST
from hubbub.store.tx import Tx
from hubbub.store.work import duplicates as rows
from hubbub.store.work import tasks

MOST_COMPARED = 8
MOST_FILES = 20
MOST_TOLD = 5
MOST_NOTICES = 5  # about one job
TITLE_LENGTH = 80  # of another task's title in a sentence
LONGEST = 1_000  # characters of a text in which files are looked for

_FILE = re.compile(r"(?<![\w/.:-])(?:[\w-][\w.-]*/)*[\w-][\w-]*\.[A-Za-z][A-Za-z0-9]{0,7}(?![\w/])", re.ASCII)


class Saying(NamedTuple):
    """A task as it is compared, and the marks by which it is found."""

    job: Job
    marks: Sequence[int]


class Met(NamedTuple):
    """Another open task for the same job, the reason, and how often the duplicate was reported."""

    task: Task
    why: Likeness
    told: int


class Looked(NamedTuple):
    """A new task as it is compared, and the other one for the same job, if there is one."""

    saying: Saying
    met: Met | None


class Made(NamedTuple):
    """A new task that is to be compared, the tasks that it needs, and its maker in the log."""

    task: Task
    needs: Sequence[Task]
    by: str


def read(task: Task) -> Saying:
    """Prepare a task for the functions here, as that takes a while."""
    said = _job(task)
    return Saying(said, marks(said))


def look(tx: Tx, task: Task, needs: Sequence[Task], on_duplicate: OnDuplicate) -> Looked | None:
    """Look for the open task for the same job as a new one; None if only the log is told, as `take_in` looks then.

    Raises `Duplicate` if it is to be refused.
    """
    if on_duplicate is OnDuplicate.TELL and tx.door not in OWN_DOORS:
        return None
    saying = read(task)
    if on_duplicate is OnDuplicate.IGNORE:
        return Looked(saying, None)
    tx.catch_up()
    met = next(_found(tx, task, saying, needs), None)
    if met is not None and on_duplicate is OnDuplicate.REFUSE:
        said = f"{_described(met.task, met.why)}; {ANOTHER}"
        raise Duplicate(said, met.task.number, str(met.task.id))
    return Looked(saying, met)


def take_in(tx: Tx, task: Task, needs: Sequence[Task], looked: Looked | None) -> None:
    """Make a new task findable, and tell of the other one that was met, or that is met later."""
    if looked is None:
        tx.leave(_take_in_all, Made(task, needs, tx.actor.label))
        return
    saying, met = looked
    remember(tx, task, saying, told=0 if met is None else met.told + 1)
    if met is not None and _is_recorded(tx, task, met, by=None):
        _tell(tx, task, met)


def _take_in_all(tx: Tx, made: Sequence[Made]) -> None:
    """Make new tasks findable, and record those that are the same job as an earlier one."""
    of_agents = [each for each in made if not _is_machines(each.task)]
    said = [read(each.task) for each in of_agents]
    shared = rows.insert_all(
        tx,
        [
            rows.Kept(each.task, saying.job.packed(), saying.marks)
            for each, saying in zip(of_agents, said, strict=True)
        ],
    )
    for each, saying in zip(of_agents, said, strict=True):
        if shared.isdisjoint(rows.of_project(each.task.project_id, saying.marks)):
            continue
        met = next(_found(tx, each.task, saying, each.needs, before=each.task.number), None)
        if met is not None:
            rows.tell(tx, each.task, met.told + 1)
            _is_recorded(tx, each.task, met, by=each.by)


def remember(tx: Tx, task: Task, saying: Saying, *, told: int = 0) -> None:
    """Make an open task findable, unless a machine does it for an order of its own."""
    if not _is_machines(task):
        rows.insert(tx, task, saying.job.packed(), saying.marks, told=told)


def forget(tx: Tx, task: Task) -> None:
    """Make a task unfindable that has ended, or whose description is about to change."""
    known = rows.delete(tx, task)
    if known is None and tx.catch_up():  # it may have been made a moment ago
        known = rows.delete(tx, task)
    if known is not None:
        rows.unmark(tx, task, marks(Job.unpacked(known.job)))


def _is_machines(task: Task) -> bool:
    return (task.assignee or "").startswith(NODE_PREFIX)


def _is_recorded(tx: Tx, task: Task, met: Met, *, by: str | None) -> bool:
    """Record `task.duplicate`, `by` the caller if None.

    Only the first few duplicates of a job are told, so that a sender in a loop fills neither the log nor an inbox.
    """
    if met.told >= MOST_NOTICES:
        return False
    rows.tell(tx, met.task, met.told + 1)
    detail = {"of": met.task.number, "by": str(met.why.by), "name": met.why.name}
    tx.record(
        "task.duplicate",
        project_id=task.project_id,
        actor=by,
        agent=task.assignee,
        task_id=task.id,
        detail=detail,
    )
    return True


def _tell(tx: Tx, task: Task, met: Met) -> None:
    """Tell the sender of a new task, and the holder of the other, that both are one job.

    The documented tool sets have no such mail. Nobody is told if one sender gives the same words to several agents by
    name: that is meant.
    """
    other, why, _told = met
    if why.by is SameBy.WORDS and task.sender == other.sender and task.assignee != other.assignee:
        return
    if task.sender != HUB:
        permissions.say(tx, task, f"T-{task.number}: {_described(other, why)}", by=HUB, to=task.sender)
    holder = other.assignee or other.sender
    if holder not in (HUB, task.sender):
        permissions.say(tx, other, f"T-{other.number}: {_described(task, why)}", by=HUB, to=holder)


def tell_taker(tx: Tx, task: Task, *, before: Task) -> None:
    """Tell the new holder of a task by mail who works on the same, if it came by no tool set.

    The hub's own tools say it in their reply, and the documented tool sets have no such mail.
    """
    if tx.door or task.assignee is None or before.accepted_at == task.accepted_at:
        return
    if known := beside(tx, task):
        permissions.say(tx, task, f"T-{task.number}: {'; '.join(known)}", by=HUB, to=task.assignee)


def beside(tx: Tx, task: Task) -> list[str]:
    """Say for the holder of a task who else works on the same job, its branch, or its files."""
    if task.assignee is None or task.assignee.startswith(NODE_PREFIX):
        return []
    return [*_same_jobs(tx, task), *_same_branch(tx, task), *_same_files(tx, task)][:MOST_TOLD]


def _same_jobs(tx: Tx, task: Task) -> Iterator[str]:
    tx.catch_up()
    for met in _found(tx, task, read(task), ()):
        if met.task.status in HELD and met.task.assignee not in (None, task.assignee):
            yield _described(met.task, met.why)


def _same_branch(tx: Tx, task: Task) -> Iterator[str]:
    branches = {each.removeprefix("branch ") for each in _job(task).names if each.startswith("branch ")}
    if branches:
        held = {(each.agent, each.branch) for each in file_claims.held(tx, task.project_id)}
        for agent, branch in sorted((agent, branch) for agent, branch in held if branch in branches):
            if agent != task.assignee:
                yield f"{quoted(agent)} works on branch {quoted(branch)}"


def _same_files(tx: Tx, task: Task) -> Iterator[str]:
    named = _FILE.findall(f"{task.title}\n{task.description[:LONGEST]}")
    files = tuple(dict.fromkeys(named))[:MOST_FILES]
    project = projects.find(tx, task.project_id)
    if project is None or not (files or task.area):
        return
    own = presence(tx, project.id, task.assignee or "")
    with suppress(Invalid):
        for each in scopes.check(tx, project, Scope(task.area, files), but=own.id if own else None):
            met = [*each.overlap.files, *each.overlap.areas]
            yield f"{quoted(each.agent)} works on {visible(met[0])}"


def _found(tx: Tx, task: Task, saying: Saying, needs: Sequence[Task], *, before: int = LAST) -> Iterator[Met]:
    """Yield the open tasks of the project, made `before`, that are the same job, the oldest first."""
    near = rows.found(tx, task.project_id, saying.marks, MOST_COMPARED, before=before)
    compared = [
        (each, alike(saying.job, Job.unpacked(each.job))) for each in near if each.number != task.number
    ]
    same = sorted((each.number, why, each.told) for each, why in compared if why is not None)
    told = max((told for _, _, told in same), default=0)
    awaited = {each.id for each in needs}
    for number, why, _told in same:
        other = tasks.find_by_number(tx, task.project_id, number)
        if other is None or {other.id, other.parent_id} & awaited or _are_related(task, other, why):
            continue
        yield Met(other, why, told)


def _are_related(task: Task, other: Task, why: Likeness) -> bool:
    """Tell whether one is a part of the other, or both are parts of a third, so that they may share a subject."""
    if task.parent_id == other.id or other.parent_id == task.id:
        return True
    return why.by is SameBy.NAME and task.parent_id is not None and task.parent_id == other.parent_id


def _described(task: Task, why: Likeness) -> str:
    """Describe a task and what it has in common with another."""
    title = quoted(cut(visible(task.title[: 4 * TITLE_LENGTH]), TITLE_LENGTH))
    holder = f", with {quoted(task.assignee)}" if task.assignee else ""
    common = f"is about {why.name} too" if why.name else "is nearly the same"
    return f"T-{task.number} {title} ({task.status}{holder}) {common}"


def _job(task: Task) -> Job:
    return job(task.title, task.description[:LONGEST], task.issue)
