"""Kinds of activities: every line of the log has one of them, and programs ask for them by name."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

from hubbub.model.errors import Invalid, quoted

LONGEST = 100  # characters of a name that are compared with the existing ones
GROUPS: Mapping[str, Sequence[str]] = {
    "account": ("changed", "paused", "removed", "resumed"),
    "agent": (
        "changed", "checkin", "checkout", "described", "edited", "heartbeat", "met", "removed", "renamed",
        "scope_change", "timeout", "woken",
    ),
    "approval": ("approved", "asked", "denied", "expired", "spent", "withdrawn"),
    "area": ("put",),
    "artifact": ("posted",),
    "audit": ("broken",),
    "breaker": ("lifted", "tripped"),
    "budget": ("low", "put", "removed", "renewed", "spent"),
    "check": ("ended", "started"),
    "completion": ("reported",),
    "coordinator": ("granted", "revoked"),
    "dispatch": ("ended", "queued", "sent"),
    "file": ("claimed", "refused", "released"),
    "key": ("cleared", "set"),
    "lease": ("capacity", "granted", "released", "rule", "waiting"),
    "login": ("ended", "started"),
    "member": ("put", "removed"),
    "memory": ("updated",),
    "merge": ("clear", "conflict"),
    "message": ("acked", "dead", "delivered", "sent"),
    "node": ("changed", "invited", "joined", "offline", "online", "removed"),
    "outbox": ("dead", "delivered", "failed", "retried", "skipped"),
    "password": ("set",),
    "placement": ("dropped", "failed", "ordered", "restarting", "running", "stopped"),
    "project": ("breakers", "changed", "created", "proof"),
    "review": ("requested", "submitted"),
    "run": ("noted", "opened", "started"),
    "share": ("minted", "revoked"),
    "summary": ("saved",),
    "task": (
        "accepted", "blocked", "cancelled", "chained", "completed", "contract", "delivered", "described", "duplicate",
        "expired", "failed", "late", "noted", "progress", "ready", "reassigned", "released", "reopened", "retried",
        "sent", "started", "submitted", "waived",
    ),
    "terminal": ("input",),
    "todo": ("written",),
    "token": ("created", "revoked"),
    "user": ("created", "invited", "removed", "uninvited"),
    "webhook": ("added", "removed"),
}  # fmt: skip
KINDS = frozenset(f"{group}.{name}" for group, names in GROUPS.items() for name in names)
OF_THE_HUB = frozenset(  # of no project
    {"login.ended", "login.started", "password.set", "user.created", "user.removed"}
)


def require_kind(kind: str) -> str:
    """Return the kind if it exists. Raises `Invalid`, which names similar ones."""
    if kind not in KINDS:
        group, _, _name = kind.partition(".")
        near = get_close_matches(kind[:LONGEST], sorted(KINDS), n=1, cutoff=0.75)
        meant = f"did you mean {near[0]}? " if near else ""
        raise Invalid(f"there is no kind {quoted(kind)}: {meant}{_instead(group)}")
    return kind


def require_of_project(kinds: Iterable[str]) -> None:
    """Raise `Invalid`, with the nearest kind of projects, if no project has any of these kinds."""
    asked = sorted(kinds)
    if OF_THE_HUB.issuperset(asked):
        group, _, _name = asked[0].partition(".")
        known = sorted(KINDS - OF_THE_HUB)
        [near] = get_close_matches(asked[0], [k for k in known if k.startswith(f"{group}.")] or known, 1, 0)
        raise Invalid(
            f"{', '.join(asked)}: it happens in the hub, not in a project; the nearest event is {near}"
        )


def require_group(group: str) -> str:
    """Return the group if it has kinds. Raises `Invalid`."""
    if group not in GROUPS:
        raise Invalid(f"there is no group {quoted(group)}: {_instead(group)}")
    return group


def expanded(patterns: Iterable[str]) -> list[str]:
    """Return the kinds that are meant: each alone, or as a group such as `task` or `task.*`. Raises `Invalid`."""
    found: dict[str, None] = {}
    for pattern in patterns:
        group, _, name = pattern.partition(".")
        if name in ("", "*"):
            found |= dict.fromkeys(f"{group}.{each}" for each in GROUPS[require_group(group)])
        else:
            found[require_kind(pattern)] = None
    return list(found)


def _instead(group: str) -> str:
    if group in GROUPS:
        return f"of {group} there are {', '.join(f'{group}.{name}' for name in GROUPS[group])}"
    return f"a kind is of one of the groups {', '.join(GROUPS)}, as task.completed"
