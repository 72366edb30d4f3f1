"""Removal of an agent from a project: its name is forgotten, and what it held is freed or ended.

Its past stays: tasks, messages and the log still name it. An agent that later comes by that name is a new
one, and finds the unread mail.
"""

from hubbub.core.agents import agents
from hubbub.core.fleet import managed_agents
from hubbub.core.mail import deadletters
from hubbub.core.people import access, tokens
from hubbub.core.presence import presences, wakes
from hubbub.core.snapshots import patches
from hubbub.core.work import leases, merge_radar, tasks, transfers
from hubbub.model.errors import Invalid
from hubbub.model.fleet.nodes import AT, NODE_PREFIX
from hubbub.model.lifecycle import UNDER_WAY
from hubbub.model.people.rights import HUB, Right
from hubbub.model.records import Project
from hubbub.store.agents import agents as rows
from hubbub.store.people import tokens as token_rows
from hubbub.store.tx import Tx


def remove(tx: Tx, project: Project, name: str) -> None:
    """Remove an agent: its tokens and its presence end, and its begun tasks go back to the open queue.

    Its unread mail becomes dead letters, and the senders are told. Only people who manage the project may do this.
    Records `agent.removed`. Raises `Forbidden`, `UnknownAgent`, and `Conflict` for an agent that runs on a machine.
    """
    access.require_person(tx, "remove an agent")
    access.enter(tx, str(project.id), Right.MANAGE)
    if name.startswith(NODE_PREFIX) and AT not in name:
        raise Invalid(f"{name!r} stands for a machine; remove that")
    agents.require_known(tx, project.id, name)
    present = agents.presence(tx, project.id, name, lock=True)
    managed_agents.forget_agent(tx, project, name)
    for token in token_rows.of_projects(tx, [project.id]):
        if token.agent == name:
            tokens.end(tx, token.id)
    for task in tasks.under_way(tx, project.id, name, UNDER_WAY):
        transfers.set_free(tx, task, by=HUB, reason=f"{name} was removed from the project")
    if present is not None:
        presences.end(tx, present)
    for waker in wakes.wakers(tx, project.id, name):
        wakes.leave(tx, project.id, name, waker.instance)
    leases.end_of_agent(tx, project.id, name)
    merge_radar.forget_agent(tx, project.id, name)
    deadletters.bury(tx, project.id, name)
    rows.forget(tx, project.id, name)
    patch = patches.agent(tx, project.id, name)
    tx.record("agent.removed", project_id=project.id, agent=name, patch=patch)
