"""First steps of a project: which of them are done, until two agents have talked to each other."""

from dataclasses import dataclass
from uuid import UUID

from hubbub.core import echo_agent
from hubbub.core.mail import delivery_forecast
from hubbub.model.fleet.nodes import NODE_PREFIX
from hubbub.model.people.rights import HUB
from hubbub.store.agents import agents, file_claims, last_activity
from hubbub.store.mail import messages
from hubbub.store.tx import Tx
from hubbub.store.work import tasks

LOOKED_AT = 200  # messages and tasks; a project with more of them has done all steps
NAMED = 10  # agents


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstSteps:
    """Progress of a project's first steps. The names are those of its first agents, without the echo."""

    installed: tuple[str, ...]  # agents whose client was set up or there; a token is no client
    started: tuple[str, ...]  # agents that have been there
    has_message: bool  # somebody has written to an agent
    has_claim: bool  # an agent has taken a task, or holds files
    has_talk: bool  # two agents have talked to each other
    has_echo: bool


def of_project(tx: Tx, project_id: UUID) -> FirstSteps:
    """Return which steps are done. A project with many messages has done all of them."""
    known = [
        agent
        for agent in agents.of_project(tx, project_id)
        if agent.name != echo_agent.NAME and not agent.name.startswith(NODE_PREFIX)
    ]
    names = {agent.name for agent in known}
    there = agents.presences(tx, project_id)
    run = {each.agent for each in there if each.runtime == delivery_forecast.WORKER}
    set_up = {each.agent for each in last_activity.of_project(tx, project_id)}
    clients = (set_up | {each.agent for each in there}) - run
    said = messages.history(tx, project_id, limit=LOOKED_AT)
    is_old = len(said) == LOOKED_AT
    return FirstSteps(
        installed=tuple(agent.name for agent in known if agent.name in clients)[:NAMED],
        started=tuple(agent.name for agent in known if agent.presence_id is not None)[:NAMED],
        has_message=is_old or any(message.recipient not in (HUB, None) for message in said),
        has_claim=is_old or _is_claimed(tx, project_id),
        has_talk=is_old or any(_is_between(names, message.sender, message.recipient) for message in said),
        has_echo=echo_agent.is_there(tx, project_id),
    )


def _is_between(names: set[str], sender: str, recipient: str | None) -> bool:
    """Tell whether one of these agents wrote to another; a note of an agent to itself is no talk."""
    return sender != recipient and {sender, recipient} <= names


def _is_claimed(tx: Tx, project_id: UUID) -> bool:
    return tasks.is_any_taken(tx, project_id, first=LOOKED_AT) or bool(file_claims.of_project(tx, project_id))
