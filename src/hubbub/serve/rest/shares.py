"""Links by which anyone who has one may look at one machine."""

from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, Field

from hubbub.core import shares
from hubbub.model.rights import Right
from hubbub.serve.rest.call import Call
from hubbub.serve.rest.shapes import Shape

router = APIRouter(tags=["shares"])


class ShareShape(Shape):
    id: UUID
    machine: str = Field(description="which machine it shows, by its name")
    created_by: str
    created_at: int
    expires_at: int


class Shares(BaseModel):
    shares: list[ShareShape]


class OneShare(BaseModel):
    share: ShareShape


@router.get("/shares")
async def list_shares(call: Call) -> Shares:
    """The project's links that lead somewhere, oldest first. Their addresses are not kept."""
    found = await call.read(lambda tx: shares.of_project(tx, call.enter(tx, Right.READ)))
    return Shares(shares=[ShareShape.of(share) for share in found])


@router.delete("/shares/{share_id}")
async def revoke_share(call: Call, share_id: str) -> OneShare:
    """Take a link back, at once."""
    revoked = await call.write(lambda tx: shares.revoke(tx, call.enter(tx), share_id))
    return OneShare(share=ShareShape.of(revoked))
