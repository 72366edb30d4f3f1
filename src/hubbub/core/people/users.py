"""People: the owner of the hub, and those who were invited or registered."""

import re
import secrets
from datetime import timedelta
from uuid import UUID

from hubbub.core.people import access, projects, tokens
from hubbub.model.errors import Conflict, Forbidden, Invalid, NotFound
from hubbub.model.ids import new_id
from hubbub.model.people.accounts import Invitation, Token, User
from hubbub.model.people.rights import HUB, SYSTEM, Actor, Right, Role
from hubbub.model.records import Project
from hubbub.model.timestamps import milliseconds
from hubbub.store.people import projects as project_rows
from hubbub.store.people import users
from hubbub.store.tx import Tx

OWNER = "owner"
INVITE_TTL = timedelta(days=7)
SHORTEST, LONGEST = 2, 50  # a username
_NAME = re.compile(rf"[\w-]{{{SHORTEST},{LONGEST}}}")


class BadInvitation(Forbidden):
    """A code that was used, is too old, or never existed; the caller is not told which."""

    def __str__(self) -> str:
        return "registering needs an invitation code that is unused and not too old"


# These need no rule of their own, so they are the store's functions.
find = users.find


def first_start(tx: Tx) -> str | None:
    """Give a hub without people its owner and the project `default`; return the owner's token, else None.

    If two hubs start on one empty database, one of them does it.
    """
    if not users.is_empty(tx):
        return None
    try:
        owner = _insert(tx, OWNER, None, owns_hub=True)
    except Conflict:
        return None
    tx.actor = Actor(token_id=None, user_id=owner.id, user_name=owner.name, owns_hub=True)
    projects.create(tx, projects.DEFAULT)
    _token, secret = tokens.for_person(tx, owner.id)
    tx.actor = SYSTEM
    return secret


def owner_token(tx: Tx) -> str:
    """Create another token of the hub's owner, for a person who holds the hub's data and has lost the first."""
    _token, secret = tokens.for_person(tx, owner(tx).id)
    return secret


def owner(tx: Tx) -> User:
    """Return the hub's owner, once it has started."""
    return next(user for user in users.everyone(tx) if user.owns_hub)


def create(
    tx: Tx, name: str, *, project: Project | None = None, role: Role = Role.MEMBER
) -> tuple[User, str]:
    """Make a person, as a member of `project` if given; return them and their token. Only for the hub's owner.

    Records `user.created`. Raises `Forbidden`, `Invalid`, `Conflict`.
    """
    access.require_hub_owner(tx)
    tokens.require_given(role)
    user = _insert(tx, checked(name), None, by=tx.actor.label)
    if project is not None:
        project_rows.put_member(tx, project.id, user.id, role)
    _token, secret = tokens.for_person(tx, user.id)
    return user, secret


def invite(tx: Tx, project: Project, role: Role = Role.MEMBER) -> str:
    """Create a code, good for a week and for one person, to register as a member of the project.

    Needs the right to manage the project. Records `user.invited`. Raises `Forbidden` and `Invalid`.
    """
    if not tx.actor.is_person:
        raise Forbidden("only a person (utok_) may invite somebody")
    tokens.require_given(role)
    access.enter(tx, project.slug, Right.MANAGE)
    code = f"inv_{secrets.token_hex(16)}"
    expires_at = tx.now + int(INVITE_TTL.total_seconds() * 1000)
    users.insert_invite(tx, access.fingerprint(code), project.id, role, expires_at)
    tx.record("user.invited", project_id=project.id, detail={"role": role})
    return code


def invitations(tx: Tx, project: Project) -> list[Invitation]:
    """List the invitations to the project that can still be followed. For people who manage it."""
    access.require_person(tx, "see who is invited")
    access.enter(tx, project.slug, Right.MANAGE)
    return users.invitations(tx, project.id)


def uninvite(tx: Tx, project: Project, invitation: str) -> None:
    """Revoke an invitation: its link leads nowhere any more. Records `user.uninvited`.

    For people who manage the project. Raises `Forbidden` and `NotFound`.
    """
    access.require_person(tx, "revoke an invitation")
    access.enter(tx, project.slug, Right.MANAGE)
    if not users.drop_invitation(tx, project.id, invitation):
        raise NotFound("invitation", invitation)
    tx.record("user.uninvited", project_id=project.id)


def register(
    tx: Tx, name: str, password_hash: str, *, invite_code: str | None, is_open: bool
) -> tuple[User, str]:
    """Register a person by an invitation or, where registration `is_open`, without one; return them and their token.

    An invited person joins the project of the invitation; any other gets a project of their own, named after them.
    Records `user.created`. Raises `Forbidden`, `Invalid`, `Conflict`.
    """
    if invite_code or not is_open:
        user = accept(tx, name, password_hash, invite_code or "")
    else:
        user = _insert(tx, checked(name), password_hash)
        tx.actor = Actor(token_id=None, user_id=user.id, user_name=name)
        projects.create(tx, _free_slug(tx, name), name=name)
    _token, secret = tokens.for_person(tx, user.id)
    return user, secret


def invited_to(tx: Tx, code: str) -> Project:
    """Return the project that an invitation is for, without using it up. Raises `BadInvitation`."""
    project_id = users.find_invite(tx, access.fingerprint(code))
    project = project_rows.find(tx, project_id) if project_id is not None else None
    if project is None:
        raise BadInvitation
    return project


def accept(tx: Tx, name: str, password_hash: str, code: str) -> User:
    """Register a person as a member of the project of an invitation, which this uses up.

    Records `user.created`. Raises `BadInvitation`, `Invalid`, `Conflict`.
    """
    place = users.use_invite(tx, access.fingerprint(code))
    if place is None:
        raise BadInvitation
    user = _insert(tx, checked(name), password_hash)
    project_rows.put_member(tx, place[0], user.id, place[1])
    return user


def token_for(
    tx: Tx, name: str, *, ttl: timedelta | None = None, label: str | None = None
) -> tuple[Token, str]:
    """Create another token of a person, for themselves or by the owner of the hub; return it and its secret.

    It does not outlive the caller's own. Records `token.created`. Raises `Forbidden` and `NotFound`.
    """
    user, end = meant(tx, name), tx.actor.expires_at if not tx.actor.is_browser else None
    if end is not None and (ttl is None or tx.now + milliseconds(ttl) > end):
        raise Forbidden("a token cannot outlive the one that makes it; let it expire earlier")
    return tokens.for_person(tx, user.id, ttl=ttl, label=label)


def everyone(tx: Tx) -> list[User]:
    """List all people of the hub. Only for its owner."""
    access.require_hub_owner(tx)
    return users.everyone(tx)


def name_of(tx: Tx, user_id: UUID | None) -> str | None:
    """Return the name of the person with that id; None for nobody."""
    user = find(tx, user_id) if user_id is not None else None
    return user.name if user is not None else None


def by_name(tx: Tx, name: str) -> User | None:
    """Return the person of that name, with their password's hash, for logging in; None for an impossible name."""
    return users.find_by_name(tx, name) if _NAME.fullmatch(name) else None


def meant(tx: Tx, name: str | None) -> User:
    """Return the person meant by `name`: the caller, if None; anybody, if the owner of the hub asks.

    Raises `Forbidden` and `NotFound`.
    """
    access.require_person(tx, "do this")
    if name is not None and name != tx.actor.user_name:
        access.require_hub_owner(tx)
        user = by_name(tx, name)
    else:
        user = users.find(tx, tx.actor.user_id) if tx.actor.user_id else None
    if user is None:
        raise NotFound("user", name)
    return user


def checked(name: str) -> str:
    """Return the name if a person may have it. Raises `Invalid`."""
    if name == HUB:
        raise Invalid(f"{HUB!r} is the hub's own name; choose another")
    if not _NAME.fullmatch(name):
        raise Invalid(f"a username has {SHORTEST} to {LONGEST} letters (of any script), digits, '_' and '-'")
    return name


def _insert(
    tx: Tx, name: str, password_hash: str | None, *, owns_hub: bool = False, by: str | None = None
) -> User:
    """Insert a person, created by another or by themselves."""
    user = users.insert(
        tx, User(id=new_id(), name=name, password=password_hash, owns_hub=owns_hub, created_at=tx.now)
    )
    if user is None:
        raise Conflict(f"the username {name!r} is taken")
    tx.record("user.created", project_id=None, actor=by or name, detail={"user": name})
    return user


def _free_slug(tx: Tx, name: str) -> str:
    """Make a slug from the name, with random digits if it is taken or impossible."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    if plain and project_rows.find_by_slug(tx, plain) is None:
        return plain
    return f"{plain or 'project'}-{secrets.token_hex(3)}"
