"""Breakers: the rules that stop agents which repeat themselves, and the stopped agents."""

from typing import Annotated

from pydantic import Field

from hubbub.core.limits import breakers
from hubbub.core.log.idempotency import Reply
from hubbub.core.people import access
from hubbub.model.fields import REST, Seen
from hubbub.model.limits.breakers import LARGEST, BreakerRules, Stop, reason
from hubbub.model.people.rights import Right
from hubbub.serve.rest.base.call import Call
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import Body, Model, Shape, tells
from hubbub.store.tx import Tx

router = Router("breakers")

Often = Annotated[
    int | None, Field(None, ge=0, le=LARGEST, strict=True, description="0: no limit; null: unchanged")
]


@tells(BreakerRules)
class BreakerRulesShape(Shape):
    pass


@tells(Stop)
class StopShape(Shape):
    reason: Annotated[str, Seen(REST, "the same in one sentence", after="count")]


class OneBreakerRules(Model):
    rules: BreakerRulesShape


class OneStop(Model):
    stop: StopShape


class Stops(Model):
    stops: list[StopShape]


class PutBreakerRules(Body):
    answering: Often = None
    repeating: Often = None
    nesting: Often = None
    multiplying: Often = None
    retrying: Often = None


@router.get("/breakers/stops")
async def list_stops(call: Call) -> Stops:
    """List the agents that a breaker has stopped, with the reason."""

    def look(tx: Tx) -> Stops:
        project = call.enter(tx, Right.READ)
        return Stops(stops=[_shape(each) for each in breakers.of_project(tx, project.id)])

    return await call.read(look)


@router.post("/breakers/stops/{stop_id}/lift", response_model=OneStop)
async def lift_stop(call: Call, stop_id: str) -> Reply:
    """Let stopped agents go on. For people."""

    def lift(tx: Tx) -> OneStop:
        access.require_person(tx, "let a stopped agent go on")
        project = call.enter(tx)
        return OneStop(stop=_shape(breakers.lift(tx, project, stop_id)))

    return await call.create(lift)


@router.get("/breakers")
async def show_breakers(call: Call) -> OneBreakerRules:
    """Show the project's limits of repetition."""
    found = await call.read(lambda tx: breakers.rules(tx, call.enter(tx, Right.READ).id))
    return OneBreakerRules(rules=BreakerRulesShape.of(found))


@router.put("/breakers", response_model=OneBreakerRules)
async def put_breakers(call: Call, body: PutBreakerRules) -> Reply:
    """Set the project's limits of repetition; omitted ones stay."""

    def put(tx: Tx) -> OneBreakerRules:
        project = call.enter(tx, Right.MANAGE)
        known = breakers.rules(tx, project.id)
        named = {name: value for name, value in dict(body).items() if value is not None}
        values = {name: getattr(known, name) for name in PutBreakerRules.model_fields} | named
        new = breakers.put_rules(tx, project, BreakerRules(**values))
        return OneBreakerRules(rules=BreakerRulesShape.of(new))

    return await call.create(put)


def _shape(stop: Stop) -> StopShape:
    return StopShape.of(stop, reason=reason(stop))
