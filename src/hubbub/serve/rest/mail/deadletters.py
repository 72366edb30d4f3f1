"""Dead letters: mail that was never read, listed so that it never just disappears."""

from typing import Annotated
from uuid import UUID

from fastapi import Query
from pydantic import Field

from hubbub.core.mail import deadletters
from hubbub.model.errors import Invalid
from hubbub.model.ids import parse_id
from hubbub.model.people.rights import Right
from hubbub.serve.rest.base.call import Call
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import Model, Shape
from hubbub.store.tx import Tx

router = Router("messages")


class DeadLetterShape(Shape):
    id: UUID
    ref: str = Field(description="M-9 is the message, T-4 the task of that number")
    sender: str
    author: str | None = Field(description="the person, if the sender is `hub`")
    recipient: str
    message_id: UUID | None
    task_id: UUID | None
    title: str | None = Field(description="of the task")
    stored_at: int
    dead_at: int
    expired: bool = Field(description="its task ran out of time; else its receiver was never there")


class DeadLetters(Model):
    letters: list[DeadLetterShape]


@router.get("/dead-letters")
async def list_dead_letters(
    call: Call,
    sender: str | None = None,
    recipient: str | None = None,
    before: str | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> DeadLetters:
    """List dead letters, newest first; `before` is the id to go on from. One that is read later disappears."""
    last = parse_id(before) if before is not None else None
    if before is not None and last is None:
        raise Invalid("before: must be the id of a dead letter")

    def look(tx: Tx) -> DeadLetters:
        project = call.enter(tx, Right.READ)
        found = deadletters.of_project(
            tx, project.id, sender=sender, recipient=recipient, before=last, limit=limit
        )
        return DeadLetters(letters=[DeadLetterShape.of(each, ref=each.ref) for each in found])

    return await call.read(look)
