"""Leases of named things, on either engine: never more held than there is, in turn, and ended with their holders."""

from collections.abc import Iterable
from functools import partial
from typing import Any

import pytest

from hubbub.core import agent_removal
from hubbub.core.presence import presences
from hubbub.core.work import leases
from hubbub.model.errors import Conflict, Forbidden, Invalid, LeaseTaken, NotFound
from hubbub.model.people.rights import Role
from hubbub.model.records import Priority
from hubbub.model.work.leases import TOOL_TTL, TTL, Lease, Terms
from tests.core.conftest import World, errors_of, on_one_engine, person

ROUNDS = 4


def ask(
    world: World, *things: str, by: str = "ann", waits: bool = True, within: Lease | None = None, **terms: Any
) -> Lease:
    outer = str(within.id) if within is not None else None
    return world.do(leases.ask, world.project, things, by=by, terms=Terms(**terms), waits=waits, within=outer)


def now(world: World, lease: Lease) -> Lease:
    return world.do(leases.find, world.project, str(lease.id))


def give_back(world: World, lease: Lease) -> None:
    world.do(leases.release, world.project, str(lease.id), by=lease.holder)


def held(world: World) -> list[str]:
    """Holders and their things, in the order of asking."""
    found = sorted(world.do(leases.of_project, world.id), key=lambda each: each.number)
    return [f"{each.holder}: {' '.join(each.things)}" for each in found if each.is_held]


def count(world: World, thing: str, capacity: int) -> None:
    world.do(leases.put_capacity, world.project, thing, capacity)


def told(world: World) -> list[tuple[str, str | None]]:
    return [(each.kind, each.agent) for each in world.log() if each.kind.startswith("lease.")]


def test_what_is_free_is_granted_at_once(world: World) -> None:
    """A free thing is granted at once, with a fence; an uncounted thing exists once."""
    mine = ask(world, "port:8000", "db", purpose="make test", host="atlas")

    assert (mine.is_held, mine.fence, mine.things) == (True, 1, ("port:8000", "db"))
    waiting = ask(world, "db", by="bob")
    assert (waiting.is_held, waiting.fence) == (False, None)
    assert told(world) == [("lease.granted", "ann"), ("lease.waiting", "bob")]


def test_who_asked_first_is_served_first(world: World) -> None:
    """A released thing goes to the first who asked for it, and the fence rises with each grant."""
    first = ask(world, "db")
    second, third = ask(world, "db", by="bob"), ask(world, "db", by="代码1号")

    give_back(world, first)

    assert (now(world, second).fence, now(world, third).fence) == (2, None)
    give_back(world, second)
    assert now(world, third).fence == 3


def test_who_is_in_a_hurry_goes_before(world: World) -> None:
    """The most urgent of those who wait is served first; nobody's lease is taken away for it."""
    first = ask(world, "db", priority=Priority.LOW)
    usual = ask(world, "db", by="bob")
    urgent = ask(world, "db", by="代码1号", priority=Priority.CRITICAL)
    assert now(world, first).is_held

    give_back(world, first)

    assert (now(world, urgent).is_held, now(world, usual).is_held) == (True, False)


def test_as_many_are_held_as_there_are(world: World) -> None:
    """The project holds as many of a counted thing as it has, and each holder is told which."""
    count(world, "gpu", 4)

    first, second = ask(world, "gpu:2"), ask(world, "gpu", by="bob")
    third = ask(world, "gpu:2", by="代码1号")

    assert (first.units, second.units, third.is_held) == ({"gpu": [0, 1]}, {"gpu": [2]}, False)
    give_back(world, first)
    assert now(world, third).units == {"gpu": [0, 1]}


def test_nobody_is_overtaken_for_ever(world: World) -> None:
    """Later requests for few units do not overtake one for many, though so few are free."""
    count(world, "gpu", 2)
    first = ask(world, "gpu:1")
    large = ask(world, "gpu:2", by="bob")

    small = ask(world, "gpu:1", by="代码1号")

    assert not small.is_held
    give_back(world, first)
    assert (now(world, large).is_held, now(world, small).is_held) == (True, False)


def test_all_or_nothing(world: World) -> None:
    """A lease for several things holds none while it waits, so that no two wait for each other, however they ask."""
    first = ask(world, "db")
    both = ask(world, "port:1", "db", by="bob")
    other = ask(world, "port:1", by="代码1号", waits=True)

    assert held(world) == ["ann: db"]
    give_back(world, first)
    assert held(world) == ["bob: port:1 db"]
    give_back(world, both)
    assert now(world, other).is_held


def test_who_does_not_wait_hears_who_holds_it(world: World) -> None:
    """A caller that does not wait is refused with the holder, since when and for what, and those that asked before."""
    ask(world, "db", purpose="make test", host="atlas")
    ask(world, "db", by="bob")

    with pytest.raises(LeaseTaken) as refused:
        ask(world, "db", by="代码1号", waits=False)

    assert str(refused.value) == (
        "db has been held by 'ann' on 'atlas' for less than a second ('make test'); 1 asked before ('bob')"
    )
    assert len(world.do(leases.of_project, world.id)) == 2


def test_a_lease_within_another_never_waits(world: World) -> None:
    """Under a lease, what it holds is not asked for again; more is granted at once, or refused."""
    outer = ask(world, "db")
    taken = ask(world, "port:1", by="bob")

    assert ask(world, "db", within=outer).id == outer.id
    more = ask(world, "db", "port:2", within=outer)
    assert (more.things, more.is_held) == (("port:2",), True)
    with pytest.raises(LeaseTaken, match="ask for all of it at once, rather than for more while you hold db"):
        ask(world, "port:1", within=outer)
    assert now(world, taken).is_held


def test_a_lease_ends_with_the_signs_of_its_holder(world: World) -> None:
    """A lease that nobody renews in its time ends, whoever waits is served, and its holder learns that it is lost."""
    mine = ask(world, "db")
    waiting = ask(world, "db", by="bob")
    for _ in range(3):
        world.pass_time(TTL / 2)
        world.do(leases.renew, world.project, str(mine.id), by="ann")
        world.do(leases.renew, world.project, str(waiting.id), by="bob")
    assert (now(world, mine).is_held, now(world, waiting).is_held) == (True, False)

    world.pass_time(TTL / 2)
    world.do(leases.renew, world.project, str(waiting.id), by="bob")
    world.pass_time(TTL / 2)

    assert held(world) == ["bob: db"]
    with pytest.raises(NotFound):
        world.do(leases.renew, world.project, str(mine.id), by="ann")
    released = next(each for each in world.log() if each.kind == "lease.released")
    assert (released.actor, released.agent, released.detail["why"]) == ("hub", "ann", "expired")


def test_who_is_gone_waits_no_more(world: World) -> None:
    """A waiter that is silent for its time is passed over."""
    mine = ask(world, "db")
    ask(world, "db", by="bob")
    world.pass_time(TTL / 2)
    world.do(leases.renew, world.project, str(mine.id), by="ann")
    third = ask(world, "db", by="代码1号")
    world.pass_time(TTL / 2)
    world.do(leases.renew, world.project, str(mine.id), by="ann")

    give_back(world, mine)

    assert now(world, third).is_held


def test_anothers_lease_is_let_alone(world: World) -> None:
    """Nobody renews or releases the lease of another, but people who manage the project release it."""
    mine = ask(world, "db")

    for deed in (leases.renew, leases.release):
        with pytest.raises(Forbidden):
            world.do(deed, world.project, str(mine.id), by="bob")
    with pytest.raises(Forbidden):
        world.acting(person(world, "lea", Role.MEMBER)).do(
            leases.release, world.project, str(mine.id), by="hub"
        )
    world.acting(person(world, "max", Role.ADMIN)).do(leases.release, world.project, str(mine.id), by="hub")
    assert held(world) == []


def test_fewer_than_are_held(world: World) -> None:
    """A lease above a lowered count is kept and nobody is granted more; a lease for more than that stops waiting."""
    count(world, "gpu", 4)
    first, second = ask(world, "gpu:2"), ask(world, "gpu:1", by="bob")
    large, small = ask(world, "gpu:4"), ask(world, "gpu:1", by="代码1号")

    count(world, "gpu", 2)

    assert held(world) == ["ann: gpu:2", "bob: gpu:1"]
    with pytest.raises(NotFound):
        now(world, large)
    give_back(world, second)
    assert not now(world, small).is_held
    give_back(world, first)
    assert now(world, small).units == {"gpu": [0]}


def test_more_than_before_serves_who_waits(world: World) -> None:
    """A raised or dropped count serves those who wait."""
    count(world, "gpu", 1)
    ask(world, "gpu")
    waiting = ask(world, "gpu", by="bob")
    count(world, "gpu", 2)
    assert now(world, waiting).units == {"gpu": [1]}

    world.do(leases.drop_capacity, world.project, "gpu")
    give_back(world, waiting)
    assert not ask(world, "gpu", by="bob").is_held
    with pytest.raises(NotFound):
        world.do(leases.drop_capacity, world.project, "gpu")


def test_what_a_tool_took_ends_with_the_agent(world: World) -> None:
    """A lease taken by a tool lasts half an hour after the last use, or until it is given back or the agent leaves."""
    world.report("ann")
    take_it = partial(leases.hold_by_tool, project=world.project, by="ann", ttl=TOOL_TTL)
    (first,) = world.do(take_it, things=["db"])
    assert [each.id for each in world.do(take_it, things=["db"])] == [first.id]
    assert [each.things for each in world.do(take_it, things=["db", "port:1"])] == [("db",), ("port:1",)]
    assert world.do(leases.release_by_tool, world.project, ["port:1"], by="ann") == ["port:1"]
    own = ask(world, "port:2")

    world.do(presences.end, world.report("ann"))

    assert held(world) == ["ann: port:2"]
    assert own.is_held


def test_a_removed_agent_holds_nothing(world: World) -> None:
    """With an agent that is removed from the project all of its leases end, and its place among those who wait."""
    ask(world, "db", by="bob")
    mine = ask(world, "db")
    ask(world, "port:1", by="bob")

    owner = person(world, "max", Role.OWNER)
    world.acting(owner).do(agent_removal.remove, world.project, "bob")

    assert held(world) == ["ann: db"]
    assert now(world, mine).is_held


def test_projects_do_not_know_each_other(world: World) -> None:
    """A thing held in one project is free in another, and no project finds the other's leases."""
    mine = ask(world, "db")
    other = world.elsewhere("other")

    assert ask(other, "db").is_held
    with pytest.raises(NotFound):
        now(other, mine)


def test_secrets_are_taken_out_of_what_it_is_for(world: World) -> None:
    """The purpose of a lease is shortened, and secrets are taken out of it."""
    token = "ghp_" + "a1" * 18
    mine = ask(world, "db", purpose=f"curl -H {token} {'x' * 300}")

    assert mine.purpose is not None
    assert token not in mine.purpose
    assert len(mine.purpose) <= 200


@on_one_engine
@pytest.mark.parametrize(
    ("things", "said"),
    [
        ((), "name 1 to 20"),
        (("a b",), "a thing is named like"),
        (("",), "a thing is named like"),
        (("-x",), "a thing is named like"),
        (("x" * 101,), "a thing is named like"),
        (("gpu:5",), "5 of gpu are wanted, but there are only 4"),
        (("gpu:2", "gpu:3"), "5 of gpu are wanted"),
        (("gpu:0",), "ask for at least one"),
        (tuple(f"a{number}" for number in range(21)), "name 1 to 20"),
    ],
)
def test_what_can_be_no_thing_is_refused(world: World, things: Iterable[str], said: str) -> None:
    """A text that can be no thing, and a count above the capacity, are refused in one sentence."""
    count(world, "gpu", 4)

    with pytest.raises(Invalid, match=said):
        ask(world, *things)


@on_one_engine
def test_a_project_has_so_many_leases(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project has a limit of leases, with those that wait."""
    monkeypatch.setattr(leases, "MOST", 2)
    ask(world, "a")
    ask(world, "a")

    with pytest.raises(Conflict, match="at most 2 leases"):
        ask(world, "b")


@on_one_engine
@pytest.mark.parametrize("capacity", [0, -1, 1001])
def test_a_capacity_is_some(world: World, capacity: int) -> None:
    """There is at least one of a thing, and so many at most."""
    with pytest.raises(Invalid, match="1 to 1000"):
        count(world, "gpu", capacity)


def test_of_many_who_ask_at_once_as_many_get_it_as_there_are(world: World) -> None:
    """However many ask and give back at once at several hubs, no more hold a thing than there are of it."""
    count(world, "gpu", 2)
    names = [f"racer-{number}" for number in range(8)]
    ask_it = partial(leases.ask, project=world.project, things=["gpu"])
    for _ in range(ROUNDS):
        made = world.race(*(partial(ask_it, by=name) for name in names))
        assert errors_of(made) == []
        fences: list[int | None] = []
        while holding := [each for each in world.do(leases.of_project, world.id) if each.is_held]:
            assert len(holding) <= 2
            assert len({each.units["gpu"][0] for each in holding}) == len(holding)
            fences += sorted(each.fence or 0 for each in holding)
            ends = (
                partial(leases.release, project=world.project, ref=str(each.id), by=each.holder)
                for each in holding
            )
            assert errors_of(world.race(*ends)) == []
        assert fences == sorted(fences, key=lambda fence: fence or 0)
        assert len(fences) == len(names)
