"""The delivery loop: takes due parcels, has them delivered, and stores the reports.

It sleeps until something is due or something has happened, and holds nothing that is not also in the store: a parcel
that it held when it died is taken again, by itself or by another hub, when the lease has ended.
"""

import asyncio
import logging
import random
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Protocol

from hubbub.core.log import outbox, webhooks
from hubbub.core.log.outbox import OutboxJob
from hubbub.model.errors import StoreUnavailable
from hubbub.model.log.outbox_items import AttemptReport, AttemptResult, OutboxItemKind
from hubbub.model.people.rights import SYSTEM
from hubbub.model.records import Activity
from hubbub.store.tx import Store

log = logging.getLogger(__name__)

AT_ONCE = 8  # attempts under way
ATTEMPT = timedelta(seconds=30)  # the longest; shorter than a lease
GATHER = timedelta(milliseconds=20)  # activities within it are handled together
POLL = timedelta(seconds=30)  # how long a lost hint may delay a parcel
PAUSE = timedelta(seconds=1)  # with a store that is away
GRACE = timedelta(seconds=1)  # for attempts under way when the hub stops


class Deliverer(Protocol):
    """A courier for parcels of one kind."""

    async def deliver(self, errand: OutboxJob) -> AttemptReport:
        """Make one attempt, and report on it. Every failure except a bug is a report, not an exception."""

    async def close(self) -> None: ...


class Outbox:
    """The deliveries of one hub, for one event loop. Works while `run` runs."""

    def __init__(
        self,
        store: Store,
        couriers: Mapping[OutboxItemKind, Deliverer],
        *,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """Set up the deliveries; `chance` gives numbers from 0 to 1, which spread the waits after failures."""
        self._store, self._couriers, self._chance = store, couriers, chance
        self._news = asyncio.Event()
        self._under_way: dict[asyncio.Task[None], OutboxJob] = {}

    def hear(self, activities: Sequence[Activity]) -> None:
        """Note that activities may have put something into the outbox."""
        if activities:
            self._news.set()

    async def run(self) -> None:
        """Keep delivering, until cancelled; then attempts under way have a moment to end."""
        try:
            while True:
                wait = await self._turn()
                try:
                    async with asyncio.timeout(wait.total_seconds()):
                        await self._news.wait()
                except TimeoutError:
                    continue
                await asyncio.sleep(GATHER.total_seconds())
                self._news.clear()
        finally:
            await self._stop()

    async def _turn(self) -> timedelta:
        """Put and begin all that can be, and return how long there is nothing to do unless something happens."""
        try:
            for webhook_id in await self._store.read(SYSTEM, webhooks.behind):
                while await self._store.write(SYSTEM, partial(webhooks.advance, webhook_id=webhook_id)):
                    pass
            while (free := AT_ONCE - len(self._under_way)) > 0:
                wait = await self._store.read(SYSTEM, outbox.next_in)
                if wait is None or wait > timedelta():
                    return min(wait or POLL, POLL)
                taken = await self._store.write(SYSTEM, partial(outbox.take, limit=free))
                if not taken:  # another hub was faster
                    return GATHER
                for errand in taken:
                    self._begin(errand)
        except StoreUnavailable as error:
            log.warning("nothing leaves the hub: %s", error)
            return PAUSE
        return POLL  # the end of any attempt is news

    def _begin(self, errand: OutboxJob) -> None:
        def ended(task: "asyncio.Task[None]") -> None:
            del self._under_way[task]
            self._news.set()

        task = asyncio.create_task(self._carry(errand))
        self._under_way[task] = errand
        task.add_done_callback(ended)

    async def _carry(self, errand: OutboxJob) -> None:
        """Make one attempt and store its report, however long the store is away."""
        report, chance = await self._attempt(errand), self._chance()
        while True:
            try:
                await self._store.write(SYSTEM, lambda tx: outbox.note(tx, errand, report, chance))
            except StoreUnavailable as error:
                log.warning("it is not noted yet what came of a delivery: %s", error)
                await asyncio.sleep(PAUSE.total_seconds())
            else:
                return

    async def _attempt(self, errand: OutboxJob) -> AttemptReport:
        try:
            async with asyncio.timeout(ATTEMPT.total_seconds()):
                return await self._couriers[errand.parcel.kind].deliver(errand)
        except TimeoutError:
            return AttemptReport(
                fate=AttemptResult.FAILED, reason=f"it took longer than {ATTEMPT.seconds} s", doubtful=True
            )
        except Exception:  # a bug, which must neither stop the hub nor be hit again at once
            log.exception("a delivery failed, and should not have")
            reason = "something is wrong in the hub; its log says what"
            return AttemptReport(fate=AttemptResult.FAILED, reason=reason, doubtful=True)

    async def _stop(self) -> None:
        if self._under_way:
            await asyncio.wait(self._under_way, timeout=GRACE.total_seconds())
        left = dict(self._under_way)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        try:
            if left:
                await self._store.write(SYSTEM, partial(outbox.let_go, errands=list(left.values())))
        except StoreUnavailable as error:
            log.warning("deliveries under way are tried again only when their leases have ended: %s", error)
        for courier in self._couriers.values():
            await courier.close()
