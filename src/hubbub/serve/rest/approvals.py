"""Approvals: what people are asked before a call may go on, and their answers."""

from datetime import timedelta
from http import HTTPStatus
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from hubbub.core import access, approvals
from hubbub.core.idempotency import Reply
from hubbub.model.approvals import Approval, ApprovalStatus
from hubbub.model.fields import REST, Seen
from hubbub.model.machines import beside
from hubbub.model.orders import Principal, Question, QuestionKind
from hubbub.model.rights import Right
from hubbub.model.shown import SHOWN_LENGTH
from hubbub.serve.desk import until_answered
from hubbub.serve.rest.agents import LONGEST_WAIT
from hubbub.serve.rest.call import Call, RestCall
from hubbub.serve.rest.shapes import Body, LongText, Name, Seconds, Shape, Storable, tells
from hubbub.store.tx import Tx

router = APIRouter(tags=["approvals"])

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Shown = Annotated[str, Field(min_length=1, max_length=SHOWN_LENGTH), Storable]
Receipt = Annotated[str, Field(min_length=1, max_length=200)]


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
    now: Annotated[int, Seen(REST, "the hub's time, to see how long is left", after="ended_at")]


class Approvals(BaseModel):
    approvals: list[ApprovalShape]


class OneApproval(BaseModel):
    approval: ApprovalShape


class NewApproval(OneApproval):
    """A question, and the receipt by which whoever asked uses the answer, which is told only now."""

    receipt: str


class NewQuestion(Body):
    """A question of a program beside an agent, for people, before a call may go on."""

    who: Name | None = Field(None, description="the agent whose call it is")
    kind: QuestionKind = QuestionKind.CALL
    node: Annotated[Name, Field(description="as the program calls the machine that it is on")]
    tool: Name
    arguments: dict[str, Any] = Field(default_factory=dict)
    folder: LongText = ""
    shown: Shown
    reason: LongText = ""
    digest: Digest
    patience_seconds: Seconds = 60.0
    elicitation: Annotated[bool, Field(strict=True)] = False
    dangerous: Annotated[bool, Field(strict=True)] = False


class Yes(Body):
    """A yes, signed where the machine wants that: `hubbub approve` does it."""

    signature: Annotated[str, Field(pattern=r"^[A-Za-z0-9+/]{86}==$")] | None = None


class Spending(Body):
    digest: Digest
    receipt: Receipt


class Resolving(Body):
    approved: Annotated[bool, Field(strict=True)]
    receipt: Receipt


@router.get("/approvals")
async def list_approvals(
    call: Call,
    *,
    status: ApprovalStatus | Literal["open"] | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 200,
) -> Approvals:
    """List the questions to people, oldest first; with `status=pending` those that wait for an answer. For people.

    With `status=open` also what nobody answered in the last ten minutes, which is `expired`: it is to be asked again.
    """

    def look(tx: Tx) -> Approvals:
        ids = [project.id for project in access.visible(tx, call.project)]
        if status == "open":
            found = approvals.open_or_missed(tx, ids, limit=limit)
        else:
            found = approvals.search(tx, ids, status=status, limit=limit)
        return Approvals(approvals=[_shape(tx, each) for each in found])

    return await call.read(look)


@router.post("/approvals", status_code=HTTPStatus.CREATED)
async def ask(call: Call, body: NewQuestion) -> NewApproval:
    """Put a question before the people of the project, who see that a program of the caller's put it, no machine."""

    def put(tx: Tx) -> tuple[Reply, str]:
        project = call.enter(tx)
        name = access.programs_name(tx, access.speak(tx, project.id, body.who))
        token_id = str(call.actor.token_id)
        who = Principal(project=project.slug, name=name, token_id=token_id, is_person=call.actor.is_person)
        said = body.model_dump(exclude={"who", "node", "patience_seconds", "elicitation"})
        question = Question(who=who, node=beside(name, body.node), **said)
        patience = timedelta(seconds=body.patience_seconds)
        approval, receipt = approvals.put(tx, project, question, patience, elicitation=body.elicitation)
        return _shape(tx, approval).model_dump(mode="json"), receipt

    reply, receipt = await call.create_secret(put)
    return NewApproval(approval=ApprovalShape.model_validate(reply), receipt=receipt)


@router.get("/approvals/{approval_id}")
async def show_approval(
    request: Request,
    call: Call,
    approval_id: str,
    wait_seconds: Annotated[float, Query(ge=0, le=LONGEST_WAIT)] = 0,
) -> OneApproval:
    """One question. While it waits for an answer, so does this."""

    async def look() -> Approval:
        return await call.read(lambda tx: _find(tx, call, approval_id))

    found = await look()
    if wait_seconds and found.status is ApprovalStatus.PENDING:
        patience = timedelta(seconds=wait_seconds)
        found = await until_answered(look, request.app.state.news, call.actor, found, patience)
    return OneApproval(approval=await call.read(lambda tx: _shape(tx, found)))


@router.post("/approvals/{approval_id}/approve", response_model=OneApproval)
async def approve(call: Call, approval_id: str, body: Yes | None = None) -> Reply:
    """Say yes: the one call that was asked about may go on. For people."""
    signature = body.signature if body is not None else None
    return await _answer(call, approval_id, approved=True, signature=signature)


@router.post("/approvals/{approval_id}/deny", response_model=OneApproval)
async def deny(call: Call, approval_id: str) -> Reply:
    """Say no. For people."""
    return await _answer(call, approval_id, approved=False)


@router.post("/approvals/{approval_id}/spend", response_model=OneApproval)
async def spend(call: Call, approval_id: str, body: Spending) -> Reply:
    """Use a yes, once, for the call of that digest. For the machine that asked."""

    def use(tx: Tx) -> Reply:
        found = _asked(tx, call, approval_id)
        return _one(tx, approvals.spend(tx, found.id, body.digest, receipt=body.receipt))

    return await call.create(use)


@router.post("/approvals/{approval_id}/resolve", response_model=OneApproval)
async def resolve(call: Call, approval_id: str, body: Resolving) -> Reply:
    """The answer of the client that made the call. For the machine that asked, if it said so when it asked."""

    def tell(tx: Tx) -> Reply:
        found = _asked(tx, call, approval_id)
        return _one(tx, approvals.resolve(tx, found.id, receipt=body.receipt, approved=body.approved))

    return await call.create(tell)


async def _answer(call: RestCall, approval_id: str, *, approved: bool, signature: str | None = None) -> Reply:
    return await call.create(
        lambda tx: _one(tx, approvals.answer(tx, approval_id, approved=approved, signature=signature))
    )


def _find(tx: Tx, call: RestCall, ref: str) -> Approval:
    """The approval, if it is in what the call is about and the caller's to see. Raises `NotFound`."""
    return approvals.find(tx, [project.id for project in access.visible(tx, call.project)], ref)


def _asked(tx: Tx, call: RestCall, ref: str) -> Approval:
    found = _find(tx, call, ref)
    access.enter(tx, str(found.project_id), Right.WRITE)
    return found


def _one(tx: Tx, approval: Approval) -> Reply:
    return OneApproval(approval=_shape(tx, approval)).model_dump(mode="json")


def _shape(tx: Tx, approval: Approval) -> ApprovalShape:
    shape: ApprovalShape = ApprovalShape.of(approval, now=tx.now)
    return shape
