"""A machine's way to a hub elsewhere, when that is away. The rest of it: `tests/serve/fleet/test_hub_services.py`."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from hubbub.model.errors import HubError, StoreUnavailable
from hubbub.model.fleet.calls import Ruling
from hubbub.node.requests import hub_client
from hubbub.node.requests.http_transport import HttpTransport
from hubbub.node.requests.hub_client import HubClient as NodeHub
from tests.serve.fleet.service_routes import ANN, answer, question
from tests.serve.served_hub import Hub, running_hub

pytestmark = pytest.mark.anyio

MINUTE = timedelta(seconds=60)
NOWHERE = "http://127.0.0.1:9"  # a port where nobody listens


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    with running_hub(tmp_path / "hub") as running:
        yield running


class Road:
    """An address that can be taken away and given back."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked = asyncio.Event()  # for an address at which there is nothing

    def __call__(self) -> str:
        if self.url == NOWHERE:
            self.asked.set()
        return self.url


@asynccontextmanager
async def machine(road: Road, token: str, project: str | None = None) -> AsyncIterator[NodeHub]:
    wire = HttpTransport(road, token, "box", project=project)
    try:
        yield NodeHub(wire)
    finally:
        await wire.close()


async def test_a_hub_that_comes_back_in_time_has_the_answer(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the machine waits the hub may go and come back elsewhere: what was answered there is told."""
    monkeypatch.setattr("hubbub.node.requests.http_transport.RETRY_EVERY", 0.01)
    road = Road(hub.url)
    async with machine(road, hub.token()) as remote:
        approval_id = await remote.put(question(), MINUTE)
        road.url = NOWHERE
        waiting = asyncio.create_task(remote.answer(approval_id))
        await road.asked.wait()
        await answer(hub, approval_id, approved=True)
        road.url = hub.url
        assert (await waiting).ruling is Ruling.APPROVED


async def test_the_hub_says_when_the_time_is_over(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine whose own time is over asks the hub, which took the question later and may have a yes by now."""
    async with machine(Road(hub.url), hub.token()) as remote:
        approval_id = await remote.put(question(), MINUTE)
        await answer(hub, approval_id, approved=True)
        monkeypatch.setattr(hub_client._Asked, "left", timedelta(seconds=-1))
        assert (await remote.answer(approval_id)).ruling is Ruling.APPROVED


async def test_a_hub_that_stays_away_has_not_answered(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the time is over and the hub is still away, nobody has answered, which is a no."""
    monkeypatch.setattr("hubbub.node.requests.http_transport.LATE", 0.0)
    road = Road(hub.url)
    async with machine(road, hub.token()) as remote:
        approval_id = await remote.put(question(), timedelta(milliseconds=200))
        road.url = NOWHERE
        told = await remote.answer(approval_id)
    assert (told.ruling, told.by) == (Ruling.EXPIRED, None)


async def test_a_hub_that_is_away_takes_nothing() -> None:
    """Where there is no hub, neither a question nor a task nor a head is taken, and the machine is told."""
    async with machine(Road(NOWHERE), "ntok_x") as remote:
        for attempt in (
            remote.ask(question(), MINUTE),
            remote.begin_task(ANN, "t", "d"),
            remote.end_task("x", text="", failed=False),
            remote.seal(1, "a" * 64),
        ):
            with pytest.raises(StoreUnavailable):
                await attempt


async def test_a_token_that_is_none_is_refused(hub: Hub) -> None:
    """A refusal of the hub is a refusal with its sentence."""
    async with machine(Road(hub.url), "ntok_wrong") as remote:
        with pytest.raises(HubError, match="token"):
            await remote.ask(question(), MINUTE)


async def test_a_bound_token_speaks_for_its_agent(hub: Hub) -> None:
    """A machine that works for one agent asks in that one's name, and ends that one's errands only."""
    async with (
        machine(Road(hub.url), hub.token("ann")) as ann,
        machine(Road(hub.url), hub.token("bob")) as bob,
    ):
        task_id = await ann.begin_task(ANN, "count", "count the lines")
        with pytest.raises(HubError):
            await bob.end_task(task_id, text="x", failed=False)
        with pytest.raises(HubError):
            await bob.put(question(), MINUTE)
        await ann.end_task(task_id, text="three", failed=False)


async def test_a_project_can_be_named(hub: Hub) -> None:
    """With a person's token the project is said; without, the hub asks for it."""
    hub.other_project()
    async with machine(Road(hub.url), hub.owner_secret, "elsewhere") as remote:
        await remote.seal(1, "a" * 64)
    async with machine(Road(hub.url), hub.owner_secret) as nameless:
        with pytest.raises(HubError, match="name the project"):
            await nameless.seal(1, "a" * 64)


async def test_an_older_hub_is_to_be_brought_up_to_date(hub: Hub) -> None:
    """Where a hub knows of no such request, the machine is told what to do; a task that is gone is only not found."""
    async with machine(Road(f"{hub.url}/older"), hub.token()) as remote:
        with pytest.raises(HubError, match="upgrade the hub"):
            await remote.ask(question(), MINUTE)
    async with machine(Road(hub.url), hub.token()) as remote:
        with pytest.raises(HubError, match="not found"):
            await remote.end_task("x", text="", failed=False)
