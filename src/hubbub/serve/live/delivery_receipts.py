"""Receipts of letters: their progress, stored afterwards and in batches."""

import asyncio
import logging
from collections.abc import Iterable
from datetime import timedelta
from uuid import UUID

from hubbub.core.mail import messages
from hubbub.core.transaction import Transactions
from hubbub.model.errors import StoreUnavailable
from hubbub.model.people.rights import SYSTEM
from hubbub.model.records import Activity
from hubbub.store.tx import Operation, Tx

log = logging.getLogger(__name__)

GATHER = timedelta(milliseconds=200)


class DeliveryReceipts:
    """The receipts that are not stored yet. Works while `run` runs."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions
        self._told: dict[UUID, None] = {}
        self._asked: list[Operation[None]] = []
        self._news = asyncio.Event()

    def note(self, activities: Iterable[Activity]) -> None:
        """Note that a follower was told of these activities; those about a letter in an inbox count."""
        for activity in activities:
            if isinstance(delivery_id := activity.detail.get("delivery_id"), str):
                self._told[UUID(delivery_id)] = None
                self._news.set()

    def do(self, operation: Operation[None]) -> None:
        """Queue a write that nobody should wait for."""
        self._asked.append(operation)
        self._news.set()

    async def run(self) -> None:
        """Keep storing, until cancelled; a failed write is dropped, as receipts are a courtesy."""
        while True:
            await self._news.wait()
            await asyncio.sleep(GATHER.total_seconds())
            self._news.clear()
            told, self._told = list(self._told), {}
            asked, self._asked = self._asked, []

            def note(tx: Tx) -> None:
                messages.note_notified(tx, told)  # noqa: B023  # it is over before the next turn
                for operation in asked:  # noqa: B023
                    operation(tx)

            try:
                await self._transactions.write(SYSTEM, note)
            except StoreUnavailable as error:
                log.warning("%d letters were not noted: %s", len(told) + len(asked), error)
