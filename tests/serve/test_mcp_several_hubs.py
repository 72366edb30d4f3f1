"""MCP at several hubs over one database, behind a balancer that knows nothing: any request comes to any of them."""

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import cycle
from pathlib import Path

import httpx2
import pytest

from tests.serve.hub import Hub, running_hub
from tests.serve.test_mcp import contents
from tests.serve.test_mcp_connections import SESSION
from tests.serve.wire import BOTH, LEGACY, call, message

PATH = "/mcp/commhub"


class Hubs:
    """Three hubs, each in the hands of a stack, and a client whose requests go round among those that are left."""

    def __init__(self, folder: Path, database: str) -> None:
        self.stacks = [ExitStack() for _ in range(3)]
        self.hubs: list[Hub] = []
        for number, stack in enumerate(self.stacks):
            running = running_hub(folder / str(number), database=database, no_node=True)
            self.hubs.append(stack.enter_context(running))
        self.secret = self.hubs[0].token("ann")
        self.session = ""
        self._round = cycle(range(3))

    def stop(self, number: int) -> None:
        self.stacks[number].close()
        self._round = cycle(left for left in range(3) if left != number)

    def ask(
        self, body: object, *, at: int | None = None, secret: str = "", path: str = PATH
    ) -> httpx2.Response:
        hub = self.hubs[next(self._round) if at is None else at]
        headers = {**BOTH, "Authorization": f"Bearer {secret or self.secret}"}
        if self.session:
            headers |= {SESSION: self.session, "mcp-protocol-version": LEGACY}
        return httpx2.post(f"{hub.url}{path}", json=body, headers=headers, timeout=60)

    def begin(self, *, at: int) -> None:
        """Begin a transport session at one of the hubs."""
        params = {"protocolVersion": LEGACY, "clientInfo": {"name": "x", "version": "1"}, "capabilities": {}}
        self.session = self.ask(message("initialize", params), at=at).headers[SESSION]


@pytest.fixture
def hubs(tmp_path: Path, postgres_url: str) -> Iterator[Hubs]:
    running = Hubs(tmp_path, postgres_url)
    yield running
    for stack in running.stacks:
        stack.close()


def test_a_session_goes_on_at_every_hub(hubs: Hubs) -> None:
    """A client whose requests come to any hub notices nothing, also when the hub that began its session is gone."""
    hubs.begin(at=0)
    assert hubs.ask({"jsonrpc": "2.0", "method": "notifications/initialized"}, at=1).status_code == 202
    for number in range(6):
        sent = contents(hubs.ask(call("send_task", alias="ann", task=f"task {number}")).json()["result"])
        assert sent["ok"], sent
    hubs.stop(0)
    inbox = hubs.ask(call("get_inbox", alias="ann")).json()["result"]
    assert [f"task {number}" in str(inbox) for number in range(6)] == [True] * 6


def test_a_session_of_another_hub_belongs_to_its_token(hubs: Hubs) -> None:
    """At no hub does a session serve another token, or another dialect, and what no hub began is unknown."""
    hubs.begin(at=0)
    other = hubs.hubs[0].token("bob")
    for at in range(3):
        assert hubs.ask(message("ping"), at=at).status_code == 200
        assert hubs.ask(message("ping"), at=at, secret=other).status_code == 404
        assert hubs.ask(message("ping"), at=at, path="/mcp/relay").status_code == 404
    hubs.session = "0" * len(hubs.session)
    assert [hubs.ask(message("ping"), at=at).status_code for at in range(3)] == [404] * 3
