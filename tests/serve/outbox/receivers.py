"""Servers that the hub delivers to, and that misbehave as they are told: real ones, in a thread."""

import json
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import SimpleQueue
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support.waiting import patience


@dataclass(frozen=True)
class Received:
    """One request."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Answer:
    """The server's reaction to one request: it answers, or keeps silent, or hangs up."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b"{}"
    hangs: bool = False
    cuts: bool = False


LAST = {"Connection": "close"}  # one that is closed unsaid may be used again just then, and fail
FINE = Answer()
HANGS = Answer(hangs=True)
CUTS = Answer(cuts=True)  # after it has done what it was asked for


class Server(ThreadingHTTPServer):
    """One to which many may connect at once: those that stand in no line are cut off, and tried again."""

    request_queue_size = 128
    daemon_threads = True


class Receiver:
    """A server that answers as its `script` says, and then well."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.received: list[Received] = []
        self.arrivals: SimpleQueue[Received] = SimpleQueue()
        self.script: list[Answer] = []
        self.over = threading.Event()
        self._server = Server(("127.0.0.1", 0), self._handler())
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)

    @property
    def port(self) -> int:
        return self._server.server_port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def answer(self, _received: Received) -> Answer:
        """The answer of a server that behaves well."""
        return FINE

    def arrived(self) -> Received:
        """Wait for the next request."""
        return self.arrivals.get(timeout=patience(30))

    @contextmanager
    def serving(self) -> Iterator[None]:
        thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield
        finally:
            self.over.set()
            self._server.shutdown()
            thread.join()
            self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                received = Received(self.command, self.path, dict(self.headers), body)
                receiver.received.append(received)
                planned = receiver.script.pop(0) if receiver.script else None
                done = receiver.answer(received) if planned in (None, CUTS) else FINE
                receiver.arrivals.put(received)
                self._do(planned or done)

            def do_GET(self) -> None:
                self.do_POST()

            def _do(self, answer: Answer) -> None:
                self.close_connection = True
                if answer.hangs:
                    receiver.over.wait()
                elif not answer.cuts:
                    self.send_response(answer.status)
                    for name, value in {
                        **LAST,
                        "Content-Length": str(len(answer.body)),
                        **answer.headers,
                    }.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(answer.body)

            def log_message(self, *_arguments: object) -> None:
                pass

        return Handler


class FakeGitHub(Receiver):
    """As much of GitHub as comments need."""

    def __init__(self) -> None:
        super().__init__()
        self.comments: list[str] = []

    def answer(self, received: Received) -> Answer:
        if received.method == "POST":
            self.comments.append(received.json["body"])
            return Answer(201, body=b'{"id": 1}')
        query = parse_qs(urlsplit(received.path).query)
        page, size = int(query["page"][0]), int(query["per_page"][0])
        shown = self.comments[(page - 1) * size : page * size]
        return Answer(body=json.dumps([{"body": body} for body in shown]).encode())

    @property
    def calls(self) -> list[str]:
        """The methods that were called, in order."""
        return [received.method for received in self.received]
