"""Noting which letters somebody who follows an inbox was told of: after the fact, and many at once."""

import asyncio
import logging
from collections.abc import Iterable
from datetime import timedelta
from functools import partial
from uuid import UUID

from hubbub.core import messages
from hubbub.core.transaction import Transactions
from hubbub.model.errors import StoreUnavailable
from hubbub.model.records import Activity
from hubbub.model.rights import SYSTEM

log = logging.getLogger(__name__)

GATHER = timedelta(milliseconds=200)


class Notified:
    """What was told and is not noted yet. It works while `run` runs."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions
        self._told: dict[UUID, None] = {}
        self._news = asyncio.Event()

    def note(self, activities: Iterable[Activity]) -> None:
        """Somebody was told of these activities; those about a letter in an inbox count."""
        for activity in activities:
            if isinstance(delivery_id := activity.detail.get("delivery_id"), str):
                self._told[UUID(delivery_id)] = None
                self._news.set()

    async def run(self) -> None:
        """Keep noting, until cancelled; what could not be noted just then is dropped, as it is a courtesy."""
        while True:
            await self._news.wait()
            await asyncio.sleep(GATHER.total_seconds())
            self._news.clear()
            told, self._told = list(self._told), {}
            try:
                await self._transactions.write(SYSTEM, partial(messages.note_notified, delivery_ids=told))
            except StoreUnavailable as error:
                log.warning("%d letters were not noted as notified: %s", len(told), error)
