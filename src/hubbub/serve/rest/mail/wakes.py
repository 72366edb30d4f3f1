"""Waking agents: programs beside their clients wait here for a wake, and report its result."""

from typing import Annotated
from uuid import UUID

from fastapi import Request
from pydantic import Field

from hubbub.core.agents import agents
from hubbub.core.people import access
from hubbub.core.presence import presences, wakes
from hubbub.core.presence.wakes import InboxHint
from hubbub.model.mail.wakes import HookPhase, Wake, WakeMethod, Waker, WakeResult
from hubbub.model.people.rights import Right
from hubbub.model.records import Condition, Profile, Project
from hubbub.serve.live.wake_waiters import WakeWaiters
from hubbub.serve.rest.base.call import Call, RestCall
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import Body, Line, Model, Name, Shape
from hubbub.store.tx import Tx

router = Router("wakes")

LONGEST_WAIT = 45  # seconds; proxies tend to give up after 60


class WakerRequest(Body):
    """A waker's description of itself."""

    instance: Name = Field(description="which run of the client it stands beside")
    client: Name
    method: WakeMethod
    idle: bool = Field(True, description="whether it wakes a client that does nothing")
    wait: float = Field(0, ge=0, le=LONGEST_WAIT, description="seconds")
    thread: Line | None = None
    host: Line | None = None


class TakenShape(Shape):
    id: UUID
    text: str = Field(
        description="what to tell the client, to the letter: numbers only, no words of a sender"
    )
    unread: int
    asked_at: int
    probe: bool


class Taken(Model):
    wake: TakenShape | None = Field(description="null: nothing to wake for, for this waker")


class WakeReport(Body):
    result: WakeResult
    said: Line | None = Field(None, description="why")
    took_ms: Annotated[int, Field(strict=True, ge=0, le=2**53)] | None = None


class WakeStory(Shape):
    """The course of a wake."""

    id: UUID
    agent: str
    status: str = Field(description="waiting, taken, woken, queued; or how it ended: answered, refused, …")
    probe: bool
    text: str
    unread: int
    asked_at: int
    taken_at: int | None
    instance: str | None
    client: str | None
    method: WakeMethod | None
    told_at: int | None
    result: WakeResult | None
    said: str | None
    took_ms: int | None
    answered_at: int | None = Field(description="when the agent looked into its inbox")
    ended_at: int | None


class OneWake(Model):
    wake: WakeStory


class Left(Model):
    left: bool = Field(description="whether it was there")


class GlanceAsked(Body):
    instance: Name
    client: Name
    moment: HookPhase


class Glanced(Model):
    text: str | None = Field(description="what to tell the agent; null: nothing that it was not told already")
    unread: int
    wake_id: UUID | None


@router.post("/agents/{name:path}/wakes")
async def wait_for_wake(request: Request, call: Call, name: str, asked: WakerRequest) -> Taken:
    """Wait for a wake to bring to the agent. The caller counts as its waker for `wait` and 15 seconds more."""
    project, agent = await call.write(lambda tx: _waited_for(tx, call, name, asked))
    told = asked.model_dump(exclude={"wait"})
    waker = Waker(project_id=project.id, agent=agent, **told)
    waking: WakeWaiters = request.app.state.waking
    taken = await waking.wait(request, call.actor, waker, asked.wait)
    return Taken(wake=TakenShape.of(taken) if taken is not None else None)


@router.delete("/agents/{name:path}/wakers/{instance:path}")
async def leave(request: Request, call: Call, name: str, instance: str) -> Left:
    """Remove an instance of the agent's client: its wakers get no more wakes."""
    project, agent = await call.write(lambda tx: _speaker(tx, call, name))
    waking: WakeWaiters = request.app.state.waking
    return Left(left=await waking.leave(call.actor, project.id, agent, instance))


@router.post("/agents/{name:path}/glance")
async def glance(call: Call, name: str, body: GlanceAsked) -> Glanced:
    """Tell an agent by a hook, at a boundary of a turn, of new mail that neither a wake nor a hook has pointed at."""

    def look(tx: Tx) -> InboxHint:
        project, agent = _speaker(tx, call, name)
        condition = Condition.WORKING if body.moment.is_busy else Condition.IDLE
        profile = Profile(runtime=body.client)
        presences.attend(tx, project.id, agent, instance=body.instance, condition=condition, profile=profile)
        waker = Waker(
            project_id=project.id,
            agent=agent,
            instance=body.instance,
            method=WakeMethod.TURN,
            client=body.client,
            idle=False,
        )
        return wakes.glance(tx, waker, body.moment)

    found = await call.read(look)
    return Glanced(text=found.text, unread=found.unread, wake_id=found.wake.id if found.wake else None)


@router.post("/agents/{name:path}/probe", status_code=201)
async def probe(call: Call, name: str) -> OneWake:
    """Send the agent a test message, and have it woken at once; `GET /wakes/{id}` tells the result."""

    def start(tx: Tx) -> Wake:
        project = call.enter(tx)
        agents.require_known(tx, project.id, name)
        access.speak(tx, project.id, name)  # an agent tests nobody but itself
        return wakes.probe(tx, project.id, name)

    return OneWake(wake=WakeStory.of(await call.write(start)))


@router.get("/wakes/{wake_id}")
async def show_wake(call: Call, wake_id: str) -> OneWake:
    """Show the course of a wake."""

    def look(tx: Tx) -> Wake:
        return wakes.find(tx, [project.id for project in access.visible(tx, call.project)], wake_id)

    return OneWake(wake=WakeStory.of(await call.read(look)))


@router.post("/wakes/{wake_id}")
async def report(call: Call, wake_id: str, body: WakeReport) -> OneWake:
    """Report the result of a wake. The first report counts; after a failure another waker may try."""

    def keep(tx: Tx) -> Wake:
        projects = [project.id for project in access.visible(tx, call.project)]
        wake = wakes.find(tx, projects, wake_id)
        access.enter(tx, str(wake.project_id), Right.WRITE)
        access.speak(tx, wake.project_id, wake.agent)
        wake = wakes.find(tx, projects, wake_id, lock=True)
        return wakes.report(tx, wake, body.result, said=body.said, took_ms=body.took_ms)

    return OneWake(wake=WakeStory.of(await call.write(keep)))


def _waited_for(tx: Tx, call: RestCall, name: str, asked: WakerRequest) -> tuple[Project, str]:
    """Return the speaker; a waker inside the agent's client also shows that the agent is present."""
    project, agent = _speaker(tx, call, name)
    if asked.method in (WakeMethod.MONITOR, WakeMethod.REWAKE):
        profile = Profile(runtime=asked.client, hostname=asked.host)
        presences.attend(tx, project.id, agent, instance=asked.instance, condition=None, profile=profile)
    return project, agent


def _speaker(tx: Tx, call: RestCall, name: str) -> tuple[Project, str]:
    """Return the project of the call, and its speaker. Raises the errors of `access`, and `Invalid`."""
    project = call.enter(tx)
    agents.require_nameable(name)
    return project, access.speak(tx, project.id, name)
