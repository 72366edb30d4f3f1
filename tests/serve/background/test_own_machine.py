"""The hub's own machine, present in the projects that it serves."""

import asyncio
from datetime import timedelta
from functools import partial

import pytest

from hubbub.core.fleet import nodes
from hubbub.core.people import access, projects, users
from hubbub.core.transaction import Transactions
from hubbub.model.fleet.calls import NodeCall, NodeInfo, PerformCall, ToolResult
from hubbub.model.people.rights import SYSTEM
from hubbub.model.records import Project
from hubbub.serve.background import node_heartbeat
from hubbub.serve.background.node_heartbeat import OwnMachinePresence
from hubbub.store.log import activity
from hubbub.store.tx import Store
from tests.support.waiting import until_soon


class Box:
    """A machine that nobody calls."""

    about = NodeInfo(name="box", machine_id="m-1", platform="Linux", version="1.0", sandbox="bwrap")
    name, runtime = about.name, None

    async def perform(self, order: NodeCall, act: PerformCall | None = None) -> ToolResult:
        raise NotImplementedError


class Presence(OwnMachinePresence):
    """The machine's presence in the projects of a new hub's owner, who makes more of them."""

    def __init__(self, store: Store) -> None:
        secret = store.write_now(SYSTEM, users.first_start)
        assert secret
        self._store, self._owner = store, store.write_now(SYSTEM, lambda tx: access.authenticate(tx, secret))
        self.reports = 0  # to one project or another
        super().__init__(Transactions(store), Box(), self._measure)

    def _measure(self) -> None:
        self.reports += 1

    def make_project(self, slug: str) -> Project:
        return self._store.write_now(self._owner, lambda tx: projects.create(tx, slug))

    def hear_of(self, project: Project) -> None:
        self.hear(self._store.read_now(SYSTEM, lambda tx: activity.history(tx, project.id, limit=100)))

    def is_in(self, project: Project) -> bool:
        return bool(self._store.read_now(SYSTEM, lambda tx: nodes.listed(tx, project)))


@pytest.fixture
def presence(store: Store) -> Presence:
    return Presence(store)


def report_every(time: timedelta, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_heartbeat, "REPORT_EVERY", time)


def test_a_new_project_costs_the_others_nothing(presence: Presence, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many projects a hub has, a new one is told of the machine at once, and no other is told again."""
    report_every(timedelta(days=1), monkeypatch)
    presence.make_project("a-shop")

    async def make_more() -> int:
        async with presence.kept():
            before = presence.reports
            for slug in ("m-shop", "z-shop"):
                made = presence.make_project(slug)
                presence.hear_of(made)
                await until_soon(partial(presence.is_in, made), "the machine in the new project")
        return presence.reports - before

    assert asyncio.run(make_more()) == 2


def test_news_keep_no_report_back(presence: Presence, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project in which nothing changes is told of the machine in time, however often there is news of others."""
    report_every(timedelta(milliseconds=50), monkeypatch)
    project = presence.make_project("a-shop")

    async def hear_without_end() -> None:
        while True:
            presence.hear_of(project)
            await asyncio.sleep(0)

    async def stay() -> None:
        async with presence.kept():
            hearing = asyncio.create_task(hear_without_end())
            before = presence.reports
            await until_soon(lambda: presence.reports > before, "one more report")
            hearing.cancel()

    asyncio.run(stay())
