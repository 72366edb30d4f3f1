"""How far the audit logs of the machines had got: what shows that one was cut short or written anew."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from hubbub.core import seals
from hubbub.model.errors import Conflict
from hubbub.model.rights import Right
from hubbub.serve.rest.call import Call
from hubbub.serve.rest.shapes import Body, Name, Shape, Whole
from hubbub.store.tx import Tx

router = APIRouter(tags=["audit"])


class HeadShape(Shape):
    node: str = Field(description="the machine")
    seq: int = Field(description="the last line of its log at that time")
    hash: str
    at: int
    broken: bool = Field(description="it cannot be true beside an earlier one")


class Heads(BaseModel):
    heads: list[HeadShape]


class NewHead(Body):
    node: Name
    seq: Annotated[Whole, Field(ge=1, le=seals.LAST)]
    hash: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Kept(BaseModel):
    kept: bool = True


@router.get("/audit/heads")
async def list_heads(
    call: Call, *, node: str | None = None, limit: Annotated[int, Query(ge=1, le=5000)] = 1000
) -> Heads:
    """What is known of the logs of the project's machines; of each the farthest first. For who manages the project."""

    def look(tx: Tx) -> Heads:
        found = seals.heads(tx, call.enter(tx, Right.MANAGE), node=node, limit=limit)
        return Heads(heads=[HeadShape.of(head, at=head.kept_at, broken=head.is_broken) for head in found])

    return await call.read(look)


@router.post("/audit/heads")
async def keep_head(call: Call, body: NewHead) -> Kept:
    """Keep how far a machine's log is. What cannot be true beside an earlier head is refused, and told in the log."""

    def keep(tx: Tx) -> bool:
        return seals.keep(tx, call.enter(tx), body.node, body.seq, body.hash)

    if not await call.write(keep):
        raise Conflict(f"line {body.seq} of the log of {body.node!r} cannot be so: it was changed")
    return Kept()
