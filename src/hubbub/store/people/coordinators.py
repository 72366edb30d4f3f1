"""SQL for coordinators: agents that may steer every task of a project."""

from uuid import UUID

from hubbub.model.records import Project
from hubbub.model.work.permissions import Coordinator
from hubbub.store.table import Table
from hubbub.store.tx import Tx

_TABLE = Table("coordinators", Coordinator)


def put(tx: Tx, made: Coordinator) -> bool:
    """Add the coordinator; False if it is one already."""
    return tx.any(
        f"{_TABLE.insertion} ON CONFLICT (project_id, agent) DO NOTHING RETURNING agent", **_TABLE.row(made)
    )


def remove(tx: Tx, project_id: UUID, agent: str) -> bool:
    """Remove the coordinator; False if it is none."""
    return _TABLE.delete(tx, project_id=project_id, agent=agent) is not None


def holds(tx: Tx, project_id: UUID, agent: str) -> bool:
    """Tell whether the agent is one of the project's coordinators."""
    return _TABLE.find(tx, project_id=project_id, agent=agent) is not None


def of_project(tx: Tx, project: Project) -> list[Coordinator]:
    """List the project's coordinators, by name."""
    return _TABLE.all(tx, "WHERE project_id = :project_id ORDER BY agent", project_id=project.id)
