"""Leases: ports, databases or processors held by an agent or a program, for as long as it renews them.

The things of a lease are granted all at once or not at all, in the order of priority and of asking, and never more of
a thing than there are. The fence, a number that rises with each grant, tells an old holder from the present one. A
lease ends when it is released, when its holder is silent for its time, and when its agent is removed; a lease taken by
a tool call also ends with the agent's presence.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from uuid import UUID

from hubbub.core.people import access
from hubbub.core.snapshots import cards
from hubbub.model.errors import Conflict, Forbidden, Invalid, LeaseTaken, NotFound, existing
from hubbub.model.ids import new_id, parse_id
from hubbub.model.log.projection import Card
from hubbub.model.people.rights import HUB, Right
from hubbub.model.records import Project
from hubbub.model.redaction import Redactor
from hubbub.model.timestamps import milliseconds
from hubbub.model.visible_text import cut
from hubbub.model.work.leases import (
    EXPIRED,
    LARGEST,
    LEFT,
    LONGEST,
    MOST,
    MOST_CAPACITIES,
    PURPOSE_LENGTH,
    RELEASED,
    SHORTEST,
    TOO_FEW,
    USUAL,
    Ahead,
    Capacity,
    InUse,
    Lease,
    LeaseStatus,
    LeaseTable,
    Terms,
    asked,
    named,
    refusal,
    wanted,
)
from hubbub.store import sequence_numbers
from hubbub.store.tx import Tx
from hubbub.store.work import leases

_SECRETS = Redactor()  # a command may contain some, and everybody who looks at the project reads it

# These need no rule of their own, so they are the store's functions.
of_project, totals = leases.of_project, leases.totals


def ask(
    tx: Tx,
    project: Project,
    things: Iterable[str],
    *,
    by: str,
    terms: Terms = USUAL,
    waits: bool = True,
    within: str | None = None,
    lease_id: UUID | None = None,
) -> Lease:
    """Ask for all of these things; return the lease that grants them, or one that waits until they are free.

    `by` is the name by which the caller acts. With `within`, the id of an outer lease, its things are not asked for
    again: if it has all of them, it is returned. A caller that holds something already is granted more at once or not
    at all, since two that wait for each other would wait for ever; so is a caller that never `waits`. Records
    `lease.granted` or `lease.waiting`. A caller that chose the `lease_id` can release the lease whatever becomes of the
    answer. Raises `LeaseTaken`, `Invalid` for an impossible thing, and `Conflict` if there is a lease of that id.
    """
    leases.lock(tx, project.id)
    known = leases.capacities(tx, project.id)
    wants = wanted(things, known)
    outer = held_under(tx, project, within)
    if outer is not None:
        if outer.covers(wants):
            return outer
        wants = {thing: count for thing, count in wants.items() if outer.wants.get(thing, 0) < count}
    found = leases.of_project(tx, project.id)
    if len(found) >= MOST:
        raise Conflict(f"a project has at most {MOST} leases, with those that wait; release some first")
    if lease_id is not None and leases.find(tx, lease_id) is not None:
        raise Conflict("there is a lease of this id already")
    fresh = _insert(tx, project, by, wants, asked(wants, known), terms=terms, lease_id=lease_id)
    table = LeaseTable([*found, fresh], known)
    granted = _serve(tx, project.id, table)
    if fresh.id in granted:
        return granted[fresh.id]
    ahead = table.ahead(fresh)
    if outer is not None:
        advice = f"ask for all of it at once, rather than for more while you hold {' '.join(outer.things)}"
        raise LeaseTaken(f"{refusal(ahead, tx.now)}; {advice}")
    if not waits:
        raise LeaseTaken(refusal(ahead, tx.now))
    holders = {"holders": [each.holder for each in ahead.holders]}
    _record(tx, "lease.waiting", fresh, holders, by=fresh.holder, card=cards.lease(fresh))
    return fresh


def renew(tx: Tx, project: Project, ref: str, *, by: str) -> Lease:
    """Renew a lease, held or waiting; return it with its full time again.

    Raises `NotFound` for one that has ended, and `Forbidden` for another's.
    """
    lease = mine(tx, project, ref, by=by)
    return existing(leases.renew(tx, lease.id), "lease", ref)


def release(tx: Tx, project: Project, ref: str, *, by: str) -> Lease:
    """Release a lease, or stop waiting; those that wait for its things are served. Records `lease.released`.

    People who manage the project may release another's. Raises `NotFound` for one that has ended, and `Forbidden`.
    """
    leases.lock(tx, project.id)
    lease = find(tx, project, ref)
    if lease.holder != access.programs_name(tx, by):
        access.require_person(tx, "release the lease of another")
        access.enter(tx, str(project.id), Right.MANAGE)
    _end(tx, lease, RELEASED, by=access.programs_name(tx, by))
    _serve_all(tx, project.id)
    return lease


def release_by_tool(tx: Tx, project: Project, things: Sequence[str] | None, *, by: str) -> list[str]:
    """Release an agent's leases by tools: all of them, or those with one of these things; return the things."""
    leases.lock(tx, project.id)
    wants = wanted(things, leases.capacities(tx, project.id)) if things is not None else None
    mine = [each for each in leases.of_holder(tx, project.id, by) if each.by_tool]
    released = [each for each in mine if wants is None or not each.wants.keys().isdisjoint(wants)]
    for each in released:
        _end(tx, each, RELEASED)
    if released:
        _serve_all(tx, project.id)
    return [thing for each in released for thing in each.things]


def hold_by_tool(tx: Tx, project: Project, things: Sequence[str], *, by: str, ttl: timedelta) -> list[Lease]:
    """Let an agent hold things like files: until `ttl` has passed, or until it leaves.

    Things that it holds like this already are renewed. Raises the errors of an `ask` that never waits.
    """
    leases.lock(tx, project.id)
    known = leases.capacities(tx, project.id)
    wants = wanted(things, known)
    mine = [each for each in leases.of_holder(tx, project.id, by) if each.by_tool]
    renewed = [leases.renew(tx, each.id) for each in mine if not each.wants.keys().isdisjoint(wants)]
    kept = [each for each in renewed if each is not None]
    missing = {
        thing: count - sum(each.wants.get(thing, 0) for each in kept)
        for thing, count in wants.items()
        if count > sum(each.wants.get(thing, 0) for each in kept)
    }
    if missing:
        more = asked(missing, known)
        kept.append(ask(tx, project, more, by=by, terms=Terms(ttl=ttl, by_tool=True), waits=False))
    return kept


def taken(tx: Tx, project: Project, things: Sequence[str], *, by: str) -> str | None:
    """Return one sentence that says why `by` cannot hold these things now; None if it can. Changes nothing."""
    known = leases.capacities(tx, project.id)
    wants = wanted(things, known)
    others = [each for each in leases.of_project(tx, project.id) if not (each.by_tool and each.holder == by)]
    left = {thing: known.get(thing, 1) for thing in wants}
    for each in others:
        for thing, count in each.wants.items():
            left[thing] = left.get(thing, 0) - count
    if all(left[thing] >= count for thing, count in wants.items()):
        return None
    concerned = [each for each in others if not each.wants.keys().isdisjoint(wants)]
    return refusal(
        Ahead([each for each in concerned if each.is_held], [each for each in concerned if not each.is_held]),
        tx.now,
    )


def find(tx: Tx, project: Project, ref: str) -> Lease:
    """Return a lease of the project by its id. Raises `NotFound`."""
    lease_id = parse_id(ref)
    lease = leases.find(tx, lease_id) if lease_id is not None else None
    if lease is None or lease.project_id != project.id:
        raise NotFound("lease", ref)
    return lease


def mine(tx: Tx, project: Project, ref: str, *, by: str) -> Lease:
    """Return a lease of the caller, who acts by that name. Raises `NotFound`, and `Forbidden` for another's."""
    lease = find(tx, project, ref)
    if lease.holder != access.programs_name(tx, by):
        raise Forbidden(f"the lease is {lease.holder!r}'s")
    return lease


def ahead(tx: Tx, project: Project, lease: Lease) -> Ahead:
    """Return the leases that a waiting lease waits for; empty for one that is held."""
    if lease.is_held:
        return Ahead()
    return _table(tx, project.id).ahead(lease)


def of_thing(tx: Tx, project: Project, thing: str) -> InUse:
    """Return the holders of a thing, those that wait for it in turn, and how many there are. Raises `Invalid`."""
    table = _table(tx, project.id)
    (name,) = wanted([thing], leases.capacities(tx, project.id))
    return InUse(
        name,
        [each for each in table.held if name in each.wants],
        [each for each in table.waiting if name in each.wants],
        table.capacity(name),
    )


def of_holder(tx: Tx, project_id: UUID, holder: str) -> list[tuple[Lease, Ahead]]:
    """Return the leases of a holder, each with the leases it waits for."""
    found = leases.of_holder(tx, project_id, holder)
    table = _table(tx, project_id) if found else None
    return [(each, Ahead() if table is None or each.is_held else table.ahead(each)) for each in found]


def capacities(tx: Tx, project_id: UUID) -> list[Capacity]:
    """List the counted things, by name."""
    return [Capacity(thing, count) for thing, count in leases.capacities(tx, project_id).items()]


def put_capacity(tx: Tx, project: Project, thing: str, capacity: int) -> Capacity:
    """Set how many there are of a thing, which is counted from now on. Records `lease.capacity`.

    Held leases above the new number are kept, and none is granted meanwhile; waiting leases for more than there are
    end. Raises `Invalid`.
    """
    leases.lock(tx, project.id)
    named(thing)
    if not 1 <= capacity <= LARGEST:
        raise Invalid(f"capacity: must be 1 to {LARGEST}")
    known = leases.capacities(tx, project.id)
    if thing not in known and len(known) >= MOST_CAPACITIES:
        raise Conflict(f"a project counts at most {MOST_CAPACITIES} things; drop one first")
    leases.put_capacity(tx, project.id, thing, capacity)
    tx.record("lease.capacity", project_id=project.id, detail={"thing": thing, "capacity": capacity})
    _refit(tx, project.id)
    return Capacity(thing, capacity)


def drop_capacity(tx: Tx, project: Project, thing: str) -> None:
    """Stop counting a thing: there is one of it from now on. Records `lease.capacity`. Raises `NotFound`."""
    leases.lock(tx, project.id)
    if not leases.drop_capacity(tx, project.id, thing):
        raise NotFound("capacity", thing)
    tx.record("lease.capacity", project_id=project.id, detail={"thing": thing, "capacity": None})
    _refit(tx, project.id)


def end_of_presence(tx: Tx, project_id: UUID, agent: str) -> None:
    """Release the leases that an agent took by tools before it left."""
    _leave(tx, project_id, [each for each in leases.of_holder(tx, project_id, agent) if each.by_tool])


def end_of_agent(tx: Tx, project_id: UUID, agent: str) -> None:
    """Release all leases of a removed agent, held or waiting."""
    _leave(tx, project_id, leases.of_holder(tx, project_id, agent))


def lapse(tx: Tx, limit: int) -> None:
    """Release leases that were not renewed in time. Records `lease.released`, and serves those that wait."""
    for project_id in leases.lapsed(tx, limit):
        leases.lock(tx, project_id)
        for each in leases.delete_lapsed(tx, project_id):
            _record_end(tx, each, EXPIRED, by=HUB)
        _serve_all(tx, project_id)


def _insert(
    tx: Tx,
    project: Project,
    by: str,
    wants: Mapping[str, int],
    things: tuple[str, ...],
    *,
    terms: Terms,
    lease_id: UUID | None = None,
) -> Lease:
    """Store a lease that waits until it is granted."""
    ttl = milliseconds(min(max(terms.ttl, SHORTEST), LONGEST))
    said = cut(_SECRETS.text(terms.purpose.strip()), PURPOSE_LENGTH) if terms.purpose else None
    fresh = Lease(
        id=lease_id or new_id(),
        project_id=project.id,
        number=sequence_numbers.next_number(tx, project.id, "lease"),
        things=things,
        wants=wants,
        status=LeaseStatus.WAITING,
        holder=access.programs_name(tx, by),
        by_tool=terms.by_tool,
        purpose=said or None,
        host=terms.host,
        priority=terms.priority,
        ttl=ttl,
        asked_at=tx.now,
        expires_at=tx.now + ttl,
    )
    leases.insert(tx, fresh)
    return fresh


def _leave(tx: Tx, project_id: UUID, found: Sequence[Lease]) -> None:
    if found:
        leases.lock(tx, project_id)
        for each in found:
            _end(tx, each, LEFT)
        _serve_all(tx, project_id)


def held_under(tx: Tx, project: Project, within: str | None) -> Lease | None:
    """Return the outer lease that a request names, while it is held."""
    lease_id = parse_id(within) if within is not None else None
    lease = leases.find(tx, lease_id) if lease_id is not None else None
    return lease if lease is not None and lease.project_id == project.id and lease.is_held else None


def _table(tx: Tx, project_id: UUID) -> LeaseTable:
    return LeaseTable(leases.of_project(tx, project_id), leases.capacities(tx, project_id))


def _refit(tx: Tx, project_id: UUID) -> None:
    """End leases that wait for more than there is, and serve all that can be served now."""
    for each in _table(tx, project_id).too_large():
        _end(tx, each, TOO_FEW)
    _serve_all(tx, project_id)


def _serve_all(tx: Tx, project_id: UUID) -> None:
    _serve(tx, project_id, _table(tx, project_id))


def _serve(tx: Tx, project_id: UUID, table: LeaseTable) -> Mapping[UUID, Lease]:
    """Grant what can be granted; return these leases by their ids. The caller has locked the project."""
    granted = {}
    for lease, units in table.grantable():
        fence = sequence_numbers.next_number(tx, project_id, "fence")
        granted[lease.id] = held = leases.grant(tx, lease.id, fence=fence, units=units)
        detail = {"fence": fence, "units": units}
        _record(tx, "lease.granted", held, detail, by=held.holder, card=cards.lease(held))
    return granted


def _end(tx: Tx, lease: Lease, why: str, *, by: str | None = None) -> None:
    if leases.delete(tx, lease.id) is not None:
        _record_end(tx, lease, why, by=by or lease.holder)


def _record_end(tx: Tx, lease: Lease, why: str, *, by: str) -> None:
    _record(tx, "lease.released", lease, {"why": why, "was_held": lease.is_held}, by=by, card=None)


def _record(
    tx: Tx, kind: str, lease: Lease, detail: Mapping[str, object], *, by: str, card: Card | None
) -> None:
    tx.record(
        kind,
        project_id=lease.project_id,
        actor=by,
        agent=lease.holder,
        detail={"lease_id": str(lease.id), "things": list(lease.things), "holder": lease.holder, **detail},
        patch={"leases": {str(lease.id): card}},
    )
