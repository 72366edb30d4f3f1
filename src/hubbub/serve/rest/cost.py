"""Cost: the tokens that agents' clients used, and their estimated price."""

import csv
import io
from collections.abc import Mapping
from dataclasses import fields
from typing import Annotated, Literal

from fastapi import Query, Request
from fastapi.responses import Response
from pydantic import Field

from hubbub.core.cost import meter, spending
from hubbub.core.cost.spending import Report, SpendingQuery
from hubbub.model.cost.printed_usage import Used
from hubbub.model.cost.spending import SLICE, By, Measure, Reading
from hubbub.model.people.rights import Right
from hubbub.serve.rest.base.call import Call, RestCall
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import Body, Line, Model, Name
from hubbub.store.tx import Tx

router = Router("cost")

NOTHING: Mapping[By, str] = {}
MONTH = 30 * spending.DAY  # the default time
STEPS = {"slice": SLICE, "hour": 3_600_000, "day": spending.DAY}
NUMBERS = ("input", "output", "cache_read", "cache_written", "usd", "unpriced")
COLUMNS = ("by", "name", "label", "at", *NUMBERS)
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")  # beginnings of cells that a spreadsheet computes, or hides

Moment = Annotated[int | None, Query(ge=0, le=2**53, description="Unix milliseconds")]
Tokens = Annotated[int, Field(ge=0, le=10**12)]


class CostLine(Model):
    """Use under one name. An unmetered line has null for every number, which differs from zero."""

    name: str | None = Field(description="null: nobody in particular")
    label: str | None = Field(description="of a task: its number and title")
    at: int | None = Field(description="when the step began, where there are steps")
    unmetered: bool = Field(description="its use was never reported")
    input: int | None = Field(description="tokens that were neither read from a cache nor written to one")
    output: int | None
    cache_read: int | None
    cache_written: int | None
    tokens: int | None = Field(description="all of them")
    usd: float | None = Field(description="US dollars, an estimate; null: no price is known")
    unpriced: int | None = Field(description="tokens among them without a price, which `usd` leaves out")

    @classmethod
    def of(cls, line: spending.Line) -> "CostLine":
        told: dict[str, object] = {each.value: amount for each, amount in line.used.items()}
        told |= {"tokens": line.tokens, "usd": line.cost, "unpriced": line.unpriced}
        if not line.is_metered:
            told = dict.fromkeys(told)
        return cls.model_validate(
            {"name": line.name, "label": line.label, "at": line.at, "unmetered": not line.is_metered, **told}
        )


class Cost(Model):
    by: By
    since: int
    until: int
    currency: Literal["USD"] = "USD"
    estimate: Literal[True] = Field(default=True, description="money always is")
    lines: list[CostLine] = Field(description="the dearest first; with steps, the oldest")
    total: CostLine = Field(description="of everything, also of use without a line")
    unmetered: list[CostLine] = Field(description="agents or tasks whose use was never reported")


class UsedBody(Body):
    """Use of one model by a client, as the program that started the client read it from its output."""

    id: Name = Field(
        description="what tells it from all else of the same conversation: told again, it counts once"
    )
    conversation: Name = Field(description="by the client's own name, which its exports have too")
    client: Line | None = Field(None, description="such as `claude-code`")
    model: Line = ""
    input: Tokens = Field(0, description="tokens that were neither read from a cache nor written to one")
    output: Tokens = 0
    cache_read: Tokens = 0
    cache_written: Tokens = 0
    cost: float | None = Field(None, ge=0, le=10**9, description="US dollars, as the client says")
    total: bool = Field(
        default=False, description="the numbers are the conversation's up to now; what they rose by counts"
    )
    machine: Line | None = None
    task: Line | None = Field(None, description="its id or number; else the one that the agent has under way")
    agent: Line | None = Field(None, description="where the token is not bound to one")

    def readings(self, now: int) -> list[Reading]:
        used = Used(**self.model_dump(include={each.name for each in fields(Used)}) | {"client": self.client})
        return meter.readings(used, now, agent=self.agent, task=self.task, machine=self.machine)


class Usage(Body):
    used: list[UsedBody] = Field(max_length=500)


class Counted(Model):
    tokens: int = Field(description="as many as had not been counted before")


@router.get("/cost")
async def show_cost(
    request: Request,
    call: Call,
    *,
    by: By = By.AGENT,
    since: Moment = None,
    until: Moment = None,
    step: Annotated[
        Literal["slice", "hour", "day"] | None,
        Query(description="apart for each five minutes, hour or day, in UTC"),
    ] = None,
    agent: Line | None = None,
    task: Line | None = None,
    run: Line | None = None,
    model: Line | None = None,
) -> Cost:
    """Show the use by agent, task, run, day, model, machine, client or its conversation.

    Covers the 30 days up to now, or to `until`; for one task or run, its whole time.
    """
    only = {By.AGENT: agent, By.TASK: task, By.RUN: run, By.MODEL: model}
    told = {each: value for each, value in only.items() if value is not None}
    return await _cost(request, call, by, (since, until), step=STEPS[step] if step else None, only=told)


@router.get("/cost.csv", response_class=Response)
async def export_cost(
    request: Request, call: Call, *, by: By = By.AGENT, since: Moment = None, until: Moment = None
) -> Response:
    """Export the same as a table, in which no cell is a formula. Unmetered lines say so in place of their numbers."""
    cost = await _cost(request, call, by, (since, until))
    written = io.StringIO()
    table = csv.writer(written)
    table.writerow(COLUMNS)
    for line in (*cost.lines, *cost.unmetered):
        told = {"by": by.value, **line.model_dump()}
        unmetered = NUMBERS if line.unmetered else ()
        table.writerow(["unmetered" if name in unmetered else _cell(told[name]) for name in COLUMNS])
    headers = {"Content-Disposition": 'attachment; filename="cost.csv"', "Cache-Control": "no-store"}
    return Response(written.getvalue(), media_type="text/csv; charset=utf-8", headers=headers)


@router.post("/cost/reports")
async def report_usage(request: Request, call: Call, body: Usage) -> Counted:
    """Report a client's use that it does not export by itself; for a conversation that does, this counts nothing."""
    prices = request.app.state.prices

    def note(tx: Tx) -> meter.Noted:
        return meter.note(
            tx, call.enter(tx), [told for each in body.used for told in each.readings(tx.now)], prices
        )

    noted = await call.write(note)
    request.app.state.use(noted.used)
    return Counted(
        tokens=sum(amount for measure, amount in noted.used.items() if measure is not Measure.TOLD)
    )


async def _cost(
    request: Request,
    call: RestCall,
    by: By,
    when: tuple[int | None, int | None],
    *,
    step: int | None = None,
    only: Mapping[By, str] = NOTHING,
) -> Cost:
    """Make the report, up to the moment of the call unless it names another end."""

    def look(tx: Tx) -> tuple[SpendingQuery, Report]:
        since, until = when
        end = tx.now + 1 if until is None else until
        if since is None:
            since = 0 if By.TASK in only or By.RUN in only else max(0, end - MONTH)
        asked = SpendingQuery(by=by, since=since, until=end, step=step, only=only)
        return asked, spending.report(tx, call.enter(tx, Right.READ), request.app.state.prices, asked)

    asked, found = await call.read(look, long=True)
    return Cost(
        by=by,
        since=asked.since,
        until=asked.until,
        lines=[CostLine.of(line) for line in found.lines],
        total=CostLine.of(found.total),
        unmetered=[CostLine.of(line) for line in found.unmetered],
    )


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(FORMULA) else text
