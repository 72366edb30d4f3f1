"""The tools for joining, declaring a scope, and leaving."""

from typing import Literal

from hubbub.core.agents import agents, scopes
from hubbub.core.presence import checkins
from hubbub.dialects.call import Call
from hubbub.dialects.dialect import Reply
from hubbub.dialects.golemxv import vocabulary
from hubbub.dialects.golemxv.tool_set import (
    DIALECT,
    Files,
    OptionalName,
    OptionalText,
    Secret,
    Slug,
    act,
    enter,
    known_stay,
    look,
)
from hubbub.model.agents.scopes import Scope
from hubbub.model.json_chunks import LazyRows
from hubbub.store.tx import Tx


@DIALECT.tool(required=("project_slug",), told_once="session_token")
def checkin(
    tx: Tx,
    call: Call,
    project_slug: Slug | None = None,
    agent_name: OptionalName = None,
    declared_area: OptionalName = None,
    declared_files: Files | None = None,
) -> Reply:
    """Check in to a project, and say which area and files you are going to work on; it tells who is there already."""
    project = enter(tx, call, project_slug)
    stay = checkins.begin(tx, project, agent_name, Scope.of(declared_area, declared_files or ()))
    return {
        "session_token": stay.secret,
        "agent_name": stay.presence.agent,
        "project": vocabulary.project_brief(project),
        "conflicts": vocabulary.conflict_rows(stay.conflicts),
        "heartbeat_interval_seconds": project.heartbeat_interval,
        "heartbeat_ttl_seconds": project.heartbeat_ttl,
    }


@DIALECT.tool(required=("session_token",), short=True)
def heartbeat(tx: Tx, call: Call, session_token: Secret | None = None) -> Reply:
    """Say that you are still there, at the interval that checkin gave."""
    kept = checkins.keep(tx, act(tx, call, session_token).stay)
    return {"ok": True, "last_heartbeat_at": vocabulary.moment(kept.seen_at)}


@DIALECT.tool(reads=True, required=("project_slug",))
def presence(tx: Tx, call: Call, project_slug: Slug | None = None) -> Reply:
    """List the agents at work in the project now, and where they work."""
    project = look(tx, call, project_slug)
    live = [each for each in agents.presences(tx, [project.id]) if each.is_live(tx.now)]
    return {
        "project": {"name": project.name, "slug": project.slug},
        "agents": LazyRows(vocabulary.presence_row(each) for each in live),
    }


@DIALECT.tool(reads=True, long=True, required=("project_slug",))
def conflict_check(
    tx: Tx,
    call: Call,
    project_slug: Slug | None = None,
    declared_area: OptionalName = None,
    declared_files: Files | None = None,
) -> Reply:
    """Tell whether a scope would be in conflict with others. Changes nothing."""
    project = look(tx, call, project_slug)
    mine = known_stay(tx, call, project)
    scope = Scope.of(declared_area, declared_files or ())
    conflicts = scopes.check(tx, project, scope, but=mine.id if mine else None)
    return {"has_conflicts": bool(conflicts), "conflicts": vocabulary.conflict_rows(conflicts)}


@DIALECT.tool(required=("session_token",))
def scope_update(
    tx: Tx,
    call: Call,
    session_token: Secret | None = None,
    declared_area: str | None = None,
    declared_files: Files | None = None,
) -> Reply:
    """Change where you work. What is left out stays as it was; an empty list, or an empty area, clears it."""
    here = act(tx, call, session_token)
    before = scopes.declared(tx, here.stay)
    area = before.area if declared_area is None else declared_area or None
    scope = Scope.of(area, before.files if declared_files is None else declared_files)
    conflicts = scopes.declare(tx, here.project, here.stay, scope)
    return {
        "ok": True,
        "declared_area": scope.area,
        "declared_files": list(scope.files),
        "conflicts": vocabulary.conflict_rows(conflicts),
    }


@DIALECT.tool(required=("session_token",))
def checkout(
    tx: Tx,
    call: Call,
    session_token: Secret | None = None,
    outcome_status: Literal["success", "failure", "partial"] | None = None,
    work_summary: OptionalText = None,
    files_touched: Files | None = None,
) -> Reply:
    """Check out, and say what came of it. What you had claimed and not finished goes back to the others."""
    here = act(tx, call, session_token)
    checkins.end(tx, here.stay, outcome=outcome_status, summary=work_summary, touched=files_touched)
    return {"ok": True, "duration_seconds": (tx.now - here.stay.opened_at) // 1000}
