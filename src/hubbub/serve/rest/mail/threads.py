"""Conversations that are not about a task, and their messages."""

from typing import Annotated

from fastapi import Query
from fastapi.concurrency import run_in_threadpool
from pydantic import Field

from hubbub.core.mail import threads
from hubbub.core.mail.threads import Conversation
from hubbub.model.people.rights import Right
from hubbub.model.records import LetterKind
from hubbub.serve.rest.base.call import Call
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import Model, Shape
from hubbub.serve.rest.mail.message_shapes import (
    DeliveredMessageShape,
    Render,
    delivered_messages,
    render_bodies,
)
from hubbub.store.tx import Tx

router = Router("messages")


class ThreadShape(Shape):
    id: str = Field(description="the message that began it, or what its sender calls it")
    title: str
    kind: LetterKind | None = Field(description="of the message that began it; null: it has a name instead")
    participants: list[str]
    count: int
    created_at: int = Field(description="when the first of it was said")
    last: DeliveredMessageShape
    unread_by: list[str] = Field(description="in whose inboxes is something of it that they have not read")
    unacked_by: list[str]
    for_people: bool = Field(description="something of it waits for a person, which no reply does")


class Threads(Model):
    threads: list[ThreadShape]
    next: int | None = Field(description="`before` of the next page; null: that was all")


class WholeThread(Model):
    thread: ThreadShape
    messages: list[DeliveredMessageShape] = Field(description="oldest first")
    earlier: bool = Field(description="whether more was said before them")


@router.get("/threads")
async def list_threads(
    call: Call,
    before: Annotated[int | None, Query(ge=1, le=2**62)] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 30,
) -> Threads:
    """List conversations that are not about a task, the last active first."""

    def look(tx: Tx) -> Threads:
        found, more = threads.listed(tx, call.enter(tx, Right.READ).id, before=before, limit=limit)
        return Threads(threads=[_shape(tx, each) for each in found], next=more)

    return await call.read(look, long=True)


@router.get("/threads/{ref:path}")
async def show_thread(
    call: Call,
    ref: str,
    before: Annotated[int | None, Query(ge=1, le=2**62)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 200,
    render: Render = None,
) -> WholeThread:
    """Show a conversation, by its id or one of its messages'. Reading acknowledges nothing."""

    def look(tx: Tx) -> WholeThread:
        project = call.enter(tx, Right.READ)
        found = threads.find(tx, project.id, ref)
        page = threads.said(tx, project.id, found, before=before, limit=limit + 1)
        return WholeThread(
            thread=_shape(tx, found),
            messages=delivered_messages(tx, page[-limit:]),
            earlier=len(page) > limit,
        )

    whole = await call.read(look)
    if render is not None:
        await run_in_threadpool(render_bodies, whole.messages)
    return whole


def _shape(tx: Tx, found: Conversation) -> ThreadShape:
    began = found.root.message
    kind = began.kind if began is not None else None
    return ThreadShape.of(found, id=found.name, kind=kind, last=delivered_messages(tx, [found.last])[0])
