"""A watcher of the live view, and a caller of Relay's tools, for tests."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlencode

import httpx2
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from tests.serve.mcp.wire import call, post
from tests.serve.served_hub import Hub
from tests.serve.web_client import Json
from tests.support.waiting import patience


class Watch:
    """An open live view."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection

    def next(self) -> Json:
        """The next frame."""
        frame: Json = json.loads(self.connection.recv(timeout=patience()))
        return frame

    def until(self, event: str, **wanted: object) -> list[Json]:
        """All frames up to the first of that type with these members."""
        found: list[Json] = []
        while not found or not found[-1].items() >= {"type": event, **wanted}.items():
            found.append(self.next())
        return found

    def the(self, event: str, **wanted: object) -> Json:
        """The first frame of that type with these members."""
        return self.until(event, **wanted)[-1]

    def end(self) -> tuple[list[Json], int]:
        """Return the remaining frames until the hub closes the view, and the closing code."""
        found: list[Json] = []
        with suppress(ConnectionClosed):
            while True:
                found.append(self.next())
        code = self.connection.close_code
        assert code is not None
        return found, code


@contextmanager
def watching(
    hub: Hub, secret: str | None, path: str = "/ws", headers: dict[str, str] | None = None, **query: str
) -> Iterator[Watch]:
    """An open live view. Raises `InvalidStatus` if it is refused."""
    bearer = {"Authorization": f"Bearer {secret}"} if secret else {}
    url = f"{hub.url.replace('http', 'ws', 1)}{path}?{urlencode(query)}"
    with connect(
        url, additional_headers={**bearer, **(headers or {})}, proxy=None, max_size=None
    ) as connection:
        yield Watch(connection)


def refused(hub: Hub, secret: str | None, path: str = "/ws", **request: Any) -> tuple[int, str, str]:
    """Status, code and sentence with which a live view is refused."""
    try:
        with watching(hub, secret, path, **request):
            raise AssertionError("it was not refused")
    except InvalidStatus as error:
        content = json.loads(bytes(error.response.body or b""))
        return error.response.status_code, content["error"], content["message"]


class Team:
    """Agents who speak Relay over one token."""

    def __init__(self, hub: Hub, secret: str) -> None:
        self.hub, self.secret = hub, secret

    def do(self, tool: str, agent_id: str, *, run: str | None = None, **arguments: object) -> Json:
        """The reply of a tool that says yes."""
        headers = {"X-Relay-Session": run} if run is not None else {}
        body = call(tool, agent_id=agent_id, **arguments)
        answer: httpx2.Response = post(self.hub, self.secret, body, path="/mcp/relay", **headers)
        reply: Json = json.loads(answer.json()["result"]["content"][0]["text"])
        assert reply["success"], reply
        return reply
