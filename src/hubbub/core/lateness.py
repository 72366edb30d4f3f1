"""Late tasks: that nobody gets on with one is told once, whoever then looks, and however many hubs there are."""

from uuid import UUID

from hubbub.core import tasks
from hubbub.core.snapshots import standing
from hubbub.model.rights import HUB
from hubbub.model.standing import LATE, SILENT_FOR, UNBEGUN_FOR, Need, NeedKind
from hubbub.store import late
from hubbub.store import tasks as rows
from hubbub.store.tx import Tx

BATCH = 100


def is_any_due(tx: Tx) -> bool:
    """Whether a task has become late, and nobody was told. Changes nothing."""
    return bool(late.due(tx, unbegun=UNBEGUN_FOR, silent=SILENT_FOR, limit=1))


def settle(tx: Tx) -> bool:
    """Tell of tasks that have become late; whether there may be more. Records `task.late` for each."""
    due = late.due(tx, unbegun=UNBEGUN_FOR, silent=SILENT_FOR, limit=BATCH)
    told = [_tell(tx, each) for each in due]
    return any(told) and len(due) == BATCH


def _tell(tx: Tx, task_id: UUID) -> bool:
    """Tell of a task if it is late as it is now; what has just been done to it may have ended that."""
    found = rows.find(tx, task_id)
    if found is None:
        return False
    task = tasks.locked(tx, found)
    card = standing.of_task(tx, task)
    need = Need.told(card["need"])
    is_late = need is not None and need.kind is NeedKind.LATE and need.holds(tx.now)
    if need is None or not is_late or not late.note(tx, task.id, need.since):
        return False
    tx.record(
        LATE,
        project_id=task.project_id,
        actor=HUB,
        agent=task.assignee,
        task_id=task.id,
        detail={"number": task.number, "status": task.status, "since": need.since},
        patch={"tasks": {str(task.id): card}},
    )
    return True
