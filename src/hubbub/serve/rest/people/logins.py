"""Signing people in and out: links that work once, the list of logins, and passwords."""

from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from fastapi import Query, Request
from pydantic import Field

from hubbub.core.people import logins, users
from hubbub.model.fields import REST, Seen
from hubbub.model.people.logins import Login
from hubbub.serve.http.page_paths import LOGIN
from hubbub.serve.http.passwords import LONGEST, SHORTEST, PasswordLogin, check
from hubbub.serve.rest.base.call import Answer, Call
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import Body, Line, LongText, Model, Shape, UserShape, tells
from hubbub.serve.rest.fleet.invitations import hub_url
from hubbub.store.tx import Tx

router = Router("people")

Whose = Annotated[str | None, Query(description="of whom; else the caller's own. For the owner of the hub")]


@tells(Login)
class LoginShape(Shape):
    current: Annotated[bool, Seen(REST, "true for the login that asks", after="browser")]


class Logins(Model):
    logins: list[LoginShape]


class Ended(Model):
    ended: int = Field(description="how many logins")


class NewLink(Body):
    user: Line | None = Field(None, description="whom it lets in; else the caller. For the owner of the hub")


class Link(Model):
    """A link that signs a person in, once. Its code is shown only now."""

    user: str
    url: str
    expires_at: int


class NewPassword(Body):
    password: Annotated[LongText, Field(json_schema_extra={"minLength": SHORTEST, "maxLength": LONGEST})]


class OneUser(Model):
    user: UserShape


@router.get("/logins")
async def list_logins(call: Call, *, user: Whose = None) -> Logins:
    """List the browsers in which a person is signed in, oldest first."""
    found = await call.read(lambda tx: logins.of(tx, user))
    return Logins(logins=[_shape(each, call.actor.token_id) for each in found])


@router.delete("/logins")
async def end_logins(call: Call, *, user: Whose = None) -> Ended:
    """Sign a person out everywhere, this browser included. Their open streams end at once."""
    return Ended(ended=await call.write(lambda tx: logins.end_all(tx, users.meant(tx, user))))


@router.delete("/logins/{login_id}")
async def end_login(call: Call, login_id: str) -> Ended:
    """Sign one browser out: the caller's own, or, for the owner of the hub, anybody's."""
    await call.write(lambda tx: logins.end(tx, login_id))
    return Ended(ended=1)


@router.post("/logins/links", status_code=HTTPStatus.CREATED)
async def make_link(request: Request, call: Call, body: NewLink) -> Link:
    """Create a link that signs a person in, once, within ten minutes."""

    def make(tx: Tx) -> tuple[Answer, str]:
        secret, user, expires_at = logins.link(tx, body.user)
        return {"user": user.name, "expires_at": expires_at}, secret

    reply, secret = await call.create_secret(make)
    return Link.model_validate({**reply, "url": f"{hub_url(request).rstrip('/')}{LOGIN}/{secret}"})


@router.put("/users/{name}/password")
async def set_password(request: Request, call: Call, name: str, body: NewPassword) -> OneUser:
    """Set a person's password: one's own, or, for the owner of the hub, anybody's.

    All their logins end, except the one that asks.
    """
    await call.read(lambda tx: users.meant(tx, name))  # before the work of hashing
    check(body.password, name)
    gatekeeper: PasswordLogin = request.app.state.gatekeeper
    kept = await gatekeeper.passwords.hash(body.password)
    user = await call.write(lambda tx: logins.set_password(tx, name, kept))
    return OneUser(user=UserShape.of(user))


def _shape(login: Login, current: UUID | None) -> LoginShape:
    return LoginShape.of(login, current=login.id == current)
