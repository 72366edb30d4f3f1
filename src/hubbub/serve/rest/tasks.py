"""Tasks: sending them, and moving them along their life."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from hubbub.core import (
    access,
    activity,
    completions,
    dependencies,
    endings,
    handovers,
    messages,
    presences,
    tasks,
    whereabouts,
)
from hubbub.core.idempotency import Reply
from hubbub.model.errors import NotHolder
from hubbub.model.lifecycle import Event, Status, advance
from hubbub.model.records import Priority, Project, Task
from hubbub.model.rights import HUB, Right
from hubbub.serve.events import content_of
from hubbub.serve.rest.call import Call, RestCall
from hubbub.serve.rest.shapes import (
    ActivityShape,
    Body,
    LongText,
    MessageShape,
    Name,
    Percent,
    PriorityName,
    Seconds,
    TaskShape,
    Text,
    Whole,
)
from hubbub.store.tx import Tx

router = APIRouter(tags=["tasks"])

THREAD_SHOWN = 200
ACTIVITY_SHOWN = 200
MOST_NEEDS = 32
RETRY_TTL = timedelta(hours=1)  # of a task that had a time to begin it, and is tried again


class Tasks(BaseModel):
    tasks: list[TaskShape]


class OneTask(BaseModel):
    task: TaskShape


class WholeTask(OneTask):
    """A task with what was said and done about it; the activity newest first."""

    messages: list[MessageShape]
    activity: list[ActivityShape]


class NewTask(Body):
    text: Text
    title: Name | None = None
    to: Name | None = None
    priority: PriorityName = Priority.MEDIUM
    ttl_seconds: Seconds | None = None
    context: LongText | None = None
    parent_id: Name | None = None
    area: Name | None = Field(None, description="an area of the project; any slug, if it has none")
    depends_on: list[Name] | None = Field(
        None, max_length=MOST_NEEDS, description="tasks that must be completed first, by id or number"
    )
    issue: Name | None = Field(
        None, description="the issue on GitHub that hears of its result, as owner/repository#number"
    )
    sender: Name | None = None


class By(Body):
    """Who moves a task, and, where it is said, at which epoch they hold it."""

    by: Name | None = None
    epoch: Whole | None = None


class Completing(By):
    result: LongText = ""


class Failing(By):
    reason: LongText = ""


class Retrying(By):
    ttl_seconds: Seconds | None = None


class Reassigning(By):
    to: Name


class Progressing(By):
    output: LongText | None = None
    progress: Percent | None = None


class Completed(OneTask):
    completion_id: str
    truncated: bool


@router.get("/tasks")
async def list_tasks(
    call: Call,
    *,
    status: Annotated[list[Status] | None, Query()] = None,
    assignee: str | None = None,
    sender: str | None = None,
    before: Annotated[int | None, Query(ge=1, le=2**62)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> Tasks:
    """Tasks, newest first; `before` is the number to go on from."""

    def look(tx: Tx) -> Tasks:
        ids = [project.id for project in access.visible(tx, call.project)]
        found = tasks.search(
            tx, ids, status=status or (), assignee=assignee, sender=sender, before=before, limit=limit
        )
        return Tasks(tasks=_shapes(tx, ids, found))

    return await call.read(look)


@router.post("/tasks", status_code=HTTPStatus.CREATED, response_model=OneTask)
async def send_task(call: Call, body: NewTask) -> Reply:
    """Put a task into the inbox of `to`, or, without one, into the open queue.

    One that depends on others is held back until they are completed.
    """

    def send(tx: Tx) -> Reply:
        project = call.enter(tx)
        sent = tasks.send(
            tx,
            project.id,
            sender=access.speak(tx, project.id, body.sender),
            to=body.to,
            text=body.text,
            title=body.title,
            context=body.context,
            priority=body.priority,
            ttl=_ttl(body.ttl_seconds),
            parent=body.parent_id,
            needs=_needs(tx, project, body.depends_on or ()),
            issue=body.issue,
            area=body.area,
        )
        return OneTask(task=_one(tx, sent)).model_dump(mode="json")

    return await call.create(send)


@router.get("/tasks/{ref}")
async def show_task(call: Call, ref: str) -> WholeTask:
    """A task, by its id or by its number in the project, with its messages and its activity."""

    def look(tx: Tx) -> WholeTask:
        task = call.task(tx, ref, Right.READ)
        happened = activity.latest(tx, task.project_id, task_id=task.id, limit=ACTIVITY_SHOWN)
        return WholeTask(
            task=_one(tx, task),
            messages=[MessageShape.of(each) for each in messages.thread(tx, task.id, THREAD_SHOWN)],
            activity=[ActivityShape.model_validate(content_of(each)) for each in happened],
        )

    return await call.read(look)


@router.post("/tasks/{ref}/accept", response_model=OneTask)
async def accept_task(call: Call, ref: str, body: By) -> Reply:
    """Say yes to a task; a free one is then the caller's."""
    return await _move(
        call, ref, body, lambda tx, task, by: tasks.accept(tx, task, None if by == HUB else by)
    )


@router.post("/tasks/{ref}/start", response_model=OneTask)
async def start_task(call: Call, ref: str, body: By) -> Reply:
    """Begin a task; a free one is then the caller's. From now on it does not expire."""
    return await _move(call, ref, body, tasks.start)


@router.post("/tasks/{ref}/complete", response_model=Completed)
async def complete_task(call: Call, ref: str, body: Completing) -> Reply:
    """Say that one's task is done. The result is kept whole; its beginning is the task's."""

    def complete(tx: Tx) -> Reply:
        task, by = _held(tx, call, ref, body)
        advance(task.status, Event.COMPLETE)
        outcome = completions.report(tx, task.project_id, by, task=str(task.id), result=body.result)
        return Completed(
            task=_one(tx, outcome.task or task),
            completion_id=str(outcome.completion.id),
            truncated=outcome.truncated,
        ).model_dump(mode="json")

    return await call.create(complete)


@router.post("/tasks/{ref}/fail", response_model=OneTask)
async def fail_task(call: Call, ref: str, body: Failing) -> Reply:
    """Say that one's task cannot be done, and why."""

    def fail(tx: Tx, task: Task, by: str) -> Task:
        if by not in (task.assignee, HUB):
            raise NotHolder(task.assignee)
        kept = body.reason[: completions.RESULT_LENGTH]
        return endings.finish(tx, task, Event.FAIL, by=by, text=body.reason, result=kept)

    return await _move(call, ref, body, fail)


@router.post("/tasks/{ref}/cancel", response_model=OneTask)
async def cancel_task(call: Call, ref: str, body: Failing) -> Reply:
    """End a task that is not wanted any more."""
    return await _move(
        call, ref, body, lambda tx, task, by: endings.cancel(tx, task, by=by, reason=body.reason or None)
    )


@router.post("/tasks/{ref}/retry", response_model=OneTask)
async def retry_task(call: Call, ref: str, body: Retrying) -> Reply:
    """Deliver a failed, cancelled or expired task again. One that could expire has another hour, or `ttl_seconds`."""

    def retry(tx: Tx, task: Task, by: str) -> Task:
        fresh = RETRY_TTL if task.expires_at is not None else None
        return handovers.retry(tx, task, by=by, ttl=_ttl(body.ttl_seconds) or fresh)

    return await _move(call, ref, body, retry)


@router.post("/tasks/{ref}/reassign", response_model=OneTask)
async def reassign_task(call: Call, ref: str, body: Reassigning) -> Reply:
    """Hand an unfinished task to another agent."""
    return await _move(call, ref, body, lambda tx, task, by: handovers.reassign(tx, task, to=body.to, by=by))


@router.post("/tasks/{ref}/progress", response_model=OneTask)
async def report_progress(call: Call, ref: str, body: Progressing) -> Reply:
    """Tell how far one is with one's task."""

    def tell(tx: Tx, task: Task, by: str) -> Task:
        presences.progress(tx, task, by, output=body.output, progress=body.progress)
        return task

    return await _move(call, ref, body, tell)


async def _move(call: RestCall, ref: str, body: By, step: Callable[[Tx, Task, str], Task]) -> Reply:
    """Have something happen to a task, as whom and at what epoch `body` says."""

    def move(tx: Tx) -> Reply:
        moved = step(tx, *_held(tx, call, ref, body))
        return OneTask(task=_one(tx, moved)).model_dump(mode="json")

    return await call.create(move)


def _held(tx: Tx, call: RestCall, ref: str, body: By) -> tuple[Task, str]:
    task = call.task(tx, ref)
    tasks.require_epoch(task, body.epoch)
    return task, access.speak(tx, task.project_id, body.by)


def _needs(tx: Tx, project: Project, refs: Sequence[str]) -> list[Task]:
    """The tasks that are named, each once. Raises `NotFound`."""
    found = [tasks.find(tx, [project.id], ref) for ref in refs]
    return list({task.id: task for task in found}.values())


def _shapes(tx: Tx, project_ids: Sequence[UUID], found: Sequence[Task]) -> list[TaskShape]:
    assignees = {task.assignee for task in found if task.assignee is not None}
    machines = {each: whereabouts.machines(tx, each, assignees) for each in project_ids}
    return [_shape(tx, task, machines[task.project_id].get(task.assignee or "")) for task in found]


def _one(tx: Tx, task: Task) -> TaskShape:
    assignee = task.assignee
    return _shape(tx, task, whereabouts.machine(tx, task.project_id, assignee) if assignee else None)


def _shape(tx: Tx, task: Task, machine: str | None) -> TaskShape:
    needs = dependencies.of_task(tx, task)
    shape: TaskShape = TaskShape.of(task, depends_on=needs, ready=tasks.is_ready(tx, task), machine=machine)
    return shape


def _ttl(seconds: float | None) -> timedelta | None:
    return timedelta(seconds=seconds) if seconds is not None else None
