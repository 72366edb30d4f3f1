"""SQL for pictures: the parts of a project's tables that show its present state.

Large texts are not read: no card holds them.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from uuid import UUID

from hubbub.model.fleet.approvals import ApprovalStatus
from hubbub.model.lifecycle import Status
from hubbub.model.log.projection import CARD_SHAPES
from hubbub.store.agents.agents import lock_names
from hubbub.store.limits.accounts import HELD_UNTIL
from hubbub.store.tx import Row, Tx

TASK = (*CARD_SHAPES["tasks"].shown, "files", "gated")
_PAUSED = f"""SELECT {HELD_UNTIL} AS held_until FROM agents a
              JOIN accounts c ON c.project_id = a.project_id AND c.name = a.account
              WHERE a.project_id = :project_id AND a.name = :name"""
_UNDER_WAY = f"status IN ('{Status.ACCEPTED}', '{Status.BLOCKED}', '{Status.WORKING}')"  # as in an index
_AT = (Status.WORKING, Status.BLOCKED, Status.ACCEPTED)
_HELD = "id, number, assignee, status, started_at"
_NOT_TAKEN = f"status IN ('{Status.QUEUED}', '{Status.DELIVERED}')"
_FOR_PERSON = """FROM tasks t WHERE (t.author IS NOT NULL OR (
    EXISTS (SELECT 1 FROM users u JOIN members m ON m.user_id = u.id
            WHERE u.name = t.sender AND m.project_id = t.project_id)
    AND NOT EXISTS (SELECT 1 FROM agents a WHERE a.project_id = t.project_id AND a.name = t.sender)))"""
_READY = """CASE WHEN count(*) > count(CASE WHEN n.status = :completed THEN 1 END) THEN NULL
                 ELSE max(n.ended_at) END AS ready_at"""
_AGENT = f"""SELECT a.name, a.account, p.id AS presence_id, p.condition, p.doing, p.progress, p.runtime, p.model,
                   p.hostname, p.paused_until, {HELD_UNTIL} AS account_until,
                   p.area, p.files, p.claimed, p.since, p.ended_at, p.end_reason, m.name AS placed_on, e.node AS seen_on
            FROM agents a
            LEFT JOIN presences p ON p.id = a.presence_id
            LEFT JOIN placements l ON l.project_id = a.project_id AND l.agent = a.name
            LEFT JOIN machines m ON m.id = l.machine
            LEFT JOIN evidence e ON e.project_id = a.project_id AND e.agent = a.name
            LEFT JOIN accounts c ON c.project_id = a.project_id AND c.name = a.account
            WHERE a.project_id = :project_id"""


def tasks(tx: Tx, project_id: UUID, *, ended: int) -> Iterator[Row]:
    """Yield the card facts of the project's open tasks, and of the latest `ended` of the others."""
    yield from map(_task, chain(_open(tx, project_id), _ended(tx, project_id, ended)))


def pressing(tx: Tx, project_id: UUID, *, ended: int, unbegun: int) -> Iterator[Row]:
    """Yield the `tasks` that may need a person now: failed, in review, under way, or not taken for `unbegun` ms."""
    waiting = _open(
        tx,
        project_id,
        f"AND ({_UNDER_WAY} OR status = '{Status.IN_REVIEW}' OR ({_NOT_TAKEN} AND updated_at <= :unbegun_since))",
        unbegun_since=tx.now - unbegun,
    )
    failed = (row for row in _ended(tx, project_id, ended) if row["status"] == Status.FAILED)
    yield from map(_task, chain(waiting, failed))


def _open(tx: Tx, project_id: UUID, narrowed: str = "", **values: object) -> Iterator[Row]:
    return tx.each(
        f"""SELECT {", ".join(TASK)} FROM tasks WHERE project_id = :project_id AND ended_at IS NULL {narrowed}""",
        project_id=project_id,
        **values,
    )


def _ended(tx: Tx, project_id: UUID, most: int) -> Iterator[Row]:
    return tx.each(
        f"""SELECT {", ".join(TASK)} FROM tasks WHERE project_id = :project_id AND ended_at IS NOT NULL
            ORDER BY ended_at DESC LIMIT :most""",
        project_id=project_id,
        most=most,
    )


def needs(tx: Tx, project_id: UUID) -> dict[UUID, list[UUID]]:
    """Return the needs of each of the project's tasks, in order; tasks without needs are left out."""
    rows = tx.all(
        """SELECT d.task_id, d.needs_id FROM tasks t JOIN dependencies d ON d.task_id = t.id
           WHERE t.project_id = :project_id AND t.gated = 1 ORDER BY d.task_id, d.position""",
        project_id=project_id,
    )
    found: dict[UUID, list[UUID]] = {}
    for row in rows:
        found.setdefault(row["task_id"], []).append(row["needs_id"])
    return found


def readiness(tx: Tx, project_id: UUID) -> dict[UUID, int | None]:
    """Return when all needs of each free task were completed; None: one is not completed yet.

    Tasks without needs are left out.
    """
    rows = tx.all(
        f"""SELECT t.id, {_READY} FROM tasks t JOIN dependencies d ON d.task_id = t.id
            JOIN tasks n ON n.id = d.needs_id
            WHERE t.project_id = :project_id AND t.{_NOT_TAKEN} AND t.gated = 1 GROUP BY t.id""",
        project_id=project_id,
        completed=Status.COMPLETED,
    )
    return {row["id"]: row["ready_at"] for row in rows}


def ready_at(tx: Tx, task_id: UUID) -> int | None:
    """Return when all needs of a task were completed; None: one is not completed yet."""
    return tx.value(
        f"SELECT {_READY} FROM dependencies d JOIN tasks n ON n.id = d.needs_id WHERE d.task_id = :task_id",
        task_id=task_id,
        completed=Status.COMPLETED,
    )


def paused_until(tx: Tx, project_id: UUID, agent: str) -> int:
    """Return until when an agent's account is paused, or was; 0 if it never was."""
    return tx.value(_PAUSED, project_id=project_id, name=agent) or 0


def in_review_for_people(tx: Tx, project_id: UUID) -> frozenset[UUID]:
    """Return the project's tasks in review that a person sent."""
    rows = tx.all(
        f"SELECT t.id {_FOR_PERSON} AND t.project_id = :project_id AND t.status = '{Status.IN_REVIEW}'",
        project_id=project_id,
    )
    return frozenset(row["id"] for row in rows)


def is_for_person(tx: Tx, task_id: UUID) -> bool:
    """Tell whether a person sent the task, and no agent."""
    return tx.any(f"SELECT 1 AS one {_FOR_PERSON} AND t.id = :id", id=task_id)


def not_taken(tx: Tx, task_id: UUID) -> Row | None:
    """Return the card facts of a task that nobody has taken, locked; None for any other."""
    row = tx.one(
        f"SELECT {', '.join(TASK)} FROM tasks WHERE id = :id AND {_NOT_TAKEN} {tx.db.for_update}", id=task_id
    )
    return _task(row) if row is not None else None


def work(tx: Tx, project_id: UUID) -> list[Row]:
    """List the project's tasks under way, with the facts that decide the agents' states.

    An agent's present task comes first: one that it works on, else a blocked one; the last begun first.
    """
    return _by_turn(
        tx.all(
            f"SELECT {_HELD} FROM tasks WHERE project_id = :project_id AND {_UNDER_WAY}",
            project_id=project_id,
        )
    )


def work_of(tx: Tx, project_id: UUID, name: str, most: int) -> list[Row]:
    """List the `work` of one agent: of many tasks the first, `most` of each status."""
    rows = tx.all(
        f"SELECT {_HELD} FROM tasks WHERE project_id = :project_id AND assignee = :name AND {_UNDER_WAY} LIMIT :more",
        project_id=project_id,
        name=name,
        more=most + 1,
    )
    if len(rows) > most:  # few agents have so many; several small queries take longer than sorting here
        rows = [row for status in _AT for row in _first_of(tx, project_id, name, status, most)]
    return _by_turn(rows)


def _first_of(tx: Tx, project_id: UUID, name: str, status: Status, most: int) -> Sequence[Row]:
    return tx.all(
        f"""SELECT {_HELD} FROM tasks
            WHERE project_id = :project_id AND assignee = :name AND {_UNDER_WAY} AND status = :status
            ORDER BY COALESCE(started_at, 0) DESC, number LIMIT :most""",
        project_id=project_id,
        name=name,
        status=status,
        most=most,
    )


def _by_turn(held: Sequence[Row]) -> list[Row]:
    return sorted(held, key=lambda row: (_AT.index(row["status"]), -(row["started_at"] or 0), row["number"]))


def worked_on(tx: Tx, project_id: UUID, name: str) -> Iterator[Row]:
    """Return the card facts of the tasks that an agent works on."""
    rows = tx.all(
        f"""SELECT {", ".join(TASK)} FROM tasks
            WHERE project_id = :project_id AND assignee = :name AND {_UNDER_WAY} AND status = '{Status.WORKING}'""",
        project_id=project_id,
        name=name,
    )
    return map(_task, rows)


def to_begin(tx: Tx, project_id: UUID, name: str) -> Iterator[Row]:
    """Return the card facts of the tasks that an agent is to begin."""
    rows = tx.all(
        f"""SELECT {", ".join(TASK)} FROM tasks
            WHERE project_id = :project_id AND assignee = :name AND ended_at IS NULL AND {_NOT_TAKEN}""",
        project_id=project_id,
        name=name,
    )
    return map(_task, rows)


def asking(tx: Tx, project_id: UUID, name: str | None = None) -> frozenset[str]:
    """Return the agents whose calls wait for a person's answer; only that name, if it is given."""
    rows = tx.all(
        f"""SELECT who FROM approvals
            WHERE project_id = :project_id AND status = :pending {"AND who = :name" if name is not None else ""}""",
        project_id=project_id,
        pending=ApprovalStatus.PENDING,
        name=name,
    )
    return frozenset(row["who"] for row in rows)


def agents(tx: Tx, project_id: UUID) -> Sequence[Row]:
    """List the names that the project knows, with the presence of each and its machine."""
    return tx.all(f"{_AGENT} ORDER BY a.name", project_id=project_id)


def agent(tx: Tx, project_id: UUID, name: str, *, lock: bool = False) -> Row | None:
    """Return one of the `agents`; `lock` it, so that no other transaction changes its facts meanwhile."""
    if lock:
        lock_names(tx, project_id, name)
    return tx.one(f"{_AGENT} AND a.name = :name", project_id=project_id, name=name)


def is_person(tx: Tx, project_id: UUID, name: str) -> bool:
    """Tell whether a person with that name is a member of the project."""
    return tx.any(
        """SELECT 1 AS one FROM users u JOIN members m ON m.user_id = u.id
           WHERE u.name = :name AND m.project_id = :project_id""",
        name=name,
        project_id=project_id,
    )


def _task(row: Row) -> Row:
    return {**row, "files": json.loads(row["files"])} if row["files"] else row
