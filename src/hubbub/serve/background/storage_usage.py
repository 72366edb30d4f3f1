"""Sums of the bytes that tokens have stored: counted while calls are answered, stored seconds later."""

import asyncio
import logging
from datetime import timedelta

from hubbub.core.people.quotas import Quotas
from hubbub.model.errors import StoreUnavailable
from hubbub.model.people.rights import SYSTEM
from hubbub.store.tx import Store

log = logging.getLogger(__name__)

EVERY = timedelta(seconds=5)


class StorageUsage:
    """Works while `run` runs. It lets several hubs over one store count together, and sums survive a restart."""

    def __init__(self, store: Store, quotas: Quotas) -> None:
        self._store = store
        self._quotas = quotas

    async def run(self) -> None:
        """Keep adding, until cancelled; then once more, so that a stopping hub leaves nothing behind."""
        if not self._quotas.limits.stored:
            return
        await self.add()
        try:
            while True:
                await asyncio.sleep(EVERY.total_seconds())
                await self.add()
        finally:
            await self.add()

    async def add(self) -> None:
        """Store the new bytes, and read those of other hubs."""
        taken = self._quotas.take_unsaved()
        try:
            if taken:
                stored = await self._store.write(SYSTEM, lambda tx: self._quotas.save(tx, taken))
            else:
                stored = await self._store.read(SYSTEM, self._quotas.read)
        except StoreUnavailable as error:
            log.warning("what tokens have stored was not added up: %s", error)
            self._quotas.give_back(taken)
        else:
            self._quotas.learn(stored)
