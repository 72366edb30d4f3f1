"""Dependencies: tasks that must be completed before another may be claimed, and the release of those that wait.

A task that needs others is held back: it is in no inbox until they are completed, and cannot be claimed.
"""

from collections.abc import Sequence
from uuid import UUID

from hubbub.core.work import tasks
from hubbub.model.lifecycle import Event, Status
from hubbub.model.people.rights import HUB
from hubbub.model.records import Task
from hubbub.store.mail import messages as inboxes
from hubbub.store.tx import Tx
from hubbub.store.work import dependencies
from hubbub.store.work import tasks as task_rows

# These need no rule of their own, so they are the store's functions.
of_run = dependencies.of_run


def of_task(tx: Tx, task: Task) -> Sequence[UUID]:
    """Return the ids of the tasks that it needs, in the order in which they were named."""
    return dependencies.of_task(tx, task.id) if task.gated else ()


def needs(tx: Tx, task: Task) -> list[Task]:
    """Return the tasks that it needs, in the order in which they were named."""
    found = (task_rows.find(tx, each) for each in of_task(tx, task))
    return [each for each in found if each is not None]


def waiting(tx: Tx, task: Task) -> list[Task]:
    """List the tasks that need it, oldest first."""
    found = (task_rows.find(tx, each) for each in dependencies.waiting_for(tx, task.id))
    return [each for each in found if each is not None]


def release(tx: Tx, completed: Task, *, by: str) -> None:
    """Release the tasks that waited only for this one.

    A task with an assignee comes into its inbox, which records `task.delivered`; a free one may be claimed from now on,
    which records `task.ready`.
    """
    for each in waiting(tx, completed):
        held = tasks.locked(tx, each)  # so that the later of two last needs sees the other
        if held.status is not Status.QUEUED or not tasks.is_ready(tx, held):
            continue
        if held.assignee is None:
            tx.record(
                "task.ready",
                project_id=held.project_id,
                actor=None if by == HUB else by,
                task_id=held.id,
                detail={"number": held.number},
            )
        else:
            _deliver(tx, held, held.assignee, by=by)


def _deliver(tx: Tx, held: Task, to: str, *, by: str) -> None:
    delivery_id = inboxes.next_id(tx)  # not the task's id: mail that came meanwhile precedes it
    changes = {"delivery_id": delivery_id, "delivered_at": tx.now}
    delivered = tasks.step(tx, held, Event.DELIVER, changes=changes, actor=by)
    tasks.put_into_inbox(tx, delivered, to, delivery_id)
