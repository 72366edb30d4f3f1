"""Access control: from a token to an actor, and from an actor to the projects and names it may use."""

import hashlib
import json
from dataclasses import replace
from uuid import UUID

from hubbub.core.agents import agents
from hubbub.model.errors import Forbidden, ProjectDenied, ProjectRequired, Unauthorized, WrongIdentity
from hubbub.model.fleet.nodes import NODE_PREFIX
from hubbub.model.people.rights import GRANTS, HUB, LINK_ONLY, Actor, Right, Role
from hubbub.model.records import Project
from hubbub.store.people import projects, tokens, users
from hubbub.store.tx import Row, Tx


class StaleToken(Exception):
    """The token's holder has changed since it was looked up: the caller has to be looked up anew."""


KNOWN = 4_096  # tokens whose last rows and actors are remembered, as each call looks up its caller
_last: dict[UUID, tuple[Row, Actor]] = {}

LOGIN = "login_"  # prefix of a login's secret, which is valid in a cookie only, not as a bearer token


def fingerprint(secret: str) -> str:
    """Hash a secret for storing. Tokens are 128 random bits, so one round of SHA-256 is enough for them."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def authenticate(tx: Tx, secret: str) -> Actor:
    """Return the actor of a bearer token. Raises `Unauthorized` for every bad one alike."""
    return _actor(tokens.standing_for(tx, fingerprint(secret)) if not secret.startswith(LOGIN) else None)


def require_same(tx: Tx, mark: str) -> None:
    """Raise `StaleToken` unless the token with that fingerprint still stands for the caller."""
    require_holder(tx, tokens.standing_for(tx, mark))


def require_holder(tx: Tx, row: Row | None) -> None:
    """Raise `StaleToken` unless the row of a token that stands is the caller's."""
    if row is None or _actor(row) != tx.actor:
        raise StaleToken


def recognise(tx: Tx, secret: str) -> Actor:
    """Return the person of a browser's cookie. Raises `Unauthorized`, also for a bearer token."""
    person = _actor(tokens.standing_for(tx, fingerprint(secret)) if secret.startswith(LOGIN) else None)
    return replace(person, is_browser=True)


def stand_in(tx: Tx, token_id: UUID) -> Actor:
    """Return the holder of the token with that id, to act on their behalf. Raises `Unauthorized` if it has ended."""
    return _actor(tokens.standing_for_id(tx, token_id))


def person(tx: Tx, user_id: UUID) -> Actor:
    """Return that person, to act as they have arranged; their rights are looked up as usual. Raises `Unauthorized`."""
    user = users.find(tx, user_id)
    if user is None:
        raise Unauthorized
    return Actor(token_id=None, user_id=user.id, user_name=user.name, owns_hub=user.owns_hub)


def _actor(row: Row | None) -> Actor:
    """Return the actor of a token's row: the last one, as long as the row has not changed."""
    if row is None:
        raise Unauthorized
    known = _last.get(row["id"])
    if known is None or known[0] != row:
        if len(_last) >= KNOWN:
            _last.clear()
        known = _last[row["id"]] = row, _made(row)
    return known[1]


def _made(of: Row) -> Actor:
    """Make the actor of a row. Only a person's token carries the person's own rights; an agent's carries its own."""
    is_person = of["project_id"] is None
    return Actor(
        token_id=of["id"],
        user_id=of["user_id"],
        user_name=of["user_name"] if is_person else None,
        owns_hub=is_person and bool(of["owns_hub"]),
        project_id=of["project_id"],
        role=Role(of["role"]) if of["role"] is not None else None,
        agent=of["agent"],
        expires_at=of["expires_at"],
        rate=of["rate"],
        lent_from=of["lent_from"],
        chain=tuple(json.loads(of["chain"])),
    )


def require_valid(tx: Tx) -> None:
    """Raise `Unauthorized` if the caller's token has ended since it was looked up."""
    if tx.actor.token_id is not None and not tokens.is_valid(tx, tx.actor.token_id):
        raise Unauthorized


def memberships(tx: Tx, *, archived: bool = False) -> list[tuple[Project, Role]]:
    """List the projects the caller may see, oldest first, with its role in each; a person's `archived` ones on request.

    Raises `Forbidden` for a machine's key.
    """
    actor = tx.actor
    _require_no_machine(actor)
    if actor.project_id is not None:
        project = projects.find(tx, actor.project_id)
        return [(project, actor.role or Role.VIEWER)] if project else []
    known = projects.of_user(tx, actor.user_id) if actor.user_id else []
    return [each for each in known if archived or each[0].archived_at is None]


def role_in(tx: Tx, project_id: UUID | None) -> Role | None:
    """Return the caller's role in a project that is not archived; None in one that it may not see, and in none.

    Raises `Forbidden` for a machine's key.
    """
    actor = tx.actor
    _require_no_machine(actor)
    if project_id is not None and actor.project_id is None and actor.user_id is not None:
        return projects.role_of(tx, project_id, actor.user_id)
    return next((role for project, role in memberships(tx) if project.id == project_id), None)


def _require_no_machine(actor: Actor) -> None:
    if actor.role is Role.NODE:
        raise Forbidden(LINK_ONLY)


def names(project: Project) -> tuple[str, ...]:
    """Return the names of a project: its slug, its id, and `net_` with the last 12 digits of its id."""
    return project.slug, str(project.id), short_name(project)


def short_name(project: Project) -> str:
    """Return a short stable name of the project, for clients that do not know its slug."""
    return f"net_{project.id.hex[-12:]}"


def visible(tx: Tx, ref: str | None = None) -> list[Project]:
    """List the projects to read from: the one called `ref`, or all that the caller may see.

    Raises `ProjectDenied` if `ref` is not among them.
    """
    known = [project for project, _role in memberships(tx, archived=ref is not None)]
    if ref is None:
        return known
    named = [project for project in known if ref in names(project)]
    if not named:
        raise ProjectDenied(ref)
    return named


def enter(tx: Tx, ref: str | None = None, right: Right = Right.WRITE, *, archived: bool = False) -> Project:
    """Return the one project to work in, with `right` granted there.

    Without `ref` it is the caller's only one. Raises `ProjectDenied`, `ProjectRequired` or `Forbidden`.
    """
    known = memberships(tx, archived=ref is not None)
    named = [each for each in known if ref is None or ref in names(each[0])]
    if ref is not None and not named:
        raise ProjectDenied(ref)
    if len(named) != 1:
        raise ProjectRequired([project.slug for project, _role in known])
    project, role = named[0]
    if right not in GRANTS[role]:
        raise Forbidden(f"the role {role} may not {right} in project {project.slug!r}")
    if project.archived_at is not None and right is not Right.READ and not archived:
        raise Forbidden(
            f"project {project.slug!r} is archived; bring it back by: hubbub project restore {project.slug}"
        )
    return project


def require_person(tx: Tx, what: str) -> None:
    """Raise `Forbidden` unless a person asks; `what` completes the sentence."""
    if not tx.actor.is_person or tx.actor.user_id is None:
        raise Forbidden(f"only a person (utok_) may {what}; an agent's token never does")


def require_hub_owner(tx: Tx) -> None:
    """Raise `Forbidden` unless the caller owns the hub."""
    if not tx.actor.owns_hub:
        raise Forbidden("only the owner of the hub may do this")


def spoken_name(tx: Tx, name: str | None = None) -> str:
    """Return the name by which the caller acts, or looks on.

    A token bound to an agent is that agent; any other may be any agent, or else `hub`. Raises `WrongIdentity`.
    """
    bound = tx.actor.agent
    if bound is not None and name not in (None, bound):
        raise WrongIdentity(bound, name or "")
    return bound or name or HUB


def speak(tx: Tx, project_id: UUID, name: str | None = None) -> str:
    """Return the name by which the caller acts, and make it known to the project.

    Raises the errors of `spoken_name`, and `Forbidden` for the name under which a machine does its own work.
    """
    spoken = spoken_name(tx, name)
    if spoken.startswith(NODE_PREFIX):
        raise Forbidden(f"a name that begins with {NODE_PREFIX!r} is a machine's, and no token speaks for it")
    if spoken != HUB:
        agents.meet(tx, project_id, spoken)
        tx.speaker = project_id, spoken
    return spoken


def programs_name(tx: Tx, spoken: str) -> str:
    """Return the name of a program that works beside the caller; beside a person, the person's own."""
    return tx.actor.label if spoken == HUB else spoken


def reads_for_agent(tx: Tx) -> bool:
    """Tell whether a letter that the caller reads has reached its receiver; people and viewers only look on."""
    return tx.actor.role is not None and Right.WRITE in GRANTS[tx.actor.role]


def require_inbox(tx: Tx, name: str) -> None:
    """Raise `Forbidden` unless the caller may read the mail of `name`."""
    if not may_read_inbox(tx, name):
        raise Forbidden(f"this token reads the inbox of {tx.actor.agent!r} only")


def may_read_inbox(tx: Tx, name: str) -> bool:
    """Tell whether the caller may read the mail of `name`.

    A bound token reads its own agent's mail; a token lent for an order reads no mail.
    """
    return tx.actor.role is not Role.ORDER and tx.actor.agent in (None, name)
