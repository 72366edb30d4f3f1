"""Callers, the people of the hub, and tokens."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from fastapi import Request
from pydantic import Field

from hubbub.core.people import access, projects, tokens, user_removal, users
from hubbub.core.people.quotas import Limits, Quota, QuotaUse, Usage
from hubbub.core.presence import presences
from hubbub.model.errors import Invalid, existing
from hubbub.model.ids import parse_id
from hubbub.model.people.accounts import Invitation, Token
from hubbub.model.people.rights import Actor, Role
from hubbub.model.records import Project
from hubbub.serve.http.page_paths import REGISTER
from hubbub.serve.rest.base.call import Answer, Call
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import (
    Body,
    GivenRole,
    Label,
    Line,
    Model,
    Name,
    ProjectShape,
    Seconds,
    TokenShape,
    UserShape,
    told,
)
from hubbub.serve.rest.fleet.invitations import hub_url
from hubbub.store.tx import Tx

router = Router("people")

ADDRESS = "the hub's address for whoever gets the token: its public one, else that of this call"


class Me(Model):
    """The holder of a token."""

    user: str | None
    user_id: UUID | None
    owns_hub: bool
    agent: str | None
    role: Role | None
    expires_at: int | None
    chain: list[str] = Field(description="of a lent token: who asked whom, up to the program that has it")
    projects: list[ProjectShape]
    csrf: str | None = Field(description="the header X-CSRF-Token for a caller with a cookie; else null")

    @classmethod
    def of_actor(cls, actor: Actor, known: Sequence[tuple[Project, Role]], csrf: str | None) -> "Me":
        """Describe an actor, with the `known` projects and its role in each."""
        return cls(
            user=actor.user_name,
            user_id=actor.user_id,
            owns_hub=actor.owns_hub,
            agent=actor.agent,
            role=actor.role,
            expires_at=actor.expires_at,
            chain=list(actor.chain),
            projects=[ProjectShape.of(project, role=role) for project, role in known],
            csrf=csrf,
        )


class Users(Model):
    users: list[UserShape]


class NewUser(Body):
    name: Annotated[Line, told(minLength=users.SHORTEST, maxLength=users.LONGEST)] = Field(
        description="letters of any script, digits, '_' and '-'"
    )
    project: Line | None = None
    role: GivenRole = Role.MEMBER


class CreatedUser(Model):
    """A person, and their token, which is shown only now."""

    user: UserShape
    token: str
    hub: str = Field(description=ADDRESS)


class NewInvite(Body):
    role: GivenRole = Role.MEMBER


class Invite(Model):
    """An invitation, which is shown only now."""

    code: str
    url: str = Field(description="the link to follow: a page to register on, with the code in it")


class InvitationShape(Model):
    id: str = Field(description="names it; not its code, which is not kept")
    role: Role
    created_at: int
    expires_at: int

    @classmethod
    def of(cls, invitation: Invitation) -> "InvitationShape":
        return cls(**asdict(invitation))


class Invitations(Model):
    invitations: list[InvitationShape]


class Uninvited(Model):
    id: str


class RemovedUser(Model):
    """A removed person, and what ended with them."""

    user: UserShape
    tokens: list[TokenShape] = Field(description="those that ended: their own, and those that they made")
    inherited: list[str] = Field(
        description="projects that lost their only owner; the hub's owner is that now"
    )


class UseShape(Model):
    """The recent use that a token has made of this hub, and its refusals."""

    rate: float = Field(description="calls a second, over the last ten seconds")
    streams: int = Field(description="streams and waiting calls that it holds open now")
    connections: int = Field(description="MCP sessions that it has open now")
    stored_today: int = Field(description="bytes of text, at all hubs, since midnight UTC")
    near: list[Quota] = Field(description="the quotas that it uses to four fifths, or more")
    refused: dict[Quota, int] = Field(description="calls that were refused, by quota, since the hub started")
    refused_since: int | None
    refused_at: int | None = Field(description="the last time")


class LimitsShape(Model):
    """The limits of a token at the hub; 0 means no limit."""

    rate: int = Field(description="calls a second, over a while")
    burst: int = Field(description="calls at once, after a pause")
    streams: int = Field(description="streams and waiting calls at a time")
    connections: int = Field(description="MCP sessions at a time")
    stored: int = Field(description="bytes of text in a day, UTC")

    @classmethod
    def of(cls, limits: Limits) -> "LimitsShape":
        return cls(**asdict(limits))


class ListedToken(TokenShape):
    current: bool = Field(description="true: the token of this call")
    use: UseShape | None = Field(description="null if it was not used since the hub started")
    limits: LimitsShape = Field(description="its limits: the usual ones, except for a rate of its own")


class Tokens(Model):
    tokens: list[ListedToken]
    limits: LimitsShape


class NewToken(Body):
    user: Name | None = Field(
        None,
        description="the person for whom it stands, instead of a project: oneself, or anybody for the hub's owner",
    )
    agent: Name | None = None
    program: Line | None = Field(
        None, description="what will be the agent, such as claude-code; told until it is there"
    )
    role: GivenRole = Role.MEMBER
    label: Label | None = Field(None, description="what it is for, to tell it from others in lists")
    expires_seconds: Seconds | None = None
    rate: int | None = Field(
        None,
        strict=True,
        ge=1,
        le=1_000_000,
        description="calls a second, if not as many as all; more than these the owner of the hub alone may give",
    )


class OneToken(Model):
    token: TokenShape


class CreatedToken(OneToken):
    """A token, and its secret, which is shown only now."""

    secret: str
    hub: str = Field(description=ADDRESS)


@router.get("/me")
async def me(request: Request, call: Call) -> Me:
    """Show the holder of the token, or of the login, and its projects."""
    known = await call.read(access.memberships)
    return Me.of_actor(call.actor, known, getattr(request.state, "csrf", None))


@router.get("/users")
async def list_users(call: Call) -> Users:
    """List all people. For the owner of the hub."""
    return Users(users=[UserShape.of(user) for user in await call.read(users.everyone)])


@router.post("/users", status_code=HTTPStatus.CREATED)
async def create_user(request: Request, call: Call, body: NewUser) -> CreatedUser:
    """Create a person, as a member of `project` if it is named. For the owner of the hub."""

    def create(tx: Tx) -> tuple[Answer, str]:
        place = projects.show(tx, body.project) if body.project is not None else None
        user, secret = users.create(tx, body.name, project=place, role=body.role)
        return UserShape.of(user), secret

    reply, secret = await call.create_secret(create)
    return CreatedUser(user=UserShape.model_validate(reply), token=secret, hub=hub_url(request))


@router.post("/users/invites", status_code=HTTPStatus.CREATED)
async def invite(request: Request, call: Call, body: NewInvite) -> Invite:
    """Create a code, and a link with it, by which one person can register within a week, as a member of the project."""

    def create(tx: Tx) -> tuple[Answer, str]:
        return {}, users.invite(tx, call.enter(tx), body.role)

    _reply, code = await call.create_secret(create)
    return Invite(code=code, url=f"{hub_url(request).rstrip('/')}{REGISTER}/{code}")


@router.get("/users/invites")
async def list_invitations(call: Call) -> Invitations:
    """List the invitations to the project that can still be followed. For people who manage it."""
    found = await call.read(lambda tx: users.invitations(tx, call.enter(tx)))
    return Invitations(invitations=[InvitationShape.of(each) for each in found])


@router.delete("/users/invites/{invitation}")
async def uninvite(call: Call, invitation: str) -> Uninvited:
    """Revoke an invitation to the project: its link leads nowhere any more. For people who manage it."""
    await call.write(lambda tx: users.uninvite(tx, call.enter(tx), invitation))
    return Uninvited(id=invitation)


@router.delete("/users/{name}")
async def remove_user(call: Call, name: str) -> RemovedUser:
    """Remove a person: logins, memberships and all tokens that they have or made end. For the owner of the hub."""

    def remove(tx: Tx) -> user_removal.Removed:
        gone = user_removal.remove(tx, name)
        for token in gone.tokens:
            presences.end_of_token(tx, token)
        return gone

    gone = await call.write(remove)
    return RemovedUser(
        user=UserShape.of(gone.user),
        tokens=[TokenShape.of(each) for each in gone.tokens],
        inherited=list(gone.inherited),
    )


@router.get("/tokens")
async def list_tokens(call: Call) -> Tokens:
    """List the tokens of the caller's projects and their own; for the owner of the hub, all people's. Never secrets."""
    quotas = call.transactions.quotas

    def shown(token: Token, **names: str | None) -> ListedToken:
        use, limits = quotas.of(token.id), LimitsShape.of(quotas.limits_of(token.rate))
        listed = _use(use, quotas.measures(token.id)) if use is not None else None
        is_ours = token.id == call.actor.token_id
        return ListedToken.of(token, current=is_ours, use=listed, limits=limits, **names)

    def look(tx: Tx) -> list[ListedToken]:
        places = access.visible(tx, call.project)
        found = tokens.visible(tx, places)
        slugs: dict[UUID | None, str] = {place.id: place.slug for place in places}
        names = {user_id: users.name_of(tx, user_id) for user_id in {token.user_id for token in found}}
        return [
            shown(token, user=names[token.user_id], project=slugs.get(token.project_id)) for token in found
        ]

    return Tokens(tokens=await call.read(look), limits=LimitsShape.of(quotas.limits))


@router.post("/tokens", status_code=HTTPStatus.CREATED)
async def create_token(request: Request, call: Call, body: NewToken) -> CreatedToken:
    """Create a token of the project, bound to `agent` if it is named; or another token of the person `user`."""
    if body.user is not None and body.model_fields_set - {"user", "label", "expires_seconds"} - _unset(body):
        raise Invalid("user: a person's token has no agent, role, program or rate of its own")
    call.transactions.quotas.require_rate(call.actor, body.rate)
    ttl = timedelta(seconds=body.expires_seconds) if body.expires_seconds is not None else None

    def create(tx: Tx) -> tuple[Answer, str]:
        if body.user is not None:
            token, secret = users.token_for(tx, body.user, ttl=ttl, label=body.label)
            return TokenShape.of(token), secret
        token, secret = tokens.for_project(
            tx,
            call.enter(tx),
            role=body.role,
            agent=body.agent,
            program=body.program,
            ttl=ttl,
            rate=body.rate,
            label=body.label,
        )
        return TokenShape.of(token), secret

    reply, secret = await call.create_secret(create)
    return CreatedToken(token=TokenShape.model_validate(reply), secret=secret, hub=hub_url(request))


@router.delete("/tokens/{token_id}")
async def revoke_token(call: Call, token_id: str) -> OneToken:
    """Revoke a token at once: its open streams end too."""

    def revoke(tx: Tx) -> Token:
        known = existing(parse_id(token_id), "token", token_id)
        revoked = tokens.revoke(tx, known)
        presences.end_of_token(tx, revoked)
        return revoked

    return OneToken(token=TokenShape.of(await call.write(revoke)))


def _unset(body: NewToken) -> set[str]:
    """Return the fields with the values that they have when nobody gives them."""
    return {name for name, field in NewToken.model_fields.items() if getattr(body, name) == field.default}


def _use(use: Usage, measures: Mapping[Quota, QuotaUse]) -> UseShape:
    return UseShape(
        rate=round(measures[Quota.CALLS].used, 1),
        streams=int(measures[Quota.STREAMS].used),
        connections=int(measures[Quota.CONNECTIONS].used),
        stored_today=use.stored,
        near=[quota for quota, measure in measures.items() if measure.is_near],
        refused=dict(use.refused),
        refused_since=use.refused_since,
        refused_at=use.refused_at,
    )
