"""The journal as the event loop uses it."""

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

import pytest

from hubbub.model.ids import new_id
from hubbub.node.link.async_journal import AsyncJournal
from hubbub.node.link.journal import FILE, CallStanding, Journal, JournalFailed

pytestmark = pytest.mark.anyio


class SlowJournal(Journal):
    """Waits until it may write, and counts what is written at a time."""

    def __init__(self, file: Path) -> None:
        super().__init__(file)
        self.begun, self.may = threading.Event(), threading.Event()
        self.batches: list[int] = []

    def begin(self, orders: Sequence[UUID]) -> list[CallStanding]:
        self.begun.set()
        self.may.wait()
        self.batches.append(len(orders))
        return super().begin(orders)


async def test_what_comes_meanwhile_is_written_down_together(tmp_path: Path) -> None:
    """Orders that come while one is written down wait for one write, and each hears how it stands."""
    journal = SlowJournal(tmp_path / FILE)
    scribe, ids = AsyncJournal(journal), [new_id() for _ in range(4)]
    first = asyncio.create_task(scribe.note(ids[0]))
    await asyncio.to_thread(journal.begun.wait)
    others = [asyncio.create_task(scribe.note(each)) for each in (*ids[1:], ids[0])]
    await asyncio.sleep(0)
    journal.may.set()
    assert [await each for each in (first, *others)] == [*[CallStanding.NEW] * 4, CallStanding.BEGUN]
    assert journal.batches == [1, 4]
    scribe.close()
    journal.close()


async def test_what_cannot_be_written_down_is_told_to_each(tmp_path: Path) -> None:
    """Where the disk takes nothing, nobody may begin; a later order is tried anew."""
    journal = Journal(tmp_path / FILE)
    journal.close()
    scribe = AsyncJournal(journal)
    told = await asyncio.gather(*(scribe.note(new_id()) for _ in range(3)), return_exceptions=True)
    assert [type(each) for each in told] == [JournalFailed] * 3
    with pytest.raises(JournalFailed):
        await scribe.note(new_id())
    scribe.close()
