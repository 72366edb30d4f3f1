"""The hub as a whole: its activities, its counts, and a copy of everything."""

import os
import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Protocol
from uuid import UUID

from fastapi import Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from pydantic import Field

from hubbub.core.agents import agents
from hubbub.core.log import activity
from hubbub.core.people import access
from hubbub.core.work import tasks
from hubbub.model.errors import Conflict, Invalid
from hubbub.model.lifecycle import Status
from hubbub.model.log.event_types import GROUPS, KINDS, expanded
from hubbub.model.people.rights import Right
from hubbub.model.records import Activity, Condition
from hubbub.serve.live.sse import activity_json
from hubbub.serve.rest.base.call import Call
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import ActivityShape, Line, Model, told
from hubbub.serve.rest.log.snapshots import PatchedActivity
from hubbub.store.tx import Tx

router = Router("hub")

CHUNK = 256 * 1024


class Copier(Protocol):
    """A store that can copy its whole database."""

    def backup(self, target: Path) -> None: ...


class ActivityPage(Model):
    activity: list[ActivityShape]


class PatchedPage(Model):
    activity: list[PatchedActivity]


class Log(Model):
    activities: int
    keep_days: int | None = Field(description="for how many days an activity is kept; null: for ever")


KindOrGroup = Annotated[Line, told(enum=[*GROUPS, *(f"{group}.*" for group in GROUPS), *sorted(KINDS)])]


class Counts(Model):
    tasks: dict[Status, int]
    agents: dict[Condition, int] = Field(description="by their condition; those never there count as offline")
    log: Log


@router.get("/activity")
async def list_activity(
    call: Call,
    *,
    before: Annotated[int | None, Query(ge=1, le=2**62)] = None,
    after: Annotated[int | None, Query(ge=0, le=2**62)] = None,
    task: str | None = None,
    agent: str | None = None,
    kind: Annotated[
        list[KindOrGroup] | None, Query(description="kinds, or groups of them, as task.*")
    ] = None,
    since: Annotated[int | None, Query(ge=0, le=2**62)] = None,
    until: Annotated[int | None, Query(ge=0, le=2**62)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    patches: Annotated[bool, Query(description="say what each made of the project's picture")] = False,
) -> ActivityPage | PatchedPage:
    """List the project's activities: newest first, before an id; or oldest first, `after` one (0: from the start).

    `kind`, `since` and `until` (Unix milliseconds) narrow the former.
    """
    kinds, is_narrowed = expanded(kind or ()), (kind, since, until) != (None, None, None)
    if after is not None and (before is not None or task is not None or is_narrowed):
        raise Invalid("after goes with none of before, task, kind, since and until")

    def look(tx: Tx) -> Sequence[Activity]:
        project = call.enter(tx, Right.READ)
        if after is not None:
            return activity.after(tx, project.id, after, agent=agent, limit=limit)
        task_id = call.task(tx, task, Right.READ).id if task is not None else None
        return activity.latest(
            tx,
            project.id,
            before=before,
            agent=agent,
            task_id=task_id,
            kinds=kinds,
            since=since,
            until=until,
            limit=limit,
        )

    found = await call.read(look, long=is_narrowed)
    if patches:
        return PatchedPage(activity=[PatchedActivity.told(each) for each in found])
    return ActivityPage(activity=[ActivityShape.model_validate(activity_json(each)) for each in found])


@router.get("/status")
async def status(call: Call, request: Request) -> Counts:
    """Count the tasks in each status, the agents in each condition, and the activities in the log."""
    keep_days: int | None = request.app.state.keep_log_days
    known: dict[UUID, activity.Counted] = request.app.state.logs  # so that each activity is counted once

    def look(tx: Tx) -> tuple[Counts, dict[UUID, activity.Counted]]:
        ids = [project.id for project in access.visible(tx, call.project)]
        counted, present = tasks.counts(tx, ids), agents.counts(tx, ids)
        logs = {each: activity.count(tx, each, known.get(each)) for each in ids}
        told = Counts(
            tasks={each: counted.get(each, 0) for each in Status},
            agents={each: present.get(each, 0) for each in Condition},
            log=Log(activities=sum(log.number for log in logs.values()), keep_days=keep_days),
        )
        return told, logs

    told, logs = await call.read(look, long=True)
    known.update(logs)
    return told


@router.get("/backup", response_class=StreamingResponse)
async def backup(request: Request, call: Call) -> StreamingResponse:
    """Copy the whole SQLite database consistently, while others write on. For the owner of the hub."""
    await call.read(access.require_hub_owner)
    copier: Copier | None = request.app.state.copier
    if copier is None:
        raise Conflict("this hub keeps its data in PostgreSQL; make a backup there, with pg_dump")
    target = request.app.state.data / f".backup-{secrets.token_hex(8)}.db"
    await run_in_threadpool(copier.backup, target)
    file = os.open(target, os.O_RDONLY)
    target.unlink()  # it exists until it is sent, and is gone however that ends
    headers = {
        "Content-Disposition": 'attachment; filename="hubbub.db"',
        "Content-Length": str(os.fstat(file).st_size),
    }
    return StreamingResponse(_chunks(file), media_type="application/vnd.sqlite3", headers=headers)


def _chunks(file: int) -> Iterator[bytes]:
    with os.fdopen(file, "rb") as copy:
        while chunk := copy.read(CHUNK):
            yield chunk
