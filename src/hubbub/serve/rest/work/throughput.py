"""Throughput: how many tasks end in each hour or day, and how long they had waited."""

from typing import Annotated, Literal

from fastapi import Query
from pydantic import Field

from hubbub.core.work import throughput
from hubbub.model.people.rights import Right
from hubbub.serve.rest.base.call import Call
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import Model
from hubbub.store.tx import Tx

router = Router("tasks")

STEPS = {"hour": 3_600_000, "day": 86_400_000}
DEFAULT = {"hour": STEPS["day"], "day": 30 * STEPS["day"]}  # the time that is told

Moment = Annotated[int | None, Query(ge=0, le=2**53, description="Unix milliseconds")]


class StepShape(Model):
    at: int = Field(description="when it began")
    ended: int = Field(description="tasks that ended in it, however they ended")
    waited_ms: int | None = Field(
        description="median of their waits, from their creation to the beginning of their last attempt; "
        "null: none of them was begun"
    )


class ThroughputShape(Model):
    since: int = Field(description="later than asked for, if more than 20,000 tasks ended in that time")
    until: int
    steps: list[StepShape] = Field(description="those in which a task ended, oldest first")


@router.get("/throughput")
async def show_throughput(
    call: Call,
    *,
    step: Annotated[Literal["hour", "day"], Query(description="in UTC")] = "hour",
    since: Moment = None,
    until: Moment = None,
) -> ThroughputShape:
    """Show how many tasks ended in each hour or day, and the median of how long they had waited to be begun.

    Covers the last 24 hours, or by day the last 30 days, up to now or to `until`.
    """

    def look(tx: Tx) -> ThroughputShape:
        project = call.enter(tx, Right.READ)
        end = tx.now + 1 if until is None else until
        begin = max(0, end - DEFAULT[step]) if since is None else since
        found = throughput.throughput(tx, project.id, since=begin, until=end, step=STEPS[step])
        steps = [StepShape(at=each.at, ended=each.ended, waited_ms=each.waited) for each in found.steps]
        return ThroughputShape(since=found.since, until=end, steps=steps)

    return await call.read(look, long=True)
