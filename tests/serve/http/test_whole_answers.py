"""Answers that are known as a whole: one message of the application, one write to the connection."""

import asyncio
from typing import Any

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from hubbub.serve.http.whole_answers import WHOLE, HubConnection, start_of_whole

ASKED = b"POST /mcp HTTP/1.1\r\nHost: hub\r\nContent-Length: 2\r\n%b\r\n{}"
HEADERS = [(b"content-type", b"application/json"), (b"content-length", b"4")]


class Wire(asyncio.Transport):
    """A transport that keeps each write."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[bytes] = []
        self.is_closed = False

    def write(self, data: Any) -> None:
        self.writes.append(bytes(data))

    def close(self) -> None:
        self.is_closed = True

    def is_closing(self) -> bool:
        return self.is_closed

    def resume_reading(self) -> None: ...

    def pause_reading(self) -> None: ...


async def true(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer as a whole if the server takes that, else by two messages."""
    await receive()
    if WHOLE in scope.get("extensions", ()):
        await send(start_of_whole(200, HEADERS, b"true"))
        return
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    await send({"type": "http.response.body", "body": b"true"})


async def plainly(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer by two messages."""
    await true({**scope, "extensions": {}}, receive, send)


def served(app: Any, asked: bytes) -> Wire:
    """Return what a connection of the hub's has written when all requests in it are answered."""

    async def serve() -> Wire:
        config = uvicorn.Config(app, lifespan="off", access_log=False, log_config=None)
        config.load()
        state, wire = ServerState(), Wire()
        connection = HubConnection(config=config, server_state=state, app_state={})
        connection.connection_made(wire)
        connection.data_received(asked)
        while state.tasks:
            await asyncio.gather(*state.tasks)
        connection.connection_lost(None)
        return wire

    return asyncio.run(serve())


def test_a_whole_answer_is_written_at_once() -> None:
    """Head and body go out in one write, and the connection stays open."""
    wire = served(true, ASKED % b"")

    assert wire.writes == [
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 4\r\n\r\ntrue"
    ]


@pytest.mark.parametrize("more", [b"", b"Connection: close\r\n"])
def test_a_whole_answer_has_the_same_bytes(more: bytes) -> None:
    """A client cannot tell a whole answer from one of two messages, also when it asks to close the connection."""
    whole, plain = served(true, ASKED % more), served(plainly, ASKED % more)

    assert b"".join(whole.writes) == b"".join(plain.writes)
    assert len(plain.writes) == len(whole.writes) + 1
    assert whole.is_closed == plain.is_closed


def test_requests_in_a_row_are_answered_in_order() -> None:
    """Requests that come before the answer to the first are each answered as a whole, one after the other."""
    one, three = served(true, ASKED % b""), served(true, ASKED % b"" * 3)

    assert three.writes == one.writes * 3
