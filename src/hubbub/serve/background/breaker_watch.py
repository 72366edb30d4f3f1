"""The breaker watch: follows the log, and stops agents that repeat themselves."""

import asyncio
import logging
from collections.abc import Sequence
from datetime import timedelta

from hubbub.core.limits import breakers
from hubbub.core.limits.loops import LoopDetector
from hubbub.core.log import activity
from hubbub.core.log.activity import START, Page, Position
from hubbub.core.transaction import Transactions
from hubbub.model.errors import StoreUnavailable
from hubbub.model.limits.breakers import Loop
from hubbub.model.people.rights import SYSTEM
from hubbub.model.records import Activity

RECALLED = 10_000  # activities at the end of the log that are counted again after a restart
PAGE = 200  # of them read at once
PAUSE = timedelta(seconds=1)  # before another try, while the store cannot be read

log = logging.getLogger(__name__)


class BreakerWatch:
    """Reads activities after they were written. It works while `run` runs."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions
        self._detector: LoopDetector | None = None
        self._early: list[Activity] = []  # heard before the past was counted
        self._counted = START  # the place in the log up to which the past was counted
        self._found: asyncio.Queue[Loop] = asyncio.Queue()

    def hear(self, activities: Sequence[Activity]) -> None:
        """Check the activities for loops; a few steps in memory for each."""
        if self._detector is None:
            self._early.extend(activities)
            return
        for loop in self._detector.take(each for each in activities if _place(each) > self._counted):
            self._found.put_nowait(loop)

    async def run(self) -> None:
        """Keep stopping agents in loops, until cancelled."""
        while self._detector is None:
            try:
                await self._recall()
            except StoreUnavailable as error:
                log.warning("the end of the log was not counted for circles, and is again: %s", error)
                await asyncio.sleep(PAUSE.total_seconds())
        while True:
            loop = await self._found.get()
            try:
                await self._transactions.write(SYSTEM, lambda tx: breakers.trip(tx, loop))  # noqa: B023
            except StoreUnavailable as error:
                log.warning("agents that go round in a circle were not stopped: %s", error)

    async def _recall(self) -> None:
        """Count the end of the log: a loop may have begun before this process."""
        detector = LoopDetector(await self._transactions.read(SYSTEM, breakers.all_rules))
        self._counted = await self._transactions.read(SYSTEM, lambda tx: activity.before_last(tx, RECALLED))
        found: dict[tuple[object, ...], Loop] = {}
        while (page := await self._next()).activities:
            detector.recall(page.activities, found)
            self._counted = page.position
        for loop in found.values():
            self._found.put_nowait(loop)
        self._detector, early, self._early = detector, self._early, []
        self.hear(early)

    async def _next(self) -> Page:
        """Read a page in a thread: one after the other on the event loop, all of them would hold it up."""
        return await self._transactions.read(
            SYSTEM, lambda tx: activity.tail(tx, self._counted, PAGE), long=True
        )


def _place(happened: Activity) -> Position:
    return Position(happened.tx, happened.seq)
