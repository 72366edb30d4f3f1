"""Check-ins: presences that an agent opens and closes itself, with a secret as its proof.

It declares where it is going to work, and reports the result in the end. An agent that is silent for longer than the
project allows counts as gone.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from random import choice, randint
from uuid import UUID

from hubbub.core.agents import agents, scopes
from hubbub.core.people import access
from hubbub.core.presence import presences
from hubbub.model.agents.scopes import AgentConflict as ScopeOverlap
from hubbub.model.agents.scopes import Scope
from hubbub.model.errors import Conflict, Invalid, NotFound
from hubbub.model.records import Condition, Presence, Profile, Project
from hubbub.store.agents import agents as rows
from hubbub.store.people import projects
from hubbub.store.tx import Tx

ADJECTIVES = (
    *(
        "agile",
        "bold",
        "brave",
        "bright",
        "calm",
        "clear",
        "clever",
        "eager",
        "fair",
        "fleet",
        "gentle",
        "glad",
    ),
    *(
        "keen",
        "kind",
        "lively",
        "lucky",
        "merry",
        "mild",
        "neat",
        "nimble",
        "proud",
        "quick",
        "quiet",
        "ready",
    ),
    *("sharp", "smart", "steady", "sunny", "swift", "tidy", "vivid", "warm", "wise", "witty"),
)
INSTANCE = "stay-"  # how a check-in names itself as the opener of a presence
HEARTBEATS_TOLD = 60_000  # milliseconds; one heartbeat of an agent is recorded in that time

# These need no rule of their own, so they are the store's functions.
history = rows.history


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkin:
    """A check-in that has begun, its secret, and its conflicts."""

    presence: Presence
    secret: str
    conflicts: Sequence[ScopeOverlap]


def begin(tx: Tx, project: Project, name: str | None, scope: Scope) -> Checkin:
    """Begin a check-in and declare its scope; without a name, make one up that the project does not know yet.

    Raises `Conflict` if the name is live by another token, `ScopeConflict` if the project blocks overlaps.
    """
    spoken = access.speak(tx, project.id, name or tx.actor.agent or _made_up_name(tx, project.id))
    last = rows.presence(tx, project.id, spoken, lock=True)
    if last is not None and last.is_live(tx.now) and last.token_id != tx.actor.token_id:
        raise Conflict(f"{spoken!r} is live by another token; choose another name, or wait until it is gone")
    secret = secrets.token_hex(20)
    known = last.condition if last is not None and last.is_live(tx.now) else Condition.IDLE
    presence = presences.report(
        tx,
        project.id,
        spoken,
        instance=f"{INSTANCE}{secrets.token_hex(4)}",
        condition=Condition.WORKING if scope else known,
        profile=Profile(),
        ttl=timedelta(seconds=project.heartbeat_ttl),
        secret=access.fingerprint(secret),
    )
    return Checkin(presence=presence, secret=secret, conflicts=scopes.declare(tx, project, presence, scope))


def find(tx: Tx, project_ids: Sequence[UUID], secret: str) -> Presence:
    """Return the check-in of the secret, while it lasts. Raises `NotFound`, also for one that is over, or elsewhere."""
    presence = rows.presence_by_secret(tx, access.fingerprint(secret), lock=not tx.is_read)
    if presence is None or presence.project_id not in project_ids or not presence.is_live(tx.now):
        raise NotFound("presence", "of that token")
    access.speak(tx, presence.project_id, presence.agent)
    return presence


def only(tx: Tx, project_ids: Sequence[UUID]) -> Presence | None:
    """Return the check-in that the caller's token has begun in one of the projects, if there is just one."""
    token_id = tx.actor.token_id
    begun = [
        presence
        for project_id in project_ids
        if token_id is not None
        for presence in rows.opened_by(tx, project_id, token_id, lock=not tx.is_read)
    ]
    return begun[0] if len(begun) == 1 else None


def keep(tx: Tx, presence: Presence) -> Presence:
    """Take a heartbeat: the check-in lasts for the project's time-to-live as it is now.

    A presence that another door opened lasts as long as it does there. Records `agent.heartbeat`: the agent's first,
    and then at most one a minute.
    """
    is_ours = presence.instance.startswith(INSTANCE)
    if is_ours and (project := projects.find(tx, presence.project_id)) is not None:
        presence = replace(presence, ttl=project.heartbeat_ttl * 1000)
    told_at = presence.heartbeat_told_at
    is_told = told_at is None or tx.now - told_at >= HEARTBEATS_TOLD
    kept = presences.keep(tx, replace(presence, heartbeat_told_at=tx.now) if is_told else presence)
    if is_told:
        tx.record("agent.heartbeat", project_id=kept.project_id, actor=kept.agent, agent=kept.agent)
    return kept


def end(
    tx: Tx, presence: Presence, *, outcome: str | None, summary: str | None, touched: Sequence[str] | None
) -> Presence:
    """End a check-in, with its result. Tasks claimed from the open queue go back there. Raises `NotFound`."""
    said = replace(
        presence,
        outcome=outcome,
        summary=summary,
        touched=tuple(touched) if touched is not None else None,
        ended_at=tx.now,
    )
    rows.close(tx, said)
    if presences.end(tx, presence) is None:
        raise NotFound("presence", presence.instance)
    return said


def _made_up_name(tx: Tx, project_id: UUID) -> str:
    """Make up a name of the form agent-swift-42 that no agent of the project has."""
    for digits in (99, 9_999, 999_999):
        for _ in range(20):
            name = f"agent-{choice(ADJECTIVES)}-{randint(1, digits)}"  # noqa: S311  # a name, not a secret
            if not agents.is_known(tx, project_id, name):
                return name
    raise Invalid("no name could be made up; choose one")
