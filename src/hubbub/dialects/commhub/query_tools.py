"""The read-only tools."""

from collections.abc import Hashable, Mapping
from datetime import timedelta
from typing import Annotated
from uuid import UUID

from pydantic import Field

from hubbub.core.actions import completion_reports, inbox
from hubbub.core.agents import agents
from hubbub.core.people import access
from hubbub.core.work import task_search, tasks
from hubbub.dialects.commhub import vocabulary
from hubbub.dialects.commhub.tool_set import DIALECT, WHOLE, Filter, Name, OptionalId
from hubbub.dialects.dialect import Reply
from hubbub.model.json_chunks import LazyRows
from hubbub.model.timestamps import parse_timestamp
from hubbub.store.tx import Tx

DAY = timedelta(days=1)
MANY = 1_000  # agents; a longer reply takes too much memory to be kept


@DIALECT.tool(reads=True)
def get_task(tx: Tx, task_id: str, network_id: OptionalId = None) -> Reply:
    """Query task details."""
    known = {project.id: project for project in access.visible(tx, network_id)}
    task = tasks.find(tx, list(known), task_id)
    return {"task": vocabulary.task_row(task, known[task.project_id])}


@DIALECT.tool(reads=True)
def list_tasks(
    tx: Tx,
    alias: Filter = None,
    status: Filter = None,
    from_name: Filter = None,
    network_id: OptionalId = None,
    limit: Annotated[float, Field(le=100, **WHOLE)] = 20,
) -> Reply:
    """Query task list with multi-dimensional filtering, newest first."""
    known = {project.id: project for project in access.visible(tx, network_id)}
    wanted = vocabulary.statuses(status) if status is not None else []
    found = task_search.search(
        tx, list(known), status=wanted, assignee=alias, sender=from_name, limit=int(limit)
    )
    about = vocabulary.unheard("task", status, vocabulary.WORDS)
    if about:
        found = []
    stats = [(vocabulary.STATUS[each], count) for each, count in tasks.counts(tx, list(known)).items()]
    rows = [vocabulary.listed_task(task, known[task.project_id]) for task in found]
    return {"tasks": rows, "count": len(rows), "stats": vocabulary.grouped(stats), **about}


def _standing(tx: Tx, network_id: str | None, **_narrowing: str | None) -> Mapping[UUID, Hashable] | None:
    """Return the version of the listed agents; None if they are so many that the reply is not kept."""
    known = agents.versions(tx, [project.id for project in access.visible(tx, network_id)])
    return known if sum(each.number for each in known.values()) <= MANY else None


@DIALECT.keeps(_standing)
@DIALECT.tool(reads=True)
def get_all_status(
    tx: Tx, filter_status: Filter = None, filter_server: Filter = None, network_id: OptionalId = None
) -> Reply:
    """Get all session statuses. Sessions without a heartbeat for over 10 minutes are offline."""
    known = {project.id: project for project in access.visible(tx, network_id)}
    present = agents.presences(tx, list(known))
    rows = (
        vocabulary.session_row(presence, known[presence.project_id])
        for presence in present
        if filter_status in (None, vocabulary.CONDITION[presence.condition])
        and filter_server in (None, presence.server)
    )
    summary = vocabulary.grouped((vocabulary.CONDITION[presence.condition], 1) for presence in present)
    about = vocabulary.unheard("session", filter_status, vocabulary.CONDITIONS)
    return {"sessions": LazyRows(rows), "summary": summary, **about}


@DIALECT.tool(reads=True)
def get_session_status(tx: Tx, alias: Name, network_id: OptionalId = None) -> Reply:
    """Get detailed status of a single session, including pending inbox count and recent completions."""
    known = {project.id: project for project in access.visible(tx, network_id)}
    present = [found for project_id in known if (found := agents.presence(tx, project_id, alias))]
    recent = completion_reports.search(tx, list(known), agent=alias, limit=5)
    return {
        "session": vocabulary.session_row(present[0], known[present[0].project_id]) if present else None,
        "inbox_pending": sum(inbox.pending(tx, project_id, alias) for project_id in known),
        "recent_completions": [vocabulary.completion_row(each, known[each.project_id]) for each in recent],
    }


@DIALECT.tool(reads=True)
def get_completions(
    tx: Tx,
    alias: Filter = None,
    since: Filter = None,
    network_id: OptionalId = None,
    limit: Annotated[float, Field(le=500, **WHOLE)] = 50,
) -> Reply:
    """Get completion records, newest first; of the last 24 hours, unless since says otherwise."""
    known = {project.id: project for project in access.visible(tx, network_id)}
    start = parse_timestamp("since", since) if since is not None else tx.now - int(DAY.total_seconds() * 1000)
    found = completion_reports.search(tx, list(known), agent=alias, since=start, limit=int(limit))
    return {"completions": [vocabulary.completion_row(each, known[each.project_id]) for each in found]}
