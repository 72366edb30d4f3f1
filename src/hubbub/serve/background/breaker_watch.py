"""The breaker watch: follows the log, and stops agents that repeat themselves."""

import asyncio
import logging
from collections.abc import Sequence

from hubbub.core.limits import breakers
from hubbub.core.limits.loops import LoopDetector
from hubbub.core.transaction import Transactions
from hubbub.model.errors import StoreUnavailable
from hubbub.model.limits.breakers import Loop
from hubbub.model.people.rights import SYSTEM
from hubbub.model.records import Activity

log = logging.getLogger(__name__)


class BreakerWatch:
    """Reads activities after they were written. It works while `run` runs."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions
        self._detector: LoopDetector | None = None
        self._found: asyncio.Queue[Loop] = asyncio.Queue()

    def hear(self, activities: Sequence[Activity]) -> None:
        """Check the activities for loops; a few steps in memory for each."""
        if self._detector is not None:
            for loop in self._detector.take(activities):
                self._found.put_nowait(loop)

    async def run(self) -> None:
        """Keep stopping agents in loops, until cancelled."""
        self._detector = LoopDetector(await self._transactions.read(SYSTEM, breakers.all_rules))
        while True:
            loop = await self._found.get()
            try:
                await self._transactions.write(SYSTEM, lambda tx: breakers.trip(tx, loop))  # noqa: B023
            except StoreUnavailable as error:
                log.warning("agents that go round in a circle were not stopped: %s", error)
