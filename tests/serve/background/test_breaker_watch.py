"""The breaker watch, which counts the end of the log again after a restart."""

import asyncio
from itertools import count

import pytest

from hubbub.core.transaction import Transactions
from hubbub.model.people.rights import SYSTEM
from hubbub.serve.background import breaker_watch
from hubbub.serve.background.breaker_watch import BreakerWatch
from hubbub.store.tx import Store

PAGES = 5


def test_the_past_is_counted_beside_the_event_loop(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a new hub counts the past for circles, page after page, the event loop does other work between them."""
    monkeypatch.setattr(breaker_watch, "PAGE", 1)
    for _ in range(PAGES):
        store.write_now(SYSTEM, lambda tx: tx.record("agent.met", project_id=None, actor="ann"))
    turns = count()

    async def work() -> None:
        while True:
            next(turns)
            await asyncio.sleep(0)

    async def start() -> None:
        working = asyncio.create_task(work())
        await BreakerWatch(Transactions(store))._recall()
        working.cancel()

    asyncio.run(start())
    assert next(turns) >= PAGES
