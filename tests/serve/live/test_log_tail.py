"""The tail of the log and its readers: nothing lost, nothing twice, nobody waited for."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from uuid import UUID

import pytest

from hubbub.core.people import projects
from hubbub.model.people.rights import SYSTEM, Actor
from hubbub.model.records import Activity, Project
from hubbub.serve.live import log_tail as feeds
from hubbub.serve.live.log_tail import LogReader, LogTail
from hubbub.store.log import activity as log_of
from hubbub.store.log.activity import START, Position
from hubbub.store.tx import Store

pytestmark = pytest.mark.anyio

PERSON = Actor(token_id=None, owns_hub=True)


class World:
    """A store with two projects, and a feed that follows it."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.feed = LogTail(store)
        self.project, self.other = (self._project(slug) for slug in ("here", "elsewhere"))

    def _project(self, slug: str) -> UUID:
        made: Project = self.store.write_now(PERSON, lambda tx: projects.create(tx, slug))
        return made.id

    async def happen(self, *kinds: str, agent: str | None = None, project: UUID | None = None) -> None:
        """Let things happen, each in a transaction of its own."""
        for kind in kinds:
            await self.store.write(
                SYSTEM,
                lambda tx, kind=kind: tx.record(kind, project_id=project or self.project, agent=agent),  # type: ignore[misc]
            )

    async def place(self) -> Position:
        return await self.store.read(SYSTEM, log_of.head)


class Reader:
    """A reading that can be waited for."""

    def __init__(self) -> None:
        self.news = asyncio.Event()
        self.wakes = 0
        self.reading: LogReader

    def wake(self) -> None:
        self.wakes += 1
        self.news.set()

    async def until(self, kind: str) -> list[str]:
        """The kinds of everything up to the first activity of that kind."""
        found: list[Activity] = []
        while not found or found[-1].kind != kind:
            if taken := await self.reading.take():
                found += taken
                continue
            await asyncio.wait_for(self.news.wait(), 10)
            self.news.clear()
        return [each.kind for each in found]


@pytest.fixture
async def world(store: Store) -> AsyncIterator[World]:
    made = World(store)
    await made.feed.start()
    tail = asyncio.create_task(made.feed.run())
    yield made
    tail.cancel()
    await asyncio.wait([tail])


@asynccontextmanager
async def reading(
    world: World,
    *,
    projects: set[UUID] | None = None,
    agent: str | None = None,
    after: Position | None = None,
    kinds: set[str] | None = None,
) -> AsyncIterator[Reader]:
    reader = Reader()
    narrowed = frozenset(kinds) if kinds is not None else None
    with world.feed.reading(
        reader.wake, frozenset(projects or {world.project}), agent, after, narrowed
    ) as reader.reading:
        yield reader


async def test_a_reader_hears_what_happens_after_it_began_in_order(world: World) -> None:
    """A new reader gets everything that happens from now on, in order, and nothing of what was before."""
    await world.happen("old")
    async with reading(world) as probe:
        await world.happen("mark")
        await probe.until("mark")
    async with reading(world) as reader:
        await world.happen("one", "two", "end")
        assert await reader.until("end") == ["one", "two", "end"]


async def test_a_reader_hears_of_its_projects_only(world: World) -> None:
    """Events in a project that is not among a reader's are never told to it."""
    async with reading(world) as reader:
        await world.happen("secret", project=world.other)
        await world.happen("end")
        assert await reader.until("end") == ["end"]


async def test_a_reader_of_several_projects_hears_of_all(world: World) -> None:
    """A reader of several projects gets what happens in each, in the order of the log, live and in replay alike."""
    await world.happen("one", project=world.other)
    await world.happen("two")
    both = {world.project, world.other}
    async with reading(world, projects=both, after=START) as reader:
        await world.happen("end", project=world.other)
        assert (await reader.until("end"))[-3:] == ["one", "two", "end"]


async def test_a_reader_of_one_agent_hears_what_concerns_it(world: World) -> None:
    """A reader of one agent gets only what concerns that agent."""
    async with reading(world, agent="代码1号") as reader:
        await world.happen("other", agent="somebody")
        await world.happen("nobody's")
        await world.happen("end", agent="代码1号")
        assert await reader.until("end") == ["end"]


async def test_a_reader_of_some_kinds_hears_of_no_others(world: World) -> None:
    """A reader of some kinds of activities gets only those, live and in replay alike."""
    await world.happen("one", "other")
    async with reading(world, kinds={"one", "end"}, after=START) as reader:
        await world.happen("other", "one", "other", "end")
        assert await reader.until("end") == ["one", "one", "end"]


async def test_who_comes_back_gets_what_it_missed_and_then_what_comes(world: World) -> None:
    """A reader from an earlier position gets each activity since exactly once, also those that come meanwhile."""
    await world.happen("before")
    position = await world.place()
    kinds = [f"k{number}" for number in range(40)]
    await world.happen(*kinds[:20])
    writing = asyncio.create_task(world.happen(*kinds[20:], "end"))
    async with reading(world, after=position) as reader:
        assert await reader.until("end") == [*kinds, "end"]
    await writing


async def test_a_reader_that_fell_far_behind_misses_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader that is behind by more than is remembered reads on from the store, without loss or repeat."""
    monkeypatch.setattr(feeds, "REMEMBERED", 3)
    monkeypatch.setattr(feeds, "PAGE", 4)
    async with reading(world) as slow, reading(world) as quick:
        kinds = [f"k{number}" for number in range(30)]
        await world.happen(*kinds, "end")
        assert await quick.until("end") == [*kinds, "end"]
        assert not world.feed.remembers(slow.reading.position)
        assert await slow.until("end") == [*kinds, "end"]


async def test_an_idle_reader_is_served_from_memory(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """However much happened to others since, a reader that was idle goes on at what concerns it."""
    monkeypatch.setattr(feeds, "REMEMBERED", 3)
    async with reading(world, agent="idle") as idle, reading(world) as other:
        await world.happen("first", agent="idle")
        await idle.until("first")
        assert await idle.reading.take() == []
        await world.happen(*[f"k{number}" for number in range(20)], "mark")
        await other.until("mark")
        await world.happen("end", agent="idle")
        await asyncio.wait_for(idle.news.wait(), 10)
        assert world.feed.remembers(idle.reading.position)
        assert await idle.until("end") == ["end"]


async def test_a_reader_is_woken_once_until_it_looks(world: World) -> None:
    """A reader that does not look is not woken again and again."""
    async with reading(world) as reader, reading(world) as other:
        assert await reader.reading.take() == []
        await world.happen("one", "two", "three", "end")
        await other.until("end")
        assert reader.wakes == 1
        assert await reader.until("end") == ["one", "two", "three", "end"]


async def test_a_lost_hint_costs_a_moment_only(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the store's hint gets lost, activities are found by looking."""
    monkeypatch.setattr(feeds, "POLL", timedelta(milliseconds=10))
    monkeypatch.setattr(store, "on_activity", lambda _wake: None)
    world = World(store)
    await world.feed.start()
    tail = asyncio.create_task(world.feed.run())
    async with reading(world) as reader:
        await world.happen("end")
        assert await reader.until("end") == ["end"]
    tail.cancel()
    await asyncio.wait([tail])


async def test_who_listens_to_everything_hears_everything(world: World) -> None:
    """A listener gets every activity of every project, once and in order."""
    heard: list[str] = []
    world.feed.listen(lambda activities: heard.extend(each.kind for each in activities))
    async with reading(world) as reader:
        await world.happen("one", project=world.other)
        await world.happen("two", "end")
        await reader.until("end")
    assert heard == ["one", "two", "end"]


async def test_no_writer_is_missed_by_the_tail(world: World) -> None:
    """The feed misses none of many writers at once and repeats none, in whatever order they commit."""
    async with reading(world) as reader:

        async def write(writer: int) -> None:
            await world.happen(*[f"{writer}.{number}" for number in range(25)])

        await asyncio.gather(*map(write, range(8)))
        await world.happen("end")
        kinds = await reader.until("end")
    assert sorted(kinds[:-1]) == sorted(f"{writer}.{number}" for writer in range(8) for number in range(25))
