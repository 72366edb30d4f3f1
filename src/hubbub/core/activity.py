"""Looking back into the activity log: what happened, to whom, to which task."""

from collections.abc import Sequence
from uuid import UUID

from hubbub.model.records import Activity
from hubbub.store import activity
from hubbub.store.activity import START
from hubbub.store.tx import Tx


def latest(
    tx: Tx,
    project_id: UUID,
    *,
    before: int | None = None,
    agent: str | None = None,
    task_id: UUID | None = None,
    limit: int,
) -> list[Activity]:
    """What happened last, newest first; `before` is the `seq` to go on from. `agent` and `task_id` narrow it."""
    return activity.history(tx, project_id, limit, before_seq=before, agent=agent, task_id=task_id)


def last(tx: Tx, project_id: UUID) -> int:
    """The `seq` of what happened last in the project; 0 before anything did."""
    found = latest(tx, project_id, limit=1)
    return found[0].seq if found else 0


def count(tx: Tx, project_id: UUID) -> int:
    """How many activities of the project the log has."""
    return activity.count(tx, project_id)


def after(tx: Tx, project_id: UUID, seq: int, *, agent: str | None = None, limit: int) -> Sequence[Activity]:
    """What happened after the activity `seq`, oldest first; from the beginning for 0, nothing for an unknown one."""
    position = START if seq == 0 else activity.position_of(tx, seq)
    return activity.since(tx, project_id, position, limit, agent=agent).activities if position else []


def page(
    tx: Tx,
    project_id: UUID,
    *,
    kinds: Sequence[str] = (),
    actor: str | None = None,
    limit: int,
    offset: int = 0,
) -> tuple[list[Activity], int]:
    """What happened, newest first, and how much there is of it in all; `kinds` and `actor` narrow both."""
    return activity.page(tx, project_id, kinds=kinds, actor=actor, limit=limit, offset=offset)
