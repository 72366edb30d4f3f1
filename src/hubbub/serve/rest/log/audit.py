"""The audit: answers of people, acts by hand, changes of the hub; and the heads of the machines' own audit logs.

The heads show that a machine's log was cut short or rewritten.
"""

import csv
import io
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Query
from fastapi.responses import StreamingResponse
from pydantic import Field

from hubbub.core.fleet import audit_heads
from hubbub.core.log import audit
from hubbub.model.json_text import compact
from hubbub.model.people.rights import Right
from hubbub.model.records import Activity
from hubbub.serve.live.sse import activity_json
from hubbub.serve.rest.base.call import Call, RestCall
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import ActivityShape, Line, Model, Shape, told
from hubbub.store.tx import Tx

router = Router("audit")

COLUMNS = ("id", "at", "kind", "actor", "agent", "task_id", "message_id", "detail")
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")  # beginnings of cells that a spreadsheet computes, or hides


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A file format for all entries."""

    file: str
    media: str
    head: str
    written: Callable[[Sequence[Activity]], str]


class Entries(Model):
    entries: list[ActivityShape]
    next: int | None = Field(description="`before` of the next page; null: that was all")
    groups: dict[str, list[str]] = Field(
        description="the kinds that there are, by the group that `kind` may name"
    )


class HeadShape(Shape):
    node: str = Field(description="the machine")
    seq: int = Field(description="the last line of its log at that time")
    hash: str
    at: int
    broken: bool = Field(description="it cannot be true beside an earlier one")


class Heads(Model):
    heads: list[HeadShape]


Word = Annotated[Line, told(enum=[*audit.GROUPS, *audit.KINDS])]
Kind = Annotated[Word | None, Query(description="a kind, or one of the groups")]
By = Annotated[Line | None, Query(description="only acts of this person or agent")]


@router.get("/audit/entries")
async def list_entries(
    call: Call,
    *,
    kind: Kind = None,
    actor: By = None,
    before: Annotated[int | None, Query(ge=1, le=2**62)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> Entries:
    """List approvals, tokens, commands given by hand, changes of the hub and logins, newest first."""
    found = await _page(call, kind, actor, before, limit=limit)
    return Entries(
        entries=[ActivityShape.model_validate(activity_json(each)) for each in found],
        next=found[-1].seq if len(found) == limit else None,
        groups={group: list(kinds) for group, kinds in audit.GROUPS.items()},
    )


@router.get("/audit/entries.jsonl", response_class=StreamingResponse)
async def export_lines(call: Call, *, kind: Kind = None, actor: By = None) -> StreamingResponse:
    """Export all entries, one JSON object a line, newest first."""
    return await _export(call, kind, actor, LINES)


@router.get("/audit/entries.csv", response_class=StreamingResponse)
async def export_table(call: Call, *, kind: Kind = None, actor: By = None) -> StreamingResponse:
    """Export all entries as a table, newest first, in which no cell is a formula."""
    return await _export(call, kind, actor, TABLE)


@router.get("/audit/heads")
async def list_heads(
    call: Call, *, node: str | None = None, limit: Annotated[int, Query(ge=1, le=5000)] = 1000
) -> Heads:
    """List the known heads of the machines' logs, each machine's latest line first. For those who manage the project.

    For one `node`, also the reports of programs beside agents, as `{agent}@{node}`.
    """

    def look(tx: Tx) -> Heads:
        found = audit_heads.heads(tx, call.enter(tx, Right.MANAGE), node=node, limit=limit)
        return Heads(heads=[HeadShape.of(head, at=head.kept_at, broken=head.is_broken) for head in found])

    return await call.read(look, long=True)


async def _page(
    call: RestCall, kind: str | None, actor: str | None, before: int | None, *, limit: int = audit.PAGE
) -> list[Activity]:
    def look(tx: Tx) -> list[Activity]:
        project = call.enter(tx, Right.READ)
        return audit.entries(tx, project, kind=kind, actor=actor, before=before, limit=limit)

    return await call.read(look, long=True)


async def _export(
    call: RestCall, kind: str | None, actor: str | None, form: ExportFormat
) -> StreamingResponse:
    first = await _page(call, kind, actor, None)  # here, so that a refusal is answered as one

    async def pages() -> AsyncIterator[str]:
        page = first
        yield form.head
        while page:
            yield form.written(page)
            page = await _page(call, kind, actor, page[-1].seq) if len(page) == audit.PAGE else []

    headers = {
        "Content-Disposition": f'attachment; filename="{form.file}"',
        "Cache-Control": "no-store",
    }
    return StreamingResponse(pages(), media_type=form.media, headers=headers)


def _lines(found: Sequence[Activity]) -> str:
    return "".join(f"{compact(activity_json(each))}\n" for each in found)


def _table(found: Sequence[Activity]) -> str:
    return "".join(_row([_cell(name, each) for name in COLUMNS]) for each in found)


def _cell(name: str, entry: Activity) -> str:
    value = activity_json(entry)[name]
    if name == "at":
        value = datetime.fromtimestamp(entry.at / 1000, UTC).isoformat(timespec="milliseconds")
    text = compact(value) if isinstance(value, dict) else "" if value is None else str(value)
    return f"'{text}" if text.startswith(FORMULA) else text


def _row(cells: Sequence[str]) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue()


LINES = ExportFormat("audit.jsonl", "application/x-ndjson", "", _lines)
TABLE = ExportFormat("audit.csv", "text/csv; charset=utf-8", _row(COLUMNS), _table)
