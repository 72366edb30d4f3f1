"""`make demo`: plays the scenes, tells the story, shows the table, and says whether all is well by its exit code.

With `--encore` the story can be looked at in the dashboard afterwards, for an hour, at a hub of its own.

0: nothing was lost, done twice, or left open. 1: something was, or the play could not go on; it says what. It takes
less than a minute, and longer on a busy machine. A scene that takes four minutes of an idle one hangs, and is ended.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from types import FrameType

import click

from demo import encore
from demo.check import Books, complaints
from demo.clock import now
from demo.jobs.desk import ROOT
from demo.orders import Refused, Unexpected
from demo.processes import Vanished
from demo.scenes import SCENES, curtain
from demo.stage import Stage
from demo.story import Story, table
from hubbub.client import HubRefused, HubUnreachable
from hubbub.processes.fair_time import FairTime

LIMIT = 240  # seconds for a scene, of an idle machine: on a busy one they are longer
LOOK = 5  # seconds between two looks at the clock
SILENCE = 60  # seconds of a scene, after which it is said that it goes on
BUSY = b"this machine is busy: the scene goes on ...\n"
LAST_WORDS = 5  # lines of each process, when the play could not go on
INTERRUPTED = 130


class Overdue(Exception):
    """A scene has not ended in time."""


FAULTS = (HubRefused, HubUnreachable, Overdue, Refused, Unexpected, Vanished)


@click.command()
@click.option(
    "--encore",
    "has_encore",
    is_flag=True,
    help="Leave a hub with the story behind, for an hour, and a link to it.",
)
def main(*, has_encore: bool) -> None:
    """Play the scenes, tell the story, and say whether all is well: exit code 0, else 1."""
    sys.exit(perform(has_encore=has_encore))


def perform(*, has_encore: bool) -> int:
    """Play. Returns the exit code."""
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which shells have ignored in the background
    watch_scene()
    try:
        with Stage() as stage, _undisturbed_end():
            try:
                verdict = _verdict(stage, _play(stage))
                if has_encore:
                    _give_encore(stage)
                return verdict
            except FAULTS as fault:
                print(f"\nThe play could not go on: {fault}\n{_last_words(stage)}", file=sys.stderr)
                return 1
    except KeyboardInterrupt:
        print("\ninterrupted; everyone is gone", file=sys.stderr)
        return INTERRUPTED


def _play(stage: Stage) -> Books:
    """All scenes, each told when it is over."""
    story = Story(now())
    for scene in SCENES:
        story.title(_title(scene.__doc__))
        watch_scene()
        scene(stage)
        stage.chronicle.catch_up()
        story.tell(stage.chronicle.activities, stage.notes)
    story.title(_title(curtain.play.__doc__))
    watch_scene()
    books = curtain.play(stage)
    story.tell(stage.chronicle.activities, stage.notes)
    return books


def _title(docstring: str | None) -> str:
    return (docstring or "").partition(". Returns")[0].strip().removesuffix(".")


def _verdict(stage: Stage, books: Books) -> int:
    """Show the table and what is wrong. Returns the exit code."""
    print(f"\n{table(books)}\n")
    wrong = [*stage.complaints, *complaints(books)]
    for sentence in wrong:
        print(f"WRONG  {sentence}")
    if not wrong:
        print(
            f"All is well: {len(books.tasks)} tasks, done in {len(books.executions)} tries; "
            f"{len(books.letters)} letters to the commander, {len(books.notes)} to the planner; "
            f"nothing lost, nothing done twice, nothing left open."
        )
    return 1 if wrong else 0


def _give_encore(stage: Stage) -> None:
    """Say where to look at what happened."""
    given = encore.give(stage.data)
    print(f"\nSee it in the dashboard: {given.link}")
    print(
        f"The link signs in once, as long as its hub is there: that goes in an hour; now by: kill {given.pid}"
    )


def _last_words(stage: Stage) -> str:
    """Return the last output of each process, without the paths of this machine."""
    lines = [f"{process.name}: {line}" for process in stage.troupe for line in process.said[-LAST_WORDS:]]
    return "\n".join(lines).replace(str(stage.folder), "…").replace(str(ROOT), ".")


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def watch_scene() -> None:
    """From now on, look at the clock again and again, and end a scene that hangs."""
    began, fair_time = now(), FairTime()
    next_word: float = SILENCE

    def look(_number: int, _frame: FrameType | None) -> None:
        nonlocal next_word
        seconds = (now() - began) // 1000
        if fair_time.passed() > LIMIT:
            signal.setitimer(signal.ITIMER_REAL, 0)  # nothing disturbs what is cleared away
            raise Overdue(f"a scene has not ended after {seconds} s")
        if seconds > next_word:
            next_word = inf
            os.write(1, BUSY)  # in a signal handler, print could meet itself

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, LOOK, LOOK)


@contextmanager
def _undisturbed_end() -> Iterator[None]:
    """After this context, no signal interrupts the clearing away."""
    try:
        yield
    finally:
        for each in (signal.SIGALRM, signal.SIGINT, signal.SIGTERM):
            signal.signal(each, signal.SIG_IGN)


if __name__ == "__main__":
    main()
