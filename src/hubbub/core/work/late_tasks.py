"""Late tasks: a task without progress is reported once, by the first of the hubs that sees it."""

from collections.abc import Sequence
from uuid import UUID

from hubbub.core.snapshots import card_states
from hubbub.core.work import tasks
from hubbub.model.log.attention import LATE, SILENT_FOR, UNBEGUN_FOR, Need, NeedKind
from hubbub.model.people.rights import HUB
from hubbub.store.tx import Tx
from hubbub.store.work import late_tasks
from hubbub.store.work import tasks as rows

BATCH = 100
MOST = 10_000  # found by one search of all open tasks


def due(tx: Tx) -> list[UUID]:
    """List the unreported tasks that have become late; the longest late first, up to a limit."""
    return late_tasks.due(tx, unbegun=UNBEGUN_FOR, silent=SILENT_FOR, limit=MOST)


def settle(tx: Tx, due: Sequence[UUID]) -> None:
    """Report those of these tasks that are still late and unreported. Records `task.late` for each."""
    for each in due:
        _tell(tx, each)


def _tell(tx: Tx, task_id: UUID) -> None:
    """Report a task if it is still late; a recent change may have ended that."""
    found = rows.find(tx, task_id)
    if found is None:
        return
    task = tasks.locked(tx, found)
    card = card_states.of_task(tx, task)
    need = Need.told(card["need"])
    is_late = need is not None and need.kind is NeedKind.LATE and need.holds(tx.now)
    if need is None or not is_late or not late_tasks.note(tx, task.id, need.since):
        return
    tx.record(
        LATE,
        project_id=task.project_id,
        actor=HUB,
        agent=task.assignee,
        task_id=task.id,
        detail={"number": task.number, "status": task.status, "since": need.since},
        patch={"tasks": {str(task.id): card}},
    )
