"""Power cuts, round by round: a story is told once, and after each of its steps the power may fail in any way."""

import os
import random
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest

from tests.faults.disk import Cut, Disk, Step, digest, put
from tests.faults.recording import Note, Recording
from tests.support.memory_folder import in_memory

DAILY, ALL = 50, 400  # rounds of a story, in `make test` and in `make check`; ROUNDS says otherwise
SHARES = (
    0.0,
    1.0,
    *6 * (None,),
)  # of what waits that came to the disk: nothing, everything as after a kill, some

many = pytest.mark.parametrize(
    "rounds", [DAILY, pytest.param(int(os.environ.get("ROUNDS", ALL)), marks=pytest.mark.system)]
)


class Found(NamedTuple):
    """Content of the folder after one power cut, and the notes made before it."""

    number: int
    folder: Path
    noted: list[object]
    later: list[object]  # what was noted after it

    @property
    def is_one_of_twenty(self) -> bool:
        """True for every twentieth power cut, to which costly looks are limited."""
        return self.number % 20 == 0


def power_cuts(recording: Recording, rounds: int, look: Callable[[Found], None]) -> None:
    """Have `look` see so many power cuts, at places all over the story; its failures are reported with the round.

    Many cuts leave the same behind: what was seen before, with the same notes, is not looked at again.
    """
    places, said = _places(recording), [step.said for step in recording.steps if isinstance(step, Note)]
    chosen = [places[number * (len(places) - 1) // (rounds - 1)] for number in range(rounds)]  # the end too
    chance, seen = random.Random(rounds), set[tuple[object, ...]]()
    with TemporaryDirectory(dir=in_memory(), prefix="hubbub-cut-") as scratch:
        for number, (step, disk, noted) in enumerate(at(recording, chosen)):
            share = chance.choice(SHARES)
            left = disk.after(Cut((rounds, number), share))
            found = Found(number, Path(scratch, str(number)), said[:noted], said[noted:])
            known = (digest(left), noted, found.is_one_of_twenty)
            if known in seen:
                continue
            seen.add(known)
            found.folder.mkdir()
            put(left, found.folder)
            try:
                look(found)
            except BaseException as error:
                last = f"step {step}, after {recording.steps[step - 1]!r:.200}"
                error.add_note(
                    f"round {number} of {rounds}: {last}, share {share}, noted {said[:noted]!r:.500}"
                )
                raise


def _places(recording: Recording) -> list[int]:
    """Return where a cut can make a difference: between two steps, but of writes in a row only in their middle."""
    steps = recording.steps
    is_write = [isinstance(each, Step) and each.what == "write" for each in steps]
    joints = [
        each
        for each in range(recording.begin, len(steps))
        if not (each and is_write[each - 1] and is_write[each])
    ]
    middles = [(first + last) // 2 for first, last in pairwise(joints) if last - first > 1]
    names = [each + 1 for each in range(recording.begin, len(steps)) if steps[each][0] == "name"]
    return sorted([*joints, *middles, *names, *names, len(steps)])  # names are what is forgotten most easily


def at(recording: Recording, places: Sequence[int]) -> Iterator[tuple[int, Disk, int]]:
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
