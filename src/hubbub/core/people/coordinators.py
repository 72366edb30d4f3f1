"""Coordinators: agents that people let steer every task of a project, whoever sent or holds it."""

from hubbub.core.agents import agents
from hubbub.core.people import access
from hubbub.model.errors import NotFound
from hubbub.model.people.rights import Right
from hubbub.model.records import Project
from hubbub.model.work.permissions import Coordinator
from hubbub.store.people import coordinators as rows
from hubbub.store.tx import Tx

# These need no rule of their own, so they are the store's functions.
listed = rows.of_project


def grant(tx: Tx, project: Project, agent: str) -> Coordinator:
    """Make the agent a coordinator, if it is none yet. Records `coordinator.granted`.

    Raises `Forbidden` unless the caller is a person who manages the project, and `UnknownAgent`.
    """
    _require_manager(tx, project)
    agents.require_known(tx, project.id, agent)
    made = Coordinator(project_id=project.id, agent=agent, granted_by=tx.actor.label, granted_at=tx.now)
    if rows.put(tx, made):
        tx.record("coordinator.granted", project_id=project.id, agent=agent, detail={"agent": agent})
    return made


def revoke(tx: Tx, project: Project, agent: str) -> None:
    """End the agent's role as a coordinator. Records `coordinator.revoked`.

    Raises `Forbidden` unless the caller is a person who manages the project, and `NotFound` for an agent that is none.
    """
    _require_manager(tx, project)
    if not rows.remove(tx, project.id, agent):
        raise NotFound("coordinator", agent)
    tx.record("coordinator.revoked", project_id=project.id, agent=agent, detail={"agent": agent})


def _require_manager(tx: Tx, project: Project) -> None:
    access.require_person(tx, "say which agents coordinate a project")
    access.enter(tx, str(project.id), Right.MANAGE)
