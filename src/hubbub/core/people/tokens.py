"""Tokens: creating, listing and revoking them. The secret is shown once; only its hash is kept."""

import secrets
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from hubbub.core.agents import agents, last_activity
from hubbub.core.people import access
from hubbub.model.errors import Forbidden, Invalid, NotFound
from hubbub.model.fleet.call_chain import CallChain
from hubbub.model.ids import new_id
from hubbub.model.people.accounts import Token
from hubbub.model.people.rights import GIVEN, GRANTS, Actor, Right, Role
from hubbub.model.records import Project
from hubbub.model.timestamps import milliseconds
from hubbub.store.people import tokens
from hubbub.store.tx import Tx

PERSON = "utok_"
AGENT = "ntok_"


def for_person(
    tx: Tx, user_id: UUID, *, ttl: timedelta | None = None, label: str | None = None
) -> tuple[Token, str]:
    """Create a token that stands for the person; return it and its secret: `utok_` and 32 hex digits.

    `label` says what it is for. Records `token.created`.
    """
    return _told(tx, _insert(tx, PERSON, user_id=user_id, ttl=ttl, label=label))


def for_project(
    tx: Tx,
    project: Project,
    *,
    role: Role,
    agent: str | None = None,
    program: str | None = None,
    ttl: timedelta | None = None,
    rate: int | None = None,
    label: str | None = None,
) -> tuple[Token, str]:
    """Create a token for the project, bound to `agent` if given; return it and its secret, `ntok_` and 32 hex digits.

    `program` is the agent's future program, if known: a person who waits for the agent is told which one to start.

    A member may create tokens with the same or fewer rights, for their own programs. A program needs the right
    to manage, and its tokens neither outlive its own nor call faster: a thief of an agent's token gets no other. `rate`
    limits the calls a second, if it differs from the usual. Records `token.created`. Raises `Forbidden`, and
    `Invalid` for the role of machines.
    """
    require_given(role)
    mine = access.role_in(tx, project.id) or Role.VIEWER
    if not GRANTS[role] <= GRANTS[mine] or Right.WRITE not in GRANTS[mine]:
        raise Forbidden(f"the role {mine} may not make a token of the role {role}")
    if not tx.actor.is_person and Right.MANAGE not in GRANTS[mine]:
        raise Forbidden("an agent's token makes no tokens; a person's (utok_) does")
    end = None if tx.actor.is_person else tx.actor.expires_at
    if end is not None and (ttl is None or tx.now + milliseconds(ttl) > end):
        raise Forbidden("a token cannot outlive the one that makes it; let it expire earlier")
    if tx.actor.rate is not None and (rate is None or rate > tx.actor.rate):
        raise Forbidden(
            f"a token cannot give another token more calls a second than it has itself: {tx.actor.rate:,}"
        )
    if tx.actor.agent is not None and agent != tx.actor.agent:
        raise Forbidden(f"this token acts as {tx.actor.agent!r} only, and can only make tokens for it")
    if agent is not None:
        agents.meet(tx, project.id, agent)
        if program is not None:
            last_activity.note(tx, project.id, agent, runtime=program)
    made = _insert(
        tx,
        AGENT,
        user_id=tx.actor.user_id,
        project=project,
        agent=agent,
        role=role,
        ttl=ttl,
        rate=rate,
        label=label,
    )
    return _told(tx, made)


def granted(tx: Tx, project: Project, *, role: Role, agent: str) -> tuple[Token, str]:
    """Create a token that the hub itself issues, after the receiver was admitted; return it and its secret.

    For a machine that joins, and for an agent that was placed on one. Records `token.created`.
    """
    return _told(tx, _insert(tx, AGENT, user_id=None, project=project, agent=agent, role=role))


def lent(
    tx: Tx,
    project: Project,
    lender: Actor,
    *,
    agent: str,
    purpose: UUID,
    chain: CallChain,
    lasts: timedelta,
) -> tuple[Token, str]:
    """Create a token for `agent` with fewer rights than the lender's, whose end it shares; return it and its secret.

    Records `token.created`.
    """
    assert lender.token_id is not None  # the lender gave an order, with a token
    made = _insert(
        tx,
        AGENT,
        user_id=lender.user_id,
        project=project,
        agent=agent,
        role=Role.ORDER,
        ttl=lasts,
        rate=lender.rate,
        until=lender.expires_at,
        lent=(lender.token_id, purpose),
        chain=chain,
    )
    return _told(tx, made)


def end(tx: Tx, token_id: UUID) -> bool:
    """Revoke a token whose purpose is over; tell whether it was valid. Records `token.revoked`, the first time."""
    token = tokens.find(tx, token_id)
    return token is not None and _end(tx, token)


def end_lent(tx: Tx, token_id: UUID) -> None:
    """End the loans from a token that has ended. Records `token.revoked`."""
    for lent in tokens.lent_from(tx, token_id):
        _end(tx, lent)


def require_given(role: Role) -> None:
    """Raise `Invalid` for a role that people cannot give."""
    if role not in GIVEN:
        raise Invalid(f"the role must be one of {', '.join(GIVEN)}; only the hub gives the others")


def visible(tx: Tx, projects: Sequence[Project]) -> list[Token]:
    """List the agents' tokens of the projects, and those of the person who asks; for the hub's owner, of all people."""
    people = tokens.of_people(tx) if tx.actor.is_person else []
    mine = [each for each in people if tx.actor.owns_hub or each.user_id == tx.actor.user_id]
    return mine + tokens.of_projects(tx, [project.id for project in projects])


def revoke(tx: Tx, token_id: UUID) -> Token:
    """Revoke a token, at once: its open streams end too. Records `token.revoked`.

    People may revoke their own tokens, and those that they created; others need the right to manage. A repeated call
    changes nothing. Raises `NotFound` and `Forbidden`.
    """
    token = tokens.find(tx, token_id)
    if token is None or not _may_see(tx, token):
        raise NotFound("token", token_id)
    if not _may_revoke(tx, token):
        raise Forbidden("only the maker of the token or an admin of its project may revoke it")
    _end(tx, token)
    return token


def for_login(tx: Tx, user_id: UUID, ttl: timedelta) -> tuple[Token, str]:
    """Create a token for a login of the person to stand on; return it and its secret, which only a cookie can hold.

    The caller records the login.
    """
    return _insert(tx, access.LOGIN, user_id=user_id, ttl=ttl)


def _insert(
    tx: Tx,
    prefix: str,
    *,
    user_id: UUID | None,
    project: Project | None = None,
    agent: str | None = None,
    role: Role | None = None,
    ttl: timedelta | None = None,
    rate: int | None = None,
    until: int | None = None,
    lent: tuple[UUID | None, UUID | None] = (None, None),
    chain: CallChain = (),
    label: str | None = None,
) -> tuple[Token, str]:
    """Insert a token. `until` is its latest end; `lent` its source and purpose; `chain` its callers."""
    if ttl is not None and ttl <= timedelta(0):
        raise Invalid("a token must expire in the future")
    ends = [tx.now + milliseconds(ttl)] if ttl is not None else []
    ends += [until] if until is not None else []
    secret = f"{prefix}{secrets.token_hex(16)}"
    token = tokens.insert(
        tx,
        Token(
            id=new_id(),
            hash=access.fingerprint(secret),
            user_id=user_id,
            project_id=project.id if project else None,
            agent=agent,
            role=role,
            rate=rate,
            created_at=tx.now,
            expires_at=min(ends, default=None),
            revoked_at=None,
            lent_from=lent[0],
            lent_for=lent[1],
            chain=chain,
            label=label,
        ),
    )
    return token, secret


def _told(tx: Tx, made: tuple[Token, str]) -> tuple[Token, str]:
    """Record a new token; return it and its secret."""
    token, _secret = made
    detail: dict[str, object] = {"token_id": str(token.id), "role": token.role}
    if token.chain:
        detail["chain"] = list(token.chain)
    tx.record("token.created", project_id=token.project_id, agent=token.agent, detail=detail)
    return made


def _end(tx: Tx, token: Token) -> bool:
    """End a token and its loans; False if it was revoked already."""
    if not tokens.revoke(tx, token.id):
        return False
    detail = {"token_id": str(token.id)}
    tx.record("token.revoked", project_id=token.project_id, agent=token.agent, detail=detail)
    end_lent(tx, token.id)
    return True


def _may_see(tx: Tx, token: Token) -> bool:
    mine = token.user_id is not None and token.user_id == tx.actor.user_id
    ours = access.role_in(tx, token.project_id) is not None
    return mine or ours or tx.actor.owns_hub


def _may_revoke(tx: Tx, token: Token) -> bool:
    made_it = tx.actor.is_person and token.user_id is not None and token.user_id == tx.actor.user_id
    role = access.role_in(tx, token.project_id)
    manages = role is not None and Right.MANAGE in GRANTS[role]
    is_own = tx.actor.token_id is not None and tx.actor.token_id in (token.id, token.lent_from)
    return made_it or tx.actor.owns_hub or is_own or manages
