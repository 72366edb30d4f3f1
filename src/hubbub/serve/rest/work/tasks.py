"""Tasks: sending them, finding them, and showing one with everything about it. `task_actions` moves them."""

from collections.abc import Sequence
from datetime import timedelta
from http import HTTPStatus
from typing import Annotated, Any
from uuid import UUID

from fastapi import Query, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import Field

from hubbub.core.log import activity
from hubbub.core.log.idempotency import Reply
from hubbub.core.mail import delivery_forecast, threads
from hubbub.core.people import access
from hubbub.core.presence import agent_location
from hubbub.core.snapshots import card_states
from hubbub.core.work import artifacts, dependencies, proof, task_search, tasks
from hubbub.model.lifecycle import ENDED, OPEN, Status
from hubbub.model.log.attention import TaskState
from hubbub.model.log.projection import Card
from hubbub.model.mail.wakes import DeliveryChannels
from hubbub.model.people.rights import Right
from hubbub.model.records import Priority, Project, Task
from hubbub.model.work.duplicates import OnDuplicate
from hubbub.serve.live.sse import activity_json
from hubbub.serve.rest.base.call import Call
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import (
    ActivityShape,
    ArtifactShape,
    Body,
    Line,
    LongText,
    Model,
    Name,
    PriorityName,
    Seconds,
    SentShape,
    Shape,
    TaskShape,
    Text,
)
from hubbub.serve.rest.mail.message_shapes import (
    DeliveredMessageShape,
    DeliveryShape,
    Render,
    delivered_messages,
    render_bodies,
)
from hubbub.serve.rest.work.proof import Demands
from hubbub.store.tx import Tx

router = Router("tasks")

THREAD_SHOWN = 200
ACTIVITY_SHOWN = 200
MOST_NEEDS = 32
Moment = Annotated[int | None, Query(ge=0, le=2**62)]


class Tasks(Model):
    tasks: list[TaskShape]
    total: int | None = Field(None, description="how many there are without a limit, if that was asked for")


class OneTask(Model):
    task: TaskShape


class SentTask(OneTask):
    delivery: SentShape | None = Field(description="null: it is in nobody's inbox yet")


class BriefShape(Shape):
    """A task beside another one."""

    id: UUID
    number: int
    title: str
    status: Status
    state: TaskState
    assignee: str | None


class ReadTask(TaskShape):
    """A task as people read it."""

    description: str
    context: str | None
    result: str | None
    description_html: str | None = None
    context_html: str | None = None
    result_html: str | None = None


class WholeTask(Model):
    """A task with its messages and events; the activity newest first, all else oldest first."""

    task: ReadTask
    messages: list[DeliveredMessageShape]
    activity: list[ActivityShape]
    artifacts: list[ArtifactShape] = Field(description="its artifacts, without their contents")
    deliveries: list[DeliveryShape] = Field(description="how far it got itself: its first and its last way")
    children: list[BriefShape]
    needs: list[BriefShape]
    needed_by: list[BriefShape]


class NewTask(Body):
    text: Text
    title: Name | None = None
    to: Name | None = None
    priority: PriorityName = Field(Priority.MEDIUM, json_schema_extra={"default": "medium"})
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
    done_when: Demands | None = Field(None, description="null: what the project asks for")
    sender: Name | None = None
    anyway: bool = Field(False, description="make it also where another open task is the same job")


@router.get("/tasks")
async def list_tasks(
    call: Call,
    *,
    status: Annotated[list[Status] | None, Query()] = None,
    ended: Annotated[
        bool | None, Query(description="those that are over, or those that are not; without a status")
    ] = None,
    assignee: str | None = None,
    sender: str | None = None,
    area: str | None = None,
    priority: PriorityName | None = None,
    q: Annotated[
        Line, Query(description="words that all occur in title or description; or a number, as 12 or T-12")
    ] = "",
    ended_since: Annotated[Moment, Query(description="those that ended at this time or later")] = None,
    ended_before: Annotated[Moment, Query(description="those that ended before this time")] = None,
    before: Annotated[int | None, Query(ge=1, le=2**62)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    total: bool = False,
) -> Tasks:
    """List tasks, newest first; `before` is the number to go on from. With `total`, also their number."""
    filters: dict[str, Any] = {
        "status": status or (() if ended is None else ENDED if ended else OPEN),
        "assignee": assignee,
        "sender": sender,
        "area": area,
        "priority": priority,
        "ended_since": ended_since,
        "ended_before": ended_before,
    }

    def look(tx: Tx) -> Tasks:
        ids = [project.id for project in access.visible(tx, call.project)]
        found = task_search.search(tx, ids, q, **filters, before=before, limit=limit)
        number = task_search.number(tx, ids, q, **filters) if total else None
        return Tasks(tasks=_shapes(tx, ids, found), total=number)

    return await call.read(look, long=total or bool(q))


@router.post("/tasks", status_code=HTTPStatus.CREATED, response_model=SentTask)
async def send_task(request: Request, call: Call, body: NewTask) -> Reply:
    """Send a task into the inbox of `to`, or, without one, into the open queue.

    A task that depends on others is held back until they are completed. One that is the same job as another open task
    is refused with 409 `duplicate`, which names that task, unless it is to be sent `anyway`.
    """

    def send(tx: Tx) -> SentTask:
        project = call.enter(tx)
        sender = access.speak(tx, project.id, body.sender)
        sent = tasks.send(
            tx,
            project.id,
            sender=sender,
            to=body.to,
            text=body.text,
            title=body.title,
            context=body.context,
            priority=body.priority,
            ttl=ttl_of(body.ttl_seconds),
            parent=body.parent_id,
            needs=_needs(tx, project, body.depends_on or ()),
            issue=body.issue,
            area=body.area,
            on_duplicate=OnDuplicate.TELL if body.anyway else OnDuplicate.REFUSE,
        )
        if body.done_when is not None:
            proof.put_contract(tx, sent, body.done_when, by=sender)
        return SentTask(task=one(tx, sent), delivery=_expected(tx, sent, request.app.state.news))

    return await call.create(send)


@router.get("/tasks/{ref}")
async def show_task(call: Call, ref: str, render: Render = None) -> WholeTask:
    """Show a task, by its id or by its number in the project, with its thread, its activity, and all about it."""

    def look(tx: Tx) -> WholeTask:
        task = call.task(tx, ref, Right.READ)
        happened = activity.latest(tx, task.project_id, task_id=task.id, limit=ACTIVITY_SHOWN)
        return WholeTask(
            task=ReadTask.model_validate(one(tx, task).model_dump()),
            messages=delivered_messages(tx, threads.of_task(tx, task, limit=THREAD_SHOWN)),
            activity=[ActivityShape.model_validate(activity_json(each)) for each in happened],
            artifacts=[ArtifactShape.of(each) for each in artifacts.of_task(tx, task)],
            deliveries=[DeliveryShape.of(each) for each in task_search.deliveries(tx, task)],
            children=_briefs(tx, task_search.children(tx, task)),
            needs=_briefs(tx, dependencies.needs(tx, task)),
            needed_by=_briefs(tx, dependencies.waiting(tx, task)),
        )

    whole = await call.read(look)
    if render is not None:
        await run_in_threadpool(_render, whole)
    return whole


def _render(whole: WholeTask) -> None:
    from hubbub.serve.rest.base import markdown  # takes a while to import

    task = whole.task
    task.description_html = markdown.render(task.description)
    task.context_html = markdown.render(task.context) if task.context is not None else None
    task.result_html = markdown.render(task.result) if task.result is not None else None
    render_bodies(whole.messages)


def _briefs(tx: Tx, found: Sequence[Task]) -> list[BriefShape]:
    cards = card_states.of_tasks(tx, found)
    return [BriefShape.of(each, state=card["state"]) for each, card in zip(found, cards, strict=True)]


def _needs(tx: Tx, project: Project, refs: Sequence[str]) -> list[Task]:
    """Return the named tasks, each once. Raises `NotFound`."""
    found = [tasks.find(tx, [project.id], ref) for ref in refs]
    return list({task.id: task for task in found}.values())


def _shapes(tx: Tx, project_ids: Sequence[UUID], found: Sequence[Task]) -> list[TaskShape]:
    assignees = {task.assignee for task in found if task.assignee is not None}
    machines = {each: agent_location.machines(tx, each, assignees) for each in project_ids}
    return [
        _shape(tx, task, card, machines[task.project_id].get(task.assignee or ""))
        for task, card in zip(found, card_states.of_tasks(tx, found), strict=True)
    ]


def _expected(tx: Tx, sent: Task, ways: DeliveryChannels) -> SentShape | None:
    """Forecast when the task's addressee will look at it."""
    if sent.assignee is None or sent.delivery_id is None:
        return None
    return SentShape.of(delivery_forecast.forecast(tx, sent.project_id, sent.assignee, ways))


def one(tx: Tx, task: Task) -> TaskShape:
    """Return a task's outside view."""
    assignee = task.assignee
    machine = agent_location.machine(tx, task.project_id, assignee) if assignee else None
    return _shape(tx, task, card_states.of_task(tx, task), machine)


def _shape(tx: Tx, task: Task, card: Card, machine: str | None) -> TaskShape:
    stands = {name: card[name] for name in ("state", "need", "may")}
    needs, ready = card["depends_on"], tasks.is_ready(tx, task)
    return TaskShape.of(task, depends_on=needs, ready=ready, machine=machine, **stands)


def ttl_of(seconds: float | None) -> timedelta | None:
    """Return the time to begin a task in a call."""
    return timedelta(seconds=seconds) if seconds is not None else None
