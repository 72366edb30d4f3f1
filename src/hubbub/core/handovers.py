"""How tasks change hands: tried again, given to another, and what becomes of them when their holder is gone.

A claimed task is a lease. It ends with its holder's presence: what was claimed from the open queue goes back there,
what was addressed to the holder by name waits for it and is delivered again. With every change of hands the epoch
rises, so that what an old holder still reports can be told from what the new one does.
"""

from collections.abc import Mapping
from datetime import timedelta
from uuid import UUID

from hubbub.core import agents, tasks
from hubbub.model.ids import new_id
from hubbub.model.lifecycle import UNDER_WAY, Event
from hubbub.model.records import Task
from hubbub.model.rights import HUB
from hubbub.store.tx import Tx


def retry(tx: Tx, task: Task, *, by: str, ttl: timedelta | None) -> Task:
    """Deliver a failed, cancelled or expired task again, with a fresh `ttl`. Records `task.retried`."""
    changes = {"result": None, "expires_at": tx.now + tasks.milliseconds(ttl) if ttl else None}
    return _again(tx, task, Event.RETRY, to=task.assignee if task.addressed else None, by=by, changes=changes)


def reassign(tx: Tx, task: Task, *, to: str, by: str) -> Task:
    """Hand an unfinished task to another agent; what its old holder still says of it is refused.

    Its expiry stays as it was. Records `task.reassigned`. Raises `UnknownAgent` and `InvalidTransition`.
    """
    agents.require_known(tx, task.project_id, to)
    changes = {"assignee": to, "addressed": 1}
    return _again(
        tx, task, Event.REASSIGN, to=to, by=by, changes=changes, detail={"taken_from": task.assignee}
    )


def release(tx: Tx, project_id: UUID, assignee: str, *, reason: str) -> None:
    """Put what a vanished agent had claimed from the open queue back there. Records `task.released`.

    The time during which it was held does not count against the time in which to begin it.
    """
    for task in tasks.under_way(tx, project_id, assignee, UNDER_WAY):
        if task.leased and not task.addressed:
            held = tx.now - (task.accepted_at or tx.now)
            changes = {"expires_at": task.expires_at + held if task.expires_at else None}
            _again(tx, task, Event.RELEASE, to=None, by=HUB, changes=changes, detail={"reason": reason})


def redeliver(tx: Tx, project_id: UUID, assignee: str, *, begun_before: int) -> None:
    """Deliver again what an agent that was gone had begun before it went. Records `task.released`.

    The time to begin it starts anew, as it may long have run out.
    """
    for task in tasks.under_way(tx, project_id, assignee, UNDER_WAY):
        begun_at = max(task.accepted_at or 0, task.started_at or 0)
        if task.leased and begun_at <= begun_before:
            given_at = task.delivered_at or task.created_at
            changes = {"expires_at": tx.now + task.expires_at - given_at if task.expires_at else None}
            detail = {"reason": f"{assignee} is back after it was gone"}
            _again(tx, task, Event.RELEASE, to=assignee, by=HUB, changes=changes, detail=detail)


def _again(
    tx: Tx,
    task: Task,
    event: Event,
    *,
    to: str | None,
    by: str,
    changes: Mapping[str, object] | None = None,
    detail: Mapping[str, object] | None = None,
) -> Task:
    """Bring a task back to the start: into the inbox of `to`, or into the open queue."""
    delivery_id = new_id() if to else None
    fresh: dict[str, object] = {
        "delivery_id": delivery_id,
        "delivered_at": tx.now if to else None,
        "accepted_at": None,
        "started_at": None,
        "leased": 0,
        "attempt": task.attempt + 1,
    }
    if to is None:
        fresh["assignee"] = None
    events = (event, Event.DELIVER) if to else (event,)
    tasks.withdraw(tx, task)
    again = tasks.step(tx, task, *events, changes={**fresh, **(changes or {})}, actor=by, detail=detail)
    if to is not None and delivery_id is not None:
        tasks.put_into_inbox(tx, again, to, delivery_id)
    return again
