"""The echoes of all projects: each is present while the hub runs, and answers its mail."""

import asyncio
import logging
from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from uuid import UUID

from hubbub.core import echo_agent
from hubbub.core.transaction import Transactions
from hubbub.model.errors import StoreUnavailable
from hubbub.model.people.rights import SYSTEM
from hubbub.model.records import Activity

log = logging.getLogger(__name__)

BEAT = timedelta(seconds=30)


class EchoAgents:
    """Works while `run` runs. A hub without an echo waits for one to come, and does nothing."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions
        self._projects: set[UUID] = set()
        self._news = asyncio.Event()

    def hear(self, activities: Iterable[Activity]) -> None:
        """Note the activities; it does not block."""
        for each in activities:
            if each.agent == echo_agent.NAME and each.project_id is not None:
                self._projects.add(each.project_id)
                self._news.set()

    async def run(self) -> None:
        """Keep the echoes present and answer their mail, until cancelled."""
        self._projects.update(await self._transactions.read(SYSTEM, echo_agent.projects))
        while True:
            self._news.clear()
            for project_id in [*self._projects]:
                await self._attend(project_id)
            with suppress(TimeoutError):
                async with asyncio.timeout(BEAT.total_seconds() if self._projects else None):
                    await self._news.wait()

    async def _attend(self, project_id: UUID) -> None:
        try:
            is_there = await self._transactions.write(
                SYSTEM, partial(echo_agent.attend, project_id=project_id)
            )
        except StoreUnavailable as error:
            log.warning("the echo could not answer: %s", error)
            return
        if not is_there:
            self._projects.discard(project_id)
