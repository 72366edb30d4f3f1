"""The promises that both ways to a hub keep, the one on this machine and the one to others."""

import asyncio
import subprocess
import sys
from collections.abc import Callable

import pytest

from hubbub.client.far_http import FarHttp
from hubbub.client.near_http import NearHttp
from hubbub.client.transport import TooLate, Transport, Unreachable, transport_to
from tests.cli.bridge.canned_server import Desk, Say, desk, say
from tests.cli.bridge.test_transport import BROKEN, WHOLE

Kind = type[NearHttp] | type[FarHttp]
EVENTS = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.fixture(params=[NearHttp, FarHttp])
def kind(request: pytest.FixtureRequest) -> Kind:
    chosen: Kind = request.param
    return chosen


def at_desk(kind: Kind, visit: Callable[[Transport], None], *answers: Say, below: str = "") -> Desk:
    """Run a visit to a desk, in a thread of its own."""

    async def run() -> Desk:
        async with desk(*answers) as there:
            transport = kind(f"http://127.0.0.1:{there.port}{below}")
            await asyncio.to_thread(visit, transport)
            transport.close()
            return there

    return asyncio.run(run())


def get(transport: Transport, timeout: float = 30) -> bytes:
    return transport.request("GET", "/x", {}, timeout=timeout).content


@pytest.mark.parametrize("answer", WHOLE.values(), ids=WHOLE.keys())
def test_brings_the_whole_body(kind: Kind, answer: Say) -> None:
    """An answer is brought whole, in whatever way its length is said."""

    def visit(transport: Transport) -> None:
        reply = transport.request("GET", "/x", {})
        assert (reply.status_code, reply.content, reply.is_error) == (200, b"hello", False)

    at_desk(kind, visit, answer)


@pytest.mark.parametrize("answer", BROKEN.values(), ids=BROKEN.keys())
def test_broken_answers(kind: Kind, answer: Say) -> None:
    """An answer that breaks off, or is none, is told as `Unreachable`."""

    def visit(transport: Transport) -> None:
        with pytest.raises(Unreachable):
            get(transport)

    at_desk(kind, visit, answer)


def test_nobody_there(kind: Kind) -> None:
    """Where nobody listens the hub is `Unreachable`."""
    transport = kind("http://127.0.0.1:1")
    with pytest.raises(Unreachable):
        get(transport)
    transport.close()


def test_silence_is_not_waited_for_for_ever(kind: Kind) -> None:
    """A hub that says nothing for too long is `TooLate`."""

    def visit(transport: Transport) -> None:
        with pytest.raises(TooLate):
            get(transport, timeout=0.01)

    async def run() -> None:
        async with desk(Say(None)) as there:
            transport = kind(f"http://127.0.0.1:{there.port}")
            await asyncio.to_thread(visit, transport)
            await there.left.wait()
            transport.close()

    asyncio.run(run())


def test_sends_what_it_is_given(kind: Kind) -> None:
    """Method, path, query, headers and body arrive as they were given, below the path of the hub's address."""

    def visit(transport: Transport) -> None:
        transport.request("PUT", "/a%2Eb/代?n=a+b&m=%26", {"X-One": "1"}, "你好".encode())

    request = at_desk(kind, visit, say(b""), below="/hub").requests[0]
    head, _, body = request.partition(b"\r\n\r\n")
    assert head.startswith(b"PUT /hub/a%2Eb/%E4%BB%A3?n=a+b&m=%26 HTTP/1.1\r\n")
    assert {b"x-one: 1", b"content-length: 6"} <= set(head.lower().split(b"\r\n"))
    assert body.decode() == "你好"


@pytest.mark.parametrize("value", ["a\r\nX-Two: 2", "a\nb", "代码"])
def test_headers_that_are_none(value: str) -> None:
    """Values that would read as something other than a header are refused, and nothing is sent."""

    def visit(transport: Transport) -> None:
        with pytest.raises(Unreachable, match="printable"):
            transport.request("GET", "/x", {"X-One": value})

    assert at_desk(NearHttp, visit).connections == 0


def test_headers_of_an_answer(kind: Kind) -> None:
    """A header of an answer is found under its name in small letters."""

    def visit(transport: Transport) -> None:
        assert transport.request("GET", "/x", {}).headers["retry-after"] == "7"

    at_desk(kind, visit, say(b"", "RETRY-After: 7"))


def test_connection_is_kept(kind: Kind) -> None:
    """Requests that follow one another share one connection."""

    def visit(transport: Transport) -> None:
        assert [get(transport) for _ in range(3)] == [b"1", b"2", b"3"]

    assert at_desk(kind, visit, say(b"1"), say(b"2"), say(b"3")).connections == 1


@pytest.mark.parametrize("first", [say(b"1", "Connection: close"), Say(say(b"1").content, closes=True)])
def test_connection_that_has_ended(kind: Kind, first: Say) -> None:
    """A connection that the hub has closed is not used again: the next request takes another."""

    async def run() -> None:
        async with desk(first, say(b"2")) as there:
            transport = kind(f"http://127.0.0.1:{there.port}")
            assert await asyncio.to_thread(get, transport) == b"1"
            await there.left.wait()
            assert await asyncio.to_thread(get, transport) == b"2"
            transport.close()

    asyncio.run(run())


def test_several_threads(kind: Kind) -> None:
    """A request in one thread does not wait for the answer to another's."""

    def wait(transport: Transport) -> None:
        with pytest.raises(Unreachable):
            get(transport)

    async def run() -> None:
        async with desk(Say(None), say(b"2")) as there:
            transport = kind(f"http://127.0.0.1:{there.port}")
            waiting = asyncio.create_task(asyncio.to_thread(wait, transport))
            await there.asked.wait()
            assert await asyncio.to_thread(get, transport) == b"2"
            await there.close()
            await waiting
            transport.close()

    asyncio.run(run())


def test_stream_as_it_comes(kind: Kind) -> None:
    """Each piece of a stream is there when it has come, and leaving the stream ends it."""

    async def run() -> None:
        async with desk(Say(EVENTS + b"3\r\none\r\n")) as there:
            transport = kind(f"http://127.0.0.1:{there.port}")

            def visit() -> None:
                with transport.stream("/x", {}, timeout=30) as answer:
                    assert next(answer.chunks()) == b"one"

            await asyncio.to_thread(visit)
            await there.left.wait()
            transport.close()

    asyncio.run(run())


def test_broken_stream(kind: Kind) -> None:
    """A stream that breaks off is told as `Unreachable`, after what came before."""

    def visit(transport: Transport) -> None:
        with transport.stream("/x", {}, timeout=30) as answer:
            chunks = answer.chunks()
            assert next(chunks) == b"one"
            with pytest.raises(Unreachable):
                next(chunks)

    at_desk(kind, visit, Say(EVENTS + b"3\r\none\r\n", closes=True))


def test_much_in_both_directions(kind: Kind) -> None:
    """A large body comes whole, also as the answer to a large one."""
    much = b"x" * 5_000_000

    def visit(transport: Transport) -> None:
        assert transport.request("POST", "/x", {}, much).content == much

    at_desk(kind, visit, say(much))


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("http://127.0.0.1:8420", NearHttp),
        ("http://localhost:8420", NearHttp),
        ("http://[::1]:8420", NearHttp),
        ("https://localhost:8420", FarHttp),
        ("http://192.0.2.1:8420", FarHttp),
        ("https://hub.example.com", FarHttp),
    ],
)
def test_which_way(url: str, kind: Kind) -> None:
    """Plain connections lead to this machine alone; TLS, proxies and other machines take the other way."""
    transport = transport_to(url)
    assert type(transport) is kind
    transport.close()


def test_near_hub_takes_no_library() -> None:
    """A program that calls a hub on this machine loads neither another HTTP client nor TLS."""
    code = (
        "import sys\nfrom hubbub.client import Hub\nHub('http://127.0.0.1:1', 'ntok_1').close()\n"
        "print([name for name in ('httpx2', 'anyio', 'ssl', 'email') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
