"""The doors of agents in histories: they count their attempts at a call, in a header or beside its key in `_meta`."""

import json
import random
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Event, Thread

import pytest

from hubbub.prove.doors import Door, Wire


class HalfDeaf(BaseHTTPRequestHandler):
    """Answers every second request, and ends the connection of the others."""

    heard: list[tuple[str | None, object]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        meta = body.get("params", {}).get("_meta", {})
        self.heard.append((self.headers["Idempotency-Attempt"], meta.get("hubbub/idempotency-attempt")))
        if len(self.heard) % 2:
            self.close_connection = True
            return
        answer = json.dumps({"result": {"structuredContent": {"stdout": ""}}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_words: object) -> None:
        pass


@pytest.fixture
def hub() -> Iterator[HTTPServer]:
    HalfDeaf.heard = []
    with HTTPServer(("127.0.0.1", 0), HalfDeaf) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_an_unanswered_call_is_repeated_with_the_next_number(hub: HTTPServer) -> None:
    """A call of a tool has the number in `_meta`, one of REST in a header; each key has numbers of its own."""
    wire = Wire([f"http://127.0.0.1:{hub.server_port}"], "token", random.Random(1), Event())
    assert Door("cmdop", "ada", wire).order("web1", "true", "k1").is_yes
    assert Door("rest", "ada", wire).offer("text", "k2").is_yes
    wire.hang_up()
    assert HalfDeaf.heard == [(None, 1), (None, 2), ("1", None), ("2", None)]
