"""SQL for evidence: what each agent was last seen to do."""

from collections.abc import Sequence
from uuid import UUID

from hubbub.model.placements import Evidence
from hubbub.store.tx import Row, Tx

_COLUMNS = "agent, node, runtime, last_output, last_output_at, last_tool, last_tool_at"


def _evidence(row: Row) -> Evidence:
    return Evidence(**row)


def put(tx: Tx, project_id: UUID, seen: Evidence) -> None:
    """Keep what was seen; what it leaves out stays as it was, and so does what is newer than it."""
    tx.run(
        f"""INSERT INTO evidence (project_id, {_COLUMNS})
            VALUES (:project_id, :agent, :node, :runtime, :last_output, :last_output_at, :last_tool,
                    :last_tool_at)
            ON CONFLICT (project_id, agent) DO UPDATE SET
                node = COALESCE(excluded.node, evidence.node),
                runtime = COALESCE(excluded.runtime, evidence.runtime),
                last_output = CASE WHEN excluded.last_output_at >= COALESCE(evidence.last_output_at, 0)
                                   THEN excluded.last_output ELSE evidence.last_output END,
                last_output_at = CASE WHEN excluded.last_output_at >= COALESCE(evidence.last_output_at, 0)
                                      THEN excluded.last_output_at ELSE evidence.last_output_at END,
                last_tool = CASE WHEN excluded.last_tool_at >= COALESCE(evidence.last_tool_at, 0)
                                 THEN excluded.last_tool ELSE evidence.last_tool END,
                last_tool_at = CASE WHEN excluded.last_tool_at >= COALESCE(evidence.last_tool_at, 0)
                                    THEN excluded.last_tool_at ELSE evidence.last_tool_at END""",
        project_id=project_id,
        agent=seen.agent,
        node=seen.node,
        runtime=seen.runtime,
        last_output=seen.last_output,
        last_output_at=seen.last_output_at,
        last_tool=seen.last_tool,
        last_tool_at=seen.last_tool_at,
    )


def find(tx: Tx, project_id: UUID, agent: str) -> Evidence | None:
    row = tx.one(
        f"SELECT {_COLUMNS} FROM evidence WHERE project_id = :project_id AND agent = :agent",
        project_id=project_id,
        agent=agent,
    )
    return _evidence(row) if row else None


def of_project(tx: Tx, project_id: UUID) -> Sequence[Evidence]:
    """What is known of the project's agents, by name."""
    rows = tx.all(
        f"SELECT {_COLUMNS} FROM evidence WHERE project_id = :project_id ORDER BY agent",
        project_id=project_id,
    )
    return [_evidence(row) for row in rows]
