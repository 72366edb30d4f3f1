"""The ASGI application of a hub: its routes, and the layers around all of them."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Match, Mount, Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from hubbub.core.transaction import Transactions
from hubbub.dialects.call import HubContext, RunLimits
from hubbub.dialects.cmdop.tool_set import DIALECT as CMDOP
from hubbub.dialects.dialect import Dialect
from hubbub.model.cost import prices
from hubbub.model.errors import HubError
from hubbub.model.fleet.calls import Node
from hubbub.serve import mcp, rest
from hubbub.serve.background.last_tools import LastTools
from hubbub.serve.dashboard.answer_pages import AnswerPages
from hubbub.serve.dashboard.assets import Assets
from hubbub.serve.dashboard.error_pages import ErrorPages
from hubbub.serve.dashboard.login_pages import LoginPages
from hubbub.serve.dashboard.pages import Pages
from hubbub.serve.dashboard.register_pages import RegisterPages
from hubbub.serve.dashboard.share_page import SharePage
from hubbub.serve.dialect_apis.commhub_rest import CommHubRest
from hubbub.serve.dialect_apis.golemxv_rest import GolemXvRest
from hubbub.serve.dialect_apis.relay_rest import RelayRest
from hubbub.serve.dialect_apis.relay_websocket import LiveView
from hubbub.serve.documents.pages import DocumentPages
from hubbub.serve.fleet.hub_services import HubServices
from hubbub.serve.fleet.link_endpoint import LinkEndpoint
from hubbub.serve.fleet.linked_nodes import LinkedNodes
from hubbub.serve.fleet.node_reports import NodeReports
from hubbub.serve.fleet.node_requests import NodeRequests
from hubbub.serve.fleet.proof_signing import ProofSigning
from hubbub.serve.fleet.remote_nodes import RemoteNodes
from hubbub.serve.http.error_responses import http_error, hub_error, refusal, server_error
from hubbub.serve.http.guard import Guard, error_response
from hubbub.serve.http.hosts import Hosts
from hubbub.serve.http.login_cookies import LoginCookies
from hubbub.serve.http.passwords import PasswordLogin
from hubbub.serve.http.security_headers import SecurityHeaders
from hubbub.serve.live import sse
from hubbub.serve.live.activity_source import LiveActivitySource
from hubbub.serve.live.delivery_receipts import DeliveryReceipts
from hubbub.serve.live.ephemeral import EphemeralBroadcast
from hubbub.serve.live.log_tail import LogTail
from hubbub.serve.live.subscribers import Subscribers
from hubbub.serve.live.wake_waiters import WakeWaiters
from hubbub.serve.mcp.connections import Connections
from hubbub.serve.monitoring import health
from hubbub.serve.monitoring.access_log import AccessLog
from hubbub.serve.monitoring.metrics import Metrics
from hubbub.serve.otlp.endpoint import Exports, Use
from hubbub.serve.rest.log.hub_overview import Copier
from hubbub.settings import Settings
from hubbub.workspace.locations import Workspace

Lifespan = Callable[[], AbstractAsyncContextManager[None]]
StreamRoute = Route | WebSocketRoute


@dataclass(frozen=True, slots=True)
class AppContext:
    """The parts of a hub that its edges need."""

    transactions: Transactions
    dialects: Mapping[str, Dialect]
    feed: LogTail
    followers: Subscribers
    notified: DeliveryReceipts
    whispers: EphemeralBroadcast
    sightings: LastTools
    settings: Settings
    url: str
    port: int
    workspace: Workspace | None  # the folder of the team that works over the hub itself, in one project:
    workspace_project: str
    copier: Copier | None  # makes backups, if the store can
    fleet: LinkedNodes  # the machines that are linked to the hub
    signing: ProofSigning  # asks machines to sign what they saw
    node: Node | None = None  # the machine that the hub runs on, if agents may use it


def application(parts: AppContext, alive: Lifespan) -> ASGIApp:
    """Build the application. `alive` runs while it is served."""
    settings, transactions = parts.settings, parts.transactions
    connections = Connections(transactions.quotas)
    metrics = Metrics(transactions, lambda: len(parts.followers), lambda: len(connections), parts.fleet)
    metrics.quotas(transactions.quotas)
    news = LiveActivitySource(parts.feed, parts.followers)
    services = HubServices(transactions, news, prices.read(settings.prices))
    site = _site(parts, news)
    protocol = _protocol(parts, site, connections, metrics)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with protocol.run(), alive():
            yield

    hosts = Hosts.of(settings.host, parts.port, settings.public_url)
    logins, gatekeeper = LoginCookies(transactions, hosts, parts.port), PasswordLogin(transactions)
    pages = Pages(Assets.of())
    routes = [
        *_entrance(LoginPages(transactions, logins, pages, gatekeeper), settings.public_url),
        *AnswerPages(transactions, pages).routes(),
        *DocumentPages(pages).routes(),
        *pages.assets.routes(),
        *protocol.routes,
        *health.routes(transactions, metrics),
        *CommHubRest(transactions, gatekeeper, is_open=settings.open_registration).routes(),
        *RelayRest(transactions, site).routes(),
        *GolemXvRest(transactions, site).routes(),
        *SharePage(transactions).routes(),
        Mount("/api/v1", _interface(parts, site, news, services, gatekeeper=gatekeeper, use=metrics.use)),
    ]
    inner = Starlette(
        routes=routes,
        lifespan=lifespan,
        exception_handlers={HTTPException: http_error, HubError: hub_error, Exception: server_error},
    )
    exports = Exports(transactions, metrics.use, prices.read(settings.prices)).routes()
    app = StreamsFirst(_streams(parts, site, services, metrics), [*protocol.routes, *exports], inner)
    guarded = Guard(app, transactions=transactions, hosts=hosts, logins=logins, confirming=protocol.paths)
    return SecurityHeaders(AccessLog(ErrorPages(guarded, pages), metrics))


def _entrance(login: LoginPages, public_url: str | None) -> list[Route]:
    """Return the routes by which people come in."""
    return [*login.routes(), *RegisterPages(login, public_url).routes()]


def _protocol(parts: AppContext, site: HubContext, connections: Connections, metrics: Metrics) -> mcp.Mcp:
    """Build MCP, in every dialect."""
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
    parts: AppContext,
    site: HubContext,
    news: LiveActivitySource,
    services: HubServices,
    *,
    gatekeeper: PasswordLogin,
    use: Use,
) -> ASGIApp:
    """Build REST, for everything that people and programs do."""
    return rest.application(
        parts.transactions,
        news,
        services,
        parts.settings.data,
        parts.copier,
        keep_log_days=parts.settings.keep_log_days,
        webhook_private=parts.settings.webhook_private,
        public_url=parts.settings.public_url,
        site=site,
        gatekeeper=gatekeeper,
        waking=WakeWaiters(parts.transactions, news, parts.fleet.pace.mail),
        claim_ttl=timedelta(minutes=parts.settings.claim_minutes),
        prices=prices.read(parts.settings.prices),
        use=use,
    )


def _site(parts: AppContext, news: LiveActivitySource) -> HubContext:
    """Build the hub's context for tools."""
    settings = parts.settings
    return HubContext(
        url=settings.public_url or parts.url,
        port=parts.port,
        instance=parts.fleet.instance,
        news=news,
        tell=parts.whispers.tell,
        note=parts.notified.do,
        caps=RunLimits(
            messages=settings.run_messages,
            tasks=settings.run_tasks,
            artifacts=settings.run_artifacts,
            reviews=settings.run_reviews,
        ),
        workspace=parts.workspace,
        workspace_project=parts.workspace_project,
        node=parts.node,
        fleet=RemoteNodes(parts.fleet),
        carry_out=CMDOP.carry_out,
    )


class StreamsFirst:
    """Serves streams and the most frequent calls itself, and passes on all else.

    Any layer in between would exist once for each open stream, and cost time in each call.
    """

    def __init__(self, streams: Sequence[StreamRoute], called: Sequence[Route], app: ASGIApp) -> None:
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


def _streams(
    parts: AppContext, site: HubContext, services: HubServices, metrics: Metrics
) -> list[StreamRoute]:
    together = parts.transactions, parts.feed, parts.followers
    words = next(
        sse.InboxWords(dialect.greeting, dialect.inbox_event)
        for dialect in parts.dialects.values()
        if dialect.greeting is not None and dialect.inbox_event is not None
    )
    inbox = sse.InboxStream(*together, words, parts.notified)
    return [
        *sse.routes(sse.ProjectStream(*together), inbox),
        *LiveView(*together, parts.whispers, site).routes(),
        *_links(parts, site, services, metrics).routes(),
    ]


def _links(parts: AppContext, site: HubContext, services: HubServices, metrics: Metrics) -> LinkEndpoint:
    """Build the endpoint where machines connect."""
    needs = NodeRequests(parts.fleet, services, site, CMDOP)
    hearing = NodeReports(parts.fleet, needs, metrics.order)
    return LinkEndpoint(parts.fleet, hearing, parts.signing, parts.followers, parts.settings.public_url)
