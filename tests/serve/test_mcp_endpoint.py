"""The pieces of an MCP endpoint that no well-behaved client can show."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest
from starlette.types import Message

from hubbub.core.transaction import Transactions
from hubbub.model.connections import Connection
from hubbub.model.rights import Actor
from hubbub.serve.followers import Followers
from hubbub.serve.mcp import endpoint, stream
from hubbub.serve.mcp.known import Known
from hubbub.serve.whispers import Whispers
from hubbub.store.tx import Store
from tests.serve.wire import LEGACY
from tests.waiting import patience


@pytest.mark.anyio
async def test_a_reader_that_takes_nothing_loses_its_stream(
    sqlite_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stream whose reader has stopped reading is given up, so that it holds up nothing else of its client."""
    monkeypatch.setattr(stream, "STALLED", timedelta(0))
    transactions, followers = Transactions(sqlite_store), Followers()
    known = Known(transactions, Whispers(sqlite_store), "tiny")
    connection = Connection(uuid4().hex, uuid4(), "tiny", LEGACY, asks=False)

    async def send(message: Message) -> None:
        if message.get("body") not in (None, stream.COMMENT):
            await asyncio.Event().wait()

    with followers.open(Actor(token_id=connection.token_id)) as follower:
        opened = stream._Stream(stream.Streams(transactions, followers, known), connection, follower, 1)
        follower.tell("hubbub://tasks")
        await asyncio.wait_for(opened.serve(send), patience())


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
