"""SQL for tasks: one function for each statement, the same text on both engines."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from hubbub.model.lifecycle import CHANGES_HANDS, ENDED, LIFECYCLE, Event, Status, advance
from hubbub.model.records import Priority, Run, Task
from hubbub.model.work.listed_tasks import ListedTask
from hubbub.store import sequence_numbers
from hubbub.store.table import Table
from hubbub.store.tx import T, Tx, from_engine

_TABLE = Table("tasks", Task)

_SELECT = _TABLE.selected
_LISTED = ", ".join(ListedTask._fields)
_task = _TABLE.record


def _in(statuses: Iterable[Status]) -> str:
    """Return the condition with literals, like the partial indexes, so that the planner can use these."""
    return f"status IN ({', '.join(repr(str(status)) for status in sorted(statuses))})"


def _in_passing(statuses: Iterable[Status]) -> str:
    """Return the same condition for rows that another index finds, so that the planner uses none on status."""
    return _in(statuses).replace("status", "status || ''", 1)


LAPSING = f"expires_at IS NOT NULL AND {_in(LIFECYCLE[Event.EXPIRE][0])}"


def insert(tx: Tx, task: Task) -> None:
    _TABLE.insert(tx, task)
    tx.tally.tasks[task.project_id, task.status] += 1


def find(tx: Tx, task_id: UUID, *, lock: bool = False) -> Task | None:
    """Return the task with that id; `lock` it against changes."""
    return _TABLE.one(tx, f"WHERE id = :id {tx.db.for_update if lock else ''}", id=task_id)


def find_by_number(tx: Tx, project_id: UUID, number: int) -> Task | None:
    return _TABLE.find(tx, project_id=project_id, number=number)


def move(tx: Tx, task: Task, *events: Event, changes: Mapping[str, object] | None = None) -> Task | None:
    """Apply `events` to the task in its known state, in one compare-and-set.

    None if it has changed since. Raises `InvalidTransition` if its status does not allow the events. The epoch rises
    when the task changes hands; `changes` are further columns to set.
    """
    target = advance(task.status, *events)
    allowed_from, _ = LIFECYCLE[events[0]]
    values: dict[str, object] = {"status": target, "updated_at": tx.now, **(changes or {})}
    values["ended_at"] = (
        (task.ended_at or tx.now) if target in ENDED else None
    )  # a task that is passed on ended before
    if not CHANGES_HANDS.isdisjoint(events):
        values["epoch"] = task.epoch + 1
    row = tx.one(
        f"""UPDATE tasks SET {", ".join(f"{name} = :{name}" for name in values)}
            WHERE id = :id AND epoch = :seen_epoch AND {_in(allowed_from)} AND status = :seen_status
            RETURNING {_SELECT}""",
        id=task.id,
        seen_epoch=task.epoch,
        seen_status=task.status,
        **values,
    )
    if row is None:
        return None
    tx.tally.tasks[task.project_id, task.status] -= 1
    tx.tally.tasks[task.project_id, target] += 1
    return _task(row)


def touch(tx: Tx, task_id: UUID) -> Task:
    """Mark a task as changed by a remark."""
    return _TABLE.change(tx, "SET updated_at = :now WHERE id = :id", id=task_id, now=tx.now)


def describe(tx: Tx, task: Task, text: str, *, by: str) -> Task:
    """Set the description of a locked task."""
    return _TABLE.change(
        tx,
        "SET description = :text, edited_by = :by, updated_at = :now WHERE id = :id",
        id=task.id,
        text=text,
        by=by,
        now=tx.now,
    )


def search(
    tx: Tx,
    project_id: UUID,
    *,
    status: Iterable[Status] = (),
    assignee: str | None = None,
    sender: str | None = None,
    author: str | None = None,
    area: str | None = None,
    priority: Priority | None = None,
    words: Sequence[str] = (),
    number: int | None = None,
    ended: tuple[int, int] | None = None,
    before: int | None = None,
    limit: int,
) -> list[Task]:
    """List tasks of the project, newest first; `before` is the number to go on from. All `words` occur in them.

    They `ended` from the first of these moments until before the second.
    """
    columns = {
        "assignee": assignee,
        "sender": sender,
        "author": author,
        "area": area,
        "priority": priority,
        "number": number,
    }
    where, found = _narrowed(columns, words, ended)
    values = {"project_id": project_id, "limit": limit, "before": before or sequence_numbers.LAST, **found}
    statuses = sorted(status)
    if not statuses:
        return _listed(tx, where, values)
    if len(where) > 1:
        return _listed(tx, [*where, _in_passing(statuses)], values)
    each = [_listed(tx, [*where, "status = :status"], {**values, "status": one}) for one in statuses]
    return sorted((task for found in each for task in found), key=lambda task: -task.number)[:limit]


def number_found(
    tx: Tx,
    project_id: UUID,
    *,
    status: Iterable[Status] = (),
    columns: Mapping[str, object],
    words: Sequence[str] = (),
    ended: tuple[int, int] | None = None,
) -> int:
    """Count the tasks of the project that `search` would find without a limit."""
    where, values = _narrowed(columns, words, ended)
    statuses = sorted(status)
    if statuses:
        where.append(_in_passing(statuses) if len(where) > 1 else _in(statuses))
    return tx.count(f"FROM tasks WHERE {' AND '.join(where)}", project_id=project_id, **values)


def _narrowed(
    columns: Mapping[str, object], words: Sequence[str], ended: tuple[int, int] | None
) -> tuple[list[str], dict[str, object]]:
    """Return the conditions of a search, and their values: given columns are equal, and all words occur."""
    where = ["project_id = :project_id"]
    values: dict[str, object] = {name: value for name, value in columns.items() if value is not None}
    where += [f"{name} = :{name}" for name in values]
    for place, word in enumerate(words):
        where.append(_mentions(f"word{place}"))
        values |= {f"word{place}": _like(word), f"word{place}_folded": _like(word.lower())}
    if ended is not None:
        where.append("ended_at >= :ended_since AND ended_at < :ended_before")
        values |= {"ended_since": ended[0], "ended_before": ended[1]}
    return where, values


def _mentions(name: str) -> str:
    """Return the condition that the word of that name occurs in title or description, as written or in lower case."""
    return "(" + " OR ".join(
        f"{text} LIKE :{word} ESCAPE '!'"
        for column in ("title", "description")
        for text, word in ((column, name), (f"lower({column})", f"{name}_folded"))
    ) + ")"  # fmt: skip


def _like(word: str) -> str:
    """Escape the word as a pattern that matches itself anywhere."""
    for special in "!%_":
        word = word.replace(special, f"!{special}")
    return f"%{word}%"


def by_urgency(
    tx: Tx,
    project_id: UUID,
    *,
    status: Iterable[Status],
    assignee: str | None = None,
    priority: Priority | None = None,
    limit: int,
) -> list[Task]:
    """List tasks in these statuses, the most urgent first, then the oldest; each status has its own index range."""
    where = ["project_id = :project_id", "status = :status"]
    where += ["assignee = :assignee"] if assignee is not None else []
    where += ["priority = :priority"] if priority is not None else []
    found = [
        task
        for each in sorted(status)
        for task in _TABLE.all(
            tx,
            f"WHERE {' AND '.join(where)} ORDER BY priority, number LIMIT :limit",
            project_id=project_id,
            status=each,
            assignee=assignee,
            priority=priority,
            limit=limit,
        )
    ]
    return sorted(found, key=lambda task: (task.priority, task.number))[:limit]


def next_free(tx: Tx, project_id: UUID) -> Task | None:
    """Return the most urgent, then oldest queued task that nobody holds and that waits for nothing."""
    return _TABLE.one(
        tx,
        """WHERE project_id = :project_id AND status = :queued AND assignee IS NULL
             AND (gated = 0 OR NOT EXISTS (SELECT 1 FROM dependencies d JOIN tasks t ON t.id = d.needs_id
                                           WHERE d.task_id = tasks.id AND t.status <> :completed))
           ORDER BY priority, number LIMIT 1""",
        project_id=project_id,
        queued=Status.QUEUED,
        completed=Status.COMPLETED,
    )


def _listed(tx: Tx, where: Sequence[str], values: Mapping[str, object]) -> list[Task]:
    order = (
        "number + 0" if "ended_since" in values else "number"
    )  # then found by the index of when they ended
    return _TABLE.all(
        tx,
        f"""WHERE {" AND ".join(where)} AND number < :before
            ORDER BY {order} DESC LIMIT :limit""",
        **values,
    )


def ended_between(
    tx: Tx, project_id: UUID, *, since: int, until: int, limit: int
) -> Sequence[tuple[int, int, int | None]]:
    """Return when each task of that time ended, was created and was begun last; the last to end first."""
    return tx.tuples(
        """SELECT ended_at, created_at, started_at FROM tasks
           WHERE project_id = :project_id AND ended_at >= :since AND ended_at < :until
           ORDER BY ended_at DESC LIMIT :limit""",
        project_id=project_id,
        since=since,
        until=until,
        limit=limit,
    )


def of_run(tx: Tx, run: Run, *, assignee: str | None = None) -> list[Task]:
    """List all tasks of a run, or those of one assignee, in the order of creation."""
    return list(each_of_run(tx, run, assignee=assignee))


def each_of_run(
    tx: Tx, run: Run, *, assignee: str | None = None, statuses: Iterable[Status] = ()
) -> Iterator[Task]:
    """Yield the tasks of `of_run` one after the other; only those in one of the `statuses`, if there are any."""
    return map(_task, _of_run(tx.each, _SELECT, run, assignee, statuses))


def listed_of_run(
    tx: Tx, run: Run, *, assignee: str | None = None, statuses: Iterable[Status] = ()
) -> Sequence[tuple[Any, ...]]:
    """List the tasks of `each_of_run` in brief, as the engine has them: another value is a changed task.

    `listed` reads one, which takes longer than all else.
    """
    return _of_run(tx.tuples, _LISTED, run, assignee, statuses)


def listed(stored: tuple[Any, ...]) -> ListedTask:
    return ListedTask._make(map(from_engine, stored))


def _of_run(
    ask: Callable[..., T], wanted: str, run: Run, assignee: str | None, statuses: Iterable[Status]
) -> T:
    narrowed = "AND assignee = :assignee" if assignee is not None else ""
    if statuses:
        narrowed += f" AND {_in(statuses)}"
    return ask(
        f"SELECT {wanted} FROM tasks WHERE run_id = :run_id {narrowed} ORDER BY number",
        run_id=run.id,
        assignee=assignee,
    )


def note(tx: Tx, task_id: UUID, text: str | None) -> Task:
    """Store a remark on a task."""
    return _TABLE.change(tx, "SET note = :note WHERE id = :id", id=task_id, note=text)


def find_by_external_id(tx: Tx, run_id: UUID, external_id: str) -> Task | None:
    return _TABLE.find(tx, run_id=run_id, external_id=external_id)


def number_in_run(tx: Tx, run: Run) -> int:
    return tx.count("FROM tasks WHERE run_id = :run_id", run_id=run.id)


def is_any_taken(tx: Tx, project_id: UUID, *, first: int) -> bool:
    """Tell whether one of the project's `first` tasks was accepted by an agent."""
    return tx.any(
        """SELECT 1 AS found FROM tasks WHERE project_id = :project_id AND number <= :first
           AND accepted_at IS NOT NULL AND assignee IS NOT NULL LIMIT 1""",
        project_id=project_id,
        first=first,
    )


def number_of_children(tx: Tx, task: Task) -> int:
    """Count the task's children, in any status."""
    return tx.count("FROM tasks WHERE parent_id = :id", id=task.id)


def children(tx: Tx, task_id: UUID, limit: int) -> list[Task]:
    """List the task's children, oldest first."""
    return _TABLE.all(tx, "WHERE parent_id = :id ORDER BY number LIMIT :limit", id=task_id, limit=limit)


def open_of(tx: Tx, project_id: UUID, assignee: str, statuses: Iterable[Status]) -> list[Task]:
    """List the agent's unfinished tasks in one of the statuses, oldest first, locked for a change."""
    return _TABLE.all(
        tx,
        f"""WHERE project_id = :project_id AND assignee = :assignee AND ended_at IS NULL
              AND {_in_passing(statuses)}
            ORDER BY number {tx.db.for_update}""",
        project_id=project_id,
        assignee=assignee,
    )


def lapsed(tx: Tx, limit: int) -> list[Task]:
    """List tasks not begun in time, longest overdue first; not locked, since names are locked first."""
    return _TABLE.all(
        tx,
        f"WHERE {LAPSING} AND expires_at <= :now ORDER BY expires_at LIMIT :limit",
        now=tx.now,
        limit=limit,
    )
