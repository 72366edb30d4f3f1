"""The plain line of the tests, compared with the official client that it stands for."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import httpx2
import pytest
from anyio.from_thread import BlockingPortal
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.dialects.plain_line import NEWEST, Json, PlainLine
from tests.dialects.running_hub import NO_TLS
from tests.support.waiting import patience

CALLED = {
    "resultType": "complete",
    "content": [{"type": "text", "text": "{}"}],
    "structuredContent": {},
    "isError": True,
}
ARGUMENTS = {"text": "ä 代码 \u2028 🐝", "nothing": None, "list": [1, 2.5, {"deep": None}], "yes": True}
OF_THE_LIBRARY = {"host", "connection", "user-agent", "accept-encoding", "content-length"}


class Heard(ThreadingHTTPServer):
    """A server that answers every call, and keeps what it was sent."""

    def __init__(self) -> None:
        self.calls: list[tuple[dict[str, str], Json]] = []
        heard = self.calls

        class Answering(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:  # the library's name
                message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                heard.append(({name.lower(): value for name, value in self.headers.items()}, message))
                body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": CALLED}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_said: object) -> None:
                pass

        super().__init__(("127.0.0.1", 0), Answering)


@pytest.fixture
def heard() -> Iterator[Heard]:
    with _serving(Heard()) as server:
        yield server


@contextmanager
def _serving(server: Heard) -> Iterator[Heard]:
    with server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_a_plain_call_is_what_the_official_client_sends(heard: Heard, portal: BlockingPortal) -> None:
    """A call over the plain line has the headers and the message of a call by the official client."""
    url = f"http://127.0.0.1:{heard.server_port}/mcp/relay?x=1"
    headers = {"Authorization": "Bearer secret", "X-Relay-Session": "run"}

    async def officially() -> None:
        http = httpx2.AsyncClient(headers=headers, timeout=patience(), verify=NO_TLS)
        transport = streamable_http_client(url, http_client=http)
        async with http, Client(transport, mode=NEWEST) as client:
            await client.call_tool("send", ARGUMENTS, meta={"ours": 1})  # type: ignore[arg-type]

    portal.call(officially)
    line = PlainLine(url, "secret", {"X-Relay-Session": "run"})
    assert line.call("send", ARGUMENTS, {"ours": 1}) == CALLED
    line.close()

    (official, said), (plain, told) = heard.calls
    assert {name: official[name] for name in official.keys() - OF_THE_LIBRARY} == {
        name: plain[name] for name in plain.keys() - OF_THE_LIBRARY
    }
    assert {**said, "id": 0} == {**told, "id": 0}


def test_a_line_that_the_hub_has_closed_is_opened_anew(heard: Heard) -> None:
    """A call after the hub has let a connection go is made over another, and is made once."""
    line = PlainLine(f"http://127.0.0.1:{heard.server_port}/", "secret", {})
    line.call("first", {}, {})
    (idle,) = line._idle
    assert idle.sock is not None
    idle.sock.shutdown(2)
    line.call("second", {}, {})
    line.close()

    assert [message["params"]["name"] for _headers, message in heard.calls] == ["first", "second"]
