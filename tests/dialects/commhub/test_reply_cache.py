"""get_all_status while nothing changes, and while all does: what is told again is what would be told anew."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from hubbub.core.people import projects
from hubbub.core.presence import presences
from hubbub.core.transaction import Transactions
from hubbub.dialects import reply_cache
from hubbub.dialects.commhub.tool_set import DIALECT
from hubbub.model.ids import new_id
from hubbub.model.people.rights import SYSTEM, Actor, Role
from hubbub.model.records import Condition, Profile, Project
from hubbub.store.engine.postgres import Postgres
from hubbub.store.engine.sqlite import SQLite
from hubbub.store.tx import Store
from tests.conftest import MovableClock
from tests.dialects.commhub.callers import Fleet

STEPS = 40
STAYS = timedelta(hours=1)


@pytest.fixture(params=["sqlite", "postgres"])
def stores(request: pytest.FixtureRequest, clock: MovableClock) -> Iterator[tuple[Store, Store]]:
    """Two ways to one database, as two hubs have them where there can be two."""
    if request.param == "sqlite":
        alone: SQLite = request.getfixturevalue("sqlite_store")
        yield alone, alone
        return
    url = request.getfixturevalue("postgres_url")
    both = Postgres.open(url, clock=clock), Postgres.open(url, clock=clock)
    try:
        yield both
    finally:
        for store in both:
            store.close()


async def _report(store: Store, project: Project, name: str, progress: int) -> None:
    profile = Profile(doing="counts", progress=progress)
    await store.write(
        SYSTEM,
        lambda tx: presences.report(
            tx, project.id, name, instance=name, condition=Condition.WORKING, profile=profile, ttl=STAYS
        ),
    )


async def _progress(store: Store, project: Project) -> int:
    """Return the agents' progress, added up, as get_all_status tells it."""
    viewer = Actor(token_id=new_id(), project_id=project.id, role=Role.VIEWER)
    answer: Any = await DIALECT.call(Transactions(store), viewer, "get_all_status", {})
    return sum(row["progress"] for row in answer.content["sessions"])


@pytest.mark.system
@pytest.mark.anyio
async def test_nobody_is_told_less_than_somebody_was(stores: tuple[Store, Store]) -> None:
    """Whichever of two hubs is asked, while agents report to both: what was committed or told before is told."""
    project = await stores[0].write(SYSTEM, lambda tx: projects.create(tx, "lab"))
    names = ("ann", "bob")
    for name in names:
        await _report(stores[0], project, name, 0)
    least, looks, is_over = 0, 0, False

    async def look(store: Store) -> None:
        nonlocal least, looks
        while not is_over:
            before = least
            told = await _progress(store, project)
            assert told >= before
            least, looks = max(least, told), looks + 1
            await asyncio.sleep(0)

    async def work() -> None:
        nonlocal least, is_over
        try:
            for step in range(1, STEPS + 1):
                for store, name in zip(stores, names, strict=True):
                    await _report(store, project, name, step)
                    least = max(least, 2 * step - (name == names[0]))
        finally:
            is_over = True

    await asyncio.gather(work(), *map(look, (*stores, *stores)))

    assert looks > STEPS / 4
    assert [await _progress(store, project) for store in stores] == [2 * STEPS] * 2


def test_what_is_told_again_is_each_callers_own(fleet: Fleet, elsewhere: Fleet) -> None:
    """The same is told again word for word, however it is narrowed; to whoever sees other networks, what is there."""
    fleet.online("a", "idle", server="s1")
    elsewhere.online("b", "working", server="s2")
    both = fleet.person((fleet.project, Role.VIEWER), (elsewhere.project, Role.VIEWER))

    for _ in range(2):
        for asks, narrowed, names in [
            (fleet.program(), {}, ["a"]),
            (elsewhere.program(), {}, ["b"]),
            (both, {}, ["a", "b"]),
            (both, {"network_id": elsewhere.network_id}, ["b"]),
            (both, {"filter_status": "idle"}, ["a"]),
            (both, {"filter_server": "s2"}, ["b"]),
            (both, {"filter_server": "idle"}, []),
        ]:
            told = asks.get_all_status(**narrowed)
            assert sorted(row["alias"] for row in told["sessions"]) == names
            assert told == asks.get_all_status(**narrowed)


def test_what_an_older_hub_wrote_is_told_soon(fleet: Fleet) -> None:
    """A change by a program that tells no version, such as an older hub beside this one, is told within ten seconds."""
    fleet.online("a", "idle")
    assert fleet.row("a")["task"] is None
    fleet.hub.do(
        lambda tx: tx.run(
            "UPDATE presences SET doing = 'sums' WHERE project_id = :id AND agent = 'a'", id=fleet.project.id
        )
    )
    fleet.later(seconds=reply_cache.FRESH // 1000)

    assert fleet.row("a")["task"] == "sums"


def test_only_so_many_replies_are_kept(fleet: Fleet) -> None:
    """However differently it is asked, a tool keeps no more than its latest replies."""
    for number in range(reply_cache.MOST + 5):
        fleet.program().get_all_status(filter_server=f"s{number}")

    known = DIALECT.tools["get_all_status"].kept
    assert known is not None
    assert len(known) == reply_cache.MOST
