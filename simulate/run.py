"""`make simulate`: play random stories, seed after seed, until a promise breaks or the time is up.

Without seeds it begins at a random one and prints it. A failing story is shrunk and printed as a test. On PostgreSQL
it plays far fewer stories, one after the other, and only prints the seed of a failing one.
"""

import argparse
import gc
import logging
import os
import secrets
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from itertools import count

from simulate.play import Failure, play, story_of
from simulate.server import Server
from simulate.shrink import as_test, shrunk
from simulate.store import Disk

ORDERLY = "PYTHONHASHSEED"  # fixes the order of sets in each process; otherwise a seed would not fix a run
AT_ONCE = 5  # seeds in one batch of a process
FIRST = 10**9  # a run without a given seed begins below this one


@dataclass(frozen=True, slots=True)
class Played:
    """Result of playing some seeds, one after the other."""

    seeds: int
    steps: int
    seconds: float
    failure: Failure | None


def play_some(first: int, number: int, disk: Disk | None = None) -> Played:
    """Play seeds until one fails, in memory or on another disk."""
    logging.disable(logging.CRITICAL)  # the hub logs each failed commit
    gc.freeze()  # loaded modules stay; garbage collection need not look through them
    began, steps = time.process_time(), 0
    for seed in range(first, first + number):
        story = story_of(seed)
        failure = play(story, disk)
        steps += failure.steps if failure is not None else len(story.steps)
        if failure is not None:
            return Played(seed - first + 1, steps, time.process_time() - began, failure)
    return Played(number, steps, time.process_time() - began, None)


def played(first: int, number: int | None, seconds: float, processes: int) -> Iterator[Played]:
    """Play seeds in several processes, up to a number or for a time."""
    until = time.monotonic() + seconds
    end = first + number if number is not None else None
    with ProcessPoolExecutor(processes) as pool:
        waiting: deque[Future[Played]] = deque()
        seed = first
        while True:
            while len(waiting) < 2 * processes and (end is None or seed < end) and time.monotonic() < until:
                some = AT_ONCE if end is None else min(AT_ONCE, end - seed)
                waiting.append(pool.submit(play_some, seed, some))
                seed += some
            if not waiting:
                return
            yield waiting.popleft().result()


def played_on_server(url: str, first: int, number: int | None, seconds: float) -> Iterator[Played]:
    """Play seeds one after the other, up to a number or for a time, in a database that nobody else uses."""
    until = time.monotonic() + seconds
    with closing(Server(url)) as server:
        for seed in count(first) if number is None else range(first, first + number):
            if time.monotonic() >= until:
                return
            yield play_some(seed, 1, server)


def main(words: Sequence[str]) -> int:
    """Return 1 if a promise broke."""
    parser = argparse.ArgumentParser(prog="make simulate", description=__doc__)
    parser.add_argument("--first", type=int, help="the first seed; by default a random one")
    parser.add_argument(
        "--seeds", type=int, help="the number of seeds; by default as many as fit into the time"
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="the time limit; 60 by default")
    parser.add_argument("--processes", type=int, default=min(os.cpu_count() or 1, 8))
    parser.add_argument(
        "--quick", action="store_true", help="print the failing seed without shrinking its story"
    )
    parser.add_argument("--postgres", metavar="URL", help="play in this database, which is emptied")
    given = parser.parse_args(words)
    first = given.first if given.first is not None else secrets.randbelow(FIRST)
    print(f"seeds from {first} on", flush=True)
    seeds = steps = 0
    cpu = 0.0
    seconds = given.seconds if given.seeds is None else float("inf")
    runs = (
        played(first, given.seeds, seconds, given.processes)
        if given.postgres is None
        else played_on_server(given.postgres, first, given.seeds, seconds)
    )
    for each in runs:
        seeds, steps, cpu = seeds + each.seeds, steps + each.steps, cpu + each.seconds
        if each.failure is not None:
            print(f"seed {each.failure.story.seed}, after {seeds} seeds: {each.failure.said}", flush=True)
            if given.quick or given.postgres is not None:
                return 1
            small = shrunk(each.failure)
            print(f"{len(small.story.steps)} steps are left of it:\n{as_test(small)}")
            return 1
    print(
        f"{seeds:,} seeds, {steps:,} steps, {steps / max(cpu, 0.001):,.0f} a second of a processor: every promise held"
    )
    return 0


if __name__ == "__main__":
    if os.environ.get(ORDERLY) != "0":
        os.execve(
            sys.executable,
            [sys.executable, "-m", "simulate.run", *sys.argv[1:]],
            {**os.environ, ORDERLY: "0"},
        )
    sys.exit(main(sys.argv[1:]))
