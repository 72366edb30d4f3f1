"""Share links: each lets any holder look at one machine for a limited time, unless it is revoked."""

import secrets
from dataclasses import dataclass
from datetime import timedelta

from hubbub.core.people import access
from hubbub.model.errors import Invalid, NotFound
from hubbub.model.fleet.nodes import Machine, ShareLink, board_name
from hubbub.model.ids import new_id, parse_id
from hubbub.model.lifecycle import HELD
from hubbub.model.records import Presence, Project, Task
from hubbub.model.timestamps import milliseconds
from hubbub.store.agents import agents
from hubbub.store.fleet import nodes
from hubbub.store.fleet import shares as rows
from hubbub.store.tx import Tx
from hubbub.store.work import tasks

NOUN = "share link"
MOST_TASKS = 20  # of one agent behind a link
LASTS = timedelta(days=1)  # unless the caller says otherwise
LONGEST = timedelta(days=30)

# These need no rule of their own, so they are the store's functions.
of_project = rows.of_project


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedView:
    """The view behind a link: one machine, the agents on it, and their tasks."""

    share: ShareLink
    machine: Machine
    agents: tuple[Presence, ...]
    tasks: tuple[Task, ...]


def mint(
    tx: Tx, project: Project, machine: Machine, *, expires_in: timedelta = LASTS
) -> tuple[ShareLink, str]:
    """Create a link to look at a machine of the project; return it and its secret. Records `share.minted`.

    Raises `Invalid`, and `NotFound` for a machine that was removed.
    """
    if not timedelta(seconds=1) <= expires_in <= LONGEST:
        raise Invalid(f"a share link lasts from a second to {LONGEST // timedelta(days=1)} days")
    if not nodes.refer_to(tx, machine.id):
        raise NotFound("machine", machine.name)
    secret = secrets.token_urlsafe(24)
    share = ShareLink(
        id=new_id(),
        project_id=project.id,
        machine_id=machine.id,
        machine=machine.name,
        hash=access.fingerprint(secret),
        created_by=tx.actor.label,
        created_at=tx.now,
        expires_at=tx.now + milliseconds(expires_in),
    )
    rows.insert(tx, share)
    _record(tx, "share.minted", share)
    return share, secret


def revoke(tx: Tx, project: Project, ref: str) -> ShareLink:
    """Revoke a link at once. Records `share.revoked`. Raises `NotFound`, also for one of another project."""
    share_id = parse_id(ref)
    share = rows.find(tx, share_id) if share_id else None
    if share is None or share.project_id != project.id or not rows.revoke(tx, share.id):
        raise NotFound(NOUN, ref)
    _record(tx, "share.revoked", share)
    return share


def look(tx: Tx, secret: str) -> SharedView | None:
    """Return the view behind a link's secret; None if it leads nowhere (any more), for whatever reason."""
    share = rows.find_good(tx, access.fingerprint(secret))
    machine = nodes.find_by_id(tx, share.machine_id) if share else None
    if share is None or machine is None:
        return None
    there = [
        each
        for each in agents.presences(tx, machine.project_id)
        if each.is_live(tx.now) and machine.name.casefold() in {_folded(each.hostname), _folded(each.server)}
    ]
    names = [board_name(machine.name), *(each.agent for each in there)]
    found = [
        task
        for name in names
        for task in tasks.search(
            tx, machine.project_id, status=HELD, assignee=name, sender=None, before=None, limit=MOST_TASKS
        )
    ]
    return SharedView(share=share, machine=machine, agents=tuple(there), tasks=tuple(found))


def _folded(name: str | None) -> str | None:
    return name.casefold() if name else None


def _record(tx: Tx, kind: str, share: ShareLink) -> None:
    tx.record(
        kind,
        project_id=share.project_id,
        detail={"share_id": str(share.id), "node": share.machine, "expires_at": share.expires_at},
    )
