"""Scopes: agents declare where they work, and are told who works there too, or are blocked.

The conflict mode of a project says how it treats overlaps: `off` ignores them, `warn` tells of them, `block` refuses
them. Agents of a project that declare at the same time take turns, so each sees the declarations before its own.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from uuid import UUID

from hubbub.core.snapshots import patches, scope_conflicts
from hubbub.model.agents.pattern_automata import TooCostly
from hubbub.model.agents.scopes import AgentConflict, Area, Declaration, Scope, ScopeIndex, entries, slug
from hubbub.model.errors import Invalid, ScopeConflict, existing
from hubbub.model.log.projection import Card, Patch
from hubbub.model.records import Presence, Project
from hubbub.store import sequence_numbers
from hubbub.store.agents import file_claims, scopes
from hubbub.store.tx import Tx

# These need no rule of their own, so they are the store's functions.
declared = scopes.find
live = scopes.live


def declare(
    tx: Tx, project: Project, presence: Presence, scope: Scope, *, by: str | None = None
) -> list[AgentConflict]:
    """Move the presence to `scope`, from its earlier one; return the conflicts, by agent.

    `by` is the caller, if that is not the agent itself.

    Records `agent.scope_change`. Raises `Invalid` for another area that the project does not have, `TooCostly` for a
    scope that takes too long to compare, `ScopeConflict` if there are conflicts and the project blocks them.
    """
    before = scopes.find(tx, presence)
    changes = bool(scope or before)
    if changes:
        scopes.lock(tx, project.id, presence.agent)
    conflicts = check(tx, project, scope, but=presence.id, kept=before.area)
    if conflicts and project.conflict_mode == "block":
        raise ScopeConflict(conflicts)
    if changes:
        scopes.declare(tx, project.id, presence.id, scope)
        whole = scopes.whole(tx, presence.id)
        known = _known(tx, project.id)
        met = conflicts if whole == scope else _seen(tx, project, whole, known, presence.id)
        _record(
            tx, presence, scope, conflicts, scope_conflicts.renew(tx, project.id, presence.agent, met), by=by
        )
    return conflicts


def check(
    tx: Tx, project: Project, scope: Scope, *, but: UUID | None = None, kept: str | None = None
) -> list[AgentConflict]:
    """Return the conflicts that `scope` would cause, by agent; `but` is the asking presence, which is left out.

    `kept` is the area that it declared before, which may stay although the project got other areas meanwhile. Raises
    `Invalid` for another that the project does not have, `TooCostly` for a scope that takes too long to compare.
    """
    known = _known(tx, project.id)
    if scope.area not in (None, kept):
        _require(scope.area, known)
    return list(_met(tx, project, scope, known, but))


def standing(tx: Tx, project: Project) -> list[tuple[Declaration, list[AgentConflict]]]:
    """Return the declared scopes of all present agents, by agent, each with its conflicts."""
    met = scope_conflicts.by_agent(tx, project.id)
    declared = scopes.live(tx, project.id)
    present = {each.agent: each.presence_id for each in declared}
    return [
        (
            each,
            [
                AgentConflict(other, present[other], common)
                for other, common in met.get(each.agent, ())
                if other in present
            ],
        )
        for each in declared
    ]


def release(tx: Tx, presence: Presence) -> Patch:
    """Release the scope and claims of an ended presence; its record keeps them.

    Returns the patch of the project's picture, for the caller to record.
    """
    if presence.area is None and not presence.files:
        return {}
    scopes.lock(tx, presence.project_id, presence.agent)
    scopes.withdraw(tx, presence.id)
    file_claims.drop_all(tx, presence.id)
    return {"overlaps": scope_conflicts.renew(tx, presence.project_id, presence.agent, ())}


def put_area(
    tx: Tx, project: Project, area: str, *, name: str, patterns: Iterable[str], description: str | None = None
) -> Area:
    """Put an area with that slug into the project, replacing an earlier one. Records `area.put`.

    Raises `Invalid` for a wrong slug, name or pattern, and without any pattern.
    """
    written, named, listed = slug(area), name.strip(), entries(patterns)
    if not named:
        raise Invalid("the name of an area is empty; give it one for people to read")
    if not listed:
        raise Invalid("an area needs at least one pattern, such as `src/auth/`")
    scopes.lock(tx, project.id)
    known = scopes.find_area(tx, project.id, written)
    number = known.number if known else sequence_numbers.next_number(tx, project.id, "area")
    new = Area(slug=written, number=number, name=named, description=description, patterns=listed)
    made = scopes.put_area(tx, project.id, new)
    tx.record(
        "area.put",
        project_id=project.id,
        detail={"area": made.slug, "patterns": made.patterns},
        patch=reckon(tx, project),
    )
    return made


def reckon(tx: Tx, project: Project) -> Patch:
    """Recompute all conflicts of the project and return the patch of its picture."""
    scopes.lock(tx, project.id)
    known = _known(tx, project.id)
    found = [
        (each.agent, _seen(tx, project, each.scope, known, each.presence_id))
        for each in scopes.live(tx, project.id)
    ]
    return {"overlaps": scope_conflicts.renew_all(tx, project.id, found)}


def reckon_one(tx: Tx, project: Project, presence: Presence) -> Patch:
    """Recompute the conflicts of one presence, whose claims have changed, and return the patch of the picture."""
    found = _seen(tx, project, scopes.whole(tx, presence.id), _known(tx, project.id), presence.id)
    return {"overlaps": scope_conflicts.renew(tx, project.id, presence.agent, found)}


def areas(tx: Tx, project_id: UUID) -> list[Area]:
    """List the areas of the project, oldest first."""
    return sorted(scopes.areas(tx, project_id), key=lambda area: area.number)


def find_area(tx: Tx, project_id: UUID, area: str) -> Area:
    """Return the area with that slug. Raises `NotFound`, and `Invalid` for a text that cannot be a slug."""
    return existing(scopes.find_area(tx, project_id, slug(area)), "area", area)


def require_area(tx: Tx, project_id: UUID, area: str) -> str:
    """Return the slug in its normal form. Raises `Invalid` if the project has areas, but not this one."""
    written = slug(area)
    _require(written, _known(tx, project_id))
    return written


def _known(tx: Tx, project_id: UUID) -> dict[str, Area]:
    return {area.slug: area for area in scopes.areas(tx, project_id)}


def _require(area: str, known: Mapping[str, Area]) -> None:
    if known and area not in known:
        raise Invalid(f"the project has no area {area!r}; it has {', '.join(sorted(known))}")


def _met(
    tx: Tx, project: Project, scope: Scope, known: Mapping[str, Area], but: UUID | None
) -> Iterator[AgentConflict]:
    """Yield the conflicts of `scope` with other scopes, unless the project ignores them. Raises `TooCostly`."""
    if not scope or project.conflict_mode == "off":
        return
    ground = ScopeIndex(scope, known)
    for other in scopes.candidates(tx, project.id, ground.reach()):
        if other.presence_id != but and (found := ground.overlap(other.scope)):
            yield AgentConflict(other.agent, other.presence_id, found)


def _seen(
    tx: Tx, project: Project, scope: Scope, known: Mapping[str, Area], but: UUID | None
) -> list[AgentConflict]:
    """Return the conflicts of a declared scope, for display only: those found in bounded time."""
    found: list[AgentConflict] = []
    with suppress(TooCostly):
        found.extend(_met(tx, project, scope, known, but))
    return found


def _record(
    tx: Tx,
    presence: Presence,
    scope: Scope,
    conflicts: Sequence[AgentConflict],
    changed: Mapping[str, Card | None],
    *,
    by: str | None,
) -> None:
    tx.record(
        "agent.scope_change",
        project_id=presence.project_id,
        actor=by or presence.agent,
        agent=presence.agent,
        detail={
            "area": scope.area,
            "files": scope.files,
            "conflicts": [conflict.agent for conflict in conflicts],
        },
        patch={
            **patches.agent(tx, presence.project_id, presence.agent),
            "overlaps": dict(changed),
        },
    )
