"""Agents on machines: people start, stop and read them, through the machines, whose gates decide."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

from fastapi import Query, Request
from fastapi.responses import StreamingResponse
from pydantic import Field, TypeAdapter
from starlette.responses import JSONResponse, Response

from hubbub.core.fleet import dispatches, managed_agents, nodes, own_machine
from hubbub.core.log import idempotency
from hubbub.core.people import access
from hubbub.dialects.call import ActivitySource, HubContext
from hubbub.model.errors import ApprovalTimedOut, Forbidden, HubError, Invalid, NeverPlaced, NotDone, Offline
from hubbub.model.fleet.calls import Node, NodeCall, Principal, RefusalCode, ToolResult
from hubbub.model.fleet.managed_agents import MOST_LINES, MOST_TASKS, ManagedAgent
from hubbub.model.json_text import compact
from hubbub.model.people.rights import Actor, Right
from hubbub.model.records import Project
from hubbub.serve.rest.base.call import Call, RestCall
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import Body, Line, Model, Name, Shape, Text, tells
from hubbub.store.tx import Tx

router = Router("agents on machines")

LINES = 200
KEEP_ALIVE = 15.0  # seconds between two signs of life on a stream
COMMENT = b": here\n\n"
STREAM = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
_REFUSALS: Mapping[RefusalCode, type[HubError]] = {
    RefusalCode.INVALID: Invalid,
    RefusalCode.OFFLINE: Offline,
    RefusalCode.NEEDS_APPROVAL: ApprovalTimedOut,
}


@tells(ManagedAgent)
class PlacementShape(Shape):
    pass


class Placements(Model):
    placements: list[PlacementShape]


class OnePlacement(Model):
    placement: PlacementShape


class LineShape(Model):
    """A line of output; `id` is its number among all lines of the agent on its machine."""

    id: int
    at: int
    text: str


_LINES = TypeAdapter(list[LineShape])


class Lines(Model):
    agent: str
    node: str
    lines: list[LineShape]


class AgentStart(Body):
    """An agent to start on a machine, whose gate decides whether it may."""

    node: Name
    run: Text = Field(description="the command that is run for each task, its text on standard input")
    concurrency: Annotated[int, Field(strict=True, ge=1, le=MOST_TASKS)] = 1
    folder: Line | None = Field(None, description="where it runs; else where agents work on that machine")


@router.get("/placements")
async def list_placements(call: Call) -> Placements:
    """List the agents on machines, running or ended: of the caller's projects, or of the named one."""

    def look(tx: Tx) -> list[ManagedAgent]:
        projects = access.visible(tx, call.project)
        return [each for project in projects for each in managed_agents.of_project(tx, project.id)]

    return Placements(placements=[PlacementShape.of(each) for each in await call.read(look)])


@dataclass(frozen=True, slots=True)
class _Start:
    """One start of an agent on a machine, by an order with the digest of its call; `own`: on the hub's own machine."""

    project: Project
    node: str
    agent: str
    command: str
    order: NodeCall
    digest: str
    own: bool

    def place(self, tx: Tx) -> tuple[ManagedAgent | None, ToolResult | None]:
        """Place the agent, unless an earlier call with the key has: of two side by side, one does.

        A machine elsewhere has its orders stored; for the hub's own, the result of the earlier call is returned.
        """
        there, key = nodes.find(tx, self.project, self.node), self.order.key
        if key is not None and self.own:
            known = idempotency.begin(tx, key, self.digest, attempt=self.order.attempt)
            if known is not None:
                return None, known
        elif key is not None and not dispatches.begin(tx, self.project, there, self.order, sent=False)[1]:
            return None, None
        return managed_agents.order(
            tx, self.project, agent=self.agent, machine=there, command=self.command
        ), None

    def end(self, tx: Tx, placed: ManagedAgent | None, outcome: ToolResult) -> ManagedAgent | None:
        """Return the placement that came of it; None, and none is left, if nothing was done."""
        is_undone = outcome.is_error and not _is_unknown(outcome)
        if placed is not None and self.own and self.order.key is not None:
            end = partial(idempotency.refuse, attempt=self.order.attempt) if is_undone else idempotency.end
            end(tx, self.order.key, outcome)
        if placed is not None and is_undone:
            managed_agents.drop(tx, placed)
        if outcome.is_error:
            return None
        found = placed or managed_agents.find(tx, self.project, self.agent)
        return managed_agents.started(tx, found, _pid(outcome))


@router.post("/agents/{name}/start")
async def start_agent(request: Request, call: Call, name: Name, body: AgentStart) -> OnePlacement:
    """Start an agent on a machine, if its gate lets it, perhaps after asking a person. For people."""

    def look(tx: Tx) -> tuple[Project, str]:
        managed_agents.require_person(tx)
        project = call.enter(tx)
        return project, nodes.find(tx, project, body.node).name

    project, node = await call.read(look)
    given = {"agent": name, "command": body.run, "concurrency": body.concurrency}
    if body.folder is not None:
        given["folder"] = body.folder
    order = _order(call, project, "agent_start", given)
    machine = await _machine(request, call, project, node, order)
    own = machine is request.app.state.site.node
    start = _Start(project, node, name, body.run, order, call.digest, own)
    placed, known = await call.write(start.place)
    outcome = known or await machine.perform(order)
    started = await call.write(lambda tx: start.end(tx, placed, outcome))
    if started is None:
        raise refusal(outcome)
    return OnePlacement(placement=PlacementShape.of(started))


@router.post("/agents/{name}/stop")
async def stop_agent(request: Request, call: Call, name: Name) -> OnePlacement:
    """Stop an agent on its machine; its work is finished within seconds, or handed back. For people."""
    project, placed = await call.read(lambda tx: _placed(tx, call, name))
    order = _order(call, project, "agent_stop", {"agent": name})
    machine = await _machine(request, call, project, placed.node, order)
    outcome = await machine.perform(order)
    if outcome.is_error and outcome.code is not RefusalCode.NOT_FOUND:  # that is the wanted state
        raise refusal(outcome, name)

    def stopped(tx: Tx) -> ManagedAgent:
        managed_agents.stopped(tx, placed)
        return managed_agents.find(tx, project, name)

    return OnePlacement(placement=PlacementShape.of(await call.write(stopped)))


@router.get("/agents/{name}/logs", response_model=Lines)
async def show_logs(
    request: Request,
    call: Call,
    name: Name,
    lines: Annotated[int, Query(ge=0, le=MOST_LINES)] = LINES,
    *,
    follow: bool = False,
) -> Response:
    """Show the last output of an agent on a machine, and of its program. For people.

    With `follow` it is a stream of Server-Sent Events, one for each line, until the agent ends.
    """
    project, placed = await call.read(lambda tx: _placed(tx, call, name))
    order = _order(call, project, "agent_logs", {"agent": name, "lines": lines, "follow": follow})
    machine = await _machine(request, call, project, placed.node, order)
    if follow:
        over = _until_over(request.app.state.news, call.actor, project)
        frames = _frames(machine, order, name, over)
        return StreamingResponse(frames, headers=STREAM, media_type="text/event-stream")
    outcome = await machine.perform(order)
    if outcome.is_error:
        raise refusal(outcome, name)
    assert isinstance(outcome.value, Mapping)
    try:
        return JSONResponse(Lines.model_validate(outcome.value).model_dump(mode="json"))
    except ValueError:
        raise NotDone(f"{placed.node!r} answered with something that the hub cannot read") from None


def _placed(tx: Tx, call: RestCall, name: str) -> tuple[Project, ManagedAgent]:
    managed_agents.require_person(tx)
    project = call.enter(tx, Right.WRITE)
    return project, managed_agents.find(tx, project, name)


async def _machine(request: Request, call: RestCall, project: Project, name: str, order: NodeCall) -> Node:
    """Return the machine of that name, as its callers see it, for an order. Raises `NotServed` and `Offline`."""
    site: HubContext = request.app.state.site
    own = site.node
    if own is not None and project.slug == site.workspace_project and own.name.casefold() == name.casefold():
        await call.read(lambda tx: own_machine.require_served(tx, project))
        return own
    machine = await site.fleet.find(project.slug, name, order) if site.fleet is not None else None
    if machine is None:
        raise Offline(f"{name!r} is offline; nothing was done")
    return machine


def _order(call: RestCall, project: Project, tool: str, given: Mapping[str, object]) -> NodeCall:
    actor = call.actor
    who = Principal(project=project.slug, name=actor.label, token_id=str(actor.token_id), is_person=True)
    return NodeCall(who=who, tool=tool, arguments=given, key=call.key, attempt=call.attempt)


def _is_unknown(outcome: ToolResult) -> bool:
    """Tell whether the order may have been done, or may still be, though it was refused."""
    return outcome.code is RefusalCode.TIMEOUT or (
        outcome.code is RefusalCode.OFFLINE and "order" in outcome.content
    )


def _pid(outcome: ToolResult) -> int | None:
    told = outcome.value.get("pid") if isinstance(outcome.value, Mapping) else None
    return told if isinstance(told, int) and 0 < told < managed_agents.LARGEST else None


def refusal(outcome: ToolResult, agent: str | None = None) -> HubError:
    """Make the error for a machine's failure. If the machine finds nothing, that is the `agent`, if one is given."""
    why = outcome.why or "the machine says nothing of why"
    match outcome.code:
        case RefusalCode.DENIED:
            return Forbidden(f"the machine's gate denies it: {why}")
        case RefusalCode.NOT_FOUND if agent is not None:
            return NeverPlaced(agent)
        case code:
            return _REFUSALS.get(code or RefusalCode.FAILED, NotDone)(why)


async def _frames(
    machine: Node, order: NodeCall, agent: str, over: Coroutine[None, None, None]
) -> AsyncIterator[bytes]:
    """Yield the lines as they come, until the machine is done or `over` is; a client that leaves ends the order too."""
    coming: asyncio.Queue[str] = asyncio.Queue(1)
    hearing = asyncio.ensure_future(machine.perform(replace(order, progress=coming.put)))
    leaving = asyncio.ensure_future(over)
    try:
        yield COMMENT
        async for told in _told(coming, hearing, leaving):
            yield b"".join(map(_frame, _lines(told))) or COMMENT
        if hearing.done():
            outcome = hearing.result()
            end = str(refusal(outcome, agent)) if outcome.is_error else "it has ended"
            yield f"event: end\ndata: {compact({'message': end})}\n\n".encode()
    finally:
        hearing.cancel()
        leaving.cancel()


async def _told(
    coming: "asyncio.Queue[str]", hearing: "asyncio.Future[ToolResult]", leaving: "asyncio.Future[None]"
) -> AsyncIterator[str]:
    """Yield the machine's words until it is done; an empty text after some silence."""
    coming_next = asyncio.ensure_future(coming.get())
    waited: set[asyncio.Future[Any]] = {hearing, leaving}
    try:
        while not leaving.done():
            await asyncio.wait(
                {*waited, coming_next}, timeout=KEEP_ALIVE, return_when=asyncio.FIRST_COMPLETED
            )
            if coming_next.done():
                yield coming_next.result()
                coming_next = asyncio.ensure_future(coming.get())
                await asyncio.sleep(0)  # words that wait already are taken
            elif hearing.done():
                await asyncio.sleep(0)  # its last words may just be arriving
                if not coming_next.done():
                    return
            else:
                yield ""
    finally:
        coming_next.cancel()


async def _until_over(news: ActivitySource, actor: Actor, project: Project) -> None:
    """Return when the actor's token ends, or the hub closes."""
    async with news.follow(actor, project.id) as batches:
        async for _batch in batches:
            pass


def _lines(told: str) -> list[Mapping[str, object]]:
    """Parse a machine's lines, ignoring malformed ones."""
    try:
        return [each.model_dump() for each in _LINES.validate_json(told or "[]")]
    except ValueError:
        return []


def _frame(line: Mapping[str, object]) -> bytes:
    return f"id: {line['id']}\ndata: {compact(line)}\n\n".encode()
