"""File claims: an agent holds the files that it edits, during the edit and for a while after it.

A claimed file counts as declared: others are told of it, or blocked, by the same rules in every dialect. A
claim ends when it is released, when nobody has edited the file for a while, and with the agent's presence.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import groupby
from uuid import UUID

from hubbub.core.agents import scopes
from hubbub.core.snapshots import patches
from hubbub.model.agents.file_claims import TTL, Claim, entry, identity, repository
from hubbub.model.agents.scopes import AgentConflict, Scope, entries
from hubbub.model.errors import ScopeConflict
from hubbub.model.records import Presence, Project
from hubbub.model.timestamps import milliseconds
from hubbub.store.agents import agents, file_claims
from hubbub.store.agents import scopes as scope_rows
from hubbub.store.people import projects
from hubbub.store.tx import Tx

MOST = 500  # claims of one presence; beyond that the oldest are released
RELEASED, EXPIRED, CROWDED = "released", "expired", "crowded"

# These need no rule of their own, so they are the store's functions.
held = file_claims.of_project


def claim(
    tx: Tx,
    project: Project,
    presence: Presence,
    paths: Iterable[str],
    *,
    repository: str | None = None,
    ttl: timedelta | None = None,
    instance: str | None = None,
    branch: str | None = None,
    worktree: str | None = None,
    seen: bool = False,
) -> list[AgentConflict]:
    """Claim these paths of a repository for the presence; return the conflicts, by agent.

    Without `repository` they are the project's own. Paths that it holds already are held for longer: until `ttl` has
    passed (30 minutes by default). `instance`, `branch` and `worktree` say where it is edited; `seen`, that it is
    edited in a checkout of that repository: the first of those becomes the own one of a project without an address.
    Records `file.claimed` for newly held ones. Raises `Invalid` for a wrong path or repository; `ScopeConflict` if
    there are conflicts and the project blocks them: then it holds only the paths that it held before.
    """
    scope_rows.lock(tx, project.id, presence.agent)
    where = _repository(tx, project, repository)
    if seen and home(tx, project) is None:
        _settle(tx, project, where)
    wanted = _entries(tx, project, paths, where)
    conflicts = _met(tx, project, wanted, but=presence.id)
    if conflicts and project.conflict_mode == "block":
        raise ScopeConflict(conflicts)
    held = {each.entry for each in file_claims.of_presence(tx, presence.id)}
    expires_at = tx.now + milliseconds(ttl or TTL)
    file_claims.renew(tx, presence.id, wanted.keys() & held, instance=instance, expires_at=expires_at)
    fresh = [
        Claim(
            agent=presence.agent,
            presence_id=presence.id,
            instance=instance,
            repository=where,
            path=path,
            entry=each,
            branch=branch,
            worktree=worktree,
            claimed_at=tx.now,
            edited_at=tx.now,
            expires_at=expires_at,
        )
        for each, path in wanted.items()
        if each not in held
    ]
    if fresh:
        _hold(tx, project, presence, fresh, conflicts)
    return conflicts


def check(
    tx: Tx, project: Project, paths: Iterable[str], *, repository: str | None = None, but: UUID | None = None
) -> list[AgentConflict]:
    """Return the conflicts that claiming these paths would cause, by agent, except with `but`, the asking presence.

    Raises `Invalid` as `claim` does.
    """
    where = _repository(tx, project, repository)
    return _met(tx, project, _entries(tx, project, paths, where), but=but)


def release(
    tx: Tx,
    project: Project,
    presence: Presence,
    paths: Iterable[str] | None = None,
    *,
    repository: str | None = None,
    instance: str | None = None,
    why: str = RELEASED,
) -> list[str]:
    """Release claims of the presence; return their entries, in the order in which they were claimed.

    `paths`, `repository` (the project's own by default) and `instance` narrow the claims to release. Records
    `file.released` if there were any.
    """
    scope_rows.lock(tx, project.id, presence.agent)
    held = file_claims.of_presence(tx, presence.id)
    if paths is not None:
        where = _repository(tx, project, repository)
        named = _entries(tx, project, paths, where).keys()
        held = [each for each in held if each.entry in named]
    elif repository is not None:
        held = [each for each in held if each.repository == repository]
    if instance is not None:
        held = [each for each in held if each.instance == instance]
    released = [each.entry for each in held]
    if released:
        _let_go(tx, project, presence, released, why)
    return released


def behind(tx: Tx, conflict: AgentConflict) -> Claim | None:
    """Find the claim behind a conflict; None if the other agent declared the file instead."""
    met = {*conflict.overlap.files}
    return next(
        (each for each in file_claims.of_presence(tx, conflict.presence_id) if each.entry in met), None
    )


def of_presence(tx: Tx, presence: Presence) -> list[Claim]:
    """Return the claims of the presence, oldest first."""
    return file_claims.of_presence(tx, presence.id)


def follow(tx: Tx, held: Sequence[Claim], presence: Presence) -> None:
    """Move the claims of an agent's earlier instance, which ended, to its new one."""
    project = projects.find(tx, presence.project_id) if held else None
    if project is not None:
        scope_rows.lock(tx, project.id, presence.agent)
        _hold(tx, project, presence, [replace(each, presence_id=presence.id) for each in held], ())


def lapse(tx: Tx, limit: int) -> None:
    """Release claims that no edit has renewed in time."""
    overdue: dict[tuple[UUID, str, UUID], list[str]] = {}
    for project_id, agent, presence_id, each in file_claims.lapsed(tx, limit):
        overdue.setdefault((project_id, agent, presence_id), []).append(each)
    for (project_id, agent, presence_id), lapsed in overdue.items():
        project = projects.find(tx, project_id)
        presence = agents.presence(tx, project_id, agent, lock=True)
        if project is None or presence is None or presence.id != presence_id:
            file_claims.drop(tx, presence_id, lapsed)
            continue
        scope_rows.lock(tx, project_id)
        _let_go(tx, project, presence, lapsed, EXPIRED)


def home(tx: Tx, project: Project) -> str | None:
    """Return the repository whose paths need no prefix; None if none was seen and none is set."""
    return identity(project.repo_url or "") or file_claims.home(tx, project.id)


def _repository(tx: Tx, project: Project, given: str | None) -> str:
    """Return the meant repository; an empty text is the own one of a project that does not know it yet."""
    return (home(tx, project) or "") if given is None else repository(given)


def _settle(tx: Tx, project: Project, own: str) -> None:
    """Make this the project's own repository: claims in it lose the prefix."""
    file_claims.settle_home(tx, project.id, own)
    front = f"{own}:"
    named = [each for each in file_claims.of_project(tx, project.id) if each.entry.startswith(front)]
    for agent, held in groupby(named, key=lambda each: each.agent):
        presence = agents.presence(tx, project.id, agent)
        if presence is not None:
            plain = {each.entry.removeprefix(front): each for each in held}
            file_claims.drop(tx, presence.id, [*plain, *(each.entry for each in plain.values())])
            fresh = [replace(each, repository=own, path=path, entry=path) for path, each in plain.items()]
            _hold(tx, project, presence, fresh, ())


def _entries(tx: Tx, project: Project, paths: Iterable[str], where: str) -> dict[str, str]:
    """Map each path to its entry in declared scopes. Some callers write the repository's name in front as well."""
    own = home(tx, project) or ""
    listed = entries(each.removeprefix(f"{where}:") if where else each for each in paths)
    return {entry(each, where, own): each for each in listed}


def _met(tx: Tx, project: Project, wanted: Iterable[str], *, but: UUID | None) -> list[AgentConflict]:
    return scopes.check(tx, project, Scope(None, tuple(wanted)), but=but)


def _hold(
    tx: Tx, project: Project, presence: Presence, fresh: Sequence[Claim], conflicts: Sequence[AgentConflict]
) -> None:
    standing = file_claims.of_presence(tx, presence.id)
    crowded = [each.entry for each in standing][: max(0, len(standing) + len(fresh) - MOST)]
    if crowded:
        _let_go(tx, project, presence, crowded, CROWDED)
    for each in fresh[-MOST:]:
        file_claims.add(tx, project.id, each)
    file_claims.show(tx, presence.id)
    detail = {
        "file": fresh[0].entry,
        "files": [each.entry for each in fresh],
        "conflicts": [each.agent for each in conflicts],
    }
    _record(tx, "file.claimed", project, presence, detail)


def _let_go(tx: Tx, project: Project, presence: Presence, released: Sequence[str], why: str) -> None:
    file_claims.drop(tx, presence.id, released)
    file_claims.show(tx, presence.id)
    detail = {"file": released[0], "files": list(released), "why": why}
    _record(tx, "file.released", project, presence, detail)


def _record(tx: Tx, kind: str, project: Project, presence: Presence, detail: Mapping[str, object]) -> None:
    tx.record(
        kind,
        project_id=project.id,
        actor=presence.agent,
        agent=presence.agent,
        detail=detail,
        patch={
            **patches.agent(tx, project.id, presence.agent),
            **scopes.reckon_one(tx, project, presence),
        },
    )
