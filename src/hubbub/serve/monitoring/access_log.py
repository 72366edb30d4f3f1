"""Access log: every request is counted and logged; the details of a bug are logged, not sent to the caller."""

import logging
import time

from starlette.requests import Request
from starlette.routing import Mount
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hubbub.processes.log import structlog
from hubbub.serve.http.error_responses import server_error
from hubbub.serve.monitoring.metrics import Metrics

log = structlog.get_logger(__name__)
_heard = logging.getLogger(__name__)  # the same as asking `log`, in a tenth of the time

UNROUTED = "(none)"  # refused before routing, or without a route


class AccessLog:
    """The outermost ASGI middleware."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status, began = 0, time.perf_counter()

        async def noted(message: Message) -> None:
            nonlocal status
            status = int(message.get("status", status))
            await send(message)

        try:
            await self.app(scope, receive, noted)
        except Exception as error:
            log.exception("a request failed", method=scope["method"], route=_route(scope))
            if not status:  # else an inner layer has sent it already
                await (await server_error(Request(scope), error))(scope, receive, noted)
        self.metrics.request(_route(scope), status)
        if _heard.isEnabledFor(logging.DEBUG):
            ms = round((time.perf_counter() - began) * 1000, 1)
            log.debug("request", method=scope["method"], route=_route(scope), status=status, ms=ms)


def _route(scope: Scope) -> str:
    """Return the pattern of the request's route, which holds no names and no secrets."""
    route, mounted_at = scope.get("route"), scope.get("root_path", "")
    if isinstance(route, Mount):
        return mounted_at or UNROUTED
    path = getattr(route, "path", None)
    return f"{mounted_at}{path}" if path is not None else UNROUTED
