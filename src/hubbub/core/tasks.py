"""Operations on tasks: sending, finding, claiming, working, ending. How they change hands is in `handovers`."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from uuid import UUID

from hubbub.core import agents, messages
from hubbub.model.errors import Conflict, NotFound, NotHolder, Unavailable
from hubbub.model.ids import new_id, parse_id
from hubbub.model.lifecycle import Event, Status, advance
from hubbub.model.records import Delivery, Kind, Priority, Task, title_of
from hubbub.model.rights import HUB
from hubbub.store import counters, tally, tasks
from hubbub.store import messages as inboxes
from hubbub.store.tx import Tx

NOUN = "task"
CHAIN_LENGTH = 5  # how many ancestors hear of a task's end

_KINDS = {
    Event.ACCEPT: "task.accepted", Event.START: "task.started", Event.BLOCK: "task.blocked",
    Event.SUBMIT: "task.submitted", Event.COMPLETE: "task.completed", Event.FAIL: "task.failed",
    Event.CANCEL: "task.cancelled", Event.EXPIRE: "task.expired", Event.RELEASE: "task.released",
    Event.RETRY: "task.retried", Event.REASSIGN: "task.reassigned",
}  # fmt: skip


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
) -> Task:
    """Put a task into the inbox of `to`, or into the open queue if None; `ttl` is the time in which to begin it.

    Without a `title` it is the first line of `text`. The id of the task is also that of its inbox row. Records
    `task.sent`. Raises `UnknownAgent`, and `NotFound` if there is no such parent in the project.
    """
    if to is not None:
        agents.require_known(tx, project_id, to)
    parent_id = _parent(tx, project_id, parent).id if parent is not None else None
    task_id = new_id()
    task = tasks.insert(
        tx,
        Task(
            id=task_id,
            project_id=project_id,
            number=counters.next_number(tx, project_id, NOUN),
            sender=sender,
            assignee=to,
            addressed=to is not None,
            title=title or title_of(text),
            description=text,
            context=context,
            priority=priority,
            status=advance(Status.QUEUED, Event.DELIVER) if to else Status.QUEUED,
            parent_id=parent_id,
            delivery_id=task_id if to else None,
            created_at=tx.now,
            updated_at=tx.now,
            delivered_at=tx.now if to else None,
            expires_at=tx.now + milliseconds(ttl) if ttl else None,
        ),
    )
    if to is not None:
        put_into_inbox(tx, task, to, task_id)
    _record(tx, "task.sent", task, actor=sender, before=None, detail={"title": task.title})
    return task


def _parent(tx: Tx, project_id: UUID, ref: str) -> Task:
    try:
        return find(tx, [project_id], ref)
    except NotFound:
        raise NotFound("parent task", ref) from None


def find(
    tx: Tx, project_ids: Sequence[UUID], ref: str, *, lock: bool = False, by_number: bool = True
) -> Task:
    """The task that `ref` names: by its id, by the id of any of its inbox rows, or by its number in the only project.

    `lock` it to change it. Without `by_number` a number is no name: for words that may be anything. Raises
    `NotFound`, also for what belongs to another project.
    """
    is_number = by_number and ref.isascii() and ref.isdigit() and len(ref) < len(str(tasks.LAST_NUMBER))
    if is_number and len(project_ids) == 1:
        task = tasks.find_by_number(tx, project_ids[0], int(ref))
    else:
        task = _find_by_id(tx, ref)
    if task is None or task.project_id not in project_ids:
        raise NotFound("task", ref)
    return (tasks.find(tx, task.id, lock=True) or task) if lock else task


def _find_by_id(tx: Tx, ref: str) -> Task | None:
    task_id = parse_id(ref)
    if task_id is None:
        return None
    if task := tasks.find(tx, task_id):
        return task
    row = inboxes.find_delivery(tx, task_id)
    return tasks.find(tx, row.task_id) if row and row.task_id else None


def search(
    tx: Tx,
    project_ids: Sequence[UUID],
    *,
    status: Iterable[Status] = (),
    assignee: str | None = None,
    sender: str | None = None,
    before: int | None = None,
    limit: int,
) -> list[Task]:
    """Tasks of the projects, newest first; `before` is the number to go on from, within one project."""
    wanted = tuple(status)
    found = [
        task
        for project_id in project_ids
        for task in tasks.search(
            tx, project_id, status=wanted, assignee=assignee, sender=sender, before=before, limit=limit
        )
    ]
    if len(project_ids) > 1:
        found.sort(key=lambda task: task.id, reverse=True)
    return found[:limit]


def counts(tx: Tx, project_ids: Sequence[UUID]) -> dict[Status, int]:
    """How many tasks the projects have in each status that occurs."""
    total: Counter[str] = Counter()
    for project_id in project_ids:
        total.update(tally.counts(tx, project_id))
    return {status: total[status] for status in Status if total[status]}


def totals(tx: Tx) -> dict[Status, int]:
    """How many tasks the whole hub has in each status that occurs."""
    return {Status(status): number for status, number in tally.totals(tx).items()}


def under_way(tx: Tx, project_id: UUID, assignee: str, statuses: Iterable[Status]) -> list[Task]:
    """The agent's unfinished tasks in one of the statuses, oldest first, locked for a change."""
    return tasks.open_of(tx, project_id, assignee, statuses)


def require_epoch(task: Task, epoch: int | None) -> None:
    """Raise `Conflict` if a report speaks of an earlier epoch: the task has been in other hands since."""
    if epoch is not None and epoch != task.epoch:
        raise Conflict(f"the task has changed hands since (epoch {epoch}, now {task.epoch})")


def accept(tx: Tx, task: Task, by: str | None, *, leased: bool = True) -> Task:
    """Say yes to a task: to one's own, or to a free one, which is then one's own. Acknowledges its inbox row.

    `by` None accepts for whoever it is addressed to, in whose inbox it then stays. `leased` says that the holder has
    a heartbeat, so that the task comes free, or is delivered again, when it falls silent. Records `task.accepted`.
    Raises `NotHolder` if it is somebody else's, `Unavailable` if it is free and nobody is named, and
    `InvalidTransition`.
    """
    if task.assignee is None:
        if by is None:
            raise Unavailable("it is free; say who claims it")
        changes: dict[str, object] = {"assignee": by, "addressed": 0, "epoch": task.epoch + 1}
    elif by not in (None, task.assignee):
        raise NotHolder(task.assignee)
    else:
        changes = {}
    changes |= {"accepted_at": tx.now, "leased": int(leased)}
    accepted = step(tx, task, Event.ACCEPT, changes=changes, actor=by)
    if by is not None:
        _acknowledge(tx, accepted)
    return accepted


def start(tx: Tx, task: Task, by: str | None, *, leased: bool = True) -> Task:
    """Begin a task, accepting it first if it is free. From then on it does not expire. Records `task.started`."""
    if task.assignee is None:
        task = accept(tx, task, by, leased=leased)
    elif by not in (None, task.assignee):
        raise NotHolder(task.assignee)
    changes = {"started_at": tx.now, "accepted_at": task.accepted_at or tx.now, "leased": int(leased)}
    return step(tx, task, Event.START, changes=changes, actor=by)


def finish(
    tx: Tx,
    task: Task,
    event: Event,
    *,
    by: str,
    text: str,
    result: str | None,
    told: str | None = None,
) -> Task:
    """End a task by `COMPLETE`, `FAIL`, `CANCEL` or `EXPIRE`, and let everyone know who waits for it.

    Its sender gets `text` as a reply, unless it is who ends it or was `told` already; the senders of its ancestors
    get it as a chained reply. `result` is what the task keeps. Records `task.completed` and so on. Raises
    `InvalidTransition` if it has ended.
    """
    ended = step(tx, task, event, changes={"result": result, "leased": 0}, actor=by)
    if event in (Event.COMPLETE, Event.FAIL):
        _acknowledge(tx, ended)
    else:
        withdraw(tx, ended)
    if ended.sender not in (by, told):
        _reply(tx, ended, to=ended.sender, subject_id=ended.id, text=text, by=by)
    _chain(tx, ended, text, by)
    return ended


def cancel(tx: Tx, task: Task, *, by: str, reason: str | None) -> Task:
    """Cancel a task that has not ended; the reason becomes its result. Records `task.cancelled`."""
    return finish(tx, task, Event.CANCEL, by=by, text=reason or "cancelled", result=reason)


def expire(tx: Tx, task: Task) -> Task:
    """End a task that nobody began in time, and tell who waits for it. Records `task.expired`."""
    given_at = task.delivered_at or task.created_at
    seconds = ((task.expires_at or tx.now) - given_at) // 1000
    text = f"expired: nobody began it within {seconds} s"
    return finish(tx, task, Event.EXPIRE, by=HUB, text=text, result=None)


def step(
    tx: Tx,
    task: Task,
    *events: Event,
    actor: str | None = None,
    changes: Mapping[str, object] | None = None,
    detail: Mapping[str, object] | None = None,
) -> Task:
    """Move a task along `LIFECYCLE` and record it.

    Raises `InvalidTransition`, or `Conflict` if the task was found without a lock and has changed since.
    """
    moved = tasks.move(tx, task, *events, changes=changes)
    if moved is None:
        raise Conflict("the task has changed meanwhile; look at it again")
    _record(tx, _KINDS[events[0]], moved, actor=actor or moved.assignee, before=task, detail=detail)
    return moved


def put_into_inbox(tx: Tx, task: Task, to: str, delivery_id: UUID) -> None:
    """Add the inbox row by which a task reaches `to`."""
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


def _acknowledge(tx: Tx, task: Task) -> None:
    if task.delivery_id is not None:
        inboxes.ack(tx, task.delivery_id)


def withdraw(tx: Tx, task: Task) -> None:
    """Take a task's row out of the inbox where it is pending, if it is."""
    if task.delivery_id is not None:
        inboxes.withdraw(tx, task.delivery_id)


def _reply(tx: Tx, ended: Task, *, to: str, subject_id: UUID, text: str, by: str) -> None:
    messages.send(
        tx,
        ended.project_id,
        sender=by,
        to=to,
        body=text,
        kind=Kind.REPLY,
        in_reply_to=subject_id,
        outcome=ended.status,
    )


def _chain(tx: Tx, ended: Task, text: str, by: str) -> None:
    """Tell the senders of the task's ancestors that it has ended; the ancestors themselves stay as they are."""
    parent_id = ended.parent_id
    for _ in range(CHAIN_LENGTH):
        parent = tasks.find(tx, parent_id) if parent_id else None
        if parent is None:
            return
        parent_id = parent.parent_id
        if parent.sender == by:
            continue
        _reply(tx, ended, to=parent.sender, subject_id=parent.id, text=text, by=by)
        tx.record(
            "task.chained",
            project_id=ended.project_id,
            actor=by,
            agent=parent.sender,
            task_id=parent.id,
            detail={
                "child_id": str(ended.id),
                "child_assignee": ended.assignee,
                "child_status": ended.status,
            },
        )


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
        actor=None if actor == HUB else actor,  # who has no name of their own is told by their token
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
    )


def milliseconds(ttl: timedelta) -> int:
    """A duration as the store keeps it."""
    return int(ttl.total_seconds() * 1000)
