"""Share links: anyone who has one may look at one machine."""

from datetime import timedelta
from http import HTTPStatus

from fastapi import Request
from pydantic import Field

from hubbub.core.fleet import nodes, shares
from hubbub.core.people import access
from hubbub.model.fleet.nodes import ShareLink
from hubbub.model.people.rights import Right
from hubbub.serve.rest.base.call import Answer, Call
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import Body, Model, Name, Seconds, Shape, tells
from hubbub.serve.rest.fleet.invitations import hub_url
from hubbub.store.tx import Tx

router = Router("shares")


@tells(ShareLink)
class ShareShape(Shape):
    pass


class Shares(Model):
    shares: list[ShareShape]


class OneShare(Model):
    share: ShareShape


class NewShare(Body):
    node: Name = Field(description="the machine that is to be looked at")
    expires_in_seconds: Seconds = shares.LASTS.total_seconds()


class CreatedShare(OneShare):
    """A link, and its address, which is shown only now."""

    url: str


@router.get("/shares")
async def list_shares(call: Call) -> Shares:
    """List the project's valid links, oldest first. Their addresses are not kept."""
    found = await call.read(lambda tx: shares.of_project(tx, call.enter(tx, Right.READ)))
    return Shares(shares=[ShareShape.of(share) for share in found])


@router.delete("/shares/{share_id}")
async def revoke_share(call: Call, share_id: str) -> OneShare:
    """Revoke a link, at once."""
    revoked = await call.write(lambda tx: shares.revoke(tx, call.enter(tx), share_id))
    return OneShare(share=ShareShape.of(revoked))


@router.post("/shares", status_code=HTTPStatus.CREATED)
async def create_share(request: Request, call: Call, body: NewShare) -> CreatedShare:
    """Create a link by which anyone who has it may look at one machine, for a while. For people."""
    lasts = timedelta(seconds=body.expires_in_seconds)

    def mint(tx: Tx) -> tuple[Answer, str]:
        access.require_person(tx, "share a machine")
        project = call.enter(tx)
        share, secret = shares.mint(tx, project, nodes.find(tx, project, body.node), expires_in=lasts)
        return ShareShape.of(share), secret

    reply, secret = await call.create_secret(mint)
    return CreatedShare(share=ShareShape.model_validate(reply), url=f"{hub_url(request)}/share/{secret}")
