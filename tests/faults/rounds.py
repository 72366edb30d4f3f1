"""Power cuts, round by round: a story is told once, and after each of its steps the power may fail in any way."""

import os
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest

from tests.faults.disk import Cut, Disk
from tests.faults.recording import Note, Recording
from tests.memory import in_memory

DAILY, ALL = 50, 500  # rounds of a story, in `make test` and in `make check`; ROUNDS says otherwise
SHARES = (0.0, 1.0, None, None, None)  # of what waits that came to the disk: nothing, everything as after a kill, some

many = pytest.mark.parametrize(
    "rounds", [DAILY, pytest.param(int(os.environ.get("ROUNDS", ALL)), marks=pytest.mark.system)]
)


class Found(NamedTuple):
    """What is there after one power cut, and what had been noted before it."""

    number: int
    folder: Path
    noted: list[object]
    later: list[object]  # what was noted after it

    @property
    def is_one_of_twenty(self) -> bool:
        """Whether to look at what takes long to look at too."""
        return self.number % 20 == 0


def power_cuts(recording: Recording, rounds: int, look: Callable[[Found], None]) -> None:
    """Have `look` see so many power cuts, at steps all over the story; what it asserts is told with the round."""
    steps = [number for number, step in enumerate(recording.steps) if not isinstance(step, Note)]
    places = [*(each for each in steps if each >= recording.begin), len(recording.steps)]
    chance = random.Random(rounds)
    at = sorted(places[(number * len(places)) // rounds] if rounds < len(places) else chance.choice(places) for number in range(rounds))
    said = [step.said for step in recording.steps if isinstance(step, Note)]
    with TemporaryDirectory(dir=in_memory(), prefix="hubbub-cut-") as scratch:
        for number, (step, disk, noted) in enumerate(_at(recording, at)):
            folder = Path(scratch, str(number))
            folder.mkdir()
            share = SHARES[number % len(SHARES)]
            disk.put(folder, Cut((rounds, number), share))
            try:
                look(Found(number, folder, said[:noted], said[noted:]))
            except BaseException as error:
                what = "after the last step" if step == len(recording.steps) else f"before {recording.steps[step]!r:.200}"
                error.add_note(f"round {number} of {rounds}: cut {what} ({step}), share {share}, noted {said[:noted]!r:.500}")
                raise


def _at(recording: Recording, places: Sequence[int]) -> Iterator[tuple[int, Disk, int]]:
    """Yield the disk before each of the steps, in their order, and how much had been noted."""
    disk, noted, done = Disk(), 0, 0
    for place in places:
        for step in recording.steps[done:place]:
            if isinstance(step, Note):
                noted += 1
            else:
                disk.do(step)
        done = place
        yield place, disk, noted
