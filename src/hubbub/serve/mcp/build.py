"""All dialects over MCP, ready to be put into the hub's application."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus

from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from hubbub.core.transaction import Transactions
from hubbub.dialects.call import HubContext
from hubbub.dialects.dialect import Dialect
from hubbub.serve.http.guard import error_response
from hubbub.serve.live.ephemeral import EphemeralBroadcast
from hubbub.serve.live.subscribers import Subscribers
from hubbub.serve.mcp.connection_cache import ConnectionCache
from hubbub.serve.mcp.connections import Connections
from hubbub.serve.mcp.dialect_server import DialectServer, Measure, Saw, unmeasured, unseen
from hubbub.serve.mcp.endpoint import Endpoint


@dataclass(frozen=True, slots=True)
class NoDialect:
    """The application of the addresses at which nothing is served: it names what is there."""

    there: tuple[str, ...]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sentence = f"there is no dialect {scope['path_params']['name']!r}; there are {', '.join(self.there)}"
        await error_response(HTTPStatus.NOT_FOUND, "not_found", sentence)(scope, receive, send)


@dataclass(frozen=True, slots=True)
class Mcp:
    """The routes of all dialects. They work while `run` is entered, and expect `auth.Guard` around them."""

    routes: list[Route]
    endpoints: tuple[Endpoint, ...]

    @property
    def paths(self) -> list[str]:
        return [route.path for route in self.routes]

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for endpoint in self.endpoints:
                await stack.enter_async_context(endpoint.run())
            yield


def build(
    transactions: Transactions,
    dialects: Mapping[str, Dialect],
    followers: Subscribers,
    sessions: Connections,
    *,
    root: str,
    site: HubContext,
    whispers: EphemeralBroadcast,
    measure: Measure = unmeasured,
    saw: Saw = unseen,
) -> Mcp:
    """Build each dialect at `/mcp/<name>`, and the one called `root` at `/mcp` too; `measure` wraps each call.

    `saw` is told of each call by a named agent. Hubs tell each other of transport sessions by `whispers`, so that these
    go on at all of them. The application ends the `followers` before the server waits for its open streams.
    """
    endpoints = {
        name: Endpoint(
            DialectServer(
                dialect,
                transactions,
                followers,
                ConnectionCache(transactions, whispers, name),
                site,
                measure=measure,
                saw=saw,
            ),
            followers,
            sessions,
        )
        for name, dialect in dialects.items()
    }
    routes = [Route(f"/mcp/{name}", endpoint) for name, endpoint in endpoints.items()]
    routes += [Route("/mcp", endpoints[root]), Route("/mcp/{name}", NoDialect(tuple(endpoints)))]
    return Mcp(routes, tuple(endpoints.values()))
