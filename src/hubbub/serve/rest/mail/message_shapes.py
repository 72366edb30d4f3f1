"""The JSON of messages for people: each with its deliveries, as HTML on request."""

from collections.abc import Sequence
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Query
from pydantic import Field

from hubbub.core.mail import messages
from hubbub.model.records import Message
from hubbub.serve.rest.base.shapes import MessageShape, Shape
from hubbub.store.tx import Tx

Render = Annotated[
    Literal["html"] | None, Query(description="html: texts also as HTML that a page may show, in `…_html`")
]


MOST_RENDERED = 400_000  # characters in one answer, the newest first; older messages come as text only


class DeliveryShape(Shape):
    """A row of an inbox, with its progress."""

    id: UUID
    recipient: str
    stored_at: int
    notified_at: int | None
    seen_at: int | None
    acked_at: int | None
    withdrawn_at: int | None
    dead_at: int | None = Field(description="since when it is known that nobody came to read it")
    for_people: bool = Field(description="a message that waits for a person, which no reply does")


class DeliveredMessageShape(MessageShape):
    body: str
    thread: str | None = Field(description="what its sender calls the conversation")
    body_html: str | None = Field(
        None, description="where HTML was asked for, and there is not too much of it"
    )
    deliveries: list[DeliveryShape]


def delivered_messages(tx: Tx, found: Sequence[Message]) -> list[DeliveredMessageShape]:
    """Return the messages, each with its deliveries."""
    rows = messages.deliveries_of_all(tx, found)
    return [
        DeliveredMessageShape.of(each, deliveries=[DeliveryShape.of(row) for row in rows[each.id]])
        for each in found
    ]


def render_bodies(shapes: Sequence[DeliveredMessageShape]) -> None:
    """Add the bodies as HTML. It takes a while: not for the event loop, nor for a transaction."""
    from hubbub.serve.rest.base import markdown  # takes a while to import

    room = MOST_RENDERED
    for each in reversed(shapes):
        room -= len(each.body)
        if room < 0:
            return
        each.body_html = markdown.render(each.body)
