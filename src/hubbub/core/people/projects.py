"""Projects: the tenants of a hub. Nothing crosses from one to another."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hubbub.core.agents import scopes
from hubbub.core.people import access, runs
from hubbub.core.snapshots import keyframes
from hubbub.model.errors import Conflict, Forbidden, Invalid, existing
from hubbub.model.ids import new_id
from hubbub.model.people.rights import Role
from hubbub.model.records import Project
from hubbub.store.people import projects
from hubbub.store.tx import Tx

DEFAULT = "default"
CONFLICT_MODES = ("off", "warn", "block")
HEARTBEAT_INTERVAL = 60  # seconds
HEARTBEAT_TTL = 180  # seconds
LONGEST_WAIT = 60 * 24 * 31  # minutes of a pause before its tasks are handed over
SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,62}[a-z0-9]|[a-z0-9]")

# A remote address, or a folder, as GolemXV's reference shows it (project_info).
_REPOSITORY = re.compile(r"(https?://|ssh://|git@|/)\S+")
LONGEST_SHOWN = 80  # characters of a slug that is refused

# These need no rule of their own, so they are the store's functions.
find_by_slug = projects.find_by_slug


def create(
    tx: Tx,
    slug: str,
    *,
    name: str | None = None,
    description: str | None = None,
    conflict_mode: str = "warn",
    repo_url: str | None = None,
    heartbeat_interval: int = HEARTBEAT_INTERVAL,
    heartbeat_ttl: int = HEARTBEAT_TTL,
) -> Project:
    """Create a project, owned by the person who creates it. Records `project.created`.

    Raises `Invalid` for a value that is not allowed, `Conflict` if the slug is taken, `Forbidden` for agents' tokens.
    """
    if not tx.actor.is_person:
        raise Forbidden("only a person (utok_) may make a project")
    _check(slug, conflict_mode, repo_url, heartbeat_interval, heartbeat_ttl)
    _require_name(name or slug)
    project = projects.insert(
        tx,
        Project(
            id=new_id(),
            slug=slug,
            name=name or slug,
            description=description,
            conflict_mode=conflict_mode,
            repo_url=repo_url,
            heartbeat_interval=heartbeat_interval,
            heartbeat_ttl=heartbeat_ttl,
            created_at=tx.now,
        ),
    )
    if project is None:
        raise Conflict(f"there is a project {slug!r} already")
    project = replace(project, run_id=runs.begin(tx, project.id).id)
    if tx.actor.user_id is not None:
        projects.put_member(tx, project.id, tx.actor.user_id, Role.OWNER)
    keyframes.begin(tx, project.id)
    tx.record("project.created", project_id=project.id, detail={"slug": slug})
    return project


def change(tx: Tx, project: Project, changes: Mapping[str, Any]) -> Project:
    """Change properties of a project, except its slug. Records `project.changed`, with the changes.

    Raises `Invalid` for a value that is not allowed.
    """
    after = replace(project, **changes)
    _check(after.slug, after.conflict_mode, after.repo_url, after.heartbeat_interval, after.heartbeat_ttl)
    if not 0 <= after.hand_over_after <= LONGEST_WAIT:
        raise Invalid(f"hand_over_after: must be 0, which is never, or up to {LONGEST_WAIT:,} minutes")
    if after.name != project.name:
        _require_name(after.name)
    changed = {name: value for name, value in changes.items() if getattr(project, name) != value}
    if changed:
        projects.update(tx, after)
        patch = scopes.reckon(tx, after) if "conflict_mode" in changed else None
        tx.record("project.changed", project_id=project.id, detail=changed, patch=patch)
    return after


def archive(tx: Tx, project: Project) -> Project:
    """Make a project read-only. Records `project.changed`. Raises `Conflict` for the default one."""
    if project.slug == DEFAULT:
        raise Conflict(f"the project {DEFAULT!r} is used where no project is named, so it cannot be archived")
    return _set_archived(tx, project, project.archived_at or tx.now)


def restore(tx: Tx, project: Project) -> Project:
    """Make an archived project writable again. Records `project.changed`."""
    return _set_archived(tx, project, None)


def _set_archived(tx: Tx, project: Project, archived_at: int | None) -> Project:
    after = replace(project, archived_at=archived_at)
    if after != project:
        projects.update(tx, after)
        tx.record("project.changed", project_id=project.id, detail={"archived": archived_at is not None})
    return after


def show(tx: Tx, ref: str) -> Project:
    """Return the project called `ref`. Raises `ProjectDenied` if it is not one of the caller's."""
    return access.visible(tx, ref)[0]


def find(tx: Tx, slug: str) -> Project:
    """Return the project with that slug, for the hub's own work. Raises `NotFound`."""
    return existing(projects.find_by_slug(tx, slug), "project", slug)


def _check(slug: str, conflict_mode: str, repo_url: str | None, interval: int, ttl: int) -> None:
    if not SLUG.fullmatch(slug):
        raise Invalid(
            "a slug has 1 to 64 lower-case letters, digits and hyphens, no hyphen at either end, so not "
            f"{slug[:LONGEST_SHOWN]!r}{_proposal(slug)}"
        )
    if conflict_mode not in CONFLICT_MODES:
        raise Invalid(f"the conflict mode is one of {', '.join(CONFLICT_MODES)}")
    if repo_url is not None and not _REPOSITORY.fullmatch(repo_url):
        raise Invalid(
            "a repository's address begins with https://, http://, ssh:// or git@, or is a folder's whole path"
        )
    if not 0 < interval < ttl <= 24 * 3600:
        raise Invalid(
            "the heartbeat interval must be at least 1 s, and shorter than its ttl of at most a day"
        )


def _proposal(slug: str) -> str:
    """Return the slug that is nearest to what was given, as advice; nothing if none is near."""
    plain = unicodedata.normalize("NFKD", slug[:LONGEST_SHOWN]).encode("ascii", "ignore").decode().lower()
    near = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:64].strip("-")
    return f"; try {near}" if near else ""


def _require_name(name: str) -> None:
    if any(unicodedata.category(character) == "Cc" for character in name):
        raise Invalid("a project's name has no control characters, so it is one line")
