"""Messages, broadcasts, and agents' reports of finished work."""

from contextlib import suppress
from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import Query, Request
from pydantic import Field

from hubbub.core.actions import completion_reports
from hubbub.core.agents import agents
from hubbub.core.log.idempotency import Reply
from hubbub.core.mail import delivery_forecast, messages
from hubbub.core.people import access
from hubbub.core.work import permissions, tasks
from hubbub.model.errors import Invalid, NotFound
from hubbub.model.fleet.nodes import NODE_PREFIX
from hubbub.model.people.rights import Right
from hubbub.model.records import Condition, LetterKind, Message, Project, Task
from hubbub.serve.rest.base.call import Call
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import (
    Body,
    CompletionShape,
    Line,
    MessageShape,
    Model,
    Name,
    SentShape,
    Text,
)
from hubbub.store.tx import Tx

router = Router("messages")


class Messages(Model):
    messages: list[MessageShape]


class OneMessage(Model):
    message: MessageShape


class SentMessage(OneMessage):
    delivery: SentShape


class NewMessage(Body):
    to: Name | None = Field(None, description="may be omitted in a reply: the other end is meant")
    text: Text
    sender: Name | None = None
    in_reply_to: Name | None = Field(None, description="a task or a message")
    thread: Name | None = Field(None, description="what the conversation is called")


class NewBroadcast(Body):
    text: Text
    sender: Name | None = None
    kind: Literal[LetterKind.BROADCAST, LetterKind.MESSAGE] = Field(
        LetterKind.BROADCAST, description="a broadcast is to be acted on; a message is only read"
    )
    away: Annotated[bool, Field(strict=True)] = Field(
        False, description="also to all that the project knows, who find it when they come"
    )
    condition: Condition | None = Field(
        None, description="only to agents in this; by default to all that are there"
    )
    server: Line | None = None


class Broadcast(OneMessage):
    recipients: list[str]


class Completions(Model):
    completions: list[CompletionShape]


@router.get("/messages")
async def list_messages(
    call: Call,
    before: Annotated[int | None, Query(ge=1, le=2**62)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> Messages:
    """List the project's messages, newest first; `before` is the number to go on from."""
    found = await call.read(
        lambda tx: messages.history(tx, call.enter(tx, Right.READ).id, before=before, limit=limit)
    )
    return Messages(messages=[MessageShape.of(message) for message in found])


@router.post("/messages", status_code=HTTPStatus.CREATED, response_model=SentMessage)
async def send_message(request: Request, call: Call, body: NewMessage) -> Reply:
    """Put a message into an inbox; a reply, if it names the message it answers. A reply does not end a task."""

    def send(tx: Tx) -> SentMessage:
        project = call.enter(tx)
        sender = access.speak(tx, project.id, body.sender)
        subject = _subject(tx, project, body.in_reply_to) if body.in_reply_to is not None else None
        sent = messages.send(
            tx,
            project.id,
            sender=sender,
            to=body.to or _other_end(subject, sender),
            addressee=messages.person_behind(subject),
            body=body.text,
            kind=LetterKind.MESSAGE if subject is None else LetterKind.REPLY,
            in_reply_to=subject.id if subject is not None else None,
            thread=messages.Thread(name=body.thread),
        )
        expected = delivery_forecast.forecast(tx, project.id, sent.recipient or "", request.app.state.news)
        return SentMessage(message=MessageShape.of(sent), delivery=SentShape.of(expected))

    return await call.create(send)


@router.post("/broadcasts", status_code=HTTPStatus.CREATED, response_model=Broadcast)
async def broadcast(call: Call, body: NewBroadcast) -> Reply:
    """Put one message into the inboxes of all present agents, or also `away` ones; in a condition, or on a server."""

    def send(tx: Tx) -> Broadcast:
        project = call.enter(tx)
        sender = access.speak(tx, project.id, body.sender)
        recipients = _recipients(tx, project, body) - {sender}
        message, rows = messages.broadcast(
            tx, project.id, sender=sender, body=body.text, recipients=recipients, kind=body.kind
        )
        told = [row.recipient for row in rows]
        return Broadcast(message=MessageShape.of(message), recipients=told)

    return await call.create(send)


@router.get("/completions")
async def list_completions(
    call: Call,
    agent: str | None = None,
    since: Annotated[int, Query(ge=0, le=2**62, description="Unix milliseconds")] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> Completions:
    """List the agents' reports of finished work, newest first."""

    def look(tx: Tx) -> list[CompletionShape]:
        ids = [project.id for project in access.visible(tx, call.project)]
        found = completion_reports.search(tx, ids, agent=agent, since=since, limit=limit)
        return [CompletionShape.of(each) for each in found]

    return Completions(completions=await call.read(look))


def _recipients(tx: Tx, project: Project, asked: NewBroadcast) -> set[str]:
    """Return the agents that a broadcast is for; those that were never here yet are on no server."""
    if asked.away and asked.server is None:
        known = agents.of_project(tx, project.id)
        return {agent.name for agent in known if not agent.name.startswith(NODE_PREFIX)}
    return {
        presence.agent
        for presence in agents.presences(tx, [project.id])
        if asked.server in (None, presence.server)
        and (asked.away or _is_meant(presence.condition, asked.condition))
    }


def _is_meant(condition: Condition, wanted: Condition | None) -> bool:
    return condition is not Condition.OFFLINE if wanted is None else condition is wanted


def _subject(tx: Tx, project: Project, ref: str) -> Task | Message:
    """Return the task or the message that a reply answers. Raises `NotFound`."""
    with suppress(NotFound):
        return tasks.find(tx, [project.id], ref)
    return messages.find(tx, [project.id], ref)


def _other_end(subject: Task | Message | None, sender: str) -> str:
    """Return the addressee of a message that names none. Raises `Invalid` if there is no single one."""
    if isinstance(subject, Message):
        return messages.answered_by(subject, sender)
    to = permissions.other_end(subject, sender) if subject is not None else None
    if to is None:
        raise Invalid("to: say who gets it; only a reply to one sender may leave it out")
    return to
