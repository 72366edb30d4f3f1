"""The promises that both carriers keep."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from hubbub.bridge.transport.httpx_transport import HttpxTransport
from hubbub.bridge.transport.loopback_http import LoopbackTransport
from hubbub.bridge.transport.mcp_upstream import events_of
from hubbub.bridge.transport.transport import Away, Transport
from tests.cli.bridge.canned_server import Desk, Say, desk, say

Kind = type[LoopbackTransport] | type[HttpxTransport]
TOKEN = {"Authorization": "Bearer ntok_1"}

WHOLE = {
    "of a said length": Say(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
    "in chunks": Say(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"
    ),
    "until the end": Say(b"HTTP/1.0 200 OK\r\n\r\nhello", closes=True),
}
BROKEN = {
    "nothing": Say(b"", closes=True),
    "half a head": Say(b"HTTP/1.1 200 OK\r\nContent-", closes=True),
    "half a body": Say(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe", closes=True),
    "half a chunk": Say(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe", closes=True),
    "something else": Say(b"220 mail.example.com ESMTP\r\n\r\n", closes=True),
}


@pytest.fixture(params=[LoopbackTransport, HttpxTransport])
def kind(request: pytest.FixtureRequest) -> Kind:
    carrier: Kind = request.param
    return carrier


def at_desk(kind: Kind, visit: Callable[[Desk, Transport], Awaitable[None]], *answers: Say) -> Desk:
    """Run a visit to a desk by a carrier."""

    async def run() -> Desk:
        async with desk(*answers) as open_desk:
            carrier = kind(lambda: open_desk.url, TOKEN)
            await visit(open_desk, carrier)
            await carrier.aclose()
            return open_desk

    return asyncio.run(run())


@pytest.mark.parametrize("answer", WHOLE.values(), ids=WHOLE.keys())
def test_brings_the_whole_body(kind: Kind, answer: Say) -> None:
    """An answer is brought whole, in whatever way its length is said."""

    async def visit(_desk: Desk, carrier: Transport) -> None:
        async with await carrier.ask("POST", {}, b"{}") as came:
            assert (came.status, await came.whole()) == (200, b"hello")

    at_desk(kind, visit, answer)


def test_sends_what_it_is_given(kind: Kind) -> None:
    """Method, path, headers and body arrive as they were given, with the headers that go with every request."""

    async def visit(_desk: Desk, carrier: Transport) -> None:
        async with await carrier.ask("POST", {"X-One": "1"}, "你好".encode()):
            pass

    request = at_desk(kind, visit, say(b"")).requests[0]
    head, _, body = request.partition(b"\r\n\r\n")
    assert head.startswith(b"POST /mcp HTTP/1.1\r\n")
    assert {b"authorization: bearer ntok_1", b"x-one: 1"} <= set(head.lower().split(b"\r\n"))
    assert body.decode() == "你好"


def test_headers_of_an_answer(kind: Kind) -> None:
    """A header of an answer is found however its name is written; one that is not there is empty."""

    async def visit(_desk: Desk, carrier: Transport) -> None:
        async with await carrier.ask("POST", {}, b"{}") as came:
            assert came.header(b"mcp-session-id") == "abc"
            assert came.header(b"retry-after") == ""

    at_desk(kind, visit, say(b"", "MCP-SESSION-ID: abc"))


@pytest.mark.parametrize("answer", BROKEN.values(), ids=BROKEN.keys())
def test_broken_answers(kind: Kind, answer: Say) -> None:
    """An answer that breaks off, or is none, is told as `Away`."""

    async def visit(_desk: Desk, carrier: Transport) -> None:
        with pytest.raises(Away):
            async with await carrier.ask("POST", {}, b"{}") as came:
                await came.whole()

    at_desk(kind, visit, answer)


def test_nobody_there(kind: Kind) -> None:
    """Where nobody listens the hub is `Away`."""

    async def run() -> None:
        carrier = kind(lambda: "http://127.0.0.1:1/mcp", TOKEN)
        with pytest.raises(Away):
            await carrier.ask("POST", {}, b"{}")
        await carrier.aclose()

    asyncio.run(run())


@pytest.mark.parametrize("value", ["a\r\nX-Two: 2", "a\nb", "代码"])
def test_headers_that_are_none(kind: Kind, value: str) -> None:
    """Values that would read as something other than a header are refused, and nothing is sent."""

    async def visit(_desk: Desk, carrier: Transport) -> None:
        with pytest.raises(ValueError, match=r".+"):
            await carrier.ask("POST", {"X-One": value}, b"{}")

    assert at_desk(kind, visit).requests == []


def test_events_as_they_come(kind: Kind) -> None:
    """Each event of a stream is there when it has come, and leaving the stream ends it."""
    stream = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

    async def visit(desk: Desk, carrier: Transport) -> None:
        async with await carrier.ask("GET", {}) as came:
            async for event in events_of(came):
                assert event == b"one"
                break
        await desk.left.wait()

    at_desk(kind, visit, Say(stream + b"b\r\ndata: one\n\n\r\n"))


def test_broken_stream(kind: Kind) -> None:
    """A stream that breaks off is told as `Away`."""
    stream = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

    async def visit(_desk: Desk, carrier: Transport) -> None:
        async with await carrier.ask("GET", {}) as came:
            with pytest.raises(Away):
                async for _ in events_of(came):
                    pass

    at_desk(kind, visit, Say(stream, closes=True))
