"""SQL for keyframes: whole pictures of a project at moments of its log."""

import base64
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from hubbub.store.log.activity import Position
from hubbub.store.tx import Row, Tx

PIECE = (
    64 * 1024
)  # characters of a packed picture that are unpacked at once; a multiple of four, as base64 is
LEVEL = 1  # of zlib: a picture shrinks to a fifth; a higher level takes three times as long for little more


@dataclass(frozen=True, slots=True, kw_only=True)
class Keyframe:
    """A project's picture at one place in its log.

    It includes all activities up to `position`, and those after it that `seen` lists.
    """

    project_id: UUID
    position: Position
    at: int
    seen: Sequence[int]
    cards: int  # number of cards in the picture
    packed: str  # the picture, as stored

    def text(self) -> Iterator[bytes]:
        """Yield the JSON of the picture, piece by piece."""
        unpacking = zlib.decompressobj()
        for place in range(0, len(self.packed), PIECE):
            yield unpacking.decompress(base64.b64decode(self.packed[place : place + PIECE]))


@dataclass(frozen=True, slots=True)
class KeyframePlace:
    """The place and time of a keyframe."""

    position: Position
    at: int
    cards: int


def pack(text: Iterable[bytes]) -> str:
    """Pack the pieces of a picture's JSON for storing."""
    packing = zlib.compressobj(LEVEL)
    packed = [packing.compress(piece) for piece in text]
    return base64.b64encode(b"".join((*packed, packing.flush()))).decode()


def put(tx: Tx, frame: Keyframe) -> None:
    """Store a keyframe, unless there is one at that place."""
    tx.run(
        """INSERT INTO keyframes (project_id, tx, seq, at, seen, cards, picture)
           VALUES (:project_id, :tx, :seq, :at, :seen, :cards, :picture)
           ON CONFLICT (project_id, tx, seq) DO NOTHING""",
        project_id=frame.project_id,
        tx=frame.position.tx,
        seq=frame.position.seq,
        at=frame.at,
        seen=json.dumps(sorted(frame.seen)),
        cards=frame.cards,
        picture=frame.packed,
    )


def first(tx: Tx, project_id: UUID) -> KeyframePlace | None:
    """Return the project's oldest keyframe."""
    row = tx.one(
        "SELECT tx, seq, at, cards FROM keyframes WHERE project_id = :id ORDER BY tx, seq LIMIT 1",
        id=project_id,
    )
    return _place(row) if row else None


def last(tx: Tx, project_id: UUID, *, until: int | None = None) -> KeyframePlace | None:
    """Return the project's newest keyframe; with `until`, of those made by that moment."""
    narrowed = "AND at <= :until" if until is not None else ""
    row = tx.one(
        f"""SELECT tx, seq, at, cards FROM keyframes WHERE project_id = :id {narrowed}
            ORDER BY tx DESC, seq DESC LIMIT 1""",
        id=project_id,
        until=until,
    )
    return _place(row) if row else None


def before(tx: Tx, project_id: UUID, position: Position) -> Keyframe | None:
    """Return the project's newest keyframe before a place in the log."""
    row = tx.one(
        f"""SELECT project_id, tx, seq, at, seen, cards, picture FROM keyframes
           WHERE project_id = :id AND {tx.db.placed("<")} ORDER BY tx DESC, seq DESC LIMIT 1""",
        id=project_id,
        tx=position.tx,
        seq=position.seq,
    )
    return _keyframe(row) if row else None


def at(tx: Tx, project_id: UUID, seq: int) -> Keyframe | None:
    """Return the project's keyframe right after the activity `seq`."""
    row = tx.one(
        "SELECT project_id, tx, seq, at, seen, cards, picture FROM keyframes WHERE project_id = :id AND seq = :seq",
        id=project_id,
        seq=seq,
    )
    return _keyframe(row) if row else None


def drop_before(tx: Tx, project_id: UUID, position: Position) -> None:
    """Delete the project's keyframes before a place in the log."""
    tx.run(
        f"DELETE FROM keyframes WHERE project_id = :id AND {tx.db.placed('<')}",
        id=project_id,
        tx=position.tx,
        seq=position.seq,
    )


def _place(row: Row) -> KeyframePlace:
    return KeyframePlace(Position(row["tx"], row["seq"]), row["at"], row["cards"])


def _keyframe(row: Row) -> Keyframe:
    return Keyframe(
        project_id=row["project_id"],
        position=Position(row["tx"], row["seq"]),
        at=row["at"],
        seen=json.loads(row["seen"]),
        cards=row["cards"],
        packed=row["picture"],
    )
