"""The way to a hub on this machine."""

import asyncio

import pytest

from hubbub.bridge.transport import loopback_http
from hubbub.bridge.transport.loopback_http import READ_AHEAD, LoopbackTransport
from hubbub.bridge.transport.transport import Away
from tests.cli.bridge.canned_server import Desk, Say, desk, say
from tests.support.waiting import until_soon


async def asked(carrier: LoopbackTransport) -> bytes:
    async with await carrier.ask("POST", {}, b"{}") as came:
        return await came.whole()


def test_connection_is_kept() -> None:
    """Requests that follow one another share one connection."""

    async def run() -> Desk:
        async with desk(say(b"1"), say(b"2"), say(b"3")) as there:
            carrier = LoopbackTransport(lambda: there.url, {})
            assert [await asked(carrier) for _ in range(3)] == [b"1", b"2", b"3"]
            await carrier.aclose()
            return there

    assert asyncio.run(run()).connections == 1


def test_requests_at_once() -> None:
    """A request does not wait for the answer to another."""

    async def run() -> None:
        async with desk(Say(None), say(b"2")) as there:
            carrier = LoopbackTransport(lambda: there.url, {})
            waiting = asyncio.create_task(asked(carrier))
            await there.asked.wait()
            assert await asked(carrier) == b"2"
            waiting.cancel()
            await there.left.wait()  # what was given up is ended at the hub too
            await carrier.aclose()

    asyncio.run(run())


@pytest.mark.parametrize("first", [say(b"1", "Connection: close"), Say(say(b"1").content, closes=True)])
def test_address_is_asked_anew(first: Say) -> None:
    """After a connection has ended, the next request goes to where the hub is then."""

    async def run() -> None:
        async with desk(first) as here, desk(say(b"2")) as there:
            addresses = [here.url, there.url]
            carrier = LoopbackTransport(lambda: addresses.pop(0), {})
            assert await asked(carrier) == b"1"
            await until_soon(
                lambda: not carrier._idle or not carrier._idle[0].is_free, "the end of the connection"
            )
            assert await asked(carrier) == b"2"
            await carrier.aclose()

    asyncio.run(run())


def test_much_in_both_directions() -> None:
    """A body that is larger than what is read ahead comes whole, even while a long request is still being sent."""
    much = b"x" * (20 * READ_AHEAD)

    async def run() -> None:
        async with desk(say(much)) as there:
            carrier = LoopbackTransport(lambda: there.url, {})
            async with await carrier.ask("POST", {}, much) as came:
                assert await came.whole() == much
            await carrier.aclose()

    asyncio.run(run())


def test_silence_is_not_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hub that says nothing for too long is `Away`."""
    monkeypatch.setattr(loopback_http, "QUIET_SECONDS", 0)

    async def run() -> None:
        async with desk(Say(None)) as there:
            carrier = LoopbackTransport(lambda: there.url, {})
            with pytest.raises(Away, match="silent"):
                await asked(carrier)
            await carrier.aclose()

    asyncio.run(run())
