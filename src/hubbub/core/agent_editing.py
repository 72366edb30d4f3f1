"""What people say about an agent: what it is for, and in which area of the project it works now."""

from dataclasses import replace

from hubbub.core.agents import agents, scopes
from hubbub.core.mail import messages
from hubbub.core.people import access
from hubbub.core.work import permissions
from hubbub.model.agents.scopes import Scope
from hubbub.model.errors import Conflict
from hubbub.model.people.rights import HUB
from hubbub.model.records import Agent, Project
from hubbub.store.agents import agents as rows
from hubbub.store.tx import Tx


def describe(tx: Tx, project: Project, name: str, description: str | None) -> Agent:
    """Say what an agent is for, in place of what was said before; None or blanks: nothing. For people.

    Records `agent.edited` if that changes anything. Raises `Forbidden`, `UnknownAgent`.
    """
    access.require_person(tx, "describe an agent")
    known = agents.find(tx, project.id, name)
    said = (description or "").strip() or None
    if said == known.description:
        return known
    rows.describe(tx, project.id, name, said)
    tx.record("agent.edited", project_id=project.id, agent=name, detail={"description": said})
    return replace(known, description=said)


def set_area(tx: Tx, project: Project, name: str, area: str | None) -> None:
    """Move a present agent to another area, or out of all; its files stay. For people. The agent is told by whom.

    Records `agent.scope_change`. Raises `Forbidden`, `UnknownAgent`, `Conflict` if it is not there, and like
    `scopes.declare`.
    """
    access.require_person(tx, "change an agent's area")
    agents.require_known(tx, project.id, name)
    presence = agents.presence(tx, project.id, name, lock=True)
    if presence is None or not presence.is_live(tx.now):
        raise Conflict(f"{name!r} is not here: an area lasts only as long as its agent is there; set it then")
    before = scopes.declared(tx, presence)
    wanted = Scope.of(area or None, before.files)
    if wanted == before:
        return
    who = permissions.label(tx, HUB)
    scopes.declare(tx, project, presence, wanted, by=who)
    where = f"you work in the area {wanted.area} now" if wanted.area else "you work in no area now"
    messages.send(tx, project.id, sender=HUB, to=name, body=f"{who} changed your scope: {where}")
