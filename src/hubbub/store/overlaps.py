"""SQL for overlaps: which agents that are there have declared scopes that meet, two by two.

Kept beside the scopes by whoever changes one, since comparing everybody with everybody takes too long. Who changes
them holds the lock of `store/scopes.lock`.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from hubbub.model.scopes import Overlap
from hubbub.store.tx import Row, Tx


@dataclass(frozen=True, slots=True)
class Pair:
    """Two agents, in the order of their names, and what both have declared."""

    one: str
    other: str
    common: Overlap


def of_project(tx: Tx, project_id: UUID) -> list[Pair]:
    """All of the project."""
    rows = tx.all(
        "SELECT one, other, files, areas FROM scope_overlaps WHERE project_id = :project_id ORDER BY one, other",
        project_id=project_id,
    )
    return [_pair(row) for row in rows]


def of_agent(tx: Tx, project_id: UUID, agent: str) -> list[Pair]:
    """Those of one agent."""
    rows = tx.all(
        """SELECT one, other, files, areas FROM scope_overlaps WHERE project_id = :project_id AND one = :agent
           UNION ALL
           SELECT one, other, files, areas FROM scope_overlaps WHERE project_id = :project_id AND other = :agent""",
        project_id=project_id,
        agent=agent,
    )
    return [_pair(row) for row in rows]


def put(tx: Tx, project_id: UUID, pair: Pair) -> None:
    """Keep a pair, in the place of what was kept of these two."""
    tx.run(
        """INSERT INTO scope_overlaps (project_id, one, other, files, areas)
           VALUES (:project_id, :one, :other, :files, :areas)
           ON CONFLICT (project_id, one, other) DO UPDATE SET files = excluded.files, areas = excluded.areas""",
        project_id=project_id,
        one=pair.one,
        other=pair.other,
        files=_to_json(pair.common.files),
        areas=_to_json(pair.common.areas),
    )


def delete(tx: Tx, project_id: UUID, pair: Pair) -> None:
    tx.run(
        "DELETE FROM scope_overlaps WHERE project_id = :project_id AND one = :one AND other = :other",
        project_id=project_id,
        one=pair.one,
        other=pair.other,
    )


def _pair(row: Row) -> Pair:
    common = Overlap(tuple(json.loads(row["areas"])), tuple(json.loads(row["files"])))
    return Pair(row["one"], row["other"], common)


def _to_json(values: Sequence[str]) -> str:
    return json.dumps(values, ensure_ascii=False)
