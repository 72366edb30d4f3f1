"""The hub's own periodic work: settle overdue things, report dead letters and late tasks, hand over, and forget."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from uuid import UUID

from hubbub.core import expiry
from hubbub.core.mail import deadletters
from hubbub.core.work import handovers, late_tasks
from hubbub.model.errors import StoreUnavailable
from hubbub.model.people.rights import SYSTEM
from hubbub.store.tx import Operation, Store

log = logging.getLogger(__name__)

SWEEP_EVERY = timedelta(milliseconds=500)
BURY_EVERY = LATE_EVERY = timedelta(minutes=1)
HAND_OVER_EVERY = timedelta(seconds=30)
FORGET_EVERY = timedelta(hours=1)


class Maintenance:
    """Works while `run` runs. An unread letter is dead after `dead_letters`, if its receiver was never there."""

    def __init__(self, store: Store, dead_letters: timedelta) -> None:
        self._store = store
        self._dead_letters = dead_letters

    async def run(self) -> None:
        """Repeat the work, until cancelled."""
        async with asyncio.TaskGroup() as all_of_it:
            all_of_it.create_task(self._every(FORGET_EVERY, self.forget))
            all_of_it.create_task(self._every(BURY_EVERY, self.bury))
            all_of_it.create_task(self._every(LATE_EVERY, self.tell_late))
            all_of_it.create_task(self._every(HAND_OVER_EVERY, self.hand_over))
            all_of_it.create_task(self._every(SWEEP_EVERY, self.sweep))

    async def _every(self, pause: timedelta, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            try:
                await work()
            except StoreUnavailable as error:
                log.warning("overdue work could not be settled: %s", error)
            await asyncio.sleep(pause.total_seconds())

    async def sweep(self) -> None:
        """End everything overdue."""
        if await self._store.read(SYSTEM, expiry.is_due):
            await self._store.write(SYSTEM, expiry.settle)

    async def bury(self) -> None:
        """Mark unread letters as dead, some at a time, so that others write in between."""
        after = self._dead_letters
        await self._in_parts(
            partial(deadletters.due, after=after), partial(deadletters.settle, after=after), deadletters.BATCH
        )

    async def tell_late(self) -> None:
        """Report tasks without progress, some at a time."""
        await self._in_parts(late_tasks.due, late_tasks.settle, late_tasks.BATCH)

    async def hand_over(self) -> None:
        """Hand tasks of paused accounts over if projects allow it, some at a time."""
        await self._in_parts(handovers.due, handovers.settle, handovers.BATCH)

    async def _in_parts(self, look: Operation[list[UUID]], settle: Callable[..., None], most: int) -> None:
        """Search once, beside the writers, and settle the findings some at a time, so that others write in between."""
        found = await self._store.read(SYSTEM, look, long=True)
        for first in range(0, len(found), most):
            await self._store.write(SYSTEM, partial(settle, due=found[first : first + most]))

    async def forget(self) -> None:
        """Delete expired records."""
        await self._store.write(SYSTEM, expiry.forget)
