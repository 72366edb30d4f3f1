"""The hook's own client of the hub: what it sends, and what it takes for an answer."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from hubbub.clients.hook import http_request
from hubbub.clients.hook.http_request import Unanswered
from hubbub.clients.hook.hub_target import Target

Serve = Callable[[bytes], tuple[Target, list[bytes]]]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """A server that answers one call with these bytes, and keeps what it was asked."""
    threads = []

    def start(answer: bytes) -> tuple[Target, list[bytes]]:
        asked: list[bytes] = []
        server = socket.create_server(("127.0.0.1", 0))

        def run() -> None:
            with closing(server):
                connection, _ = server.accept()
                with closing(connection):
                    asked.append(connection.recv(65536))
                    connection.sendall(answer)

        threads.append(threading.Thread(target=run))
        threads[-1].start()
        return Target(
            url=f"http://127.0.0.1:{server.getsockname()[1]}/base/", token="ntok_1", agent="ada"
        ), asked

    yield start
    for thread in threads:
        thread.join()


def call(target: Target, path: str = "/status", **more: object) -> tuple[int, dict[str, object]]:
    return http_request.call(target, "POST", path, until=time.monotonic() + 30, **more)  # type: ignore[arg-type]


def test_a_call_is_one_request(serve: Serve) -> None:
    """Names are quoted, also those with slashes in a query; the token goes along, and the body is JSON."""
    target, asked = serve(b'HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{"fine": 1}')
    target.project = "a b"

    answer = call(
        target, "/agents/代码 1号/glance", body={"moment": "tool"}, query={"instance": "x/y&z", "no": None}
    )

    assert answer == (200, {"fine": 1})
    head, _, body = asked[0].partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    assert lines[0] == (
        b"POST /base/api/v1/agents/%E4%BB%A3%E7%A0%81%201%E5%8F%B7/glance?project=a%20b&instance=x%2Fy%26z HTTP/1.1"
    )
    assert b"Authorization: Bearer ntok_1" in lines
    assert body == b'{"moment": "tool"}'


@pytest.mark.parametrize(
    "answer",
    [
        b'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"fin\r\n6;x=y\r\ne": 1}\r\n0\r\n\r\n',
        b'HTTP/1.0 200 OK\r\n\r\n{"fine": 1}',
        b'HTTP/1.1 200\r\nContent-Length: 11\r\n\r\n{"fine": 1}',
    ],
)
def test_an_answer_may_come_in_several_forms(serve: Serve, answer: bytes) -> None:
    """In chunks, until the end of the connection, and without a word for the status."""
    target, _ = serve(answer)

    assert call(target) == (200, {"fine": 1})


def test_an_answer_may_be_empty(serve: Serve) -> None:
    """A body without content has no members."""
    target, _ = serve(b"HTTP/1.1 204 No Content\r\n\r\n")

    assert call(target) == (204, {})


@pytest.mark.parametrize(
    ("url", "token"),
    [
        ("ftp://a", "t"),
        ("http://", "t"),
        ("http://a:b", "t"),
        ("http://a\r\nX: y", "t"),
        ("http://a", "t\r\nX: y"),
    ],
)
def test_what_is_no_address_is_not_called(url: str, token: str) -> None:
    """Neither an address nor a token can smuggle in a line of its own."""
    with pytest.raises(Unanswered):
        call(Target(url=url, token=token, agent="ada"))


def test_time_that_is_over_is_not_waited_for() -> None:
    """After its moment a call is not even begun to be waited for."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        target = Target(url=f"http://127.0.0.1:{server.getsockname()[1]}", token="t", agent="ada")
        with pytest.raises(OSError, match="too long"):
            http_request.call(target, "GET", "/status", until=time.monotonic())


def test_a_hub_behind_tls_must_be_vouched_for(serve: Serve) -> None:
    """A server that does not speak TLS where the address says so is no hub."""
    target, _ = serve(b"HTTP/1.1 200 OK\r\n\r\n{}")
    target.url = target.url.replace("http://", "https://")

    with pytest.raises(OSError, match=r"SSL|EOF|reset"):
        call(target)
