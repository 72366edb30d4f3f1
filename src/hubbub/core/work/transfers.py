"""Changes of hands of tasks, and their fate when a holder leaves. The rights to them are in `task_actions`.

A claimed task is a lease. It ends with its holder's presence: a task claimed from the open queue goes back there, one
addressed to the holder by name waits for it and is delivered again. With every change of hands the epoch rises, so that
reports of an old holder can be told from those of the new one.
"""

from collections.abc import Mapping
from uuid import UUID

from hubbub.core.work import tasks
from hubbub.model.lifecycle import NOT_BEGUN, UNDER_WAY, Event, Status, route
from hubbub.model.people.rights import HUB
from hubbub.model.records import Task
from hubbub.store.mail import messages as inboxes
from hubbub.store.tx import Tx


def move_to(
    tx: Tx, task: Task, target: Status, *, by: str, leased: bool | None = None, reason: str | None = None
) -> Task:
    """Move a task to `target`, a status under way, from any status; its holder stays.

    `leased` says whether the holder has a heartbeat, as in `task_actions.accept`; None leaves that as it was. `reason`
    is kept in the log. Records the steps, such as `task.started`, or `task.noted` for a reason alone. Raises
    `InvalidTransition` for a task that failed, was cancelled or expired.
    """
    events = route(task.status, target)
    detail = {"reason": reason} if reason is not None else None
    if not events:
        if detail is not None:
            tasks.note(tx, task, actor=by, detail=detail)
        return task
    changes = {
        "accepted_at": task.accepted_at or tx.now,
        "started_at": task.started_at or tx.now,
        "leased": int(task.leased if leased is None else leased),
        "door": task.door if leased is None else tx.door,
        "result": None,
    }
    kind = tasks.KINDS[events[-1]]
    moved = tasks.step(tx, task, *events, changes=changes, actor=by, detail=detail, kind=kind)
    tasks.acknowledge(tx, moved)
    return moved


def set_free(tx: Tx, task: Task, *, by: str, reason: str) -> Task:
    """Move a task from its holder into the open queue, where any agent may claim it.

    The time to begin it starts anew. Records `task.released`. Raises `InvalidTransition` for a task without a holder.
    """
    changes = {"addressed": 0, "expires_at": new_expiry(tx, task)}
    detail = {"reason": reason, "taken_from": task.assignee}
    return restart(tx, task, Event.RELEASE, to=None, by=by, changes=changes, detail=detail)


def pass_on(tx: Tx, task: Task, to: str, *, by: str) -> Task:
    """Give a task to another agent as it is: begun or completed, it stays so.

    Records `task.reassigned`. Raises `InvalidTransition` for a task that ended otherwise than completed.
    """
    changes: dict[str, object] = {"assignee": to, "addressed": 1, "leased": 0}
    detail = {"taken_from": task.assignee}
    if task.status in NOT_BEGUN:
        return restart(tx, task, Event.REASSIGN, to=to, by=by, changes=changes, detail=detail)
    if task.is_ended:
        events = (*route(task.status, Status.QUEUED), Event.COMPLETE)
        return tasks.step(tx, task, *events, changes=changes, actor=by, detail=detail, kind="task.reassigned")
    delivery_id = inboxes.next_id(tx)
    tasks.withdraw(tx, task)
    events = (Event.REASSIGN, *route(Status.QUEUED, task.status))
    changes |= {"delivery_id": delivery_id, "delivered_at": tx.now}
    passed = tasks.step(tx, task, *events, changes=changes, actor=by, detail=detail)
    tasks.put_into_inbox(tx, passed, to, delivery_id)
    return passed


def release(tx: Tx, project_id: UUID, assignee: str, *, reason: str, door: str | None = None) -> None:
    """Put the tasks that a vanished agent had claimed from the open queue back there. Records `task.released`.

    With a `door`, only those taken there: by its other doors the agent is still present.

    The time during which it was held does not count against the time in which to begin it.
    """
    for task in tasks.under_way(tx, project_id, assignee, UNDER_WAY):
        if task.leased and not task.addressed and door in (None, task.door):
            held = tx.now - (task.accepted_at or tx.now)
            changes = {"expires_at": task.expires_at + held if task.expires_at else None}
            restart(tx, task, Event.RELEASE, to=None, by=HUB, changes=changes, detail={"reason": reason})


def redeliver(tx: Tx, project_id: UUID, assignee: str, *, begun_before: int, door: str | None = None) -> None:
    """Deliver again the tasks that a returned agent had begun before it was gone. Records `task.released`.

    With a `door`, only those taken there. The time to begin it starts anew, as it may long have run out.
    """
    for task in tasks.under_way(tx, project_id, assignee, UNDER_WAY):
        begun_at = max(task.accepted_at or 0, task.started_at or 0)
        if task.leased and begun_at <= begun_before and door in (None, task.door):
            changes = {"expires_at": new_expiry(tx, task)}
            detail = {"reason": f"{assignee} is back after it was gone"}
            restart(tx, task, Event.RELEASE, to=assignee, by=HUB, changes=changes, detail=detail)


def new_expiry(tx: Tx, task: Task) -> int | None:
    """Return a new expiry: the time that the task was first given, from now on."""
    given_at = task.delivered_at or task.created_at
    return tx.now + task.expires_at - given_at if task.expires_at else None


def restart(
    tx: Tx,
    task: Task,
    event: Event,
    *,
    to: str | None,
    by: str,
    changes: Mapping[str, object] | None = None,
    detail: Mapping[str, object] | None = None,
) -> Task:
    """Bring a task back to the start: into the inbox of `to`, or into the open queue; held back if it needs others."""
    if to is not None and to != task.assignee:
        tasks.keep_pauses_out(tx, task.project_id)
    is_delivered = to is not None and tasks.is_ready(tx, task)
    delivery_id = inboxes.next_id(tx) if is_delivered else None
    fresh: dict[str, object] = {
        "assignee": to,
        "delivery_id": delivery_id,
        "delivered_at": tx.now if is_delivered else None,
        "accepted_at": None,
        "started_at": None,
        "leased": 0,
        "attempt": task.attempt + 1,
    }
    events = (event, Event.DELIVER) if is_delivered else (event,)
    tasks.withdraw(tx, task)
    fresh_task = tasks.step(tx, task, *events, changes={**fresh, **(changes or {})}, actor=by, detail=detail)
    if to is not None and delivery_id is not None:
        tasks.put_into_inbox(tx, fresh_task, to, delivery_id)
    return fresh_task
