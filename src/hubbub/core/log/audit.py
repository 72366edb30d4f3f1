"""The audit: people's answers, acts by hand, and changes of the hub, all read from the one log."""

from collections.abc import Mapping, Sequence

from hubbub.model.errors import Invalid
from hubbub.model.records import Activity, Project
from hubbub.store.log import activity
from hubbub.store.tx import Tx

PAGE = 500  # entries read at once where all are wanted
GROUPS: Mapping[str, Sequence[str]] = {
    "approvals": (
        "approval.asked", "approval.approved", "approval.denied", "approval.expired", "approval.spent",
        "approval.withdrawn",
    ),
    "tokens": ("token.created", "token.revoked", "key.set", "key.cleared"),
    "terminal": ("terminal.input",),
    "config": (
        "project.created", "project.changed", "area.put", "webhook.added", "webhook.removed",
        "user.created", "user.invited", "user.uninvited", "user.removed", "member.put", "member.removed",
        "coordinator.granted", "coordinator.revoked", "node.invited", "node.joined",
        "node.removed", "share.minted", "share.revoked", "placement.ordered", "placement.stopped",
        "audit.broken",
    ),
    "logins": ("login.started", "login.ended", "password.set"),
}  # fmt: skip
KINDS = tuple(kind for kinds in GROUPS.values() for kind in kinds)


def entries(
    tx: Tx,
    project: Project,
    *,
    kind: str | None = None,
    actor: str | None = None,
    before: int | None = None,
    limit: int,
) -> list[Activity]:
    """List the audit's activities, newest first; `kind` is a kind or a group, `before` the id to go on from.

    For the owner of the hub, it includes those of the hub as a whole. Raises `Invalid` for a kind that is not the
    audit's.
    """
    place = activity.position_of(tx, before) if before is not None else None
    if before is not None and place is None:
        return []
    wheres = (project.id, None) if tx.actor.owns_hub else (project.id,)
    found = [
        each
        for where in wheres
        for one in _kinds(kind)
        for each in activity.of_kind(tx, where, one, before=place, actor=actor, limit=limit)
    ]
    return sorted(found, key=lambda each: (each.tx, each.seq), reverse=True)[:limit]


def _kinds(kind: str | None) -> Sequence[str]:
    if kind is None:
        return KINDS
    if kind not in GROUPS and kind not in KINDS:
        raise Invalid(f"kind: must be one of {', '.join((*GROUPS, *KINDS))}")
    return GROUPS.get(kind, (kind,))
