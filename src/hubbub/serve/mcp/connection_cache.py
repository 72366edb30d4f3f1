"""Connections that may have begun at another hub: read from the store, and cached for minutes.

A balancer may bring any request to any hub. All that a request needs of earlier ones is in the store. Urgent news of a
connection goes between hubs under its id, to which they listen.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from functools import partial
from typing import TypeVar
from uuid import UUID, uuid4

from hubbub.core.agents import connections
from hubbub.core.transaction import Transactions
from hubbub.model.agents.connections import Connection
from hubbub.model.people.rights import SYSTEM
from hubbub.serve.live.ephemeral import EphemeralBroadcast
from hubbub.store.tx import Operation

T = TypeVar("T")

Content = Mapping[str, object]

FRESH = 5 * 60.0  # seconds for which a hub does not check whether a connection exists, nor record its use
MOST = 20_000  # that a hub remembers
ENDED = UUID(int=1)  # under which hubs report ended connections


class ConnectionCache:
    """The connections of one dialect. Belongs to one event loop."""

    def __init__(self, transactions: Transactions, whispers: EphemeralBroadcast, dialect: str) -> None:
        self.transactions, self.dialect = transactions, dialect
        self._whispers = whispers
        self.hub = uuid4().hex  # tells this hub's messages from those of others
        self._seen: dict[str, tuple[Connection, float]] = {}

    async def begin(self, connection: Connection) -> None:
        """Make a connection that begins here known to every hub."""
        await self.write(partial(connections.begin, connection=connection))
        self._see(connection)

    def seen(self, name: str, token_id: UUID | None) -> Connection | None:
        """Return the token's connection of that id in this dialect, if this hub has looked it up recently."""
        connection, at = self._seen.get(name, (None, 0.0))
        is_its = connection is not None and connection.token_id == token_id
        return connection if is_its and time.monotonic() - at < FRESH else None

    async def find(self, name: str, token_id: UUID | None) -> Connection | None:
        """Return the token's connection of that id in this dialect, noting its use; None if there is none any more."""
        connection = self.seen(name, token_id)
        if connection is None and _topic(name) is not None:
            connection = await self.write(partial(connections.use, connection_id=name))
            if connection is None or (connection.token_id, connection.dialect) != (token_id, self.dialect):
                return None
            self._see(connection)
        return connection

    async def end(self, name: str) -> None:
        """Tell every hub that the connection has ended."""
        await self.write(partial(connections.end, connection_id=name))
        self._whispers.tell(ENDED, {"connection": name})
        self.tell(name, {"ended": True})

    def hear_ends(self, hear: Callable[[str], None]) -> AbstractContextManager[None]:
        """Call `hear`, while the context lasts, with the ids of connections that end anywhere."""

        def ended(content: Content) -> None:
            name = str(content["connection"])
            self._seen.pop(name, None)
            hear(name)

        return self._whispers.heard(ENDED, ended)

    def tell(self, name: str, content: Content) -> None:
        """Send content to the servers of the connection's requests, here and at the other hubs."""
        self._whispers.tell(UUID(name), content)

    def heard(self, name: str, hear: Callable[[Content], None]) -> AbstractContextManager[None]:
        """Call `hear` with the connection's content, while the context lasts."""
        return self._whispers.heard(UUID(name), hear)

    async def read(self, operation: Operation[T]) -> T:
        return await self.transactions.store.read(SYSTEM, operation)

    async def write(self, operation: Operation[T]) -> T:
        return await self.transactions.store.write(SYSTEM, operation)

    def _see(self, connection: Connection) -> None:
        if len(self._seen) >= MOST:
            self._seen.clear()
        self._seen[connection.id] = connection, time.monotonic()


def _topic(name: str) -> UUID | None:
    """Return the topic that hubs listen to for the connection of that id; None if it is no such id."""
    with suppress(ValueError):
        if (topic := UUID(name)).hex == name:
            return topic
    return None
