"""Routes for large bodies, which are parsed as JSON beside the event loop."""

from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import Request, Response

from hubbub.serve.http import body_limits
from hubbub.serve.rest.base.router import DeferredRoute


class LargeRoute(DeferredRoute):
    """A route whose body may have the largest size."""

    def get_route_handler(self) -> Callable[[Request], Awaitable[Response]]:  # type: ignore[override]
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            return await handle(_LargeRequest(request.scope, request.receive))

        return handled


class _LargeRequest(Request):
    """A request that parses its body without blocking the others."""

    async def json(self) -> Any:
        return await body_limits.run_off_loop(body_limits.parse_json, await self.body())
