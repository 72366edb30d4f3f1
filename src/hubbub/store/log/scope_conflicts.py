"""SQL for overlaps: pairs of present agents whose declared scopes meet.

They are stored at every change of a scope, since comparing every pair takes too long. Each change holds
the lock of `store/scopes.lock`.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from hubbub.model.agents.scopes import Overlap
from hubbub.store.tx import Row, Tx

_OF_PROJECT = "SELECT one, other, files, areas, since FROM scope_overlaps WHERE project_id = :project_id"


@dataclass(frozen=True, slots=True)
class ConflictPair:
    """Two agents, in the order of their names, their common scope, and since when it exists."""

    one: str
    other: str
    common: Overlap
    since: int


def of_project(tx: Tx, project_id: UUID) -> list[ConflictPair]:
    """List all pairs of the project."""
    rows = tx.all(f"{_OF_PROJECT} ORDER BY one, other", project_id=project_id)
    return [_pair(row) for row in rows]


def of_agent(tx: Tx, project_id: UUID, agent: str) -> list[ConflictPair]:
    """List the pairs of one agent."""
    rows = tx.all(
        f"""{_OF_PROJECT} AND one = :agent UNION ALL {_OF_PROJECT} AND other = :agent""",
        project_id=project_id,
        agent=agent,
    )
    return [_pair(row) for row in rows]


def put(tx: Tx, project_id: UUID, pair: ConflictPair) -> None:
    """Store a pair, in place of an earlier one of these two; the time of their first overlap stays."""
    tx.run(
        """INSERT INTO scope_overlaps (project_id, one, other, files, areas, since)
           VALUES (:project_id, :one, :other, :files, :areas, :since)
           ON CONFLICT (project_id, one, other) DO UPDATE SET files = excluded.files, areas = excluded.areas""",
        project_id=project_id,
        one=pair.one,
        other=pair.other,
        files=_to_json(pair.common.files),
        areas=_to_json(pair.common.areas),
        since=pair.since,
    )


def delete(tx: Tx, project_id: UUID, pair: ConflictPair) -> None:
    tx.run(
        "DELETE FROM scope_overlaps WHERE project_id = :project_id AND one = :one AND other = :other",
        project_id=project_id,
        one=pair.one,
        other=pair.other,
    )


def _pair(row: Row) -> ConflictPair:
    common = Overlap(tuple(json.loads(row["areas"])), tuple(json.loads(row["files"])))
    return ConflictPair(row["one"], row["other"], common, row["since"])


def _to_json(values: Sequence[str]) -> str:
    return json.dumps(values, ensure_ascii=False)
