"""Leases: things held or waited for, the capacities of counted things, and the commands that need leases."""

import asyncio
from contextlib import suppress
from datetime import timedelta
from http import HTTPStatus
from typing import Annotated, NamedTuple

from fastapi import Query, Request
from pydantic import Field

from hubbub.core.actions import next_tool
from hubbub.core.people import access
from hubbub.core.work import lease_rules, leases
from hubbub.model.errors import Invalid, NotFound
from hubbub.model.ids import parse_id
from hubbub.model.people.rights import Right
from hubbub.model.records import Priority, Project
from hubbub.model.work.leases import (
    LARGEST,
    LONGEST,
    MOST_THINGS,
    SHORTEST,
    TTL,
    Capacity,
    Lease,
    LeaseRule,
    Terms,
    refusal,
)
from hubbub.serve.live.long_polls import any_done, ends_of, rung
from hubbub.serve.rest.base.call import Call, RestCall
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import Body, Line, Model, Name, PriorityName, Shape, Whole, tells
from hubbub.store.tx import Tx

router = Router("leases")

LONGEST_WAIT = 45  # seconds, as of an inbox
LONGEST_TEXT = 100_000  # characters of a command that is judged
AGENT = "whose it is, where the token is not bound to an agent"

Things = Annotated[list[Name], Field(max_length=MOST_THINGS, description="such as `port:8000`, `gpu:2`")]
Wait = Annotated[
    float,
    Field(
        ge=0,
        le=LONGEST_WAIT,
        allow_inf_nan=False,
        description="seconds to wait for the grant before the answer",
    ),
]


@tells(Lease)
class LeaseShape(Shape):
    pass


@tells(Capacity)
class CapacityShape(Shape):
    pass


@tells(LeaseRule)
class LeaseRuleShape(Shape):
    pass


class LeaseAnswer(Model):
    lease: LeaseShape
    holders: list[LeaseShape] = Field(description="while it waits: the holders of its things")
    waiting: list[LeaseShape] = Field(
        description="while it waits: who asked for some of that before, in their turn"
    )
    sentence: str | None = Field(description="while it waits: what for")
    now: int = Field(description="the hub's time")


class Leases(Model):
    leases: list[LeaseShape]
    now: int = Field(description="the hub's time")


class OneLease(Model):
    lease: LeaseShape


class Capacities(Model):
    capacities: list[CapacityShape]


class OneCapacity(Model):
    capacity: CapacityShape


class LeaseRules(Model):
    rules: list[LeaseRuleShape]


class OneLeaseRule(Model):
    rule: LeaseRuleShape


class LeaseRequest(Body):
    things: Things
    id: Line | None = Field(
        None, description="an id for the lease, so that it can be released whatever becomes of the answer"
    )
    agent: Name | None = Field(None, description=AGENT)
    priority: PriorityName = Field(
        Priority.MEDIUM,
        description="who waits goes before those of a lower one",
        json_schema_extra={"default": "medium"},
    )
    ttl_seconds: float = Field(
        TTL.total_seconds(),
        ge=SHORTEST.total_seconds(),
        le=LONGEST.total_seconds(),
        allow_inf_nan=False,
        description="for which it lasts unless it is renewed",
    )
    waits: bool = Field(True, description="false: if the things are not free, the call is refused with 409")
    wait_seconds: Wait = 0
    purpose: Line | None = Field(None, description="for what, such as the command")
    host: Line | None = Field(None, description="the machine where it is used")
    within: Line | None = Field(None, description="the id of the lease under which the asking program runs")


class Renewing(Body):
    agent: Name | None = Field(None, description=AGENT)
    wait_seconds: Wait = 0


class PutCapacity(Body):
    capacity: Whole = Field(ge=1, le=LARGEST)


class PutLeaseRule(Body):
    command: Line = Field(description="its first words, such as `docker compose up`")
    things: Things


class CommandQuestion(Body):
    command: Annotated[str, Field(max_length=LONGEST_TEXT)] = Field(
        description="the text that a shell is to run"
    )
    agent: Name | None = Field(None, description="who runs it, where the token is not bound to an agent")
    within: Line | None = Field(None, description="the id of the lease under which the agent's program runs")


class CommandVerdict(Model):
    sentence: str | None = Field(description="why it must not run as it is, and how it may; null: it may")


@router.get("/leases")
async def list_leases(
    call: Call, thing: Annotated[str | None, Query(description="only of it")] = None
) -> Leases:
    """List the leases, held and waiting in turn."""

    def look(tx: Tx) -> Leases:
        project = call.enter(tx, Right.READ)
        if thing is None:
            found = leases.of_project(tx, project.id)
        else:
            use = leases.of_thing(tx, project, thing)
            found = [*use.held, *use.waiting]
        return Leases(leases=[LeaseShape.of(each) for each in found], now=tx.now)

    return await call.read(look)


@router.post("/leases", status_code=HTTPStatus.CREATED)
async def ask_for_lease(request: Request, call: Call, body: LeaseRequest) -> LeaseAnswer:
    """Ask for things, all of them or none. Taken ones are waited for, in turn, while the lease is renewed."""
    terms = Terms(
        priority=body.priority,
        ttl=timedelta(seconds=body.ttl_seconds),
        purpose=body.purpose,
        host=body.host,
    )

    lease_id = parse_id(body.id) if body.id is not None else None
    if body.id is not None and lease_id is None:
        raise Invalid("id: must be a UUID")

    def ask(tx: Tx) -> _Look:
        project = call.enter(tx)
        lease = leases.ask(
            tx,
            project,
            body.things,
            by=access.speak(tx, project.id, body.agent),
            terms=terms,
            waits=body.waits,
            within=body.within,
            lease_id=lease_id,
        )
        return _look(tx, project, lease)

    return await _granted(request, call, await call.write(ask), body.agent, body.wait_seconds)


@router.get("/leases/capacities")
async def list_capacities(call: Call) -> Capacities:
    """List the number of each counted thing; there is one of anything else."""
    found = await call.read(lambda tx: leases.capacities(tx, call.enter(tx, Right.READ).id))
    return Capacities(capacities=[CapacityShape.of(each) for each in found])


@router.put("/leases/capacities/{thing:path}")
async def put_capacity(call: Call, thing: str, body: PutCapacity) -> OneCapacity:
    """Set how many there are of a thing, which is counted from now on."""
    put = await call.write(
        lambda tx: leases.put_capacity(tx, call.enter(tx, Right.MANAGE), thing, body.capacity)
    )
    return OneCapacity(capacity=CapacityShape.of(put))


@router.delete("/leases/capacities/{thing:path}")
async def drop_capacity(call: Call, thing: str) -> Capacities:
    """Stop counting a thing: there is one of it. Returns the remaining counts."""

    def drop(tx: Tx) -> list[Capacity]:
        project = call.enter(tx, Right.MANAGE)
        leases.drop_capacity(tx, project, thing)
        return leases.capacities(tx, project.id)

    return Capacities(capacities=[CapacityShape.of(each) for each in await call.write(drop)])


@router.get("/leases/rules")
async def list_lease_rules(call: Call) -> LeaseRules:
    """List the commands that run only under a lease, as clients' hooks check."""
    found = await call.read(lambda tx: lease_rules.of_project(tx, call.enter(tx, Right.READ).id))
    return LeaseRules(rules=[LeaseRuleShape.of(each) for each in found])


@router.put("/leases/rules")
async def put_lease_rule(call: Call, body: PutLeaseRule) -> OneLeaseRule:
    """Let a command run only while these things are held; replaces a rule with the same words."""
    put = await call.write(
        lambda tx: lease_rules.put(tx, call.enter(tx, Right.MANAGE), body.command, body.things)
    )
    return OneLeaseRule(rule=LeaseRuleShape.of(put))


@router.delete("/leases/rules")
async def drop_lease_rule(call: Call, command: Annotated[str, Query(description="its words")]) -> LeaseRules:
    """Remove the rule of a command. Returns the remaining rules."""

    def drop(tx: Tx) -> list[LeaseRule]:
        project = call.enter(tx, Right.MANAGE)
        lease_rules.drop(tx, project, command)
        return lease_rules.of_project(tx, project.id)

    return LeaseRules(rules=[LeaseRuleShape.of(each) for each in await call.write(drop)])


@router.post("/leases/judge")
async def judge_command(call: Call, body: CommandQuestion) -> CommandVerdict:
    """Judge whether an agent may run a command as it is, for its client's hook. Changes nothing."""

    def judge(tx: Tx) -> str | None:
        project = call.enter(tx, Right.READ)
        spoken = access.spoken_name(tx, body.agent)
        denied = next_tool.denial(tx, project, spoken)
        return denied or lease_rules.refusal(tx, project, body.command, by=spoken, within=body.within)

    return CommandVerdict(sentence=await call.read(judge))


@router.get("/leases/{lease_id}")
async def show_lease(call: Call, lease_id: str) -> LeaseAnswer:
    """Show one lease, and what it waits for."""

    def look(tx: Tx) -> LeaseAnswer:
        project = call.enter(tx, Right.READ)
        return _look(tx, project, leases.find(tx, project, lease_id)).told

    return await call.read(look)


@router.post("/leases/{lease_id}/renew")
async def renew_lease(request: Request, call: Call, lease_id: str, body: Renewing) -> LeaseAnswer:
    """Renew a lease, held or waiting. A 404 says that it is lost, and that another may hold it now."""
    renewed = await call.write(lambda tx: _renewed(tx, call, lease_id, body.agent))
    return await _granted(request, call, renewed, body.agent, body.wait_seconds)


@router.delete("/leases/{lease_id}")
async def release_lease(
    call: Call, lease_id: str, agent: Annotated[str | None, Query(description=AGENT)] = None
) -> OneLease:
    """Release a lease, or stop waiting. Only people who manage the project may release another's."""

    def release(tx: Tx) -> Lease:
        project = call.enter(tx)
        return leases.release(tx, project, lease_id, by=access.speak(tx, project.id, agent))

    return OneLease(lease=LeaseShape.of(await call.write(release)))


class _Look(NamedTuple):
    """A lease, and its answer."""

    lease: Lease
    told: LeaseAnswer


def _look(tx: Tx, project: Project, lease: Lease) -> _Look:
    found = leases.ahead(tx, project, lease)
    told = LeaseAnswer(
        lease=LeaseShape.of(lease),
        holders=[LeaseShape.of(each) for each in found.holders],
        waiting=[LeaseShape.of(each) for each in found.waiting],
        sentence=None if lease.is_held else refusal(found, tx.now),
        now=tx.now,
    )
    return _Look(lease, told)


def _renewed(tx: Tx, call: RestCall, lease_id: str, agent: str | None) -> _Look:
    project = call.enter(tx)
    return _look(tx, project, leases.renew(tx, project, lease_id, by=access.speak(tx, project.id, agent)))


async def _granted(
    request: Request, call: RestCall, look: _Look, agent: str | None, seconds: float
) -> LeaseAnswer:
    """Hold the call open until the lease is granted, or so many seconds have passed; it is renewed meanwhile.

    A caller that hangs up waits no more: a lease granted in that moment is given back.
    """
    lease, news, bell = look.lease, request.app.state.news, asyncio.Event()
    if lease.is_held or not seconds:
        return look.told
    loop, place = asyncio.get_running_loop(), (lease.project_id, lease.holder)
    ends_at, now = loop.time() + seconds, await news.feed.end()
    reading_it = news.feed.reading(bell.set, frozenset({lease.project_id}), lease.holder, now)
    with news.wakes(*place), reading_it as reading:
        async with ends_of(request, news, call.actor) as ends:
            while True:
                while await reading.take():
                    pass
                look = await call.write(lambda tx: _renewed(tx, call, str(lease.id), agent))
                left = ends_at - loop.time()
                if look.lease.is_held or left <= 0 or any_done(ends):
                    break
                await rung(bell, ends, min(left, lease.ttl / 3000))
            hung_up, _ended = ends
            if hung_up.done():
                await _give_back(call, str(lease.id), agent)
    return look.told


async def _give_back(call: RestCall, lease_id: str, agent: str | None) -> None:
    def release(tx: Tx) -> None:
        project = call.enter(tx)
        leases.release(tx, project, lease_id, by=access.speak(tx, project.id, agent))

    with suppress(NotFound):
        await call.write(release)
