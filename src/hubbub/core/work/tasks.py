"""Tasks: sending them, finding them, and moving them along their lifecycle.

Callers' verbs are in `task_actions`; ends of tasks are in `completion`, changes of hands in `transfers`, and needs in
`dependencies`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from hubbub.core.agents import agents, scopes
from hubbub.core.limits import accounts, breakers, budgets
from hubbub.core.people import lent_tokens
from hubbub.core.snapshots import cards, patches
from hubbub.core.work import duplicates
from hubbub.model.errors import Conflict, NotFound, Unmet
from hubbub.model.fleet.nodes import NODE_PREFIX
from hubbub.model.ids import parse_id
from hubbub.model.lifecycle import Event, Status, advance
from hubbub.model.people.rights import HUB
from hubbub.model.records import Delivery, Priority, Run, Task, title_of
from hubbub.model.timestamps import milliseconds
from hubbub.model.work import github_issues
from hubbub.model.work.duplicates import OnDuplicate
from hubbub.store import sequence_numbers, status_counters
from hubbub.store.agents.agents import lock_names
from hubbub.store.mail import messages as inboxes
from hubbub.store.people import runs
from hubbub.store.tx import Tx
from hubbub.store.work import dependencies as dependency_rows
from hubbub.store.work import tasks

KINDS = {
    Event.ACCEPT: "task.accepted", Event.START: "task.started", Event.BLOCK: "task.blocked",
    Event.SUBMIT: "task.submitted", Event.COMPLETE: "task.completed", Event.FAIL: "task.failed",
    Event.CANCEL: "task.cancelled", Event.EXPIRE: "task.expired", Event.RELEASE: "task.released",
    Event.RETRY: "task.retried", Event.REASSIGN: "task.reassigned", Event.REOPEN: "task.reopened",
    Event.DELIVER: "task.delivered",
}  # fmt: skip
_KEEPS_NOTE = (Event.ACCEPT, Event.DELIVER, Event.REASSIGN)
_NUMBER = re.compile(r"(?:#|T-)?([0-9]+)", re.ASCII | re.IGNORECASE)  # also as the hub itself writes it
_SHORT_ID = re.compile(r"T-[0-9]+", re.ASCII | re.IGNORECASE)

# These need no rule of their own, so they are the store's functions.
under_way = tasks.open_of
of_run = tasks.of_run
listed_of_run = tasks.listed_of_run
listed = tasks.listed
each_of_run = tasks.each_of_run
number_in_run = tasks.number_in_run
number_of_children = tasks.number_of_children


def send(
    tx: Tx,
    project_id: UUID,
    *,
    sender: str,
    to: str | None,
    text: str,
    title: str | None = None,
    context: str | None = None,
    priority: Priority = Priority.MEDIUM,
    ttl: timedelta | None = None,
    parent: str | None = None,
    reason: str | None = None,
    needs: Sequence[Task] = (),
    area: str | None = None,
    issue: str | None = None,
    run: Run | None = None,
    external_id: str | None = None,
    awaited: bool = False,
    on_duplicate: OnDuplicate = OnDuplicate.IGNORE,
) -> Task:
    """Put a task into the inbox of `to`, or into the open queue if None; it expires unless begun within `ttl`.

    Without a `title` it is the first line of `text`; without a `run` it belongs to the current one. A task that `needs`
    others is held back until they are completed; since they exist before it, there are no cycles. A task that is
    delivered at once shares its id with its inbox row. Records `task.sent`. Raises `UnknownAgent`, unless the agent is
    `awaited`, `NotFound` for a parent, `Invalid` for an `issue`, and `Duplicate`, as `on_duplicate` says.
    """
    if to is not None and not awaited:
        agents.require_known(tx, project_id, to)
    area = scopes.require_area(tx, project_id, area) if area is not None else None
    derived_from = _parent(tx, project_id, parent) if parent is not None else None
    run_id = run.id if run else runs.id_of_current(tx, project_id)
    task_id = inboxes.next_id(tx)
    delivery = _delivery(tx, needs, to, task_id)
    made = Task(
        id=task_id,
        project_id=project_id,
        number=sequence_numbers.next_number(tx, project_id, sequence_numbers.TASKS),  # after all locks
        sender=sender,
        assignee=to,
        addressed=to is not None,
        title=title or title_of(text),
        description=text,
        context=context,
        priority=priority,
        parent_id=derived_from.id if derived_from else None,
        depth=derived_from.depth + 1 if derived_from else 0,
        reason=reason,
        area=area,
        issue=str(github_issues.parse(issue)) if issue is not None else None,
        run_id=run_id,
        external_id=external_id,
        gated=bool(needs),
        created_at=tx.now,
        updated_at=tx.now,
        expires_at=tx.now + milliseconds(ttl) if ttl else None,
        author=tx.actor.person_behind(sender),
        **delivery,
    )
    return _put(tx, made, needs, on_duplicate)


def keep_pauses_out(tx: Tx, project_id: UUID) -> None:
    """Let nobody be paused in the project until the transaction ends: that moves the time at which a task is late.

    A task that is sent keeps pauses out by being counted.
    """
    sequence_numbers.lock(tx, project_id, sequence_numbers.TASKS)


def _delivery(tx: Tx, needs: Sequence[Task], to: str | None, task_id: UUID) -> dict[str, Any]:
    """Return the status of a new task, and its delivery if it has an assignee and waits for nothing."""
    if to is None or not _are_met(tx, needs, to):
        return {"status": Status.QUEUED}
    status = advance(Status.QUEUED, Event.DELIVER)
    return {"status": status, "delivery_id": task_id, "delivered_at": tx.now}


def _are_met(tx: Tx, needs: Sequence[Task], to: str) -> bool:
    """Tell whether all are completed. Open ones are locked, so that completing one finds the waiting task."""
    awaited = {need.id: need for need in needs if need.status is not Status.COMPLETED}
    if awaited:
        lock_names(tx, needs[0].project_id, to, *(need.assignee for need in awaited.values()))
    found = [locked(tx, need) for _id, need in sorted(awaited.items())]
    return all(need.status is Status.COMPLETED for need in found)


def _put(tx: Tx, made: Task, needs: Sequence[Task], on_duplicate: OnDuplicate) -> Task:
    """Store a new task, with its inbox row.

    Callers that create one at the same time take turns by its number, so the later sees the earlier.
    """
    looked = duplicates.look(tx, made, needs, on_duplicate)
    tasks.insert(tx, made)
    dependency_rows.insert(tx, made.id, [need.id for need in needs])
    if made.assignee is not None and made.delivery_id is not None:
        put_into_inbox(tx, made, made.assignee, made.delivery_id)
    _record(tx, "task.sent", made, actor=made.sender, before=None, detail={"title": made.title})
    duplicates.take_in(tx, made, needs, looked)
    return made


def _parent(tx: Tx, project_id: UUID, ref: str) -> Task:
    try:
        return find(tx, [project_id], ref)
    except NotFound:
        raise NotFound("parent task", ref) from None


def find(
    tx: Tx, project_ids: Sequence[UUID], ref: str, *, lock: bool = False, by_number: bool = True
) -> Task:
    """Return the task named by `ref`: its id, the id of one of its inbox rows, or its number in the only project.

    A number may be written `14`, `#14` or `T-14`. `lock` the task to change it. Without `by_number` a number is not
    taken as a name: for texts that may be anything. Raises `NotFound`, also for a task of another project.
    """
    number = _NUMBER.fullmatch(ref) if by_number and len(project_ids) == 1 else None
    if number is not None and len(number[1]) < len(str(sequence_numbers.LAST)):
        task = tasks.find_by_number(tx, project_ids[0], int(number[1]))
    else:
        task = _find_by_id(tx, ref)
    if task is None or task.project_id not in project_ids:
        raise NotFound("task", ref)
    return locked(tx, task) if lock and tx.db.for_update else task  # SQLite has one writer


def locked(tx: Tx, task: Task) -> Task:
    """Return the task as it is now, locked for a change, after its holder's name."""
    lock_names(tx, task.project_id, task.assignee)
    return tasks.find(tx, task.id, lock=True) or task


def next_free(tx: Tx, project_id: UUID) -> Task | None:
    """Return the most urgent, then oldest free task that waits for nothing, locked; None if there is none."""
    while (free := tasks.next_free(tx, project_id)) is not None:
        mine = locked(tx, free)
        if mine.assignee is None and mine.status is Status.QUEUED:
            return mine
    return None


def lapsed(tx: Tx, limit: int) -> Iterator[Task]:
    """Yield the tasks not begun in time, longest overdue first, locked, except those just begun or ended."""
    for found in tasks.lapsed(tx, limit):
        task = locked(tx, found)
        if (task.status, task.expires_at) == (found.status, found.expires_at):
            yield task


def by_short_id(tx: Tx, project_id: UUID, ref: str) -> Task | None:
    """Return the task whose number `ref` is as the hub writes it, T-14, locked; for texts that may be anything."""
    if _SHORT_ID.fullmatch(ref) is None:
        return None
    try:
        return find(tx, [project_id], ref, lock=True)
    except NotFound:
        return None


def is_number(ref: str) -> bool:
    """Tell whether `ref` is a task's number, which means nothing without its project."""
    return _NUMBER.fullmatch(ref) is not None


def _find_by_id(tx: Tx, ref: str) -> Task | None:
    task_id = parse_id(ref)
    if task_id is None:
        return None
    if task := tasks.find(tx, task_id):
        return task
    row = inboxes.find_delivery(tx, task_id)
    return tasks.find(tx, row.task_id) if row and row.task_id else None


def by_urgency(
    tx: Tx,
    project_id: UUID,
    *,
    status: Iterable[Status] = (),
    assignee: str | None = None,
    priority: Priority | None = None,
    limit: int,
) -> list[Task]:
    """List tasks of the project, the most urgent first, oldest first among equals."""
    wanted = tuple(status) or tuple(Status)
    return tasks.by_urgency(tx, project_id, status=wanted, assignee=assignee, priority=priority, limit=limit)


def counts(tx: Tx, project_ids: Sequence[UUID]) -> dict[Status, int]:
    """Count the projects' tasks by status; statuses without tasks are left out."""
    total: Counter[str] = Counter()
    for project_id in project_ids:
        total.update(status_counters.counts(tx, project_id))
    return {status: total[status] for status in Status if total[status]}


def totals(tx: Tx) -> dict[Status, int]:
    """Count the whole hub's tasks by status."""
    return {Status(status): number for status, number in status_counters.totals(tx).items()}


def require_epoch(task: Task, epoch: int | None) -> None:
    """Raise `Conflict` if a report has an earlier epoch: the task has been in other hands since."""
    if epoch is not None and epoch != task.epoch:
        raise Conflict(f"the task has changed hands since (epoch {epoch}, now {task.epoch})")


def require_going(tx: Tx, task: Task, by: str) -> None:
    """Raise `MayNotBegin` if `by`, who is about to begin the task, may begin nothing now.

    It shares a paused account, its budget or the task's is spent, or a breaker has stopped it.
    """
    breakers.require_going(tx, task.project_id, by)
    budgets.require_left(tx, task.project_id, by, task.id)
    accounts.require_running(tx, task.project_id, by)


def require_met(tx: Tx, task: Task, by: str | None = None) -> None:
    """Raise `Unmet` if the task has not begun, and another task that it needs is not completed.

    Raise `MayNotBegin` if `by`, who is about to begin it, may begin nothing now.
    """
    if by is not None:
        require_going(tx, task, by)
    if task.gated and task.started_at is None and (unmet := dependency_rows.unmet(tx, task.id)):
        raise Unmet(unmet)


def is_ready(tx: Tx, task: Task) -> bool:
    """Tell whether all tasks that it needs are completed."""
    return not (task.gated and dependency_rows.unmet(tx, task.id))


def step(
    tx: Tx,
    task: Task,
    *events: Event,
    actor: str | None = None,
    changes: Mapping[str, object] | None = None,
    detail: Mapping[str, object] | None = None,
    kind: str | None = None,
    said: str | None = None,
) -> Task:
    """Move a task along `LIFECYCLE` and record it, as the first of the events unless a `kind` is given.

    `said`, by default the reason in `detail`, becomes its note. Without either the note is cleared, except that it
    stays until a new holder begins the task.

    A machine's loans for the task end when it ends, or changes hands. Without an `actor` it is the caller. Raises
    `InvalidTransition`, or `Conflict` if the task was found without a lock and has changed since.
    """
    reason = said or (detail or {}).get("reason")
    noted = (
        {"note": cards.said(str(reason) if reason else None)}
        if reason or events[0] not in _KEEPS_NOTE
        else {}
    )
    moved = tasks.move(tx, task, *events, changes={**(changes or {}), **noted})
    if moved is None:
        raise Conflict("the task has changed meanwhile; look at it again")
    if moved.is_ended != task.is_ended:
        if moved.is_ended:
            duplicates.forget(tx, moved)
        else:
            duplicates.remember(tx, moved, duplicates.read(moved))
    if (task.assignee or "").startswith(NODE_PREFIX) and (moved.is_ended or moved.assignee != task.assignee):
        lent_tokens.end(tx, task.id)
    _record(tx, kind or KINDS[events[0]], moved, actor=actor, before=task, detail=detail)
    return moved


def note(tx: Tx, task: Task, *, actor: str, detail: Mapping[str, object]) -> None:
    """Log a remark on a task that stays as it is; a reason becomes its note. Records `task.noted`."""
    if reason := detail.get("reason"):
        task = tasks.note(tx, task.id, cards.said(str(reason)))
    _record(tx, "task.noted", task, actor=actor, before=task, detail=detail)


def describe(tx: Tx, task: Task, text: str, *, signed: str, actor: str) -> Task:
    """Change a task's description, signed by its writer. Records `task.described`."""
    described = tasks.describe(tx, task, text, by=signed)
    if not task.is_ended:
        duplicates.forget(tx, task)
        duplicates.remember(tx, described, duplicates.read(described))
    _record(tx, "task.described", described, actor=actor, before=task, detail=None)
    return described


def find_by_external_id(tx: Tx, run: Run, external_id: str) -> Task | None:
    """Return the run's task with its maker's id; no other transaction creates one until this one has ended."""
    runs.lock(tx, run.id)
    return tasks.find_by_external_id(tx, run.id, external_id)


def put_into_inbox(tx: Tx, task: Task, to: str, delivery_id: UUID) -> None:
    """Add the inbox row that brings a task to `to`."""
    inboxes.deliver(
        tx,
        Delivery(
            id=delivery_id,
            project_id=task.project_id,
            recipient=to,
            task_id=task.id,
            message_id=None,
            priority=task.priority,
            stored_at=tx.now,
        ),
    )


def acknowledge(tx: Tx, task: Task) -> None:
    """Acknowledge a task's pending inbox row, if it has one."""
    if task.delivery_id is not None:
        inboxes.ack(tx, task.delivery_id)


def withdraw(tx: Tx, task: Task) -> None:
    """Withdraw a task's pending inbox row, if it has one."""
    if task.delivery_id is not None:
        inboxes.withdraw(tx, task.delivery_id)


def _record(
    tx: Tx,
    kind: str,
    task: Task,
    *,
    actor: str | None,
    before: Task | None,
    detail: Mapping[str, object] | None,
) -> None:
    tx.record(
        kind,
        project_id=task.project_id,
        actor=None
        if actor == HUB
        else actor,  # an actor without a name of their own is recorded by their token
        agent=task.assignee or (before.assignee if before else None),
        task_id=task.id,
        detail={
            "number": task.number,
            "before": before.status if before else None,
            "after": task.status,
            "attempt": task.attempt,
            "delivery_id": str(task.delivery_id) if task.status is Status.DELIVERED else None,
            "sender": task.sender,
            "priority": task.priority.name.lower(),
            **(detail or {}),
        },
        patch=patches.task(tx, task, before),
    )
