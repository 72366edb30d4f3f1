"""Resources of the hub, readable and followable by an address: its agents, its tasks, one task, one inbox.

They are the same in every dialect. An address counts within the projects that the reader may see; a hidden thing is
refused exactly like one that does not exist. Reading changes nothing: mail read here is not acknowledged.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from urllib.parse import quote, unquote
from uuid import UUID

from hubbub.core.actions import inbox
from hubbub.core.agents import agents
from hubbub.core.people import access
from hubbub.core.work import task_search, tasks
from hubbub.model.errors import NotFound
from hubbub.model.ids import parse_id
from hubbub.model.people.rights import HUB, Actor
from hubbub.model.records import Activity, Agent, Condition, Letter, Presence, Profile, Project, Task
from hubbub.store.tx import Tx

MIME_TYPE = "application/json"
SCHEME = "hubbub://"
TASKS_SHOWN = 200
LETTERS_SHOWN = 200
LONG = frozenset({"description", "context", "result"})  # only in the one task, not in the list
INTERNAL = frozenset({"project_id", "delivery_id", "leased", "door", "addressed"})

Json = object


class ResourceKind(StrEnum):
    """The kind of a resource."""

    AGENTS = "agents"
    TASKS = "tasks"
    TASK = "task"
    INBOX = "inbox"


@dataclass(frozen=True, slots=True)
class Resource:
    """One readable thing; `key` is the task's id or the agent's name, if it has one."""

    kind: ResourceKind
    key: str = ""


Topic = tuple[UUID, Resource]  # a resource of one project


@dataclass(frozen=True, slots=True)
class ResourceEntry:
    """The listing of a resource, or of a family of them."""

    address: str
    name: str
    description: str


LISTED = (
    ResourceEntry("hubbub://agents", "agents", "Every agent of the project, and whether it is there"),
    ResourceEntry("hubbub://tasks", "tasks", f"The newest {TASKS_SHOWN} tasks of the project, newest first"),
)
TEMPLATES = (
    ResourceEntry("hubbub://tasks/{id}", "task", "One task, by its id or its number"),
    ResourceEntry(
        "hubbub://inbox/{name}", "inbox", "What waits in an agent's inbox; reading it acknowledges nothing"
    ),
)


def listed(actor: Actor) -> tuple[ResourceEntry, ...]:
    """List the resources that the actor can read without knowing a name; an agent's own inbox is one."""
    if actor.agent is None:
        return LISTED
    own = f"hubbub://inbox/{quote(actor.agent, safe='')}"
    return (*LISTED, ResourceEntry(own, "my-inbox", f"What waits in the inbox of {actor.agent}"))


def _parse(address: str) -> Resource:
    """Parse an address. Raises `NotFound` if it can name nothing here."""
    room, _, key = address.removeprefix(SCHEME).partition("/")
    if address.startswith(SCHEME):
        if room in (ResourceKind.AGENTS, ResourceKind.TASKS) and not key:
            return Resource(ResourceKind(room))
        if room == ResourceKind.TASKS:
            return Resource(ResourceKind.TASK, str(parse_id(key) or unquote(key)))
        if room == ResourceKind.INBOX and key:
            return Resource(ResourceKind.INBOX, unquote(key))
    raise NotFound("resource", address)


def topics(tx: Tx, address: str) -> list[Topic]:
    """Return the topics to follow for changes of the resource. Raises `NotFound` if the caller may not read it.

    An address of another scheme never changes for the hub: following it is allowed, and never tells
    anything.
    """
    if not address.startswith(SCHEME):
        return []
    resource, projects = _found(tx, address)
    return [(project.id, resource) for project in projects]


def read(tx: Tx, address: str) -> str:
    """Return the resource as JSON text. Raises `NotFound` if there is none or the caller may not read it."""
    resource, projects = _found(tx, address)
    content = _READ[resource.kind](tx, projects, resource.key)
    return json.dumps(content, ensure_ascii=False, default=str)


def changed_by(activity: Activity) -> Iterator[Topic]:
    """Yield the resources whose content changes with the activity."""
    project_id, noun = activity.project_id, activity.kind.partition(".")[0]
    if project_id is None:
        return
    if noun == "agent":
        yield project_id, Resource(ResourceKind.AGENTS)
    if noun == "task":
        yield project_id, Resource(ResourceKind.TASKS)
        yield project_id, Resource(ResourceKind.TASK, str(activity.task_id))
    if noun in ("task", "message"):
        for name in (activity.agent, activity.detail.get("taken_from")):
            if isinstance(name, str):
                yield project_id, Resource(ResourceKind.INBOX, name)


def _found(tx: Tx, address: str) -> tuple[Resource, list[Project]]:
    """Return the resource, and the projects in which the caller may read it; without any, raise `NotFound`."""
    resource, projects = _parse(address), access.visible(tx)
    if resource.kind is ResourceKind.TASK:
        return _found_task(tx, resource.key, projects, address)
    found = [project for project in projects if _is_readable(tx, project, resource)]
    if not found:
        raise NotFound("resource", address)
    return resource, found


def _is_readable(tx: Tx, project: Project, resource: Resource) -> bool:
    match resource.kind:
        case ResourceKind.INBOX:
            is_there = resource.key == HUB or agents.is_known(tx, project.id, resource.key)
            return is_there and access.may_read_inbox(tx, resource.key)
        case _:
            return True


def _found_task(
    tx: Tx, ref: str, projects: Sequence[Project], address: str
) -> tuple[Resource, list[Project]]:
    """Return a task by its id or, if the caller sees one project, by its number, as in every other call."""
    try:
        task = tasks.find(tx, [project.id for project in projects], ref)
    except NotFound:
        raise NotFound("resource", address) from None
    return Resource(ResourceKind.TASK, str(task.id)), [
        each for each in projects if each.id == task.project_id
    ]


def _read_agents(tx: Tx, projects: Sequence[Project], _key: str) -> Json:
    last = {(each.project_id, each.agent): each for each in agents.presences(tx, [p.id for p in projects])}
    return [
        _agent_view(agent, project.slug, last.get((project.id, agent.name)), tx.now)
        for project in projects
        for agent in agents.of_project(tx, project.id)
    ]


def _agent_view(agent: Agent, slug: str, presence: Presence | None, now: int) -> Json:
    view: dict[str, object] = {"name": agent.name, "project": slug, "condition": Condition.OFFLINE}
    if presence is None:
        return view
    condition = presence.condition if presence.is_live(now) else Condition.OFFLINE
    told = {field.name: getattr(presence, field.name) for field in fields(Profile)}
    return {**view, "condition": condition, **told, "seen_at": presence.seen_at}


def _read_tasks(tx: Tx, projects: Sequence[Project], _key: str) -> Json:
    slugs = {project.id: project.slug for project in projects}
    found = task_search.search(tx, list(slugs), limit=TASKS_SHOWN)
    return [_task_view(task, slugs[task.project_id], without=LONG) for task in found]


def _read_task(tx: Tx, projects: Sequence[Project], key: str) -> Json:
    task = tasks.find(tx, [projects[0].id], key)
    return _task_view(task, projects[0].slug)


def _task_view(task: Task, slug: str, without: frozenset[str] = frozenset()) -> Json:
    hidden = without | INTERNAL
    shown = {name: value for name, value in asdict(task).items() if name not in hidden}
    return {**shown, "project": slug, "priority": task.priority.name.lower()}


def _read_inbox(tx: Tx, projects: Sequence[Project], key: str) -> Json:
    return [
        _letter_view(letter, project.slug)
        for project in projects
        for letter in inbox.read(tx, project.id, key, LETTERS_SHOWN)
    ]


def _letter_view(letter: Letter, slug: str) -> Json:
    return {
        "id": letter.delivery.id,
        "project": slug,
        "kind": letter.kind,
        "sender": letter.sender,
        "author": letter.author,
        "edited_by": letter.edited_by,
        "text": letter.text,
        "context": letter.context,
        "task_id": letter.task_id,
        "in_reply_to": letter.in_reply_to,
        "outcome": letter.outcome,
        "priority": letter.delivery.priority.name.lower(),
        "stored_at": letter.delivery.stored_at,
    }


_READ: dict[ResourceKind, Callable[[Tx, Sequence[Project], str], Json]] = {
    ResourceKind.AGENTS: _read_agents,
    ResourceKind.TASKS: _read_tasks,
    ResourceKind.TASK: _read_task,
    ResourceKind.INBOX: _read_inbox,
}
