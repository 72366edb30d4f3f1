"""The ASGI application of a hub: its routes, and what stands around all of them."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.routing import Match, Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from hubbub.core.transaction import Transactions
from hubbub.dialects.dialect import Dialect
from hubbub.model.errors import HubError
from hubbub.serve import events, health, mcp, rest
from hubbub.serve.auth import Guard, Hosts
from hubbub.serve.errors import broken, http_error, refused
from hubbub.serve.feed import Feed
from hubbub.serve.followers import Followers
from hubbub.serve.metrics import Metrics
from hubbub.serve.notified import Notified
from hubbub.serve.requests import Requests
from hubbub.serve.rest.commhub import CommHubRest
from hubbub.serve.rest.hub import Copier
from hubbub.settings import Settings

Alive = Callable[[], AbstractAsyncContextManager[None]]


@dataclass(frozen=True, slots=True)
class Parts:
    """What a hub is made of, as far as its edges need it."""

    transactions: Transactions
    dialects: Mapping[str, Dialect]
    feed: Feed
    followers: Followers
    notified: Notified
    settings: Settings
    port: int
    copier: Copier | None  # makes backups, where the store can


def application(parts: Parts, alive: Alive) -> ASGIApp:
    """The application. What `alive` does goes on while it is served."""
    settings, transactions = parts.settings, parts.transactions
    metrics = Metrics(transactions, lambda: len(parts.followers))
    protocol = mcp.build(transactions, parts.dialects, parts.followers, settings.root_dialect, metrics.call)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with protocol.run(), alive():
            yield

    interface = rest.application(transactions, parts.feed, parts.followers, settings.data, parts.copier)
    routes = [
        *protocol.routes,
        *health.routes(transactions, metrics),
        *CommHubRest(transactions, is_open=settings.open_registration).routes(),
        Mount("/api/v1", interface),
    ]
    inner = Starlette(
        routes=routes,
        lifespan=lifespan,
        exception_handlers={HTTPException: http_error, HubError: refused, Exception: broken},
    )
    hosts = Hosts.of(settings.host, parts.port, settings.public_url)
    app = StreamsFirst(_streams(parts), inner)
    return Requests(Guard(app, transactions=transactions, hosts=hosts), metrics)


class StreamsFirst:
    """Serves streams itself, and hands on all else: what stood in between would be held once for each open stream."""

    def __init__(self, streams: Sequence[Route], app: ASGIApp) -> None:
        self.streams = streams
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        stream = self._matching(scope) if scope["type"] == "http" else None
        try:
            await (stream or self.app)(scope, receive, send)
        except HubError as error:
            await (await refused(Request(scope), error))(scope, receive, send)

    def _matching(self, scope: Scope) -> ASGIApp | None:
        for route in self.streams:
            match, found = route.matches(scope)
            if match is Match.FULL:
                scope.update(found, route=route)
                return route.app
        return None


def _streams(parts: Parts) -> list[Route]:
    together = parts.transactions, parts.feed, parts.followers
    words = next(
        events.Words(dialect.greeting, dialect.inbox_event)
        for dialect in parts.dialects.values()
        if dialect.greeting is not None and dialect.inbox_event is not None
    )
    return events.routes(
        events.ProjectStream(*together), events.InboxStream(*together, words, parts.notified)
    )
