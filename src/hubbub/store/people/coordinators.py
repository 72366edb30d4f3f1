"""SQL for coordinators: agents that may steer every task of a project."""

from uuid import UUID

from hubbub.model.records import Project
from hubbub.model.work.permissions import Coordinator
from hubbub.store.tx import Tx


def put(tx: Tx, made: Coordinator) -> bool:
    """Add the coordinator; False if it is one already."""
    row = tx.one(
        """INSERT INTO coordinators (project_id, agent, granted_by, granted_at)
           VALUES (:project_id, :agent, :granted_by, :granted_at)
           ON CONFLICT (project_id, agent) DO NOTHING RETURNING agent""",
        project_id=made.project_id,
        agent=made.agent,
        granted_by=made.granted_by,
        granted_at=made.granted_at,
    )
    return row is not None


def remove(tx: Tx, project_id: UUID, agent: str) -> bool:
    """Remove the coordinator; False if it is none."""
    row = tx.one(
        "DELETE FROM coordinators WHERE project_id = :project_id AND agent = :agent RETURNING agent",
        project_id=project_id,
        agent=agent,
    )
    return row is not None


def holds(tx: Tx, project_id: UUID, agent: str) -> bool:
    """Tell whether the agent is one of the project's coordinators."""
    row = tx.one(
        "SELECT agent FROM coordinators WHERE project_id = :project_id AND agent = :agent",
        project_id=project_id,
        agent=agent,
    )
    return row is not None


def of_project(tx: Tx, project: Project) -> list[Coordinator]:
    """List the project's coordinators, by name."""
    rows = tx.all(
        "SELECT * FROM coordinators WHERE project_id = :project_id ORDER BY agent", project_id=project.id
    )
    return [Coordinator(**row) for row in rows]
