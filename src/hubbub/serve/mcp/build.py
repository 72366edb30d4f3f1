"""All dialects over MCP, ready to be put into the hub's application.

The SDK takes a fifth of the hub's memory, and a quarter of the time of its start. So it is loaded when the first
message comes.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from hubbub.core.transaction import Transactions
from hubbub.dialects.call import HubContext
from hubbub.dialects.dialect import Dialect
from hubbub.model.programs import loading
from hubbub.serve.http.guard import error_response
from hubbub.serve.live.ephemeral import EphemeralBroadcast
from hubbub.serve.live.subscribers import Subscribers
from hubbub.serve.mcp.connections import Connections
from hubbub.serve.mcp.listeners import Measure, Saw, unmeasured, unseen

if TYPE_CHECKING:
    from hubbub.serve.mcp.endpoint import Endpoint


@dataclass(frozen=True, slots=True)
class NoDialect:
    """The application of the addresses at which nothing is served: it names what is there."""

    there: tuple[str, ...]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sentence = f"there is no dialect {scope['path_params']['name']!r}; there are {', '.join(self.there)}"
        await error_response(HTTPStatus.NOT_FOUND, "not_found", sentence)(scope, receive, send)


class LateEndpoint:
    """The application of a path, which loads those of all paths when it is first called."""

    def __init__(self, name: str, load: "Callable[[], Awaitable[Mapping[str, Endpoint]]]") -> None:
        self._name, self._load = name, load
        self._loaded: Endpoint | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._loaded is None:
            self._loaded = (await self._load())[self._name]
        await self._loaded(scope, receive, send)


class Mcp:
    """The routes of all dialects. They work while `run` is entered, and expect `auth.Guard` around them.

    `make` returns the endpoint of each dialect.
    """

    def __init__(
        self, names: tuple[str, ...], root: str, make: "Callable[[], Mapping[str, Endpoint]]"
    ) -> None:
        self._make = make
        paths = {f"/mcp/{name}": name for name in names} | {"/mcp": root}
        self.routes = [Route(path, LateEndpoint(name, self.endpoints)) for path, name in paths.items()]
        self.routes.append(Route("/mcp/{name}", NoDialect(names)))

    @property
    def paths(self) -> list[str]:
        return [route.path for route in self.routes]

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        self._is_wanted, self._is_over = asyncio.Event(), asyncio.Event()
        self._made: asyncio.Future[Mapping[str, Endpoint]] = asyncio.get_running_loop().create_future()
        keeping = asyncio.create_task(self._keep())
        try:
            yield
        finally:
            self._is_over.set()
            self._is_wanted.set()
            await keeping

    async def endpoints(self) -> "Mapping[str, Endpoint]":
        """Return the endpoint of each dialect, made and running."""
        self._is_wanted.set()
        return await asyncio.shield(self._made)

    async def _keep(self) -> None:
        """Run the endpoints from the first call to the end: the SDK has to end in the task in which it began."""
        await self._is_wanted.wait()
        if self._is_over.is_set():
            return
        async with AsyncExitStack() as stack:
            try:
                made = await asyncio.to_thread(self._loaded)
                for endpoint in made.values():
                    await stack.enter_async_context(endpoint.run())
            except Exception as error:  # noqa: BLE001  # every caller gets it
                self._made.set_exception(error)
                return
            self._made.set_result(made)
            await self._is_over.wait()

    def _loaded(self) -> "Mapping[str, Endpoint]":
        with loading.at_once():
            return self._make()


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

    def make() -> "Mapping[str, Endpoint]":
        from hubbub.serve.mcp.connection_cache import ConnectionCache
        from hubbub.serve.mcp.dialect_server import DialectServer
        from hubbub.serve.mcp.endpoint import Endpoint

        def served(name: str, dialect: Dialect) -> DialectServer:
            known = ConnectionCache(transactions, whispers, name)
            return DialectServer(dialect, transactions, followers, known, site, measure=measure, saw=saw)

        return {
            name: Endpoint(served(name, dialect), followers, sessions) for name, dialect in dialects.items()
        }

    return Mcp(tuple(dialects), root, make)
