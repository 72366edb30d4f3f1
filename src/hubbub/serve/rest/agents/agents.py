"""Agents: their list, their presence, and their inboxes."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Annotated

from fastapi import Query, Request
from fastapi.responses import Response
from pydantic import Field

from hubbub.core import agent_editing, agent_removal, agent_renaming
from hubbub.core.actions import inbox
from hubbub.core.agents import agents
from hubbub.core.log.idempotency import Reply
from hubbub.core.mail import delivery_forecast, messages
from hubbub.core.people import access
from hubbub.core.presence import agent_location, presences, wakes
from hubbub.core.presence.agent_location import AgentLocation
from hubbub.core.snapshots import card_states
from hubbub.core.work import todos
from hubbub.model.agents import agent_names
from hubbub.model.mail.wakes import DeliveryChannel, Wake
from hubbub.model.people.rights import HUB, Right
from hubbub.model.records import Agent, Condition, Delivery, Letter, Presence, Profile, Project
from hubbub.serve.live.activity_source import LiveActivitySource
from hubbub.serve.rest.agents.agent_shapes import AgentShape, LastWakeShape, ToldShape, WakeShape
from hubbub.serve.rest.base.call import Call, RestCall
from hubbub.serve.rest.base.chunked_json import as_bytes, chunked_response, list_object, takes_gzip
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import (
    Body,
    LetterShape,
    Line,
    LongText,
    Model,
    Name,
    Percent,
    PresenceShape,
    Seconds,
    Text,
    told,
)
from hubbub.store.tx import Tx

router = Router("agents")

SEEN = ("last_output", "last_output_at", "last_tool", "last_tool_at")
TAKERS = (delivery_forecast.WORKER, delivery_forecast.BUILT_IN)  # runtimes that take each message at once
LONGEST_WAIT = 45  # seconds; proxies tend to give up after 60


class Agents(Model):
    agents: list[AgentShape]


class OneAgent(Model):
    agent: AgentShape


class Report(Body):
    """An agent's report on itself. Omitted members keep their value."""

    instance: Name = Field(description="which run of the agent's program this is")
    condition: Condition = Condition.IDLE
    ttl_seconds: Seconds = Field(180.0, description="silence after which it is gone; counts when it comes")
    take: Annotated[bool, Field(strict=True)] = Field(
        False, description="begin to be the agent, if nobody else is"
    )
    instead_of: Name | None = Field(None, description="the instance that is known to be dead")
    doing: LongText | None = None
    output: LongText | None = None
    progress: Percent | None = None
    server: Line | None = None
    hostname: Line | None = None
    runtime: Line | None = None
    workdir: Line | None = None
    version: Line | None = None
    model: Line | None = None


PROFILE = Report.model_fields.keys() - {"instance", "condition", "ttl_seconds", "take", "instead_of"}


class Present(Model):
    presence: PresenceShape
    unread: int


class Gone(Model):
    presence: PresenceShape | None = Field(description="the presence that ended; null if it was not there")


class ScopeRelease(Body):
    reason: Text


class ReleasedScope(Model):
    """The scope that an agent had declared."""

    agent: str
    area: str | None
    files: list[str]


class Removed(Model):
    """The name of the agent that is removed."""

    removed: str


class ChangedAgent(Body):
    """Changes of an agent: omitted members stay as they are, and null or an empty text clears one."""

    description: LongText | None = Field(None, description="what the agent is for")
    area: Line | None = Field(None, description="the area of the project in which it works while it is there")


class NewName(Body):
    to: Annotated[Name, told(minLength=1, maxLength=agent_names.LONGEST)] = Field(
        description="the new name, which the project does not know yet: letters and digits of any script, and _-.@+"
    )


class Renamed(Model):
    """The agent's names, and the machines whose programs still use the old one."""

    renamed: str
    to: str
    machines: list[str]


class Inbox(Model):
    letters: list[LetterShape]


class Acknowledged(Model):
    unread: int


@router.get("/agents", response_class=Response, responses={200: {"model": Agents}})
async def list_agents(request: Request, call: Call) -> Response:
    """List every agent that the caller's projects, or the named one, know."""

    def look(tx: Tx) -> Response:
        projects, news = access.visible(tx, call.project), request.app.state.news
        shapes = (as_bytes(each) for project in projects for each in _shapes(tx, project, news))
        return chunked_response(list_object({}, "agents", shapes), is_packed=takes_gzip(request))

    return await call.read(look, long=True)


@router.get("/agents/{name:path}/inbox")
async def read_inbox(
    request: Request,
    call: Call,
    name: str,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    wait_seconds: Annotated[float, Query(ge=0, le=LONGEST_WAIT)] = 0,
) -> Inbox:
    """Read the agent's inbox, most urgent first. If it is empty, the answer waits for a letter."""
    project = await call.read(lambda tx: _readable(tx, call, name))
    letters = await call.read(lambda tx: inbox.read(tx, project.id, name, limit))
    if not letters and wait_seconds:
        letters = await _wait(request, call, project, name=name, limit=limit, seconds=wait_seconds)
    if any(letter.delivery.seen_at is None for letter in letters):
        await call.write(lambda tx: _note_seen(tx, letters))
    return Inbox(letters=[LetterShape.of(letter, **_of_delivery(letter)) for letter in letters])


@router.post("/agents/{name:path}/inbox/{letter_id}/ack")
async def acknowledge(call: Call, name: str, letter_id: str) -> Acknowledged:
    """Acknowledge a message or a task in the inbox, by its id; this accepts a task. A repeated call changes nothing."""

    def ack(tx: Tx) -> int:
        project = _readable(tx, call, name, Right.WRITE)
        inbox.ack(tx, project.id, name, letter_id)
        return inbox.pending(tx, project.id, name)

    return Acknowledged(unread=await call.write(ack))


@router.put("/agents/{name:path}/presence")
async def report(call: Call, name: Name, body: Report) -> Present:
    """Take a heartbeat of a present instance (404 if it is not); with `take`, become present (409 if another is)."""
    profile = Profile(**{member: getattr(body, member) for member in PROFILE})

    def tell(tx: Tx) -> Present:
        project = call.enter(tx)
        agent = access.speak(tx, project.id, name)
        if body.take:
            current = presences.take(
                tx,
                project.id,
                agent,
                instance=body.instance,
                profile=profile,
                ttl=timedelta(seconds=body.ttl_seconds),
                instead_of=body.instead_of,
            )
        else:
            current = presences.beat(
                tx, project.id, agent, instance=body.instance, condition=body.condition, profile=profile
            )
        return Present(presence=PresenceShape.of(current), unread=inbox.pending(tx, project.id, agent))

    return await call.write(tell)


@router.post("/agents/{name:path}/release-scope", response_model=ReleasedScope)
async def release_scope(call: Call, name: Name, body: ScopeRelease) -> Reply:
    """Release an agent's scope and claims; the agent is told by whom, and why. For people."""

    def release(tx: Tx) -> ReleasedScope:
        access.require_person(tx, "release what an agent has declared")
        project = call.enter(tx)
        was = presences.release_scope(tx, project, name, by=HUB, reason=body.reason)
        return ReleasedScope(agent=name, area=was.area, files=list(was.files))

    return await call.create(release)


@router.delete("/agents/{name:path}/presence")
async def leave(call: Call, name: str, instance: str) -> Gone:
    """End an instance's presence: tasks that it claimed from the open queue go back there."""

    def go(tx: Tx) -> Presence | None:
        project = call.enter(tx)
        return presences.leave(tx, project.id, access.speak(tx, project.id, name), instance=instance)

    ended = await call.write(go)
    return Gone(presence=PresenceShape.of(ended) if ended else None)


@router.delete("/agents/{name:path}")
async def remove_agent(call: Call, name: str) -> Removed:
    """Remove an agent from the project. For people.

    Its tokens end, its begun tasks go back to the open queue, and its unread mail becomes dead letters.
    """

    def remove(tx: Tx) -> str:
        agent_removal.remove(tx, call.enter(tx), name)
        return name

    return Removed(removed=await call.write(remove))


@router.patch("/agents/{name:path}", response_model=OneAgent)
async def change_agent(request: Request, call: Call, name: str, body: ChangedAgent) -> Reply:
    """Change an agent's description, and its area while it is there. For people."""

    def change(tx: Tx) -> OneAgent:
        project = call.enter(tx)
        if "area" in body.model_fields_set:
            agent_editing.set_area(tx, project, name, body.area)
        if "description" in body.model_fields_set:
            agent_editing.describe(tx, project, name, body.description)
        return OneAgent(agent=_found(tx, project, name, request.app.state.news))

    return await call.create(change)


@router.post("/agents/{name:path}/rename", response_model=Renamed)
async def rename_agent(call: Call, name: str, body: NewName) -> Reply:
    """Give an agent that is not there another name. For people.

    Its tokens, open tasks, unread mail, memory and limits move along; its past keeps the old name.
    """

    def rename(tx: Tx) -> Renamed:
        done = agent_renaming.rename(tx, call.enter(tx), name, body.to)
        return Renamed(renamed=done.old, to=done.new, machines=list(done.machines))

    return await call.create(rename)


@router.get("/agents/{name:path}")
async def show_agent(request: Request, call: Call, name: str) -> OneAgent:
    """Show one agent; by a name that it had before, too, and then with its present one."""

    def look(tx: Tx) -> AgentShape:
        project = call.enter(tx, Right.READ)
        now = agents.name_now(tx, project.id, name) or name
        return _found(tx, project, now, request.app.state.news)

    return OneAgent(agent=await call.read(look))


def _found(tx: Tx, project: Project, name: str, news: LiveActivitySource) -> AgentShape:
    """Return one agent. Raises `UnknownAgent`."""
    found = agents.find(tx, project.id, name)
    return _shape(tx, found, agent_location.of(tx, project.id, name), news)


def _shapes(tx: Tx, project: Project, news: LiveActivitySource) -> Iterator[AgentShape]:
    """Yield all agents of a project, by name."""
    known = agent_location.of_project(tx, project.id)
    for agent in agents.of_project(tx, project.id):
        yield _shape(tx, agent, known.get(agent.name) or AgentLocation(agent=agent.name), news)


def _shape(tx: Tx, agent: Agent, found: AgentLocation, news: LiveActivitySource) -> AgentShape:
    presence = agents.presence(tx, agent.project_id, agent.name)
    todo = todos.of_agent(tx, agent.project_id, agent.name)
    is_live = presence is not None and presence.is_live(tx.now)
    evidence = found.evidence
    more = {
        "created_at": agent.created_at,
        "description": agent.description,
        "name": agent.name,
        "condition": presence.condition if presence and is_live else Condition.OFFLINE,
        "live": is_live,
        "now": tx.now,
        "todos": todo.items if todo else (),
        "unread": inbox.pending(tx, agent.project_id, agent.name),
        "since": presence.opened_at if presence else None,
        "runtime": (presence.runtime if presence else None) or evidence.runtime,
        "machine": found.machine or (presence.hostname if presence else None),
        "placed": found.placed,
        "work": found.work,
        **_stands(tx, agent),
        "wake": _wake(tx, agent, presence if is_live else None, news),
        **{name: getattr(evidence, name) for name in SEEN},
    }
    return AgentShape.of(presence, **more)


def _stands(tx: Tx, agent: Agent) -> dict[str, object]:
    """Return an agent's state and need, as every picture shows them."""
    known = card_states.KnownAgent.of(tx, agent.project_id, agent.name)
    card = known.card if known is not None else {}
    return {name: card.get(name) for name in ("state", "need")}


def _wake(tx: Tx, agent: Agent, presence: Presence | None, news: LiveActivitySource) -> WakeShape:
    """Describe how an agent hears of its mail, and its last wake."""
    way = news.way_to(agent.project_id, agent.name)
    is_worker = presence is not None and presence.runtime in TAKERS
    heard = "stream" if way is DeliveryChannel.STREAM else "worker" if is_worker else "wait" if way else None
    there = wakes.wakers(tx, agent.project_id, agent.name)
    there.sort(key=lambda waker: (waker.can_wake(tx.now), waker.idle, waker.since))
    row = messages.last_told(tx, agent.project_id, agent.name)
    last = wakes.last(tx, agent.project_id, agent.name)
    return WakeShape.of(
        delivery_forecast.forecast(tx, agent.project_id, agent.name, news),
        method=there[-1].method if there else heard or "none",
        last=_told(row) if row is not None else None,
        last_wake=_last_wake(last) if last is not None else None,
    )


def _last_wake(wake: Wake) -> LastWakeShape:
    at = wake.taken_at or wake.asked_at
    answered_ms = wake.answered_at - at if wake.answered_at is not None else None
    return LastWakeShape.of(wake, at=at, answered_ms=answered_ms)


def _told(row: Delivery) -> ToldShape | None:
    for kind, at in (("acked", row.acked_at), ("seen", row.seen_at), ("notified", row.notified_at)):
        if at is not None:
            return ToldShape.model_validate({"at": at, "kind": kind, "after_ms": at - row.stored_at})
    return None


def _readable(tx: Tx, call: RestCall, name: str, right: Right = Right.READ) -> Project:
    """Return the project of an inbox that the caller may read. Raises `Forbidden`, `UnknownAgent`, and like `enter`."""
    access.require_inbox(tx, name)
    project = call.enter(tx, right)
    if name not in (HUB, tx.actor.user_name):
        agents.require_known(tx, project.id, name)
    return project


async def _wait(
    request: Request, call: RestCall, project: Project, *, name: str, limit: int, seconds: float
) -> list[Letter]:
    """Return the letters that come within so many seconds; none if none does, or the token ends."""
    news: LiveActivitySource = request.app.state.news
    letters: list[Letter] = []

    async def look() -> list[Letter]:
        return await call.read(lambda tx: inbox.read(tx, project.id, name, limit))

    with suppress(TimeoutError):
        async with asyncio.timeout(seconds), news.follow(call.actor, project.id, name) as batches:
            letters = await look()  # for letters before we followed
            while not letters:
                if await anext(batches, None) is None:
                    break
                letters = await look()
    return letters


def _note_seen(tx: Tx, letters: Sequence[Letter]) -> None:
    if access.reads_for_agent(tx):
        inbox.note_seen(tx, letters)


def _of_delivery(letter: Letter) -> dict[str, object]:
    delivery = letter.delivery
    return {
        "id": delivery.id,
        "ref": f"{'M' if letter.task_id is None else 'T'}-{letter.number}",
        "priority": delivery.priority,
        "stored_at": delivery.stored_at,
        "notified_at": delivery.notified_at,
        "seen_at": delivery.seen_at,
    }
