"""Keyframes and replays: any moment of a project is made from the last stored picture before it.

A keyframe is stored once the log has grown by as many activities as the last keyframe has cards (2,000 at least), and
once a day if anything happened. So no moment is further from a keyframe than the picture is large; and
however large it is, each activity bears the cost of one card. A new project begins with the empty picture; a project
older than pictures begins with the first one taken. The log is always cut at a keyframe.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from hubbub.core.snapshots.full_snapshot import SnapshotMoment, SnapshotText, moment
from hubbub.model.errors import NotFound
from hubbub.model.log.projection import empty
from hubbub.model.records import Activity
from hubbub.model.timestamps import milliseconds
from hubbub.store.log import activity, keyframes
from hubbub.store.log.activity import START, Position
from hubbub.store.log.keyframes import Keyframe
from hubbub.store.people import projects
from hubbub.store.tx import Tx

EVERY = 2000  # activities, at least
OLDEST = timedelta(days=1)  # age of a project's last keyframe, if anything has happened since
PAGE = 1000  # activities dropped in one transaction

# These need no rule of their own, so they are the store's functions.
KeyframePlace = keyframes.KeyframePlace
first = keyframes.first


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """A keyframe, and the place up to which the log continues it."""

    start: Keyframe
    end: Position
    earlier: bool  # whether there are keyframes before this one


def begin(tx: Tx, project_id: UUID) -> None:
    """Begin a new project with the empty picture."""
    packed = keyframes.pack([json.dumps(empty()).encode()])
    keyframes.put(tx, _frame(project_id, SnapshotMoment(START, frozenset(), tx.now), 0, packed))


def due(tx: Tx) -> list[UUID]:
    """List the projects that are due for a keyframe."""
    return [project_id for project_id in projects.ids(tx) if _is_due(tx, project_id)]


def take_keyframe(tx: Tx, project_id: UUID) -> Keyframe:
    """Return a keyframe of the project as it is. It takes a while: give it a long read."""
    taken, text = moment(tx, project_id), SnapshotText(tx, project_id)
    packed = keyframes.pack(text)
    return _frame(project_id, taken, text.cards, packed)


def keep(tx: Tx, frame: Keyframe) -> None:
    """Store a keyframe, unless another hub was faster."""
    projects.lock(tx, frame.project_id)
    if _is_due(tx, frame.project_id):
        keyframes.put(tx, frame)


def replay(tx: Tx, project_id: UUID, until: int | None = None) -> Replay:
    """Return the replay up to and including the activity `until`, by default now, from the last keyframe before it.

    Raises `NotFound` for an id that is not in the log (any more), or from before the first keyframe.
    """
    end = activity.head(tx) if until is None else _place_of(tx, project_id, until)
    start = keyframes.before(tx, project_id, end) if end is not None else None
    if end is not None and start is None:
        start = keyframes.at(tx, project_id, end.seq)
    if end is None or start is None:
        raise NotFound("moment", until if until is not None else "of the project")
    earlier = keyframes.before(tx, project_id, start.position) is not None
    return Replay(start=start, end=end, earlier=earlier)


def activities(tx: Tx, reel: Replay) -> Iterator[Activity]:
    """Yield the activities after the replay's keyframe, in the order of the log."""
    return activity.between(tx, reel.start.project_id, reel.start.position, reel.end)


def is_lost(tx: Tx, project_id: UUID, place: Position) -> bool:
    """Tell whether an activity after a place in the project's log is gone, or has no patch."""
    oldest = keyframes.first(tx, project_id)
    return oldest is not None and place < oldest.position


def forget(tx: Tx, keep_for: timedelta) -> bool:
    """Drop some activities older than that; True if there may be more to drop.

    The log is cut at the last keyframe of that age, so the rest can be replayed from its beginning.
    """
    before = tx.now - milliseconds(keep_for)
    return any(_forget(tx, project_id, before) for project_id in projects.ids(tx))


def _forget(tx: Tx, project_id: UUID, before: int) -> bool:
    cut = keyframes.last(tx, project_id, until=before)
    if cut is None or cut.position == START:
        return False
    keyframes.drop_before(tx, project_id, cut.position)  # first: nobody may use what is about to go
    return activity.drop(tx, project_id, cut.position, PAGE) == PAGE


def _is_due(tx: Tx, project_id: UUID) -> bool:
    last = keyframes.last(tx, project_id)
    if last is None:
        return True
    is_old = tx.now - last.at >= milliseconds(OLDEST)
    return activity.goes_on(tx, project_id, last.position, 1 if is_old else max(EVERY, last.cards))


def _place_of(tx: Tx, project_id: UUID, until: int) -> Position | None:
    if until == 0:
        return START
    found = activity.position_of(tx, until)
    if found is None and (frame := keyframes.at(tx, project_id, until)):
        return frame.position
    return found


def _frame(project_id: UUID, of: SnapshotMoment, cards: int, packed: str) -> Keyframe:
    return Keyframe(
        project_id=project_id,
        position=of.position,
        at=of.at,
        seen=sorted(of.seen),
        cards=cards,
        packed=packed,
    )
