"""Calls that wait for a writer, and the delivery of their outcomes."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from concurrent import futures
from contextlib import suppress
from typing import Any, Protocol

from hubbub.model.people.rights import Actor
from hubbub.store.tx import Operation


class PendingCall:
    """One operation that waits for its turn, and then its outcome."""

    __slots__ = (
        "_future", "actor", "error", "has_begun", "in_hand", "is_short", "loop", "operation", "result",
    )  # fmt: skip

    def __init__(
        self,
        actor: Actor,
        operation: Operation[Any],
        future: "asyncio.Future[Any] | futures.Future[Any]",
        loop: asyncio.AbstractEventLoop | None,
        *,
        is_short: bool = False,
    ) -> None:
        self.actor, self.operation, self.loop = actor, operation, loop
        self.is_short = is_short and loop is not None
        self.result: Any = None
        self.error: BaseException | None = None
        self._future = future
        self.in_hand = threading.Lock()  # held while a writer runs it
        self.has_begun = False  # it was run in its turn, and not only ahead of it

    @property
    def is_abandoned(self) -> bool:
        return self._future.cancelled()

    def answer(self) -> None:
        """Deliver the outcome to the caller, in the caller's thread; nothing happens if the caller gave up."""
        if self._future.done():
            return
        if self.error is None:
            self._future.set_result(self.result)
        else:
            self._future.set_exception(self.error)


class Turn(Protocol):
    """Calls that are taken one by one, to be committed together."""

    def __iter__(self) -> Iterator[PendingCall]: ...

    def __next__(self) -> PendingCall: ...

    def ahead(self) -> Sequence[PendingCall]:
        """Return the calls that are still to come, without taking them."""


def answer(calls: Sequence[PendingCall]) -> None:
    """Deliver each outcome: each event loop is woken once, however many callers wait in it."""
    loops: dict[asyncio.AbstractEventLoop, list[PendingCall]] = {}
    for call in calls:
        if call.loop is None:
            call.answer()
        else:
            loops.setdefault(call.loop, []).append(call)
    for loop, own in loops.items():
        with suppress(RuntimeError):  # the loop is closed, with everyone who waited there
            loop.call_soon_threadsafe(_answer_all, own)


def _answer_all(calls: Sequence[PendingCall]) -> None:
    for call in calls:
        call.answer()
