"""SQL for pictures: what is read of a project's tables to show it as it is.

Large texts stay where they are: no card holds them.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from uuid import UUID

from hubbub.model.pictures import FACES
from hubbub.store.tx import Row, Tx

TASK = (*FACES["tasks"].shown, "files")
_AGENT = """SELECT a.name, p.id AS presence_id, p.condition, p.doing, p.progress, p.runtime, p.model, p.hostname,
                   p.area, p.files, p.claimed, p.since, p.ended_at, p.end_reason, m.name AS placed_on, e.node AS seen_on
            FROM agents a
            LEFT JOIN presences p ON p.id = a.presence_id
            LEFT JOIN placements l ON l.project_id = a.project_id AND l.agent = a.name
            LEFT JOIN machines m ON m.id = l.machine
            LEFT JOIN evidence e ON e.project_id = a.project_id AND e.agent = a.name
            WHERE a.project_id = :project_id"""


def tasks(tx: Tx, project_id: UUID, *, ended: int) -> Iterator[Row]:
    """What cards show of all open tasks of the project, and of the latest `ended` of the others."""
    of_project = f"SELECT {', '.join(TASK)} FROM tasks WHERE project_id = :project_id"
    found = (
        tx.all(f"{of_project} AND ended_at IS NULL", project_id=project_id),
        tx.all(
            f"{of_project} AND ended_at IS NOT NULL ORDER BY ended_at DESC LIMIT :ended",
            project_id=project_id,
            ended=ended,
        ),
    )
    for row in chain.from_iterable(found):
        yield {**row, "files": json.loads(row["files"])} if row["files"] else row


def needs(tx: Tx, project_id: UUID) -> dict[UUID, list[UUID]]:
    """What each of the project's tasks needs, in order; those that need nothing are left out."""
    rows = tx.all(
        """SELECT d.task_id, d.needs_id FROM tasks t JOIN dependencies d ON d.task_id = t.id
           WHERE t.project_id = :project_id AND t.gated = 1 ORDER BY d.task_id, d.position""",
        project_id=project_id,
    )
    found: dict[UUID, list[UUID]] = {}
    for row in rows:
        found.setdefault(row["task_id"], []).append(row["needs_id"])
    return found


def agents(tx: Tx, project_id: UUID) -> Sequence[Row]:
    """The names that the project knows, with the presence of each and the machine it is on."""
    return tx.all(f"{_AGENT} ORDER BY a.name", project_id=project_id)


def agent(tx: Tx, project_id: UUID, name: str) -> Row | None:
    """As `agents`, of one; nobody else changes what is told of it before this transaction ends."""
    if tx.db.for_update:
        tx.run(
            f"SELECT name FROM agents WHERE project_id = :project_id AND name = :name {tx.db.for_update}",
            project_id=project_id,
            name=name,
        )
    return tx.one(f"{_AGENT} AND a.name = :name", project_id=project_id, name=name)


def is_person(tx: Tx, project_id: UUID, name: str) -> bool:
    """Whether a person of that name is a member of the project."""
    row = tx.one(
        """SELECT 1 AS one FROM users u JOIN members m ON m.user_id = u.id
           WHERE u.name = :name AND m.project_id = :project_id""",
        name=name,
        project_id=project_id,
    )
    return row is not None
