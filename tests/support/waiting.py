"""The one way to wait for what is to come: with a deadline that a slow machine stretches, and an error that tells all.

What can be waited for itself (a future, a queue, a frame of a stream, a process) is given `patience()` as its timeout.
What can only be looked at is looked at again and again by `until`, or by `until_soon` in an event loop.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from hubbub.processes.fair_time import slowness

T = TypeVar("T")

SECONDS = 20.0  # on a machine with nothing else to do; nobody waits so long but for what never comes
SHORTEST, LONGEST = 0.005, 0.025  # seconds between two looks, which are a tenth of the time waited so far


def patience(seconds: float = SECONDS) -> float:
    """The seconds for which to wait for what takes far less than `seconds` on an idle machine."""
    return seconds * slowness()


def until(
    happened: Callable[[], T],
    what: str,
    *,
    seen: Callable[[], object] | None = None,
    seconds: float = SECONDS,
) -> T:
    """Wait until `happened` returns something true, and return that.

    `what` completes "waited for …" in the error, which also tells what `seen`, or else `happened`, returned last.
    """
    for found, pause in _looks(happened, what, seen, seconds):
        if found:
            return found
        time.sleep(pause)
    raise AssertionError("unreachable")


async def until_soon(
    happened: Callable[[], T],
    what: str,
    *,
    seen: Callable[[], object] | None = None,
    seconds: float = SECONDS,
) -> T:
    """Wait like `until`, and let the event loop go on meanwhile."""
    for found, pause in _looks(happened, what, seen, seconds):
        if found:
            return found
        await asyncio.sleep(pause)
    raise AssertionError("unreachable")


def _looks(
    happened: Callable[[], T], what: str, seen: Callable[[], object] | None, seconds: float
) -> Iterator[tuple[T, float]]:
    """Yield the views, look by look, each with the pause behind it, until nobody would wait any longer."""
    began = time.monotonic()
    while True:
        waited = time.monotonic() - began
        late = waited > patience(seconds)  # before the look: the last one is always after the time
        found = happened()
        yield found, min(max(SHORTEST, waited / 10), LONGEST)
        if late:
            there = found if seen is None else seen()
            raise AssertionError(f"waited {time.monotonic() - began:.0f} s for {what}; there was: {there!r}")
