"""Actions on a task: by its holder, and by those who may steer it."""

from collections.abc import Callable
from functools import partial
from typing import Annotated

from pydantic import Field

from hubbub.core.actions import completion_reports, task_actions
from hubbub.core.log.idempotency import Reply
from hubbub.core.people import access
from hubbub.core.work import tasks
from hubbub.model.records import Task
from hubbub.serve.rest.base.call import Call, RestCall
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import Body, LongText, MessageShape, Name, Percent, Seconds, Text, Whole
from hubbub.serve.rest.work.tasks import OneTask, one, ttl_of
from hubbub.store.tx import Tx

router = Router("tasks")


class By(Body):
    """The caller of an action, and the epoch at which they hold the task, if it is given."""

    by: Name | None = None
    epoch: Whole | None = None


class Completing(By):
    result: LongText = ""


class Because(By):
    reason: LongText = ""


class Blocking(By):
    reason: Text


class Approving(By):
    comment: LongText | None = None


class RequestingChanges(By):
    comment: Text


class Saying(By):
    text: Text


class Retrying(By):
    ttl_seconds: Seconds | None = None


class Reassigning(Because):
    to: Name


class Progressing(By):
    output: LongText | None = Field(None, description="its last output, shown beside the agent")
    progress: Percent | None = None
    note: LongText | None = Field(None, description="words that stay with the task")


class Completed(OneTask):
    completion_id: Annotated[
        str | None, Field(description="null: it was completed by another than its holder")
    ]
    truncated: bool


class Commented(OneTask):
    message: Annotated[
        MessageShape | None, Field(description="null: there was nobody to tell; the log has it")
    ]


@router.post("/tasks/{ref}/accept", response_model=OneTask)
async def accept_task(call: Call, ref: str, body: By) -> Reply:
    """Accept a task; a free one then belongs to the caller, who must be an agent."""
    return await _act(call, ref, body, task_actions.accept)


@router.post("/tasks/{ref}/start", response_model=OneTask)
async def start_task(call: Call, ref: str, body: By) -> Reply:
    """Begin a task; a free one then belongs to the caller, who must be an agent. From now on it does not expire."""
    return await _act(call, ref, body, task_actions.start)


@router.post("/tasks/{ref}/progress", response_model=OneTask)
async def report_progress(call: Call, ref: str, body: Progressing) -> Reply:
    """Report progress on the caller's own task."""
    told = body.model_dump(include={"output", "progress", "note"})
    return await _act(call, ref, body, partial(task_actions.progress, **told))


@router.post("/tasks/{ref}/block", response_model=OneTask)
async def block_task(call: Call, ref: str, body: Blocking) -> Reply:
    """Mark a task as blocked, with the reason."""
    return await _act(call, ref, body, partial(task_actions.block, reason=body.reason))


@router.post("/tasks/{ref}/unblock", response_model=OneTask)
async def unblock_task(call: Call, ref: str, body: Because) -> Reply:
    """Let a blocked task go on."""
    return await _act(call, ref, body, partial(task_actions.unblock, reason=body.reason or None))


@router.post("/tasks/{ref}/submit", response_model=OneTask)
async def submit_task(call: Call, ref: str, body: Completing) -> Reply:
    """Submit the caller's own work for review, with a result for the sender."""
    return await _act(call, ref, body, partial(task_actions.submit, result=body.result or None))


@router.post("/tasks/{ref}/complete", response_model=Completed)
async def complete_task(call: Call, ref: str, body: Completing) -> Reply:
    """Complete the caller's own task or, as a person or a coordinator, any task.

    The result is kept whole in the holder's report; the task has its beginning.
    """

    def complete(tx: Tx) -> Completed:
        task, by = _held(tx, call, ref, body)
        ended = task_actions.complete(tx, task, by=by, result=body.result)
        said = completion_reports.latest(tx, ended) if by == ended.assignee else None
        return Completed(
            task=one(tx, ended),
            completion_id=str(said.id) if said is not None else None,
            truncated=(ended.result or "") != body.result,
        )

    return await call.create(complete)


@router.post("/tasks/{ref}/fail", response_model=OneTask)
async def fail_task(call: Call, ref: str, body: Because) -> Reply:
    """Fail the caller's own task, with the reason."""
    return await _act(call, ref, body, partial(task_actions.fail, reason=body.reason))


@router.post("/tasks/{ref}/cancel", response_model=OneTask)
async def cancel_task(call: Call, ref: str, body: Because) -> Reply:
    """Cancel a task that is no longer wanted. Its holder is told."""
    return await _act(call, ref, body, partial(task_actions.cancel, reason=body.reason or None))


@router.post("/tasks/{ref}/approve", response_model=OneTask)
async def approve_task(call: Call, ref: str, body: Approving) -> Reply:
    """Approve work that was submitted for review: the task is completed. Not for its holder."""
    return await _act(call, ref, body, partial(task_actions.approve, comment=body.comment))


@router.post("/tasks/{ref}/request-changes", response_model=OneTask)
async def request_changes(call: Call, ref: str, body: RequestingChanges) -> Reply:
    """Send work that was submitted for review back to its holder, with the wanted changes."""
    return await _act(call, ref, body, partial(task_actions.request_changes, comment=body.comment))


@router.post("/tasks/{ref}/retry", response_model=OneTask)
async def retry_task(call: Call, ref: str, body: Retrying) -> Reply:
    """Deliver a failed, cancelled or expired task again, with its old time to begin it, or `ttl_seconds`."""
    ttl = ttl_of(body.ttl_seconds)
    return await _act(call, ref, body, partial(task_actions.retry, ttl=ttl))


@router.post("/tasks/{ref}/reassign", response_model=OneTask)
async def reassign_task(call: Call, ref: str, body: Reassigning) -> Reply:
    """Reassign an unfinished task to another agent. Its holder is told, and both get the `reason`."""
    return await _act(call, ref, body, partial(task_actions.reassign, to=body.to, reason=body.reason))


@router.post("/tasks/{ref}/release", response_model=OneTask)
async def release_task(call: Call, ref: str, body: Blocking) -> Reply:
    """Put a task back into the open queue, where any agent may claim it. Its holder is told why."""
    return await _act(call, ref, body, partial(task_actions.release, reason=body.reason))


@router.put("/tasks/{ref}/description", response_model=OneTask)
async def describe_task(call: Call, ref: str, body: Saying) -> Reply:
    """Change a task's description, signed by its writer; its title stays. Its holder is told."""
    return await _act(call, ref, body, partial(task_actions.describe, text=body.text))


@router.post("/tasks/{ref}/comments", response_model=Commented)
async def comment_on_task(call: Call, ref: str, body: Saying) -> Reply:
    """Comment on a task to its holder, else to its sender; if there is neither, the log keeps it."""

    def say(tx: Tx) -> Commented:
        task, by = _held(tx, call, ref, body)
        said = task_actions.comment(tx, task, body.text, by=by)
        message = MessageShape.of(said) if said is not None else None
        return Commented(task=one(tx, task), message=message)

    return await call.create(say)


async def _act(call: RestCall, ref: str, body: By, act: Callable[..., Task]) -> Reply:
    """Act on a task in the name, and at the epoch, that `body` gives."""

    def move(tx: Tx) -> OneTask:
        task, by = _held(tx, call, ref, body)
        return OneTask(task=one(tx, act(tx, task, by=by)))

    return await call.create(move)


def _held(tx: Tx, call: RestCall, ref: str, body: By) -> tuple[Task, str]:
    task = call.task(tx, ref)
    tasks.require_epoch(task, body.epoch)
    return task, access.speak(tx, task.project_id, body.by)
