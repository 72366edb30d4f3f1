"""Choices: a step's number picks something that exists now, so that the step has a meaning in any story."""

import random
from collections.abc import Iterator, Sequence
from typing import TypeVar
from uuid import UUID

from simulate.world import CREW, PROJECTS, Speaker, World

T = TypeVar("T")

FILES = ("src/a.py", "src/b.py", "src/*.py", "docs/", "src/auth/login.py")
LATEST = 8  # only the latest tasks and messages are chosen
FOREIGN = 12  # once in so many times, the chosen thing belongs to another project


class Choices:
    """One speaker about to act. Each choice uses the next random number of the step."""

    def __init__(self, world: World, speaker: Speaker, number: int) -> None:
        self.world, self.speaker = world, speaker
        self._chance = random.Random(number)
        self.mark = ""

    def one(self, things: Sequence[T]) -> T:
        return self._chance.choice(things)

    def maybe(self, thing: T, odds: int = 2) -> T | None:
        """Return the value once in `odds` times, else None."""
        return thing if self._chance.randrange(odds) == 0 else None

    def number(self, most: int) -> int:
        return self._chance.randrange(most)

    def text(self) -> str:
        """Return a text that occurs nowhere else."""
        self.mark = self.world.mark(self.speaker)
        return f"{self.mark} {self.one(('count the lines', 'look at it', 'mend the door'))}"

    def name(self) -> str:
        return self.one(CREW)

    def some(self, things: Sequence[T]) -> list[T]:
        """Choose one or two of the values."""
        return self._chance.sample(things, self._chance.randint(1, 2))

    def lease(self) -> str:
        """Choose the id of a lease, usually one of the speaker's."""
        whose = self.speaker.name if self._chance.randrange(5) else self.name()
        found = self._ids("leases", "holder = :whose", whose=whose)
        return self.one(found) if found else self.task()

    def files(self) -> list[str]:
        return self.some(FILES)

    def task(self, *, mine: bool = False) -> str:
        """Choose the id of a task, usually a recent one; with `mine`, usually one that the speaker holds."""
        if mine and self._chance.randrange(4):
            held = self._ids("tasks", "assignee = :whose AND ended_at IS NULL", whose=self.speaker.name)
            if held:
                return self.one(held)
        return self._one_of("tasks")

    def task_number(self, *, mine: bool = False) -> int:
        task = UUID(self.task(mine=mine)).bytes
        found = self.world.rows("SELECT number FROM tasks WHERE id = :task", task=task)
        return int(found[0][0]) if found else 1

    def message(self) -> str:
        return self._one_of("messages")

    def letter(self) -> str:
        """Choose the id of a row of the speaker's inbox, sometimes of another agent's."""
        whose = self.speaker.name if self._chance.randrange(5) else self.name()
        found = self._ids("deliveries", "recipient = :whose AND withdrawn_at IS NULL", whose=whose)
        return self.one(found) if found else self.task()

    def _one_of(self, table: str) -> str:
        found = self._ids(table)
        return self.one(found) if found else str(UUID(int=7))

    def _ids(self, table: str, where: str = "1 = 1", **values: object) -> list[str]:
        project = self.speaker.project.id
        if self._chance.randrange(FOREIGN) == 0:
            other = next(each for each in PROJECTS if each != self.speaker.project.slug)
            project = self.world.projects[other].id
        rows = self.world.rows(
            f"""SELECT id FROM {table} WHERE project_id = :project AND {where}
                ORDER BY id DESC LIMIT {LATEST}""",
            project=project.bytes,
            **values,
        )
        return [str(UUID(bytes=bytes(row[0]))) for row in rows]


def numbers(source: random.Random) -> Iterator[int]:
    """Yield random numbers for steps."""
    while True:
        yield source.randrange(10**6)
