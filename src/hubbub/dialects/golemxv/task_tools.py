"""The tools for tasks: finding, claiming, moving, completing."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Literal

from pydantic import Field

from hubbub.core.actions import task_actions
from hubbub.core.agents import scopes
from hubbub.core.work import proof, tasks
from hubbub.dialects.call import Call
from hubbub.dialects.dialect import Reply
from hubbub.dialects.golemxv import vocabulary
from hubbub.dialects.golemxv.tool_set import (
    DIALECT,
    Files,
    GolemXVContext,
    OptionalName,
    OptionalText,
    Secret,
    Slug,
    Text,
    act,
    look,
    no,
)
from hubbub.model.errors import Conflict, InvalidTransition, Unmet
from hubbub.model.lifecycle import NOT_BEGUN, Status
from hubbub.model.records import Task
from hubbub.model.work.permissions import VerbManner
from hubbub.store.tx import Tx

GONE = "Task is no longer available"

TaskNumber = Annotated[int, Field(ge=1, le=2**53)]


@DIALECT.tool(reads=True)
def list_tasks(
    tx: Tx,
    call: Call,
    status: Literal["pending", "assigned", "in_progress", "blocked", "completed", "failed", "cancelled"]
    | None = None,
    assigned_to: OptionalName = None,
    priority: Literal["low", "medium", "high", "critical"] | None = None,
    limit: Annotated[int, Field(ge=1, le=50)] = 20,
    project_slug: Slug | None = None,
) -> Reply:
    """The project's tasks, most urgent first, then oldest first."""
    project = look(tx, call, project_slug)
    found = tasks.by_urgency(
        tx,
        project.id,
        status=vocabulary.statuses(status) if status is not None else (),
        assignee=assigned_to,
        priority=vocabulary.PRIORITIES[priority] if priority is not None else None,
        limit=limit,
    )
    return {"tasks": [vocabulary.task_row(task) for task in found], "count": len(found)}


@DIALECT.tool({Unmet: lambda e: no(f"{GONE}: {_awaited(e)}")}, short=True)
def claim_task(
    tx: Tx,
    call: Call,
    task_id: TaskNumber,
    project_slug: Slug | None = None,
    session_token: Secret | None = None,
) -> Reply:
    """Claim a pending task, or one that is assigned to you. Of several who try at once one succeeds."""
    here = act(tx, call, session_token, project_slug)
    task = _find(tx, here, task_id)
    is_mine_to_begin = task.assignee == here.name and task.status in NOT_BEGUN - {Status.ACCEPTED}
    if not is_mine_to_begin and (task.assignee is not None or task.status is not Status.QUEUED):
        raise Conflict(GONE)
    claimed = task_actions.accept(tx, task, here.name)
    areas = {area.slug: area for area in scopes.areas(tx, here.project.id)}
    return {"claimed": True, "task": vocabulary.claimed_task(claimed, areas.get(claimed.area or ""))}


@DIALECT.tool(short=True)
def update_task(
    tx: Tx,
    call: Call,
    task_id: TaskNumber,
    status: Literal["in_progress", "blocked", "failed"],
    reason: OptionalText = None,
    session_token: Secret | None = None,
) -> Reply:
    """Change the status of your task; say why, if it is blocked or failed. To complete it there is complete_task."""
    here = act(tx, call, session_token)
    task, mine = _find(tx, here, task_id), VerbManner.OWN
    with _in_words(status):
        if status == "in_progress":
            updated = task_actions.start(tx, task, here.name, reason=reason, manner=mine)
        elif status == "blocked":
            updated = task_actions.block(tx, task, by=here.name, leased=True, reason=reason, manner=mine)
        else:
            updated = task_actions.fail(tx, task, by=here.name, reason=reason or "failed", manner=mine)
    row = {"id": updated.number, "title": updated.title, "status": vocabulary.STATUS[updated.status]}
    return {"updated": True, "task": row}


@DIALECT.tool(short=True)
def complete_task(
    tx: Tx,
    call: Call,
    task_id: TaskNumber,
    result_summary: Text,
    files_changed: Files | None = None,
    session_token: Secret | None = None,
) -> Reply:
    """Complete your task, with a summary of what you did. Where it is about an issue on GitHub, it is posted there."""
    here = act(tx, call, session_token)
    task = _find(tx, here, task_id)
    with _in_words("completed"):
        ended = task_actions.complete(
            tx, task, by=here.name, result=result_summary, files=files_changed, manner=VerbManner.OWN
        )
    missing = proof.missing(tx, ended)
    about = {"reason": missing} if missing is not None else {}
    return {"completed": missing is None, "task": {"id": task.number, "title": task.title}, **about}


def _awaited(error: Unmet) -> str:
    """Return which tasks it waits for, in a sentence."""
    needs = (f"task {need.number} ({vocabulary.STATUS[Status(need.status)]})" for need in error.needs)
    return f"it waits for {', '.join(needs)}"


def _find(tx: Tx, here: GolemXVContext, number: int) -> Task:
    """Return the task with that number, locked. Raises `NotFound`."""
    return tasks.find(tx, [here.project.id], str(number), lock=True)


@contextmanager
def _in_words(status: str) -> Iterator[None]:
    """Raise the refusal of an impossible status in GolemXV's words."""
    try:
        yield
    except InvalidTransition as error:
        was = vocabulary.STATUS[Status(error.status)]
        raise Conflict(f"a task that is {was} cannot become {status}") from None
