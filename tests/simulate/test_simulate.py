"""The simulator itself: virtual time, fates, stories that are the same each time, and how they are made small."""

import asyncio
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace

import pytest

from hubbub.core.people import projects
from hubbub.model.errors import StoreUnavailable
from hubbub.model.people.rights import SYSTEM
from simulate.play import Failure, Step, Story, memory, play, story_of
from simulate.shrink import as_test, shrunk
from simulate.store import Disk, Fate, Process
from simulate.virtual import Stuck, VirtualLoop, chance
from simulate.world import NoAnswer, World

MODES = {"red": "warn", "blue": "block"}


def test_seeds_of_every_day_hold() -> None:
    """Whatever these seeds make happen, every promise holds."""
    assert [each for each in map(play, (story_of(seed, 60) for seed in range(5))) if each is not None] == []


def simulated(*words: str) -> str:
    """Return what the command tells when every promise held; else the seed and a test made of it are the failure."""
    done = subprocess.run(
        [sys.executable, "-m", "simulate.run", "--processes", "1", *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "every promise held" in done.stdout
    return done.stdout


@pytest.mark.system
def test_the_program_plays_the_seeds_that_it_is_told() -> None:
    """The command plays as many seeds as it is told, from the first."""
    told = simulated("--first", "7", "--seeds", "11", "--seconds", "1")
    assert "seeds from 7 on" in told
    assert "11 seeds" in told


@pytest.mark.long
@pytest.mark.system
def test_new_seeds_hold_for_a_minute() -> None:
    """Seeds that nobody has chosen hold for a minute, others each time."""
    first, second = simulated(), simulated("--seconds", "1")
    assert first.splitlines()[0] != second.splitlines()[0]


def test_a_seed_says_all() -> None:
    """A story that is played again writes the same log, to the letter."""
    story = story_of(3, 60)

    def log() -> list[tuple[object, ...]]:
        assert play(story) is None
        return memory().rows("SELECT * FROM activity ORDER BY seq")

    first = log()
    assert len(first) > 40
    assert log() == first


def test_time_passes_where_nobody_is_busy() -> None:
    """A day of virtual time is over at once; where nothing is due, and somebody waits, that is said."""
    loop = VirtualLoop()
    loop.run_until_complete(asyncio.sleep(86_400))
    assert loop.time() == pytest.approx(86_400)

    with pytest.raises(Stuck, match="everyone waits"):
        loop.run_until_complete(asyncio.wait_for(loop.create_future(), None))
    loop.close()


@pytest.mark.parametrize("fate", [Fate.NONE, Fate.REFUSED, Fate.KILLED, Fate.UNHEARD])
def test_fate_takes_a_commit(fate: Fate) -> None:
    """A commit that is refused is said to be, and undone; a process that dies answers nobody, whatever it has kept."""
    loop = VirtualLoop()
    disk = _new_disk(loop)

    async def go() -> list[tuple[object, ...]]:
        world = World(disk, {})
        await world.begin(MODES)
        disk.fate = fate
        try:
            await world.write(SYSTEM, lambda tx: projects.create(tx, "green"))
            told = Fate.NONE
        except StoreUnavailable:
            told = Fate.REFUSED
        except NoAnswer:
            told = fate
        assert told is fate
        if world.hub.process.died.is_set():
            await world.restart()
        there = await world.hub.process.read(SYSTEM, lambda tx: projects.find_by_slug(tx, "green"))
        assert (there is not None) is (fate in (Fate.NONE, Fate.UNHEARD))
        await world.close()
        return disk.rows("SELECT slug FROM projects")

    with chance(1, loop):
        assert len(loop.run_until_complete(go())) >= len(MODES)
    loop.close()


def _new_disk(loop: VirtualLoop) -> Disk:
    disk = memory()
    disk.clock, disk.fate = loop.unix_ms, Fate.NONE
    disk.empty()
    return disk


@pytest.mark.parametrize(("fate", "kept"), [(Fate.REFUSED, {"grey"}), (Fate.FULL, set())])
def test_a_disk_is_full_for_a_commit_or_for_a_step(fate: Fate, kept: set[str]) -> None:
    """A refused commit is the only one, and a full disk refuses each until the step is over."""
    loop = VirtualLoop()
    disk = _new_disk(loop)

    async def go() -> None:
        process = Process(disk)
        disk.fate = fate
        for slug in ("green", "grey"):
            with suppress(StoreUnavailable):
                await process.write(SYSTEM, lambda tx, slug=slug: projects.create(tx, slug))  # type: ignore[misc]

    with chance(1, loop):
        loop.run_until_complete(go())
    loop.close()
    assert {slug for (slug,) in disk.rows("SELECT slug FROM projects")} == kept


def test_calls_of_one_turn_are_committed_together() -> None:
    """A refused call leaves nothing, and the others of the same turn are kept."""
    loop = VirtualLoop()
    disk = _new_disk(loop)

    async def go() -> list[object]:
        process = Process(disk)
        slugs = ("green", "no slug!", "grey")
        return await asyncio.gather(
            *(process.write(SYSTEM, lambda tx, slug=each: projects.create(tx, slug)) for each in slugs),  # type: ignore[misc]
            return_exceptions=True,
        )

    with chance(1, loop):
        outcomes = loop.run_until_complete(go())
    loop.close()
    assert [isinstance(each, Exception) for each in outcomes] == [False, True, False]
    assert {slug for (slug,) in disk.rows("SELECT slug FROM projects")} == {"green", "grey"}


def test_a_failing_story_is_made_small() -> None:
    """A story that fails because of two of its steps is reduced to these two, in order, as a test to be kept."""
    story = story_of(5, 50)
    wanted = story.steps[7], story.steps[31]

    def fails(tried: Story) -> Failure | None:
        numbers = [each.number for each in tried.steps]
        found = [each.number for each in wanted if each.number in numbers]
        is_broken = found == [each.number for each in wanted]
        return Failure(tried, "Broken", "promise: broken", len(tried.steps)) if is_broken else None

    small = shrunk(Failure(story, "Broken", "promise: broken", len(story.steps)), fails)

    assert [each.number for each in small.story.steps] == [each.number for each in wanted]
    plain = tuple(replace(each, beside=False, fate=Fate.NONE) for each in wanted)
    assert small.story.steps == plain
    told = as_test(small)
    assert told.count("            Step(") == len(wanted)
    compile(told, "test", "exec")


@pytest.mark.parametrize("machine", [False, True])
def test_a_printed_test_plays_the_story_that_failed(machine: bool) -> None:
    """The printed test plays exactly the story that failed, with its machine if it had one."""
    failed = replace(story_of(3, 5), machine=machine)
    told: list[Story] = []
    names = {"Story": Story, "Step": Step, "Fate": Fate, "play": told.append}

    exec(as_test(Failure(failed, "kind", "said", 5)), names)
    names["test_seed_3"]()  # type: ignore[operator]

    assert told == [failed]
