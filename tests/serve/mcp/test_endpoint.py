"""The pieces of an MCP endpoint that no well-behaved client can show."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest
from starlette.types import Message

from hubbub.core.transaction import Transactions
from hubbub.model.agents.connections import Connection
from hubbub.model.people.rights import Actor
from hubbub.serve.live.ephemeral import EphemeralBroadcast
from hubbub.serve.live.subscribers import Subscribers
from hubbub.serve.mcp import endpoint, update_stream
from hubbub.serve.mcp.connection_cache import ConnectionCache
from hubbub.store.tx import Store
from tests.serve.mcp.wire import LEGACY
from tests.support.waiting import patience


@pytest.mark.anyio
async def test_a_reader_that_takes_nothing_loses_its_stream(
    sqlite_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stream whose reader has stopped reading is given up, so that it holds up nothing else of its client."""
    monkeypatch.setattr(update_stream, "STALLED", timedelta(0))
    transactions, followers = Transactions(sqlite_store), Subscribers()
    known = ConnectionCache(transactions, EphemeralBroadcast(sqlite_store), "tiny")
    connection = Connection(uuid4().hex, uuid4(), "tiny", LEGACY, asks=False)

    async def send(message: Message) -> None:
        if message.get("body") not in (None, update_stream.COMMENT):
            await asyncio.Event().wait()

    with followers.open(Actor(token_id=connection.token_id)) as follower:
        opened = update_stream._Stream(
            update_stream.UpdateStreams(transactions, followers, known), connection, follower, 1
        )
        follower.tell("hubbub://tasks")
        await asyncio.wait_for(opened.serve(send), patience())


@pytest.mark.anyio
async def test_only_json_is_put_into_event_frames() -> None:
    """A message that is no JSON goes to a client that takes only events as it is."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    framed = endpoint.as_events(send)
    refusal: Message = {"type": "http.response.start", "status": 406, "headers": [(b"content-length", b"0")]}
    await framed(refusal)
    await framed({"type": "http.response.body", "body": b""})
    assert sent == [refusal, {"type": "http.response.body", "body": b""}]
