"""SQL for the marks of open tasks. Tasks that may be the same job have a mark in common."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from hubbub.model.records import Task
from hubbub.store.tx import Tx


class Candidate(NamedTuple):
    """An open task that may be the same job, with the beginning of its text."""

    id: UUID
    parent_id: UUID | None
    title: str
    text: str
    issue: str | None


def mark(tx: Tx, task: Task, marks: Sequence[int]) -> None:
    """Store the marks of a task."""
    if not marks:
        return
    rows = ", ".join(f"(:project_id, :mark{place}, :task_id)" for place in range(len(marks)))
    tx.run(
        f"INSERT INTO task_marks (project_id, mark, task_id) VALUES {rows} ON CONFLICT DO NOTHING",
        project_id=task.project_id,
        task_id=task.id,
        **_named(marks),
    )


def unmark(tx: Tx, task: Task, marks: Sequence[int]) -> None:
    """Delete these marks of a task."""
    if not marks:
        return
    named = _named(marks)
    tx.run(
        f"""DELETE FROM task_marks WHERE project_id = :project_id AND task_id = :task_id
            AND mark IN ({", ".join(f":{name}" for name in named)})""",
        project_id=task.project_id,
        task_id=task.id,
        **named,
    )


def found(tx: Tx, project_id: UUID, marks: Sequence[int], limit: int) -> list[UUID]:
    """Return the tasks that share a mark, those that share the most first; of each mark the newest `limit` count."""
    if not marks:
        return []
    named = _named(marks)
    of_each = " UNION ALL ".join(
        f"""SELECT task_id FROM (SELECT task_id FROM task_marks WHERE project_id = :project_id AND mark = :{name}
            ORDER BY task_id DESC LIMIT :limit) AS of_{name}"""
        for name in named
    )
    rows = tx.all(of_each, project_id=project_id, limit=limit, **named)
    return [task_id for task_id, _times in Counter(row["task_id"] for row in rows).most_common()]


def candidates(tx: Tx, ids: Sequence[UUID], length: int) -> list[Candidate]:
    """Return those of the tasks that are open, with so much of their texts."""
    if not ids:
        return []
    named = {f"id{place}": each for place, each in enumerate(ids)}
    rows = tx.all(
        f"""SELECT id, parent_id, title, substr(description, 1, {length:d}) AS text, issue FROM tasks
            WHERE id IN ({", ".join(f":{name}" for name in named)}) AND ended_at IS NULL""",
        **named,
    )
    return [Candidate(**row) for row in rows]


def _named(marks: Sequence[int]) -> dict[str, object]:
    return {f"mark{place}": each for place, each in enumerate(marks)}
