"""Agents' names in a project, and their reported conditions."""

from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from uuid import UUID

from hubbub.core.snapshots import patches
from hubbub.model.agents import agent_names
from hubbub.model.errors import Invalid, UnknownAgent
from hubbub.model.people.rights import EVERYONE, EVERYONES, HUB
from hubbub.model.records import Agent, Condition, Presence
from hubbub.store.agents import agents
from hubbub.store.log import activity, projection
from hubbub.store.people import users
from hubbub.store.tx import MustWrite, Tx

OWN_DOORS = frozenset({"", "hub"})  # REST, the command line and the hub's own tools
RENAMED = "agent.renamed"
MOST_RENAMED = 1_000  # renames that are looked through, the latest
STEPS = (".", "..")  # in an address they mean another folder, even when they are encoded

# These need no rule of their own, so they are the store's functions.
of_project = agents.of_project
presence = agents.presence
by_token = agents.by_token
describe_node = agents.put_node
nodes = agents.nodes


def meet(tx: Tx, project_id: UUID, name: str, *, is_machine: bool = False) -> None:
    """Make `name` an agent of the project. Records `agent.met` the first time.

    Raises `Invalid` for a name that means others, or looks like another's. At the hub's own doors, also raises it
    for a new name that shells, addresses or files may not take as it is, or that is another person's, unless it belongs
    to a machine. The documented tool sets have rules of their own.
    """
    if agents.find(tx, project_id, name) is not None:
        return  # as nearly always
    require_nameable(name)
    if tx.is_read:
        raise MustWrite
    _require_unlike(tx, project_id, name)
    if agents.meet(tx, project_id, name):
        if tx.door in OWN_DOORS and not is_machine:
            require_choosable(name)
            _require_not_anothers(tx, project_id, name)
        patch = patches.agent(tx, project_id, name)
        tx.record("agent.met", project_id=project_id, agent=name, patch=patch)


def require_choosable(name: str) -> None:
    """Raise `Invalid`, with the rules, for a name that shells, addresses or files may not take as it is."""
    if not agent_names.is_choosable(name):
        raise Invalid(
            "an agent's name has letters, digits, '_', '-', '.', '@' and '+', up to "
            f"{agent_names.LONGEST} of them, and begins with a letter, a digit or '_'"
        )


def require_nameable(name: str) -> None:
    """Raise `Invalid` for a text that cannot be an agent's name."""
    if name == HUB:
        raise Invalid(f"{HUB!r} is the hub's own name; choose another")
    if name in EVERYONES:
        raise Invalid(f"{name!r} means all agents of the project; choose another name")
    if (hidden := agent_names.first_hidden(name)) is not None:
        raise Invalid(
            f"an agent's name has no invisible or control characters, and this has U+{ord(hidden):04X}"
        )
    if name != name.strip():
        raise Invalid("an agent's name has no blanks at its ends")
    if name in STEPS:
        raise Invalid(f"an address cannot contain an agent's name like {name!r}; choose another name")


def _require_unlike(tx: Tx, project_id: UUID, name: str) -> None:
    """Raise `Invalid` for a new name that differs from an agent's by characters that nobody sees."""
    if name.isascii():  # no other name looks like it: where a joiner may be, another sign stands beside it
        return
    if (other := agents.look_alike(tx, project_id, name)) is not None:
        raise Invalid(f"the name looks like that of the agent {other!r}; choose another name")


def _require_not_anothers(tx: Tx, project_id: UUID, name: str) -> None:
    """Raise `Invalid` for a chosen name that is another person's: others would take the agent for that person."""
    if tx.actor.agent is not None or not projection.is_person(tx, project_id, name):
        return
    person = users.find_by_name(tx, name)
    if person is not None and person.id != tx.actor.user_id:
        raise Invalid(f"{name!r} is the name of a person in this project; choose another name")


def is_known(tx: Tx, project_id: UUID, name: str) -> bool:
    """Tell whether the project has ever seen an agent of that name."""
    return agents.find(tx, project_id, name) is not None


def is_person(tx: Tx, project_id: UUID, name: str) -> bool:
    """Tell whether a person of the project is called so, and no agent."""
    return not is_known(tx, project_id, name) and projection.is_person(tx, project_id, name)


def name_now(tx: Tx, project_id: UUID, name: str) -> str | None:
    """Return the name of the agent that had this one before a rename, as far as the log tells.

    None if there is none, and if an agent has it now.
    """
    if is_known(tx, project_id, name):
        return None
    now = name
    for renamed in reversed(activity.of_kind(tx, project_id, RENAMED, limit=MOST_RENAMED)):
        if renamed.detail["old"] in (name, now):
            now = str(renamed.detail["new"])
    return now if now != name and is_known(tx, project_id, now) else None


def require_known(tx: Tx, project_id: UUID, name: str) -> None:
    """Raise `UnknownAgent`, with up to three near names, if the project has never seen `name`.

    For the name of all agents, raise `Invalid` instead: it is never one agent.
    """
    if not is_known(tx, project_id, name):
        if name == EVERYONE:
            raise Invalid(f"{EVERYONE!r} means all agents of the project; name one of them here")
        raise unknown(tx, project_id, name)


def unknown(tx: Tx, project_id: UUID, name: str) -> UnknownAgent:
    """Return the refusal of a name that the project does not know, with up to three near names.

    By our own doors it says which name the agent has now, if it was renamed.
    """
    if tx.door in OWN_DOORS and (now := name_now(tx, project_id, name)) is not None:
        return UnknownAgent(name, [now], now)
    known = [agent.name for agent in agents.of_project(tx, project_id)]
    folded = {each.casefold(): each for each in known}
    near = get_close_matches(name.casefold(), folded, n=3, cutoff=0.5)
    return UnknownAgent(name, [folded[each] for each in near])


def find(tx: Tx, project_id: UUID, name: str) -> Agent:
    """Return the agent of that name. Raises `UnknownAgent`, with up to three near names."""
    require_known(tx, project_id, name)
    agent = agents.find(tx, project_id, name)
    assert agent is not None  # an unknown name was refused above
    return agent


def with_inbox(tx: Tx, project_id: UUID) -> list[str]:
    """List the names with an inbox: every agent that was ever there gets broadcasts in its inbox."""
    return [agent.name for agent in agents.of_project(tx, project_id) if agent.presence_id is not None]


def counts(tx: Tx, project_ids: Sequence[UUID]) -> Counter[Condition]:
    """Count the agents of these projects by condition."""
    return sum((Counter(agents.counts(tx, project_id)) for project_id in project_ids), Counter())


def versions(tx: Tx, project_ids: Sequence[UUID]) -> dict[UUID, agents.Version]:
    """Return the version of each project's presences: while it is unchanged, so is the result of `presences`."""
    return {project_id: agents.version(tx, project_id) for project_id in project_ids}


def presences(tx: Tx, project_ids: Sequence[UUID]) -> list[Presence]:
    """List the current or last presence of every agent of these projects, oldest first."""
    return [presence for project_id in project_ids for presence in agents.presences(tx, project_id)]


def condition(tx: Tx, project_id: UUID, name: str) -> Condition:
    """Return the condition that the agent reported; `offline` if it is silent or was never there."""
    return agents.condition(tx, project_id, name) or Condition.OFFLINE
