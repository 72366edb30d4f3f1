"""The tools for reading the project: its activities, its agents, its settings."""

from typing import Annotated, Literal

from pydantic import Field

from hubbub.core.agents import agents, scopes
from hubbub.core.log import activity
from hubbub.core.presence import checkins
from hubbub.dialects.call import Call
from hubbub.dialects.dialect import EMPTY_IS_NONE, Reply
from hubbub.dialects.golemxv import vocabulary
from hubbub.dialects.golemxv.tool_set import DIALECT, Offset, OptionalName, Slug, look
from hubbub.store.tx import Tx

Limit = Annotated[int, Field(ge=1, le=200)]


@DIALECT.tool(reads=True, required=("project_slug",))
def activity_log(
    tx: Tx,
    call: Call,
    project_slug: Slug | None = None,
    event_type: Annotated[Annotated[str, Field(max_length=100)] | None, EMPTY_IS_NONE] = None,
    agent_name: OptionalName = None,
    limit: Limit = 50,
    offset: Offset = 0,
) -> Reply:
    """List the project's activities, newest first; of one type, or of one agent, if given."""
    project = look(tx, call, project_slug)
    kinds = vocabulary.kinds(event_type) if event_type is not None else ()
    found, total = activity.page(tx, project.id, kinds=kinds, actor=agent_name, limit=limit, offset=offset)
    return {
        "activity": [vocabulary.activity_row(each) for each in found],
        "count": len(found),
        "total": total,
    }


@DIALECT.tool(reads=True, required=("project_slug",))
def sessions(
    tx: Tx,
    call: Call,
    project_slug: Slug | None = None,
    status: Literal["active", "checked_out", "timed_out"] | None = None,
    limit: Limit = 50,
    offset: Offset = 0,
) -> Reply:
    """List the agent sessions, past and present, newest first; active, checked out or timed out, if given."""
    project = look(tx, call, project_slug)
    reasons = vocabulary.ENDED[status] if status is not None else ()
    found, total = checkins.history(tx, project.id, end_reasons=reasons, limit=limit, offset=offset)
    return {"sessions": [vocabulary.stay_row(each) for each in found], "count": len(found), "total": total}


@DIALECT.tool(reads=True, required=("project_slug",))
def project_info(tx: Tx, call: Call, project_slug: Slug | None = None) -> Reply:
    """The project: its settings, its work areas, and how many agents are there."""
    project = look(tx, call, project_slug)
    live = [each for each in agents.presences(tx, [project.id]) if each.is_live(tx.now)]
    return {
        "project": vocabulary.project_row(project),
        "work_areas": [vocabulary.area_row(area) for area in scopes.areas(tx, project.id)],
        "active_agent_count": len(live),
    }
