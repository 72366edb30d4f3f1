"""The tools that assign work, answer, and steer tasks."""

from contextlib import suppress
from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field

from hubbub.core.actions import task_actions
from hubbub.core.agents import agents
from hubbub.core.mail import messages
from hubbub.core.people import access
from hubbub.core.work import proof, tasks
from hubbub.dialects.commhub import vocabulary
from hubbub.dialects.commhub.tool_set import DIALECT, Filter, Name, OptionalId, OptionalName, Text, no
from hubbub.dialects.dialect import Reply
from hubbub.model.errors import HubError, InvalidTransition, MayNotBegin, NotFound, NotHolder, Unavailable
from hubbub.model.lifecycle import Status
from hubbub.model.people.rights import HUB
from hubbub.model.records import Condition, LetterKind, Message, Project, Task
from hubbub.model.work.duplicates import OnDuplicate
from hubbub.model.work.permissions import VerbManner
from hubbub.store.tx import Tx

HOUR = timedelta(hours=1)  # the time to live of a retried task


class TaskEnded(HubError):
    """A reply came to a task that has ended."""

    code = "reply_task_terminal"


class NothingToAnswer(HubError):
    """A reply names something that is neither a task nor a message."""

    code = "reply_task_not_found"


@DIALECT.tool(short=True)
def send_task(
    tx: Tx,
    alias: Name,
    task: Text,
    priority: Literal["high", "normal", "low"] = "normal",
    context: Text | None = None,
    from_session: OptionalName = None,
    ttl_seconds: Annotated[float, Field(gt=0, le=86_400)] = 3600,
    network_id: OptionalId = None,
    parent_task_id: OptionalId = None,
) -> Reply:
    """Dispatch a task to a specified agent's inbox. The receiver is expected to act on it."""
    project = access.enter(tx, network_id)
    sender, status = access.speak(tx, project.id, from_session), _session_status(tx, project, alias)
    sent = tasks.send(
        tx,
        project.id,
        sender=sender,
        to=alias,
        text=task,
        context=context,
        priority=vocabulary.PRIORITIES[priority],
        ttl=timedelta(seconds=ttl_seconds),
        parent=parent_task_id,
        on_duplicate=OnDuplicate.TELL,
    )
    return {"message_id": str(sent.id), "session_status": status}


@DIALECT.tool(short=True)
def send_message(
    tx: Tx, alias: Name, message: Text, from_session: OptionalName = None, network_id: OptionalId = None
) -> Reply:
    """Send a message. It is shown to the receiver, who need not act on it."""
    project = access.enter(tx, network_id)
    sender, status = access.speak(tx, project.id, from_session), _session_status(tx, project, alias)
    sent = messages.send(tx, project.id, sender=sender, to=alias, body=message)
    return {"message_id": str(sent.id), "session_status": status}


@DIALECT.tool(short=True)
def send_reply(
    tx: Tx,
    alias: Name,
    text: Text,
    in_reply_to: OptionalId = None,
    status: Literal["replied", "failed", "cancelled"] = "replied",
    from_session: OptionalName = None,
    network_id: OptionalId = None,
) -> Reply:
    """Reply to a task, which ends it, or to a message. It is shown to the receiver, who need not act on it."""
    subject = _subject(tx, in_reply_to, network_id) if in_reply_to is not None else None
    project = access.enter(tx, network_id if subject is None else str(subject.project_id))
    sender = access.speak(tx, project.id, from_session)
    ended = _end(tx, subject, status, by=sender, text=text, told=alias) if isinstance(subject, Task) else None
    missing = proof.missing(tx, ended) if ended is not None else None
    sent = messages.send(
        tx,
        project.id,
        sender=sender,
        to=alias,
        addressee=messages.person_behind(subject),
        body=text,
        kind=LetterKind.REPLY,
        in_reply_to=subject.id if subject else None,
        outcome=ended.status if ended is not None else vocabulary.statuses(status)[0],
    )
    about = {"message": missing} if missing is not None else {}
    return {"message_id": str(sent.id), "session_status": _session_status(tx, project, alias), **about}


def _end(tx: Tx, task: Task, status: str, *, by: str, text: str, told: str) -> Task:
    if status == "failed":
        return task_actions.fail(tx, task, by=by, reason=text, told=told, manner=VerbManner.ANSWER)
    if status == "cancelled":
        return task_actions.cancel(tx, task, by=by, reason=text, told=told, manner=VerbManner.ANSWER)
    return task_actions.complete(tx, task, by=by, result=text, told=told, manner=VerbManner.ANSWER)


def _subject(tx: Tx, ref: str, network_id: str | None) -> Task | Message:
    """Return the unfinished task, or the message, that a reply answers."""
    project_ids = [project.id for project in access.visible(tx, network_id)]
    with suppress(NotFound):
        task = tasks.find(tx, project_ids, ref, lock=True)
        if task.is_ended:
            raise TaskEnded(f"the task is {vocabulary.STATUS[task.status]} already")
        return task
    try:
        return messages.find(tx, project_ids, ref)
    except NotFound:
        raise NothingToAnswer(f"there is no task or message {ref!r} to reply to") from None


@DIALECT.tool(short=True)
def send_ack(tx: Tx, task_id: str, from_session: OptionalName = None, network_id: OptionalId = None) -> Reply:
    """Acknowledge task receipt (lightweight, does not enter inbox). A free task is claimed by it."""
    task, project = _writable_task(tx, task_id, network_id)
    speaker = access.speak(tx, project.id, from_session)
    try:
        task_actions.accept(tx, task, speaker, manner=VerbManner.ANSWER)
    except MayNotBegin as why:
        return {"task_id": str(task.id), "updated": 0, "message": str(why)}
    except (NotHolder, Unavailable, InvalidTransition):
        return {"task_id": str(task.id), "updated": 0}
    return {"task_id": str(task.id), "updated": 1}


@DIALECT.tool(
    {InvalidTransition: lambda e: no(f"task status is {vocabulary.STATUS[Status(e.status)]}, not retryable")},
    short=True,
)
def retry_task(
    tx: Tx, task_id: str, from_session: OptionalName = None, network_id: OptionalId = None
) -> Reply:
    """Retry a failed/cancelled/expired task, with a fresh hour to begin it."""
    task, project = _writable_task(tx, task_id, network_id)
    again = task_actions.retry(tx, task, by=access.speak(tx, project.id, from_session), ttl=HOUR)
    return {"task_id": str(again.id), "retried_to": again.assignee}


@DIALECT.tool({InvalidTransition: lambda e: {"ok": False, "cancelled": False}}, short=True)
def cancel_task(
    tx: Tx,
    task_id: str,
    reason: Annotated[str, Field(max_length=1_000)] | None = None,
    from_session: OptionalName = None,
    network_id: OptionalId = None,
) -> Reply:
    """Cancel a pending task."""
    task, project = _writable_task(tx, task_id, network_id)
    cancelled = task_actions.cancel(tx, task, by=access.speak(tx, project.id, from_session), reason=reason)
    return {"task_id": str(cancelled.id), "cancelled": True}


@DIALECT.tool(
    {InvalidTransition: lambda e: no(f"task is terminal ({vocabulary.STATUS[Status(e.status)]})")}, short=True
)
def reassign_task(
    tx: Tx, task_id: str, new_alias: Name, from_session: OptionalName = None, network_id: OptionalId = None
) -> Reply:
    """Reassign a task to another agent. The old one's inbox loses it, the new one's gets it."""
    task, project = _writable_task(tx, task_id, network_id)
    moved = task_actions.reassign(tx, task, to=new_alias, by=access.speak(tx, project.id, from_session))
    return {"task_id": str(moved.id), "reassigned_from": task.assignee, "reassigned_to": moved.assignee}


@DIALECT.tool()
def broadcast(
    tx: Tx,
    message: Text,
    filter_server: Filter = None,
    filter_status: Filter = None,
    network_id: OptionalId = None,
) -> Reply:
    """Broadcast a message to all online agents. The receivers are expected to act on it."""
    project = access.enter(tx, network_id)
    recipients = [
        presence.agent
        for presence in agents.presences(tx, [project.id])
        if filter_server in (None, presence.server)
        and (
            presence.condition is not Condition.OFFLINE
            if filter_status is None
            else vocabulary.CONDITION[presence.condition] == filter_status
        )
    ]
    is_narrowed = filter_server is not None or filter_status is not None
    _message, rows = messages.broadcast(
        tx, project.id, sender=HUB, body=message, recipients=recipients, to_some=is_narrowed
    )
    about = vocabulary.unheard("session", filter_status, vocabulary.CONDITIONS)
    return {"recipients": len(rows), "message_ids": [str(row.id) for row in rows], **about}


def _writable_task(tx: Tx, ref: str, network_id: str | None) -> tuple[Task, Project]:
    """Return the task with that id, locked, and its project; the caller may write there."""
    task = tasks.find(tx, [project.id for project in access.visible(tx, network_id)], ref, lock=True)
    return task, access.enter(tx, str(task.project_id))


def _session_status(tx: Tx, project: Project, alias: str) -> str:
    return vocabulary.CONDITION[agents.condition(tx, project.id, alias)]
