"""The last tool of each agent: remembered while calls are answered, and stored in batches."""

import asyncio
import logging
from datetime import timedelta
from uuid import UUID

from hubbub.core.agents import last_activity
from hubbub.core.transaction import Transactions
from hubbub.model.errors import StoreUnavailable
from hubbub.model.people.rights import SYSTEM
from hubbub.store.tx import Tx, unix_ms

log = logging.getLogger(__name__)

GATHER = timedelta(seconds=5)


class LastTools:
    """The calls that are not stored yet. Works while `run` runs."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions
        self._seen: dict[tuple[UUID, str], tuple[str, int]] = {}
        self._news = asyncio.Event()

    def saw(self, project_id: UUID, agent: str, tool: str) -> None:
        """Note that an agent of the project has just called a tool."""
        self._seen[project_id, agent] = tool, unix_ms()
        self._news.set()

    async def run(self) -> None:
        """Keep storing, until cancelled; a failed write is dropped, as more will come."""
        while True:
            await self._news.wait()
            await asyncio.sleep(GATHER.total_seconds())
            self._news.clear()
            try:
                await self._write()
            except StoreUnavailable as error:
                log.warning("the last calls of tools were not noted: %s", error)

    async def _write(self) -> None:
        seen, self._seen = self._seen, {}

        def note(tx: Tx) -> None:
            for (project_id, agent), (tool, at) in sorted(seen.items()):
                last_activity.note(tx, project_id, agent, tool=tool, tool_at=at)

        await self._transactions.write(SYSTEM, note)
