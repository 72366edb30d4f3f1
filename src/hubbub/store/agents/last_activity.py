"""SQL for the last visible activity of each agent."""

from collections.abc import Sequence
from uuid import UUID

from hubbub.model.fleet.managed_agents import LastActivity
from hubbub.store.table import Table
from hubbub.store.tx import Tx

_TABLE = Table("evidence", LastActivity)
_INSERT = _TABLE.inserting(["project_id"])

LEAVING = 60_000  # milliseconds after its presence in which an agent's last call may be recorded


def put(tx: Tx, project_id: UUID, seen: LastActivity) -> None:
    """Store a visible activity; omitted parts keep their value, and older ones do not replace newer ones."""
    tx.run(
        f"""{_INSERT} ON CONFLICT (project_id, agent) DO UPDATE SET
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
        **_TABLE.row(seen),
    )


def find(tx: Tx, project_id: UUID, agent: str) -> LastActivity | None:
    return _TABLE.find(tx, project_id=project_id, agent=agent)


def last_act(tx: Tx, project_id: UUID, agent: str, *, recent: int = 100) -> int | None:
    """Return when the agent last acted outside a presence: 0 for never since its last one, None for an unknown name.

    Actions are tool calls, the beginning of its present work, and its own acts in the log, among the `recent`
    lines about it. Changes of its presence and its claims do not count, nor do wakes: they happen to it.
    """
    row = tx.one(
        """SELECT e.last_tool_at AS called_at,
                  (SELECT max(t.started_at) FROM tasks t WHERE t.project_id = :project_id
                     AND t.assignee = :agent AND t.ended_at IS NULL) AS began_at,
                  (SELECT max(r.at) FROM (
                     SELECT at, kind, actor FROM activity WHERE project_id = :project_id AND agent = :agent
                     ORDER BY tx DESC, seq DESC LIMIT :recent) AS r
                   WHERE r.actor = :agent AND substr(r.kind, 1, 6) <> 'agent.'
                     AND r.kind <> 'file.released') AS told_at,
                  COALESCE(p.ended_at, p.expires_at) AS gone_at
           FROM agents a
           LEFT JOIN evidence e ON e.project_id = a.project_id AND e.agent = a.name
           LEFT JOIN presences p ON p.id = a.presence_id
           WHERE a.project_id = :project_id AND a.name = :agent""",
        project_id=project_id,
        agent=agent,
        recent=recent,
    )
    if row is None:
        return None
    acted_at = max(row[each] or 0 for each in ("called_at", "began_at", "told_at"))
    return int(acted_at) if row["gone_at"] is None or acted_at > row["gone_at"] + LEAVING else 0


def of_project(tx: Tx, project_id: UUID) -> Sequence[LastActivity]:
    """Return the last activity of the project's agents, by name."""
    return _TABLE.all(tx, "WHERE project_id = :project_id ORDER BY agent", project_id=project_id)
