"""The ASGI application of a hub: its routes, and what stands around all of them."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Match, Mount, Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from hubbub.core.cost import prices
from hubbub.core.transaction import Transactions
from hubbub.dialects.call import Caps, Site
from hubbub.dialects.cmdop.tongue import DIALECT as CMDOP
from hubbub.dialects.dialect import Dialect
from hubbub.model.errors import HubError
from hubbub.model.orders import Node
from hubbub.serve import events, health, mcp, rest
from hubbub.serve.auth import Guard, error_response
from hubbub.serve.browsers import Labelled
from hubbub.serve.dashboard.assets import Assets
from hubbub.serve.dashboard.entrance import Entrance
from hubbub.serve.dashboard.errors import ErrorPages
from hubbub.serve.dashboard.pages import Pages
from hubbub.serve.desk import Desk
from hubbub.serve.errors import broken, http_error, refusal, refused
from hubbub.serve.feed import Feed
from hubbub.serve.fleet.far import FarNodes
from hubbub.serve.fleet.fleet import Fleet
from hubbub.serve.fleet.hearing import Hearing
from hubbub.serve.fleet.links import Links
from hubbub.serve.fleet.needs import Needs
from hubbub.serve.followers import Followers
from hubbub.serve.hosts import Hosts
from hubbub.serve.live import LiveView
from hubbub.serve.logins import Logins
from hubbub.serve.mcp.connections import Connections
from hubbub.serve.metrics import Metrics
from hubbub.serve.news import LiveNews
from hubbub.serve.notified import Notified
from hubbub.serve.otlp.door import Exports, Use
from hubbub.serve.passwords import Gatekeeper
from hubbub.serve.requests import Requests
from hubbub.serve.rest.commhub import CommHubRest
from hubbub.serve.rest.golemxv import GolemXvRest
from hubbub.serve.rest.hub import Copier
from hubbub.serve.rest.relay import RelayRest
from hubbub.serve.share import SharePage
from hubbub.serve.sightings import Sightings
from hubbub.serve.waking import Waking
from hubbub.serve.whispers import Whispers
from hubbub.settings import Settings
from hubbub.workspace.folder import Workspace

Alive = Callable[[], AbstractAsyncContextManager[None]]
Stream = Route | WebSocketRoute


@dataclass(frozen=True, slots=True)
class Parts:
    """What a hub is made of, as far as its edges need it."""

    transactions: Transactions
    dialects: Mapping[str, Dialect]
    feed: Feed
    followers: Followers
    notified: Notified
    whispers: Whispers
    sightings: Sightings
    settings: Settings
    url: str
    port: int
    workspace: Workspace | None  # the folder of the team that works over the hub itself, in one project:
    workspace_project: str
    copier: Copier | None  # makes backups, where the store can
    fleet: Fleet  # the machines that are linked to the hub
    node: Node | None = None  # the machine that the hub runs on, where it is offered to agents


def application(parts: Parts, alive: Alive) -> ASGIApp:
    """The application. What `alive` does goes on while it is served."""
    settings, transactions = parts.settings, parts.transactions
    connections = Connections(transactions.quotas)
    metrics = Metrics(transactions, lambda: len(parts.followers), lambda: len(connections), parts.fleet)
    metrics.quotas(transactions.quotas)
    news = LiveNews(parts.feed, parts.followers)
    desk = Desk(transactions, news)
    site = _site(parts, news)
    protocol = _protocol(parts, site, connections, metrics)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with protocol.run(), alive():
            yield

    hosts = Hosts.of(settings.host, parts.port, settings.public_url)
    logins, gatekeeper = Logins(transactions, hosts, parts.port), Gatekeeper(transactions)
    assets = Assets.of()
    pages = Pages(assets)
    routes = [
        *Entrance(transactions, logins, pages, gatekeeper).routes(),
        *assets.routes(),
        *protocol.routes,
        *health.routes(transactions, metrics),
        *Exports(transactions, metrics.use).routes(),
        *CommHubRest(transactions, gatekeeper, is_open=settings.open_registration).routes(),
        *RelayRest(transactions, site).routes(),
        *GolemXvRest(transactions, site).routes(),
        *SharePage(transactions).routes(),
        Mount("/api/v1", _interface(parts, site, news, desk, gatekeeper=gatekeeper, use=metrics.use)),
    ]
    inner = Starlette(
        routes=routes,
        lifespan=lifespan,
        exception_handlers={HTTPException: http_error, HubError: refused, Exception: broken},
    )
    app = StreamsFirst(_streams(parts, site, desk, metrics), protocol.routes, inner)
    paths = protocol.paths
    guarded = Guard(app, transactions=transactions, hosts=hosts, logins=logins, confirming=paths)
    return Labelled(Requests(ErrorPages(guarded, pages), metrics))


def _protocol(parts: Parts, site: Site, connections: Connections, metrics: Metrics) -> mcp.Mcp:
    """MCP, in every dialect."""
    return mcp.build(
        parts.transactions,
        parts.dialects,
        parts.followers,
        connections,
        root=parts.settings.root_dialect,
        site=site,
        whispers=parts.whispers,
        measure=metrics.call,
        saw=parts.sightings.saw,
    )


def _interface(
    parts: Parts, site: Site, news: LiveNews, desk: Desk, *, gatekeeper: Gatekeeper, use: Use
) -> ASGIApp:
    """REST for everything that people and programs do."""
    return rest.application(
        parts.transactions,
        news,
        desk,
        parts.settings.data,
        parts.copier,
        keep_log_days=parts.settings.keep_log_days,
        webhook_private=parts.settings.webhook_private,
        public_url=parts.settings.public_url,
        site=site,
        gatekeeper=gatekeeper,
        waking=Waking(parts.transactions, news, parts.fleet.pace.mail),
        claim_ttl=timedelta(minutes=parts.settings.claim_minutes),
        prices=prices.read(parts.settings.prices),
        use=use,
    )


def _site(parts: Parts, news: LiveNews) -> Site:
    """The hub, as tools may know it."""
    settings = parts.settings
    return Site(
        url=settings.public_url or parts.url,
        port=parts.port,
        instance=parts.fleet.instance,
        news=news,
        tell=parts.whispers.tell,
        note=parts.notified.do,
        caps=Caps(
            messages=settings.run_messages,
            tasks=settings.run_tasks,
            artifacts=settings.run_artifacts,
            reviews=settings.run_reviews,
        ),
        workspace=parts.workspace,
        workspace_project=parts.workspace_project,
        node=parts.node,
        fleet=FarNodes(parts.fleet),
        carry_out=CMDOP.carry_out,
    )


class StreamsFirst:
    """Serves streams itself, and what is called most, and hands on all else.

    What stood in between would be held once for each open stream, and paid for by each call.
    """

    def __init__(self, streams: Sequence[Stream], called: Sequence[Route], app: ASGIApp) -> None:
        self.streams = streams
        self.called = {route.path: route for route in called}
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        stream = self._matching(scope) if scope["type"] != "lifespan" else None
        if stream is None and scope["type"] == "websocket":
            stream = error_response(
                HTTPStatus.NOT_FOUND, "not_found", "there is no WebSocket at this address"
            )
        try:
            await (stream or self.app)(scope, receive, send)
        except HubError as error:
            await refusal(error)(scope, receive, send)

    def _matching(self, scope: Scope) -> ASGIApp | None:
        if scope["type"] == "http" and (called := self.called.get(scope["path"])) is not None:
            scope["route"] = called
            return called.app
        for route in self.streams:
            match, found = route.matches(scope)
            if match is Match.FULL:
                scope.update(found, route=route)
                return route.app
        return None


def _streams(parts: Parts, site: Site, desk: Desk, metrics: Metrics) -> list[Stream]:
    together = parts.transactions, parts.feed, parts.followers
    words = next(
        events.Words(dialect.greeting, dialect.inbox_event)
        for dialect in parts.dialects.values()
        if dialect.greeting is not None and dialect.inbox_event is not None
    )
    inbox = events.InboxStream(*together, words, parts.notified)
    return [
        *events.routes(events.ProjectStream(*together), inbox),
        *LiveView(*together, parts.whispers, site).routes(),
        *_links(parts, site, desk, metrics).routes(),
    ]


def _links(parts: Parts, site: Site, desk: Desk, metrics: Metrics) -> Links:
    """Where machines connect."""
    needs = Needs(parts.fleet, desk, site, CMDOP)
    hearing = Hearing(parts.fleet, needs, metrics.order)
    return Links(parts.fleet, hearing, parts.followers, parts.settings.public_url)
