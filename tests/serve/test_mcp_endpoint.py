"""The pieces of an MCP endpoint that no well-behaved client can show."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest
from starlette.types import Message

from hubbub.model.rights import Actor
from hubbub.serve.followers import Followers
from hubbub.serve.mcp import endpoint

START: Message = {"type": "http.response.start", "status": 200, "headers": []}


@pytest.mark.anyio
async def test_a_reader_that_takes_nothing_loses_its_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream whose reader has stopped reading is given up, so that it holds up nothing else of its client."""
    monkeypatch.setattr(endpoint, "STALLED", timedelta(0))

    async def send(_message: Message) -> None:
        await asyncio.Event().wait()

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    with Followers().open(Actor(token_id=uuid4())) as follower:
        stream = endpoint._Stream(follower, receive, send)
        await stream.send(START)
        assert await stream.receive() == {"type": "http.disconnect"}
        await stream.finish()


@pytest.mark.anyio
async def test_a_stream_that_was_broken_off_is_ended_properly() -> None:
    """Whatever the SDK left undone, the client sees an end."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    with Followers().open(Actor(token_id=uuid4())) as follower:
        stream = endpoint._Stream(follower, receive, send)
        await stream.send(START)
        await stream.finish()
        await stream.finish()
    assert sent == [START, {"type": "http.response.body", "body": b"", "more_body": False}]


@pytest.mark.anyio
async def test_only_json_is_put_into_event_frames() -> None:
    """What is no JSON goes to a client that takes only events as it is."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    framed = endpoint.as_events(send)
    refusal: Message = {"type": "http.response.start", "status": 406, "headers": [(b"content-length", b"0")]}
    await framed(refusal)
    await framed({"type": "http.response.body", "body": b""})
    assert sent == [refusal, {"type": "http.response.body", "body": b""}]
