"""Update streams: a client of revisions up to 2025-11-25 hears on one that followed resources have changed.

The store knows what a connection follows. A hub that opens its stream reads that, and from then on the other hubs
report each change of it. When a stream replaces an earlier one, the client is told of all its resources: anything may
have changed in between.
"""

import asyncio
import json
from collections.abc import Iterable
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from uuid import UUID

from starlette.types import Receive, Scope, Send

from hubbub.core.agents import connections
from hubbub.core.transaction import Transactions
from hubbub.model.agents.connections import Connection
from hubbub.model.errors import NotFound, StoreUnavailable
from hubbub.serve.http.guard import actor_of
from hubbub.serve.live import resources
from hubbub.serve.live.resources import Resource, ResourceKind, Topic
from hubbub.serve.live.subscribers import Subscriber, Subscribers
from hubbub.serve.mcp.connection_cache import ConnectionCache, Content
from hubbub.serve.mcp.jsonrpc import SESSION
from hubbub.store.tx import Tx

KEEP_ALIVE = timedelta(seconds=15)
STALLED = timedelta(seconds=30)  # after which a stream whose reader takes nothing is closed
PAUSE = ""  # no address
FRAME = b"event: message\r\ndata: %b\r\n\r\n"
COMMENT = b": ping\r\n\r\n"


class UpdateStreams:
    """The streams of one dialect's connections."""

    def __init__(self, transactions: Transactions, followers: Subscribers, known: ConnectionCache) -> None:
        self.transactions, self.followers, self.known = transactions, followers, known

    async def serve(self, connection: Connection, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a GET: report changes until the client leaves, its token ends, or another stream is opened."""
        with self.followers.open(actor_of(scope)) as follower:
            number = await self.known.write(partial(connections.count_stream, connection_id=connection.id))
            stream = _Stream(self, connection, follower, number)
            with self.known.heard(connection.id, stream.hear):
                self.known.tell(connection.id, {"stream": number})
                await stream.look(is_told=number > 1)
                leaving = asyncio.create_task(_end_when_gone(receive, follower))
                try:
                    await stream.serve(send)
                finally:
                    leaving.cancel()


class _Stream:
    """One open stream, the connection's `number`th."""

    def __init__(
        self, streams: UpdateStreams, connection: Connection, follower: Subscriber, number: int
    ) -> None:
        self._streams, self._connection = streams, connection
        self._follower, self._number = follower, number
        self._addresses: set[str] = set()

    def hear(self, content: Content) -> None:
        """Take a hub's news of the connection."""
        if "follow" in content:
            is_new = self._follow(str(content["follow"]), topics_of(content))
            if is_new and content["hub"] != self._streams.known.hub:  # the version may have changed by now
                self._follower.tell(str(content["follow"]))
        elif "drop" in content:
            self._drop(str(content["drop"]))
        elif "ended" in content or self._is_older(content):
            self._follower.end()

    def _is_older(self, content: Content) -> bool:
        """Tell whether the connection has opened a later stream."""
        number = content.get("stream")
        return isinstance(number, int) and number > self._number

    async def look(self, *, is_told: bool) -> None:
        """Read the followed resources from the store; with `is_told` the client hears of the additions."""
        streams, actor = self._streams, self._follower.actor
        found = await streams.transactions.read(actor, partial(_followed, connection=self._connection))
        for address, topics in found.items():
            if self._follow(address, topics) and is_told:
                self._follower.tell(address)
        for address in self._addresses - found.keys():
            self._drop(address)

    async def serve(self, send: Send) -> None:
        """Write the updates, until the follower ends."""
        headers = [
            (b"cache-control", b"no-cache, no-transform"),
            (b"connection", b"keep-alive"),
            (b"content-type", b"text/event-stream"),
            (SESSION.encode(), self._connection.id.encode()),
            (b"x-accel-buffering", b"no"),
        ]
        await send({"type": "http.response.start", "status": HTTPStatus.OK, "headers": headers})
        await send({"type": "http.response.body", "body": COMMENT, "more_body": True})
        loop = asyncio.get_running_loop()
        timer = loop.call_later(KEEP_ALIVE.total_seconds(), self._follower.tell, PAUSE)
        try:
            async with asyncio.timeout(None) as patience:
                async for address in self._follower.changes():
                    if address == PAUSE:
                        timer = loop.call_later(KEEP_ALIVE.total_seconds(), self._follower.tell, PAUSE)
                        await self._look_again()
                    patience.reschedule(loop.time() + STALLED.total_seconds())
                    await send({"type": "http.response.body", "body": _framed(address), "more_body": True})
                    patience.reschedule(None)
        except TimeoutError:
            return  # nobody reads
        finally:
            timer.cancel()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _look_again(self) -> None:
        """Check now and then that the connection still exists, and catch up with missed news."""
        known = self._streams.known
        if known.seen(self._connection.id, self._connection.token_id) is not None:
            return
        try:
            if await known.find(self._connection.id, self._connection.token_id) is None:
                self._follower.end()
            else:
                await self.look(is_told=True)
        except StoreUnavailable:
            pass  # the next check will show

    def _follow(self, address: str, topics: Iterable[Topic]) -> bool:
        """Follow a resource; False if it is followed already."""
        if address in self._addresses:
            return False
        self._addresses.add(address)
        self._streams.followers.want(self._follower, topics, address)
        return True

    def _drop(self, address: str) -> None:
        self._addresses.discard(address)
        self._streams.followers.drop(self._follower, address)


def update_of(address: str, topics: Iterable[Topic], hub: str) -> Content:
    """Return the news by which hubs tell each other of a followed resource."""
    said = [[str(project), each.kind, each.key] for project, each in topics]
    return {"follow": address, "topics": said, "hub": hub}


def topics_of(content: Content) -> list[Topic]:
    """Return the topics in another hub's news."""
    said = content["topics"]
    assert isinstance(said, list)
    return [(UUID(project), Resource(ResourceKind(kind), key)) for project, kind, key in said]


def _followed(tx: Tx, connection: Connection) -> dict[str, list[Topic]]:
    """Return the resources that the connection follows and its token may still read."""
    found = {}
    for address in connections.followed(tx, connection.id):
        try:
            found[address] = resources.topics(tx, address)
        except NotFound:
            continue
    return found


def _framed(address: str) -> bytes:
    """Encode the news that the resource has changed; a comment for no address."""
    if address == PAUSE:
        return COMMENT
    said = {
        "jsonrpc": "2.0",
        "method": "notifications/resources/updated",
        "params": {"uri": address},
    }
    return FRAME % json.dumps(said, separators=(",", ":")).encode()


async def _end_when_gone(receive: Receive, follower: Subscriber) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    follower.end()
