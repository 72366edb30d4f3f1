"""Approvals: questions to people before a call may go on, and their answers."""

from typing import Annotated, Literal

from fastapi import Query
from pydantic import Field

from hubbub.core.fleet import approvals
from hubbub.core.log.idempotency import Reply
from hubbub.core.mail import messages
from hubbub.core.people import access
from hubbub.model.fields import REST, Seen
from hubbub.model.fleet.approvals import Approval, ApprovalStatus
from hubbub.serve.rest.base.call import Call
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import Body, Model, Shape, Text, tells
from hubbub.store.tx import Tx

router = Router("approvals")


@tells(Approval)
class ApprovalShape(Shape):
    said_node: Annotated[
        str | None,
        Seen(
            REST,
            "the machine as that program says, which may be anything; null: the machine itself asked",
            after="node",
        ),
    ]
    now: Annotated[int, Seen(REST, "the hub's time, to compute the time left", after="ended_at")]


class Approvals(Model):
    approvals: list[ApprovalShape]


class OneApproval(Model):
    approval: ApprovalShape


class ShownApproval(OneApproval):
    """One question, and the last ones of the same caller before it, newest first."""

    lately: list[ApprovalShape]


class Yes(Body):
    """A yes, with a signature if the machine wants one: `hubbub approve` makes it."""

    signature: Annotated[str, Field(pattern=r"^[A-Za-z0-9+/]{86}==$")] | None = None


class No(Body):
    """A no, with a reason for the agent."""

    reason: Text | None = None


@router.get("/approvals")
async def list_approvals(
    call: Call,
    *,
    status: ApprovalStatus | Literal["open"] | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 200,
) -> Approvals:
    """List the questions to people, oldest first; with `status=pending` those that wait for an answer. For people.

    With `status=open` also those that expired unanswered in the last day, as `expired`: they are to be asked again.
    """

    def look(tx: Tx) -> Approvals:
        ids = [project.id for project in access.visible(tx, call.project)]
        if status == "open":
            found = approvals.open_or_missed(tx, ids, limit=limit)
        else:
            found = approvals.search(tx, ids, status=status, limit=limit)
        return Approvals(approvals=[_shape(tx, each) for each in found])

    return await call.read(look)


@router.get("/approvals/{approval_id}")
async def show_approval(call: Call, approval_id: str) -> ShownApproval:
    """Show one question; to people also the caller's other recent questions."""

    def look(tx: Tx) -> ShownApproval:
        ids = [project.id for project in access.visible(tx, call.project)]
        found = approvals.find(tx, ids, approval_id)
        lately = [_shape(tx, each) for each in approvals.lately(tx, found)]
        return ShownApproval(approval=_shape(tx, found), lately=lately)

    return await call.read(look)


@router.post("/approvals/{approval_id}/approve", response_model=OneApproval)
async def approve(call: Call, approval_id: str, body: Yes | None = None) -> Reply:
    """Approve: the one call of the question may go on. For people."""
    signature = body.signature if body is not None else None
    return await call.create(
        lambda tx: _one(tx, approvals.answer(tx, approval_id, approved=True, signature=signature))
    )


@router.post("/approvals/{approval_id}/deny", response_model=OneApproval)
async def deny(call: Call, approval_id: str, body: No | None = None) -> Reply:
    """Deny the question; the agent whose call it was gets the `reason`, if there is one, as a message. For people."""
    reason = body.reason if body is not None else None

    def denied(tx: Tx) -> OneApproval:
        found = approvals.answer(tx, approval_id, approved=False)
        if reason is not None:
            sender = access.speak(tx, found.project_id, None)
            text = f"Denied: {found.tool}: {found.shown}\nReason: {reason}"
            messages.send(tx, found.project_id, sender=sender, to=found.who, body=text)
        return _one(tx, found)

    return await call.create(denied)


def _one(tx: Tx, approval: Approval) -> OneApproval:
    return OneApproval(approval=ApprovalShape.of(approval, now=tx.now))


def _shape(tx: Tx, approval: Approval) -> ApprovalShape:
    return ApprovalShape.of(approval, now=tx.now)
