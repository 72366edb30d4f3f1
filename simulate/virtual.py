"""Virtual time and one source of random numbers, so that a run depends on its seed alone.

The event loop never waits: when all tasks wait, time jumps to the next event, so a simulated day takes only as long as
its events. The run provides all readings of the time and all random bytes.
"""

import asyncio
import os
import random
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from contextvars import Context
from datetime import timedelta
from types import SimpleNamespace
from typing import TypeVar, TypeVarTuple, Unpack
from unittest.mock import patch

from hubbub.model import ids
from hubbub.serve.live import log_tail, subscribers

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

TURN = 1e-6  # seconds that each turn of the loop takes, so that a task that polls sees time pass
EPOCH = 1_800_000_000_000  # Unix milliseconds: the beginning of every run


class Stuck(AssertionError):
    """Everyone waits, and nothing will ever happen."""


class VirtualLoop(asyncio.BaseEventLoop):
    """An event loop that advances its time when nothing is left to do; it has no sockets and no threads."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0
        self._selector = self  # the base class asks it for events

    def time(self) -> float:
        return self._now

    def unix_ms(self) -> int:
        return EPOCH + int(self._now * 1000)

    def select(self, timeout: float | None) -> list[object]:
        """Advance the time to the next event."""
        if timeout is None:
            raise Stuck("everyone waits, and nothing is due")
        self._now += timeout + TURN
        return []

    def call_soon_threadsafe(
        self, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        return self.call_soon(callback, *args, context=context)

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[Unpack[Ts]], T], *args: *Ts
    ) -> "asyncio.Future[T]":
        """Run a thread's work at once."""
        done: asyncio.Future[T] = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:  # noqa: BLE001  # whoever awaits the result gets the error
            done.set_exception(error)
        return done

    def _process_events(self, _events: object) -> None:
        """Do nothing: there are no events from outside."""


@contextmanager
def chance(seed: int, loop: VirtualLoop) -> Iterator[random.Random]:
    """Take all ids, secrets and times of the process from this run."""
    source = random.Random(seed)
    clock = SimpleNamespace(
        time_ns=lambda: loop.unix_ms() * 1_000_000, time=lambda: loop.unix_ms() / 1000, monotonic=loop.time
    )
    with ExitStack() as patches:
        for place, name, value in (
            (os, "urandom", source.randbytes),
            (random, "_urandom", source.randbytes),  # of `secrets`
            (ids, "time", clock),
            (ids, "_last", 0),
            (subscribers, "time", clock),
            (log_tail, "POLL", timedelta(days=1)),  # lost hints are not simulated
        ):
            patches.enter_context(patch.object(place, name, value))
        before = random.getstate()
        random.seed(seed)
        try:
            yield source
        finally:
            random.setstate(before)
