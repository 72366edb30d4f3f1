"""Three hubs over one PostgreSQL, killed one after the other, behind a balancer that gives each request to any."""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import pytest
from mcp.client import Client
from mcp.client.client import ConnectMode
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from hubbub.client import owner_token
from hubbub.model.fleet.calls import Ruling
from hubbub.node.requests.http_transport import HttpTransport
from hubbub.node.requests.hub_client import HubClient as NodeHub
from tests.dialects.plain_line import NEWEST
from tests.dialects.running_hub import NO_TLS
from tests.serve.fleet.service_routes import question
from tests.serve.mcp.test_connections import SESSION
from tests.serve.mcp.wire import BOTH, LEGACY, message
from tests.stories.balanced_hubs import Behind, behind
from tests.support.waiting import patience, until_soon

pytestmark = [pytest.mark.anyio, pytest.mark.system]

Json = dict[str, Any]
T = TypeVar("T")

KILLS = 4  # each hub, and one of them again
PAGE = 7
GONE = (httpx2.TransportError, TimeoutError)  # what a killed hub leaves of a request
SAID = (HTTPStatus.OK, HTTPStatus.CONFLICT)  # now, or before its hub was killed
EACH_ITS_OWN = httpx2.Limits(max_keepalive_connections=0)  # connection


class WholeAnswers(httpx2.AsyncHTTPTransport):
    """Answers a POST with 502 if its hub is killed in the middle of the answer: the official client would end there."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method != "POST":
            return await super().handle_async_request(request)
        try:
            response = await super().handle_async_request(request)
            await response.aread()
        except httpx2.TransportError:
            return httpx2.Response(HTTPStatus.BAD_GATEWAY, request=request)
        return response


@pytest.fixture
def hubs(tmp_path: Path, postgres_url: str) -> Iterator[Behind]:
    with behind(tmp_path, postgres_url) as made:
        yield made


@dataclass
class Office:
    """Everybody who works at the three hubs, all by the balancer's address."""

    url: str
    owner: httpx2.AsyncClient
    killed: asyncio.Event = field(default_factory=asyncio.Event)  # often enough
    done: asyncio.Event = field(default_factory=asyncio.Event)  # all is sent
    listening: asyncio.Event = field(default_factory=asyncio.Event)
    updates: int = 0  # of what an old client follows
    sent: list[str] = field(default_factory=list)  # texts whose sending was answered

    async def token(self, agent: str) -> str:
        made = await self.owner.post("/tokens", json={"agent": agent})
        assert made.is_success, made.text
        return str(made.json()["secret"])

    @asynccontextmanager
    async def client(self, agent: str, mode: ConnectMode) -> AsyncIterator[Client]:
        """The official client of either age, for which each request is a connection of its own."""
        headers = {"Authorization": f"Bearer {await self.token(agent)}"}
        http = httpx2.AsyncClient(
            headers=headers, timeout=patience(), transport=WholeAnswers(verify=NO_TLS, limits=EACH_ITS_OWN)
        )
        transport = streamable_http_client(f"{self.url}/mcp", http_client=http)
        async with http, Client(transport, mode=mode) as client:
            yield client

    async def send(self, agent: str, client: Client) -> None:
        """Send tasks to bob, one after the other, each with a key by which it is sent once."""
        for number in itertools.count():
            text = f"{agent} {number}"
            given = {"to": "bob", "text": text, "kind": "task"}
            meta: Any = {"hubbub/idempotency-key": text}
            answer = await answered(lambda: client.call_tool("send", given, meta=meta))  # noqa: B023
            assert not answer.is_error, answer
            self.sent.append(text)
            if self.killed.is_set():
                return

    async def receive(self, client: Client) -> list[str]:
        """Return bob's letters: he waits for them and acknowledges them, until he has everything that was sent."""
        received: list[str] = []
        given: Json = {"wait": 1, "limit": 100}
        while not self.done.is_set() or len(received) < len(self.sent):
            answer = await answered(lambda: client.call_tool("inbox", given))
            assert not answer.is_error, answer
            letters = (answer.structured_content or {})["letters"]
            received += [each["text"] for each in letters]
            given["ack"] = [each["id"] for each in letters]
        return received

    async def listen(self, secret: str) -> None:
        """Follow the tasks as an old client: say so once, and open the stream as often as it breaks off."""
        http = httpx2.AsyncClient(headers={**BOTH, "Authorization": f"Bearer {secret}"}, limits=EACH_ITS_OWN)
        async with http:
            params = {
                "protocolVersion": LEGACY,
                "clientInfo": {"name": "x", "version": "1"},
                "capabilities": {},
            }
            url = f"{self.url}/mcp"
            begun = await http.post(url, json=message("initialize", params))
            http.headers |= {SESSION: begun.headers[SESSION], "mcp-protocol-version": LEGACY}
            said = await http.post(url, json=message("resources/subscribe", {"uri": "hubbub://tasks"}))
            assert said.is_success, said.text
            self.listening.set()
            while True:
                with suppress(*GONE):
                    async with http.stream("GET", url, timeout=patience()) as stream:
                        if stream.is_success:
                            async for event in httpx2.EventSource(stream):
                                self.updates += bool(event.data)

    @asynccontextmanager
    async def machine(self, secret: str) -> AsyncIterator[NodeHub]:
        """Yield the hub's port of a machine beside a client."""
        wire = HttpTransport(lambda: self.url, secret, "box")
        yield NodeHub(wire)
        await wire.close()

    async def say_yes(self) -> None:
        """Let through what is asked, once it is there."""
        async with asyncio.timeout(patience(60)):
            while not (asked := (await self._got("/approvals", {"status": "pending"}))["approvals"]):
                continue
            path = f"/approvals/{asked[0]['id']}/approve"
            while True:
                with suppress(*GONE):
                    said = await self.owner.post(path, json={})
                    if said.status_code in SAID:
                        return

    async def walk(self) -> list[int]:
        """The numbers of all tasks, page by page, each page from whichever hub."""
        found: list[int] = []
        while True:
            query: Json = {"limit": PAGE, **({"before": found[-1]} if found else {})}
            page = await self._got("/tasks", query)
            found += [task["number"] for task in page["tasks"]]
            if len(page["tasks"]) < PAGE:
                return found

    async def _got(self, path: str, query: Json) -> Json:
        async with asyncio.timeout(patience(60)):
            while True:
                with suppress(*GONE):
                    answer = await self.owner.get(path, params=query)
                    if answer.is_success:
                        return dict(answer.json())


async def answered(call: Callable[[], Awaitable[T]]) -> T:
    """The answer to a call, which is made again where its hub was killed. No hub may say that it knows no session."""
    while True:
        try:
            async with asyncio.timeout(patience()):
                return await call()
        except GONE:
            continue
        except MCPError as error:
            if "terminated" in str(error):
                raise


@dataclass
class Reader:
    """A reader of the log, who goes on after the last line that it has whenever its stream breaks off."""

    http: httpx2.AsyncClient
    url: str
    lines: list[Json] = field(default_factory=list)

    async def read(self) -> None:
        while True:
            with suppress(*GONE):
                await self._follow()

    async def has_read(self, tasks: int) -> None:
        """Wait until it knows of so many tasks."""

        def number() -> int:
            return sum(line["kind"] == "task.sent" for line in self.lines)

        await until_soon(lambda: number() >= tasks, "the end of the log", seen=number)

    def told(self) -> list[int]:
        """Return everything heard up to the last task."""
        last = max(place for place, line in enumerate(self.lines) if line["kind"] == "task.sent")
        return [line["id"] for line in self.lines[: last + 1]]

    async def _follow(self) -> None:
        after = str(self.lines[-1]["id"]) if self.lines else "0"
        headers = {"Last-Event-ID": after}
        async with self.http.stream(
            "GET", f"{self.url}/events", headers=headers, timeout=patience()
        ) as stream:
            if stream.is_success:
                async for event in httpx2.EventSource(stream):
                    if event.data:
                        self.lines.append(json.loads(event.data))


@asynccontextmanager
async def working_at(hubs: Behind) -> AsyncIterator[tuple[Office, str]]:
    """The office, whose owner makes each request over a connection of its own, and a token of ann's."""
    secret = owner_token(hubs.hubs[0].data)
    async with httpx2.AsyncClient(
        headers={"Authorization": f"Bearer {secret}"},
        base_url=f"{hubs.url}/api/v1",
        timeout=patience(),
        verify=NO_TLS,
        limits=EACH_ITS_OWN,
    ) as owner:
        office = Office(hubs.url, owner)
        yield office, await office.token("ann")


async def test_nothing_is_lost_or_twice_while_hubs_are_killed(hubs: Behind) -> None:
    """Clients of any age, pages, waits and streams go on at whatever hub is left; all is there once, in one order."""
    async with (
        working_at(hubs) as (office, secret),
        office.machine(secret) as box,
        office.client("ann", "legacy") as ann,
        office.client("eve", NEWEST) as eve,
        office.client("bob", "legacy") as bob,
        asyncio.TaskGroup() as work,
    ):
        readers = [Reader(office.owner, hubs.url) for _ in range(3)]
        reading = [work.create_task(each.read()) for each in readers]
        sending = [work.create_task(office.send("ann", ann)), work.create_task(office.send("eve", eve))]
        receiving = work.create_task(office.receive(bob))
        listening = work.create_task(office.listen(secret))
        await office.listening.wait()
        for number in range(KILLS):
            asked = await box.put(question(), timedelta(minutes=5))
            asking = work.create_task(box.answer(asked))
            await asyncio.to_thread(hubs.replace, number % len(hubs.hubs))
            await office.say_yes()
            assert (await asking).ruling is Ruling.APPROVED
            numbers = await office.walk()
            assert numbers == list(range(len(numbers), 0, -1))
        office.killed.set()
        await asyncio.wait(sending)
        updates = office.updates
        await answered(lambda: ann.call_tool("send", {"to": "bob", "text": "last", "kind": "task"}))
        await until_soon(lambda: office.updates > updates, "news of the last task")
        office.sent.append("last")
        office.done.set()
        received = await receiving
        numbers = await office.walk()
        readers.append(Reader(office.owner, hubs.url))  # without a break
        reading.append(work.create_task(readers[-1].read()))
        await asyncio.gather(*(each.has_read(len(numbers)) for each in readers))
        for each in (listening, *reading):
            each.cancel()

    assert len(set(office.sent)) == len(office.sent) == len(numbers)
    assert sorted(received) == sorted(office.sent)
    *interrupted, whole = (each.told() for each in readers)
    assert interrupted == [whole] * len(interrupted)
    assert len(set(whole)) == len(whole)
