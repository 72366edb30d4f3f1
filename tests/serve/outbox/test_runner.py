"""The outbox at work: when it looks, how it stops, and several hubs at once."""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from hubbub.core.log import outbox
from hubbub.core.log.outbox import OutboxJob
from hubbub.model.errors import StoreUnavailable
from hubbub.model.log.outbox_items import AttemptReport, AttemptResult, OutboxItemKind
from hubbub.serve.outbox import runner
from hubbub.serve.outbox.runner import Outbox
from hubbub.store.engine.postgres import Postgres
from hubbub.store.tx import Store
from tests.serve.outbox.outbox_desk import Desk
from tests.serve.outbox.receivers import HANGS, FakeGitHub, Receiver

pytestmark = pytest.mark.anyio


class Scripted:
    """A courier that does as it is told."""

    def __init__(self, *reports: AttemptReport | Exception) -> None:
        self.reports = list(reports)
        self.errands: list[OutboxJob] = []
        self.delivered = asyncio.Event()
        self.closed = False

    async def deliver(self, errand: OutboxJob) -> AttemptReport:
        self.errands.append(errand)
        report = self.reports.pop(0) if self.reports else AttemptReport(fate=AttemptResult.DELIVERED)
        if isinstance(report, Exception):
            raise report
        if report.fate is AttemptResult.DELIVERED:
            self.delivered.set()
        return report

    async def close(self) -> None:
        self.closed = True


class Slow(Scripted):
    """A courier that delivers when it is let to."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.may_end = asyncio.Event(), asyncio.Event()

    async def deliver(self, errand: OutboxJob) -> AttemptReport:
        self.begun.set()
        await self.may_end.wait()
        return await super().deliver(errand)


@asynccontextmanager
async def working(store: Store, courier: Scripted) -> AsyncIterator[Outbox]:
    leaving = Outbox(store, {OutboxItemKind.COMMENT: courier}, chance=lambda: 0.0)
    task = asyncio.create_task(leaving.run())
    yield leaving
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_it_looks_when_something_is_due(issues: Desk) -> None:
    """A parcel that has to wait is tried when its time has come, though nothing happens and nobody says so."""
    issues.complete()
    courier = Scripted(AttemptReport(fate=AttemptResult.FAILED, wait=timedelta(milliseconds=100)))
    async with working(issues.store, courier), asyncio.timeout(20):
        await courier.delivered.wait()
    assert [errand.parcel.attempts for errand in courier.errands] == [1, 2]
    assert courier.closed


async def test_a_bug_stops_neither_the_hub_nor_the_parcel(
    issues: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    """A courier that breaks is logged with its trace, and the parcel is tried again later, as any that failed."""
    issues.complete()
    courier = Scripted(RuntimeError("the secret is 42"))
    async with working(issues.store, courier), asyncio.timeout(20):
        await courier.delivered.wait()
    assert "RuntimeError" in caplog.text
    (failed,) = issues.log("outbox.failed")
    assert failed.detail["reason"] == "something is wrong in the hub; its log says what"


async def test_a_store_that_is_away_is_waited_for(
    issues: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """While the store is away nothing is lost: it is looked again, and what came of an attempt is noted later."""
    monkeypatch.setattr(runner, "PAUSE", timedelta(milliseconds=1))
    caplog.set_level(logging.WARNING)
    failures = {"take": 2, "note": 2}

    def failing(name: str) -> None:
        real = getattr(outbox, name)

        def sometimes(tx: object, *arguments: object, **more: object) -> object:
            if failures[name]:
                failures[name] -= 1
                raise StoreUnavailable("the disk is full")
            return real(tx, *arguments, **more)

        monkeypatch.setattr(outbox, name, sometimes)

    for name in failures:
        failing(name)
    issues.complete()
    async with issues.delivering():
        await issues.until("outbox.delivered")
    assert failures == {"take": 0, "note": 0}
    assert len(issues.receiver.received) == 1
    assert "nothing leaves the hub" in caplog.text


async def test_what_is_under_way_may_end_when_the_hub_stops(
    issues: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An attempt that ends within the moment of grace is noted."""
    monkeypatch.setattr(runner, "GRACE", timedelta(seconds=20))
    courier = Slow()
    issues.complete()
    async with working(issues.store, courier), asyncio.timeout(20):
        await courier.begun.wait()
        asyncio.get_running_loop().call_later(0.05, courier.may_end.set)
    assert len(issues.log("outbox.delivered")) == 1


async def test_what_is_not_done_when_the_hub_stops_is_done_by_the_next(
    issues: Desk, github: FakeGitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A delivery that takes longer is let go of: the next hub takes it on at once, and looks whether it arrived."""
    monkeypatch.setattr(runner, "GRACE", timedelta(milliseconds=1))
    github.script += [HANGS]
    issues.complete()
    async with issues.delivering():
        await issues.arrived()
    assert [parcel.leased_until for parcel in issues.parcels()] == [0]
    async with issues.delivering():
        await issues.until("outbox.delivered")
    assert github.calls == ["POST", "GET", "POST"]


async def test_many_are_under_way_at_once(issues: Desk, github: FakeGitHub) -> None:
    """One receiver that keeps silent does not keep the others waiting."""
    github.script += [HANGS]
    for number in range(1, 13):
        issues.complete(issue=f"octo/parser#{number}")
    async with issues.delivering():
        await issues.until("outbox.delivered", 11)
        github.over.set()
        await issues.until("outbox.delivered", 12)
    assert len(github.comments) == 12


@pytest.mark.system
async def test_two_hubs_deliver_each_thing_once(postgres_url: str, receiver: Receiver) -> None:
    """Two hubs over one PostgreSQL share the work: each thing goes out once, a webhook's one after the other."""
    with_github = FakeGitHub()
    stores = [Postgres.open(postgres_url) for _ in range(2)]
    try:
        with with_github.serving():
            desk = Desk(stores[0], receiver)
            issues = Desk(stores[0], with_github, desk.project)
            desk.add_webhook("todo.*")
            marks = [f"todo.{letter * 2}" for letter in "abcdefghijklmnopqrstuvwxyz"]
            async with (
                desk.delivering(store=stores[0]),
                desk.delivering(store=stores[1]),
            ):
                desk.happen(*marks)
                await desk.until("outbox.delivered", len(marks))
            async with (
                issues.delivering(store=stores[0]),
                issues.delivering(store=stores[1]),
            ):
                for number in range(1, 21):
                    issues.complete(issue=f"octo/parser#{number}")
                await issues.until("outbox.delivered", len(marks) + 20)
    finally:
        for store in stores:
            store.close()
    assert [received.json["kind"] for received in receiver.received] == marks
    assert Counter(with_github.calls) == {"POST": 20}
    assert len({received.path for received in with_github.received}) == 20
