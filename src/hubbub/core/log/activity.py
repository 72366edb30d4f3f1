"""Queries of the activity log: by time, agent and task."""

from collections.abc import Sequence
from uuid import UUID

from hubbub.model.records import Activity
from hubbub.store.log import activity
from hubbub.store.tx import Tx

# These need no rule of their own, so they are the store's functions.
Counted = activity.Counted
Page = activity.Page
Position = activity.Position
START = activity.START
head = activity.head
before_last = activity.before_last
tail = activity.tail
since = activity.since
visible = activity.visible
position_of = activity.position_of
latest = activity.history
count = activity.count
page = activity.page


def last(tx: Tx, project_id: UUID) -> int:
    """Return the `seq` of the project's last activity; 0 if there is none."""
    found = latest(tx, project_id, limit=1)
    return found[0].seq if found else 0


def after(tx: Tx, project_id: UUID, seq: int, *, agent: str | None = None, limit: int) -> Sequence[Activity]:
    """List the activities after `seq`, oldest first; all of them for 0, none for an unknown `seq`."""
    position = START if seq == 0 else position_of(tx, seq)
    return since(tx, project_id, position, limit, agent=agent).activities if position else []
