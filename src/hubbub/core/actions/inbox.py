"""An agent's inbox: pending letters, and their acknowledgement."""

from collections.abc import Sequence
from uuid import UUID

from hubbub.core.actions import task_actions
from hubbub.core.work import tasks
from hubbub.model.errors import NotFound, existing
from hubbub.model.ids import parse_id
from hubbub.model.lifecycle import Status
from hubbub.model.people.rights import HUB
from hubbub.model.records import Delivery, Letter
from hubbub.store import status_counters
from hubbub.store.mail import messages
from hubbub.store.tx import Tx
from hubbub.store.work import tasks as task_rows

# These need no rule of their own, so they are the store's functions.
read = messages.inbox
note_read = messages.mark_seen
pending = status_counters.pending
unread = status_counters.unread


def note_seen(tx: Tx, letters: Sequence[Letter]) -> None:
    """Note that the receiver has read these letters, if for the first time."""
    messages.mark_seen(tx, [letter.delivery.id for letter in letters if letter.delivery.seen_at is None])


def holds(tx: Tx, project_id: UUID, ref: str) -> bool:
    """Tell whether `ref` is the id of an inbox row of the project, or of a task with such a row."""
    return _row(tx, project_id, ref) is not None


def ack(tx: Tx, project_id: UUID, name: str, ref: str) -> None:
    """Acknowledge a letter of `name`, by the id of its row or of its task. A task acknowledged like this is accepted.

    A repeated call changes nothing. Records `task.accepted`, or `message.acked`. Raises `NotFound` if there is no such
    letter, or if it is not (or no longer) this agent's.
    """
    row = existing(_row(tx, project_id, ref), "message", ref)
    if row.task_id is not None:
        _ack_task(tx, project_id, name, row, ref)
    elif row.recipient != name:
        raise NotFound("message", ref)
    elif messages.ack(tx, row.id):
        tx.record(
            "message.acked",
            project_id=project_id,
            actor=None
            if name == HUB
            else name,  # then the caller is a person, who is recorded by their own name
            agent=name,
            message_id=row.message_id,
            detail={"delivery_id": str(row.id)},
            patch={"letters": {str(row.id): None}} if row.for_people else None,
        )


def _row(tx: Tx, project_id: UUID, ref: str) -> Delivery | None:
    """Find the inbox row with that id, or of that task; the row of a task that was free at first has another id."""
    letter_id = parse_id(ref)
    if letter_id is None:
        return None
    row = messages.find_delivery(tx, letter_id)
    if row is None and (task := task_rows.find(tx, letter_id)) and task.delivery_id:
        row = messages.find_delivery(tx, task.delivery_id)
    return row if row and row.project_id == project_id else None


def _ack_task(tx: Tx, project_id: UUID, name: str, row: Delivery, ref: str) -> None:
    task = tasks.find(tx, [project_id], str(row.task_id), lock=True)
    if task.assignee != name:
        raise NotFound("message", ref)
    if task.status is Status.DELIVERED:
        task_actions.accept(tx, task, name)
    elif task.delivery_id is not None:
        messages.ack(tx, task.delivery_id)
