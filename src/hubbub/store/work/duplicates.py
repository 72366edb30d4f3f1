"""SQL for the jobs of open tasks, and for the marks that find tasks which may be the same job.

The rows of marks lie at several places of their table, so they are small: two numbers; the first includes the project.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple
from uuid import UUID

from hubbub.model.records import Task
from hubbub.store import many_rows
from hubbub.store.sequence_numbers import LAST
from hubbub.store.tx import Row, Tx

LARGEST = 2**63 - 1


class Kept(NamedTuple):
    """A new task, its words, and its marks."""

    task: Task
    job: str
    marks: Sequence[int]


class Candidate(NamedTuple):
    """An open task that may be the same job, with its words, and how often a duplicate of it was reported."""

    number: int
    job: str
    told: int


def insert(tx: Tx, task: Task, job: str, marks: Sequence[int], *, told: int) -> None:
    """Store the words of a task, under its marks."""
    if not marks:
        return
    tx.run(
        "INSERT INTO task_jobs (project_id, number, job, told) VALUES (:project_id, :number, :job, :told)",
        project_id=task.project_id,
        number=task.number,
        job=job,
        told=told,
    )
    tx.run(_insertion(len(marks)), number=task.number, **_named(task.project_id, marks))


def insert_all(tx: Tx, kept: Sequence[Kept]) -> set[int]:
    """Store the words of many tasks, which nobody was told about yet; return the marks that others may have, too."""
    rows = sorted(
        (mark, each.task.number) for each in kept for mark in of_project(each.task.project_id, each.marks)
    )
    times = Counter(mark for mark, _number in rows)
    shared = {mark for mark, number in times.items() if number > 1} | _stored(tx, [*times])
    jobs = [(each.task.project_id, each.task.number, each.job, 0) for each in kept if each.marks]
    for listed, values in many_rows.parts(jobs):
        tx.run(f"INSERT INTO task_jobs (project_id, number, job, told) VALUES {listed}", **values)
    for listed, values in many_rows.parts(rows):
        tx.run(f"INSERT INTO task_marks (mark, number) VALUES {listed} ON CONFLICT DO NOTHING", **values)
    return shared


def _stored(tx: Tx, marks: Sequence[int]) -> set[int]:
    """Return those of the marks that are stored; all of a part, if they are frequent."""
    stored: set[int] = set()
    for first in range(0, len(marks), many_rows.MOST):
        part = marks[first : first + many_rows.MOST]
        named = dict(zip(_names(len(part)), part, strict=True))
        found = tx.all(_looking("mark", len(part)), before=LAST, limit=2 * len(part), **named)
        stored.update([row["mark"] for row in found] if len(found) < 2 * len(part) else part)
    return stored


def delete(tx: Tx, task: Task) -> Candidate | None:
    """Delete the words of a task, and return them; None if nothing is stored."""
    row = tx.one(
        "DELETE FROM task_jobs WHERE project_id = :project_id AND number = :number RETURNING number, job, told",
        project_id=task.project_id,
        number=task.number,
    )
    return Candidate(**row) if row else None


def unmark(tx: Tx, task: Task, marks: Sequence[int]) -> None:
    """Delete the marks of a task."""
    named = _named(task.project_id, marks)
    tx.run(
        f"""DELETE FROM task_marks
            WHERE mark IN ({", ".join(f":{name}" for name in named)}) AND number = :number""",
        number=task.number,
        **named,
    )


def tell(tx: Tx, task: Task, told: int) -> None:
    """Store how often a duplicate of a task was reported."""
    tx.run(
        "UPDATE task_jobs SET told = :told WHERE project_id = :project_id AND number = :number",
        told=told,
        project_id=task.project_id,
        number=task.number,
    )


def found(
    tx: Tx, project_id: UUID, marks: Sequence[int], limit: int, *, before: int = LAST
) -> list[Candidate]:
    """List `limit` tasks made `before` that share a mark: those that share the most, and of these the newest."""
    if not marks:
        return []
    shared = Counter(row["number"] for row in _sharing(tx, _named(project_id, marks), limit, before))
    if not shared:
        return []
    nearest = sorted(shared, key=lambda number: (shared[number], number), reverse=True)[:limit]
    named = {f"number{place}": each for place, each in enumerate(nearest)}
    rows = tx.all(
        f"""SELECT number, job, told FROM task_jobs
            WHERE project_id = :project_id AND number IN ({", ".join(f":{name}" for name in named)})""",
        project_id=project_id,
        **named,
    )
    return [Candidate(**row) for row in rows]


def _sharing(tx: Tx, named: Mapping[str, object], limit: int, before: int) -> Sequence[Row]:
    """Return the number of a task for each mark that it shares; of a frequent mark, the newest `limit`."""
    rows = tx.all(_looking("number", len(named)), before=before, limit=2 * limit, **named)
    if len(rows) < 2 * limit:
        return rows  # these are all, and usually none
    of_each = " UNION ALL ".join(
        f"""SELECT number FROM (SELECT number FROM task_marks WHERE mark = :{name} AND number < :before
            ORDER BY number DESC LIMIT :limit) AS of_{name}"""
        for name in named
    )
    return tx.all(of_each, before=before, limit=limit, **named)


@lru_cache  # each new task asks, and nearly all have four marks
def _insertion(number: int) -> str:
    rows = ", ".join(f"(:{name}, :number)" for name in _names(number))
    return f"INSERT INTO task_marks (mark, number) VALUES {rows} ON CONFLICT DO NOTHING"


@lru_cache
def _looking(column: str, number: int) -> str:
    marks = ", ".join(f":{name}" for name in _names(number))
    return f"SELECT {column} FROM task_marks WHERE mark IN ({marks}) AND number < :before LIMIT :limit"


@lru_cache
def _names(number: int) -> Sequence[str]:
    return [f"mark{place}" for place in range(number)]


def _named(project_id: UUID, marks: Sequence[int]) -> dict[str, object]:
    return dict(zip(_names(len(marks)), of_project(project_id, marks), strict=True))


def of_project(project_id: UUID, marks: Sequence[int]) -> list[int]:
    """Return marks as they are stored."""
    project = project_id.int & LARGEST
    return [each & LARGEST ^ project for each in marks]
