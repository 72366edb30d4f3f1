"""Facts about leases: the holders of a thing and those that wait for it, and what an agent holds and waits for."""

from collections.abc import Iterator, Sequence
from uuid import UUID

from hubbub.core.why.explanation import NOTHING, Fact, Value, ago, named, quoted, say
from hubbub.core.work import leases
from hubbub.model.errors import Invalid
from hubbub.model.records import Project
from hubbub.model.work.leases import Ahead, Lease
from hubbub.store.tx import Tx

SHOWN = 5  # of the waiting holders, by name


def of_thing(tx: Tx, project: Project, thing: str) -> Iterator[Fact]:
    """Yield all facts about the holders of a thing. Raises `Invalid` for an impossible one."""
    use = leases.of_thing(tx, project, thing)
    name, waiting = named(use.thing), use.waiting
    if use.capacity > 1:
        told = say("thing_counted", thing=name, capacity=use.capacity, taken=use.taken)
        yield Fact("thing.counted", told, {"thing": use.thing, "capacity": use.capacity, "taken": use.taken})
    for each in use.held:
        yield Fact("thing.held", say("thing_held", **_values(tx, each)), _detail(each))
    if waiting:
        told = say("thing_waiting", who=[named(each.holder) for each in waiting[:SHOWN]], count=len(waiting))
        yield Fact("thing.waiting", told, {"waiting": [_detail(each) for each in waiting]})
    if not use.held and not waiting:
        yield Fact("thing.free", say("thing_free", thing=name), {"thing": use.thing})


def is_known(tx: Tx, project: Project, thing: str) -> bool:
    """Tell whether the thing is held, waited for, or counted."""
    try:
        use = leases.of_thing(tx, project, thing)
    except Invalid:
        return False
    return bool(use.held or use.waiting or use.capacity > 1)


def of_agent(tx: Tx, project_id: UUID, name: str) -> Iterator[Fact]:
    """Yield facts about an agent's leases: held, and waiting, with the holders and those that asked before."""
    for lease, ahead in leases.of_holder(tx, project_id, name):
        if lease.is_held:
            yield Fact("lease.held", say("lease_held", **_values(tx, lease)), _detail(lease))
        else:
            told = say(
                "lease_waiting",
                **_values(tx, lease),
                holders=say("lease_holders", who=_names(ahead.holders)) if ahead.holders else NOTHING,
                before=say("lease_before", who=_names(ahead.waiting)) if ahead.waiting else NOTHING,
            )
            yield Fact("lease.waiting", told, {**_detail(lease), **_ahead(ahead)})


def _values(tx: Tx, lease: Lease) -> dict[str, Value]:
    return {
        "holder": named(lease.holder),
        "things": [named(each) for each in lease.things],
        "host": say("lease_on", host=named(lease.host)) if lease.host else NOTHING,
        "purpose": say("lease_for", purpose=quoted(lease.purpose)) if lease.purpose else NOTHING,
        "since": ago(lease.since, tx.now),
    }


def _detail(lease: Lease) -> dict[str, object]:
    return {
        "lease_id": str(lease.id),
        "holder": lease.holder,
        "things": list(lease.things),
        "fence": lease.fence,
        "since": lease.since,
        "expires_at": lease.expires_at,
    }


def _ahead(ahead: Ahead) -> dict[str, object]:
    return {
        "holders": [each.holder for each in ahead.holders],
        "before": [each.holder for each in ahead.waiting],
    }


def _names(found: Sequence[Lease]) -> list[str]:
    return list(dict.fromkeys(named(each.holder) for each in found[:SHOWN]))
