"""Playing: a seed gives the steps of a story; playing them in a world shows whether all promises hold."""

import asyncio
import random
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from simulate.machines import Deeds, Machine, surrounded
from simulate.moves import AGENT, AT_MACHINES, MOVES, OF_MACHINES, PEOPLE, WORLD
from simulate.promises import Watch
from simulate.store import Disk, Fate, Memory
from simulate.virtual import VirtualLoop, chance
from simulate.world import CREW, PERSON, PROJECTS, Broken, NoAnswer, Place, World
from tests.support.memory_folder import in_memory

LENGTH = 120  # steps of a run
WHOLE = 40  # steps between two checks of all promises
NOBODY = "-"
WITH_MACHINE = 0.25  # the share of stories with a machine
FATES = (Fate.REFUSED, Fate.KILLED, Fate.UNHEARD)
FATES_OF_MACHINES = (Fate.FULL, Fate.KILLED, Fate.UNHEARD)  # machines report while nobody calls
FINALE = 900  # seconds after which every order has ended, if hub and machine run


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a story. `number` picks its object; with `beside` it starts while the step before still runs."""

    who: str
    does: str
    number: int
    fate: Fate = Fate.NONE
    beside: bool = False

    def __str__(self) -> str:
        more = f", Fate.{self.fate.name}" if self.fate is not Fate.NONE else ""
        more += ", beside=True" if self.beside else ""
        return f'Step("{self.who}", "{self.does}", {self.number}{more})'


@dataclass(frozen=True, slots=True)
class Story:
    """A run: the seed of its random numbers, each project's mode for conflicts, and its steps."""

    seed: int
    modes: tuple[str, str]
    steps: tuple[Step, ...]
    machine: bool = False  # whether the first project has a machine


@dataclass(frozen=True, slots=True)
class Failure:
    """A run that broke a promise, or that made the product fail."""

    story: Story
    kind: str
    said: str
    steps: int  # done before the failure


def story_of(seed: int, length: int = LENGTH) -> Story:
    """Make the story of a seed."""
    source = random.Random(seed)
    faults, together = source.choice((0, 0.03, 0.1)), source.choice((0, 0.2, 0.5))
    machine = source.random() < WITH_MACHINE
    steps = tuple(_step(source, faults, together, machine=machine) for _ in range(length))
    modes = source.choice(("block", "warn")), source.choice(("block", "warn", "off"))
    return Story(seed, modes, steps, machine)


def _step(source: random.Random, faults: float, together: float, *, machine: bool) -> Step:
    number, turn = source.randrange(10**6), source.random()
    if machine and turn < 0.5:
        is_of_machines = turn < 0.25
        who = NOBODY if is_of_machines else f"{PROJECTS[0]}/{source.choice(CREW)}"
        fates = FATES_OF_MACHINES if is_of_machines else FATES
        fate = source.choice(fates) if source.random() < faults else Fate.NONE
        return Step(who, _chosen(source, "of machines" if is_of_machines else "at machines"), number, fate)
    if turn < 0.12:
        return Step(NOBODY, _chosen(source, "world"), number)
    slug = source.choice((PROJECTS[0], PROJECTS[0], PROJECTS[1]))
    is_person = turn < 0.2
    who = f"{slug}/{PERSON if is_person else source.choice(CREW)}"
    does = _chosen(source, "people" if is_person else "agent")
    fate = source.choice(FATES) if source.random() < faults else Fate.NONE
    return Step(who, does, number, fate, beside=source.random() < together)


@cache
def _table(kind: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    table = {
        "agent": AGENT, "people": PEOPLE, "world": WORLD, "at machines": AT_MACHINES, "of machines": OF_MACHINES,
    }[kind]  # fmt: skip
    return tuple(table), tuple(often for often, _move in table.values())


def _chosen(source: random.Random, kind: str) -> str:
    names, often = _table(kind)
    return source.choices(names, often)[0]


@cache
def memory() -> Disk:
    """Return the database that all runs of this process use."""
    return Memory()


def play(story: Story, disk: Disk | None = None) -> Failure | None:
    """Play a story; return its failure, None if all promises held."""
    loop = VirtualLoop()
    disk = disk or memory()
    disk.clock, disk.fate = loop.unix_ms, Fate.NONE
    disk.empty()
    player = _Player(disk, loop, story)
    with chance(story.seed, loop), TemporaryDirectory(prefix="hubbub-simulate-", dir=in_memory()) as folder:
        try:
            loop.run_until_complete(player.run(Path(folder)))
        except Exception as error:  # noqa: BLE001  # any error is a finding
            return Failure(story, _kind(error), _said(error), player.done)
        finally:
            _close(loop)
    return None


def _kind(error: Exception) -> str:
    """Name the kind of a failure; the name stays the same while its story is shrunk."""
    return (
        f"{type(error).__name__}: {str(error).partition(':')[0]}"
        if isinstance(error, AssertionError)
        else type(error).__name__
    )


def _said(error: Exception) -> str:
    if isinstance(error, Broken):
        return str(error)
    return "".join(traceback.format_exception(error))


def _close(loop: VirtualLoop) -> None:
    while asyncio.all_tasks(loop):  # a task may begin another as it ends
        loop.run_until_complete(asyncio.sleep(0))  # a task that has not begun yet could not be cancelled
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
    loop.close()


class _Player:
    """One run that is being played."""

    def __init__(self, disk: Disk, loop: VirtualLoop, story: Story) -> None:
        self.disk, self.loop, self.story = disk, loop, story
        self.done = 0

    async def run(self, folder: Path) -> None:
        modes = dict(zip(PROJECTS, self.story.modes, strict=True))
        place = Place(folder, Deeds(random.Random(self.story.seed))) if self.story.machine else None
        machines: dict[str, Machine] = {}
        with surrounded(machines):
            self.world = World(self.disk, machines)
            try:
                await self.world.begin(modes, place)
                await self._play()
            finally:
                await self.world.close()

    async def _play(self) -> None:
        watch = Watch(self.world)
        watch.look(whole=True)
        steps, looked = self.story.steps, 0
        while self.done < len(steps):
            last = self.done + 1
            while last < len(steps) and steps[last].beside:
                last += 1
            await self._do(steps[self.done : last])
            self.done = last
            is_whole = last - looked >= WHOLE or last == len(steps)
            looked = last if is_whole else looked
            watch.look(whole=is_whole)
        if self.world.machine is not None:
            await self._end_orders(self.world.machine, watch)

    async def _end_orders(self, machine: Machine, watch: Watch) -> None:
        """Let hub and machine run for a while, until each order has ended."""
        machine.start()
        await asyncio.sleep(FINALE)
        watch.look(whole=True)
        left = self.world.rows("SELECT status FROM dispatches WHERE ended_at IS NULL")
        if left or self.world.beside:
            raise Broken(f"orders_come_to_an_end: {left}, and {len(self.world.beside)} callers wait")
        ended = {mark for mark, status in watch.orders.values() if status == "ended"}
        if untold := machine.deeds.known.keys() - ended:
            raise Broken(f"what_was_done_is_told: {untold} were done, and nobody can know")

    async def _do(self, group: Sequence[Step]) -> None:
        """Do steps at the same time, then let everyone hear of them."""
        self.disk.fate = next((each.fate for each in group if each.fate is not Fate.NONE), Fate.NONE)
        done = await asyncio.gather(*map(self._one, group), return_exceptions=True)
        self.disk.fate = Fate.NONE
        if self.world.hub.process.died.is_set():
            self.world.up.clear()
        await self.world.up.wait()
        for outcome in done:
            if isinstance(outcome, BaseException) and not isinstance(outcome, NoAnswer):
                raise outcome
        await asyncio.sleep(0.01)

    async def _one(self, step: Step) -> None:
        speaker = self.world.speakers.get(step.who) or self.world.speakers[f"{PROJECTS[0]}/{PERSON}"]
        await MOVES[step.does](self.world, speaker, step.number)
