"""SQL for the activity log: reading on from a position, and queries of the past.

Writing is `Tx.record`. The order of the log is (tx, seq), and a follower reads only its *settled* part: on PostgreSQL
`seq` is assigned before the commit, so a reader that asks for a greater `seq` than its last would miss the late
commits of slower transactions.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from uuid import UUID

from hubbub.model.records import Activity
from hubbub.store.tx import Row, Tx

COLUMNS = "tx, seq, project_id, at, kind, actor, agent, task_id, message_id, detail"
PATCHED = f"{COLUMNS}, patch"  # for readers that follow the log


class Position(NamedTuple):
    """A place in the log: behind the activity `seq` of the transaction `tx`."""

    tx: int
    seq: int


START = Position(0, 0)  # before everything


class Counted(NamedTuple):
    """The number of a project's activities, from the then oldest one up to a place in the log."""

    oldest: int
    until: Position
    number: int


class Page(NamedTuple):
    """Activities in the order of the log, and the position after the last: the beginning of the next page."""

    activities: list[Activity]
    position: Position


def tail(tx: Tx, after: Position, limit: int) -> Page:
    """Return up to `limit` settled activities of all projects, after `after`; going on from there misses nothing."""
    rows = tx.all(
        f"""SELECT {PATCHED} FROM activity
            WHERE {tx.db.placed(">")} AND {tx.db.settled}
            ORDER BY tx, seq LIMIT :limit""",
        tx=after.tx,
        seq=after.seq,
        limit=limit,
    )
    return _page(rows, after)


def since(tx: Tx, project_id: UUID, after: Position, limit: int, *, agent: str | None = None) -> Page:
    """Return the `tail` of one project; with `agent`, only activities about that agent."""
    whose = "AND agent = :agent" if agent is not None else ""
    rows = tx.all(
        f"""SELECT {PATCHED} FROM activity
            WHERE project_id = :project_id {whose} AND {tx.db.placed(">")} AND {tx.db.settled}
            ORDER BY tx, seq LIMIT :limit""",
        project_id=project_id,
        agent=agent,
        tx=after.tx,
        seq=after.seq,
        limit=limit,
    )
    return _page(rows, after)


def until(tx: Tx, project_id: UUID, place: Position, limit: int) -> list[Activity]:
    """List the last activities of a project up to and including a place in the log, oldest first."""
    rows = tx.all(
        f"""SELECT {PATCHED} FROM activity WHERE project_id = :project_id AND {tx.db.placed("<=")}
            ORDER BY tx DESC, seq DESC LIMIT :limit""",
        project_id=project_id,
        tx=place.tx,
        seq=place.seq,
        limit=limit,
    )
    return [_activity(row) for row in reversed(rows)]


def before_last(tx: Tx, number: int) -> Position:
    """Return the place in the log before its last `number` activities, of all projects."""
    row = tx.one(
        f"""SELECT tx, seq FROM activity WHERE {tx.db.settled} ORDER BY tx DESC, seq DESC LIMIT 1 OFFSET :number""",
        number=number,
    )
    return Position(row["tx"], row["seq"]) if row else START


def history(
    tx: Tx,
    project_id: UUID,
    *,
    before: int | None = None,
    agent: str | None = None,
    task_id: UUID | None = None,
    kinds: Sequence[str] = (),
    since: int | None = None,
    until: int | None = None,
    limit: int,
) -> list[Activity]:
    """List the latest activities of a project, newest first; `before` is the `seq` to go on from.

    `agent` and `task_id` narrow it to activities about them, `kinds` to these, `since` and `until` to a span of time,
    ends included. Nothing is before an activity that does not exist. The
    activities of one task come in the order of `seq`, as each of its changes waited for the one before.
    """
    position = position_of(tx, before) if before is not None else None
    if position is None and before is not None:
        return []
    wanted = {f"kind{number}": kind for number, kind in enumerate(kinds)}
    earlier = tx.db.placed("<") if task_id is None else "seq < :seq"
    conditions = {
        "agent = :agent": agent is not None,
        "task_id = :task_id": task_id is not None,
        "at >= :since": since is not None,
        "at <= :until": until is not None,
        _of_kinds(wanted): bool(wanted),
        earlier: position is not None,
    }
    narrowed = "".join(f" AND {condition}" for condition, wanted in conditions.items() if wanted)
    at = position or START
    rows = tx.all(
        f"""SELECT {PATCHED} FROM activity WHERE project_id = :project_id{narrowed}
            ORDER BY {"tx DESC, seq DESC" if task_id is None else "seq DESC"} LIMIT :limit""",
        project_id=project_id,
        agent=agent,
        task_id=task_id,
        since=since,
        until=until,
        tx=at.tx,
        seq=at.seq,
        limit=limit,
        **wanted,
    )
    return [_activity(row) for row in rows]


def _of_kinds(names: Iterable[str]) -> str:
    """Return the condition that a line is of one of the kinds in the parameters of these names."""
    return f"kind IN ({', '.join(f':{name}' for name in names)})"


def page(
    tx: Tx,
    project_id: UUID,
    *,
    kinds: Sequence[str] = (),
    actor: str | None = None,
    limit: int,
    offset: int = 0,
) -> tuple[list[Activity], int]:
    """Return a page of a project's activities, newest first, and the number of all; `kinds` and `actor` narrow both."""
    wanted = {f"kind{number}": kind for number, kind in enumerate(kinds)}
    where = "project_id = :project_id"
    where += f" AND {_of_kinds(wanted)}" if wanted else ""
    where += " AND actor = :actor" if actor is not None else ""
    total = tx.count(f"FROM activity WHERE {where}", project_id=project_id, actor=actor, **wanted)
    rows = tx.all(
        f"SELECT {COLUMNS} FROM activity WHERE {where} ORDER BY tx DESC, seq DESC LIMIT :limit OFFSET :offset",
        project_id=project_id,
        actor=actor,
        limit=limit,
        offset=offset,
        **wanted,
    )
    return [_activity(row) for row in rows], total


def of_kind(
    tx: Tx,
    project_id: UUID | None,
    kind: str,
    *,
    before: Position | None = None,
    actor: str | None = None,
    limit: int,
) -> list[Activity]:
    """List the latest activities of one kind, newest first, `before` a place in the log; None: the hub's own."""
    at = before or START
    where = ["project_id = :project_id" if project_id is not None else "project_id IS NULL", "kind = :kind"]
    where += [tx.db.placed("<")] if before is not None else []
    where += ["actor = :actor"] if actor is not None else []
    rows = tx.all(
        f"""SELECT {COLUMNS} FROM activity WHERE {" AND ".join(where)}
            ORDER BY tx DESC, seq DESC LIMIT :limit""",
        project_id=project_id,
        kind=kind,
        tx=at.tx,
        seq=at.seq,
        actor=actor,
        limit=limit,
    )
    return [_activity(row) for row in rows]


def find(tx: Tx, seq: int) -> Activity | None:
    """Return the activity at that place in the log, with its patch; None if there is none (any more)."""
    row = tx.one(f"SELECT {PATCHED} FROM activity WHERE seq = :seq", seq=seq)
    return _activity(row) if row else None


def position_of(tx: Tx, seq: int) -> Position | None:
    """Return the position after the activity `seq`; None if there is none (any more)."""
    row = tx.one("SELECT tx, seq FROM activity WHERE seq = :seq", seq=seq)
    return Position(row["tx"], row["seq"]) if row else None


def head(tx: Tx) -> Position:
    """Return the position after all settled activities, where a follower of new ones starts."""
    row = tx.one(f"SELECT tx, seq FROM activity WHERE {tx.db.settled} ORDER BY tx DESC, seq DESC LIMIT 1")
    return Position(row["tx"], row["seq"]) if row else START


def visible(tx: Tx, project_id: UUID, after: Position) -> frozenset[int]:
    """Return the `seq` of every activity of a project after `after` that this transaction sees, settled or not."""
    rows = tx.all(
        f"SELECT seq FROM activity WHERE project_id = :project_id AND {tx.db.placed('>')}",
        project_id=project_id,
        tx=after.tx,
        seq=after.seq,
    )
    return frozenset(row["seq"] for row in rows)


def between(tx: Tx, project_id: UUID, after: Position, until: Position) -> Iterator[Activity]:
    """Yield a project's settled activities after one place in the log, up to and including another, oldest first."""
    rows = tx.each(
        f"""SELECT {PATCHED} FROM activity
            WHERE project_id = :project_id AND {tx.db.placed(">")} AND {tx.db.placed("<=", ":last_tx", ":last_seq")}
              AND {tx.db.settled} ORDER BY tx, seq""",
        project_id=project_id,
        tx=after.tx,
        seq=after.seq,
        last_tx=until.tx,
        last_seq=until.seq,
    )
    yield from map(_activity, rows)


def count(tx: Tx, project_id: UUID, known: Counted | None = None) -> Counted:
    """Count a project's settled activities: on from the `known` ones, unless the oldest of those were dropped since."""
    first = tx.one(
        "SELECT seq FROM activity WHERE project_id = :project_id ORDER BY tx, seq LIMIT 1",
        project_id=project_id,
    )
    oldest, until = first["seq"] if first else 0, head(tx)
    if known is None or known.oldest != oldest or known.until > until:
        known = Counted(oldest, START, 0)
    more = tx.count(
        f"""FROM activity
            WHERE project_id = :project_id AND {tx.db.placed(">")} AND {tx.db.placed("<=", ":last_tx", ":last_seq")}""",
        project_id=project_id,
        tx=known.until.tx,
        seq=known.until.seq,
        last_tx=until.tx,
        last_seq=until.seq,
    )
    return Counted(oldest, until, known.number + more)


def goes_on(tx: Tx, project_id: UUID, after: Position, number: int) -> bool:
    """Tell whether at least so many activities of a project come after a place in the log."""
    return tx.any(
        f"""SELECT seq FROM activity WHERE project_id = :project_id AND {tx.db.placed(">")}
            ORDER BY tx, seq LIMIT 1 OFFSET :others""",
        project_id=project_id,
        tx=after.tx,
        seq=after.seq,
        others=number - 1,
    )


def drop(tx: Tx, project_id: UUID, until: Position, limit: int) -> int:
    """Drop the oldest activities of a project, up to and including a place in the log; return how many, up to `limit`.

    The newest activity of the log stays, whatever its project: otherwise nobody could follow the log from its end.
    """
    end = head(tx)
    rows = tx.all(
        f"""DELETE FROM activity WHERE seq IN (
               SELECT seq FROM activity WHERE project_id = :project_id AND {tx.db.placed("<=")}
                   AND {tx.db.placed("<", ":end_tx", ":end_seq")}
               ORDER BY tx, seq LIMIT :limit)
           RETURNING seq""",
        project_id=project_id,
        tx=until.tx,
        seq=until.seq,
        end_tx=end.tx,
        end_seq=end.seq,
        limit=limit,
    )
    return len(rows)


def _page(rows: Sequence[Row], after: Position) -> Page:
    position = Position(rows[-1]["tx"], rows[-1]["seq"]) if rows else after
    return Page([_activity(row) for row in rows], position)


def _activity(row: Row) -> Activity:
    values = {name: value for name, value in row.items() if name != "detail"}
    return Activity(**values, detail=json.loads(row["detail"]))
