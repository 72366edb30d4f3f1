"""The journal for the event loop: one thread reads and writes it, so that nothing else is blocked."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar
from uuid import UUID

from hubbub.node.link.journal import CallStanding, Journal, JournalFailed

T = TypeVar("T")
P = ParamSpec("P")


class AsyncJournal:
    """One journal for one event loop; `close` it in the end. All other methods raise `JournalFailed`."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="journal")
        self._waiting: list[tuple[UUID, asyncio.Future[CallStanding]]] = []
        self._writing: asyncio.Task[None] | None = None

    def close(self) -> None:
        """Stop writing; the journal itself stays open."""
        self._thread.shutdown()

    async def note(self, order: UUID) -> CallStanding:
        """Write an order down; orders that come during a write are written together."""
        noted: asyncio.Future[CallStanding] = asyncio.get_running_loop().create_future()
        self._waiting.append((order, noted))
        if self._writing is None or self._writing.done():
            # Not by one of the waiting callers: while more come, it would never get back to its own work.
            self._writing = asyncio.create_task(self._write())
        return await noted

    async def do(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run an operation of the journal."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, partial(work, *args, **kwargs))

    async def _write(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            await self._note(batch)

    async def _note(self, batch: Sequence[tuple[UUID, "asyncio.Future[CallStanding]"]]) -> None:
        try:
            found = await self.do(self._journal.begin, [order for order, _ in batch])
        except JournalFailed as error:
            for _, noted in batch:
                noted.set_exception(error)
        else:
            for (_, noted), standing in zip(batch, found, strict=True):
                noted.set_result(standing)
