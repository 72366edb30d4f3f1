"""Noting who was told of a letter."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

import pytest

from hubbub.core.actions import inbox
from hubbub.core.agents import agents
from hubbub.core.people import projects
from hubbub.core.transaction import Transactions
from hubbub.core.work import tasks
from hubbub.model.people.rights import SYSTEM, Actor
from hubbub.model.records import Activity, Letter, Project
from hubbub.serve.live.delivery_receipts import DeliveryReceipts
from hubbub.store.log import activity as log_of
from hubbub.store.log.activity import START
from hubbub.store.tx import Operation, Store, Tx

pytestmark = pytest.mark.anyio

T = TypeVar("T")


class Watched(Transactions):
    """Transactions that say when one has been written."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.written = asyncio.Event()

    def write(self, actor: Actor, operation: Operation[T], *, short: bool = False) -> Awaitable[T]:
        async def write() -> T:
            result = await super(Watched, self).write(actor, operation, short=short)
            self.written.set()
            return result

        return write()


async def test_letters_are_noted_together_and_once(store: Store) -> None:
    """Every letter told of gets the time of being told, in one transaction for many; others do not."""
    transactions = Watched(store)
    notified = DeliveryReceipts(transactions)

    def send(tx: Tx) -> Project:
        project = projects.create(tx, "here")
        for name in ("a", "b"):
            agents.meet(tx, project.id, name)
        for name in ("a", "a", "b"):
            tasks.send(tx, project.id, sender="hub", to=name, text="work")
        return project

    def read(tx: Tx) -> dict[str, list[Letter]]:
        return {name: inbox.read(tx, project.id, name, 10) for name in ("a", "b")}

    def activities(tx: Tx) -> list[Activity]:
        return log_of.tail(tx, START, 100).activities

    project = await store.write(SYSTEM, send)
    told = [each for each in await store.read(SYSTEM, activities) if each.agent == "a"]
    working = asyncio.create_task(notified.run())
    notified.note(told)
    await asyncio.wait_for(transactions.written.wait(), 10)
    working.cancel()
    found = await store.read(SYSTEM, read)
    assert all(letter.delivery.notified_at for letter in found["a"])
    assert len(found["a"]) == 2
    assert found["b"][0].delivery.notified_at is None
