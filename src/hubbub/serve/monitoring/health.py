"""Health of the hub for its operator: alive, ready, and its metrics. No secrets, no names of agents."""

from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from hubbub import __version__
from hubbub.core import expiry
from hubbub.core.transaction import Transactions
from hubbub.model.errors import StoreUnavailable
from hubbub.model.people.rights import SYSTEM
from hubbub.serve.monitoring.metrics import Metrics


def routes(transactions: Transactions, metrics: Metrics) -> list[BaseRoute]:
    """Return routes: `/health` (the process answers), `/ready` (so does the store), `/metrics` (Prometheus text)."""

    async def health(_request: Request) -> Response:
        return JSONResponse({"ok": True, "version": __version__})

    async def ready(_request: Request) -> Response:
        try:
            await transactions.store.read(SYSTEM, expiry.is_due)
        except StoreUnavailable as error:
            return JSONResponse({"ok": False, "reason": str(error)}, HTTPStatus.SERVICE_UNAVAILABLE)
        return JSONResponse({"ok": True})

    async def numbers(_request: Request) -> Response:
        return Response(await metrics.text(), media_type=metrics.MEDIA_TYPE)

    return [Route("/health", health), Route("/ready", ready), Route("/metrics", numbers)]
