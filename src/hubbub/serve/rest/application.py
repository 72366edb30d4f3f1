"""The REST application: one router a noun, one form for every refusal, and OpenAPI from the same types."""

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path
from threading import Lock
from typing import Any, cast

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hubbub import __version__
from hubbub.core.transaction import Transactions
from hubbub.dialects.call import HubContext
from hubbub.model.agents.file_claims import TTL
from hubbub.model.cost.prices import Prices
from hubbub.model.errors import HubError
from hubbub.model.json_fields import validation_message
from hubbub.serve.fleet.hub_services import HubServices
from hubbub.serve.http.error_responses import http_error, hub_error, server_error
from hubbub.serve.http.guard import error_response
from hubbub.serve.http.passwords import PasswordLogin
from hubbub.serve.live.activity_source import LiveActivitySource
from hubbub.serve.live.wake_waiters import WakeWaiters
from hubbub.serve.otlp.endpoint import Use
from hubbub.serve.rest import cost, first_steps
from hubbub.serve.rest.agents import agents, edits, merges, scopes
from hubbub.serve.rest.base.router import DeferredRoute
from hubbub.serve.rest.base.shapes import UNKNOWN_MEMBER
from hubbub.serve.rest.fleet import approvals, hub_services, managed_agents, nodes, shares, terminal
from hubbub.serve.rest.limits import breakers, budgets, usage_limits
from hubbub.serve.rest.log import audit, hub_overview, snapshots, webhooks, why
from hubbub.serve.rest.mail import deadletters, messages, threads, wakes
from hubbub.serve.rest.people import accounts, logins, projects
from hubbub.serve.rest.work import (
    artifacts,
    leases,
    memory,
    proof,
    proof_export,
    reviews,
    runs,
    task_actions,
    tasks,
    throughput,
)

# The problems of a body as a whole, by pydantic's types.
_OF_BODIES = {
    "json_invalid": "the body must be JSON",
    "model_attributes_type": "the body must be a JSON object, sent as application/json",
}

ROUTERS = tuple(
    module.router
    for module in (
        accounts,
        logins,
        projects,
        scopes,
        edits,
        merges,
        leases,
        usage_limits,
        runs,
        managed_agents,
        wakes,
        agents,
        tasks,
        task_actions,
        throughput,
        proof,
        proof_export,
        messages,
        deadletters,
        threads,
        artifacts,
        reviews,
        memory,
        webhooks,
        approvals,
        nodes,
        hub_services,
        terminal,
        shares,
        audit,
        why,
        snapshots,
        first_steps,
        cost,
        budgets,
        breakers,
        hub_overview,
    )
)
ROUTES = cast(tuple[DeferredRoute, ...], tuple(route for router in ROUTERS for route in router.routes))


def application(
    transactions: Transactions,
    news: LiveActivitySource,
    machines: HubServices,
    data: Path,
    copier: hub_overview.Copier | None,
    *,
    keep_log_days: int | None,
    webhook_private: bool,
    public_url: str | None,
    site: HubContext,
    gatekeeper: PasswordLogin,
    waking: WakeWaiters,
    claim_ttl: timedelta = TTL,
    prices: Prices,
    use: Use,
) -> FastAPI:
    """Build the application to mount. `copier` makes backups, if the store can; `data` has room for them.

    `claim_ttl` is how long a file stays claimed after its last edit; `keep_log_days` is how long the log is kept;
    `webhook_private` says whether webhooks may lead to private addresses; `public_url` is the hub's public address.
    `waking` are the wakers that wait there. `prices` are those of models; `use` is told the use that clients report.
    """
    app = FastAPI(
        title="hubbub",
        version=__version__,
        openapi_url=None,
        routes=[*ROUTES, Route("/openapi.json", _description)],
        exception_handlers={
            HubError: hub_error,
            HTTPException: http_error,
            RequestValidationError: _misunderstood,
            Exception: server_error,
        },
    )
    app.state.transactions, app.state.news, app.state.waking = transactions, news, waking
    app.state.data, app.state.copier, app.state.site = data, copier, site
    app.state.hub_services = machines
    app.state.keep_log_days, app.state.claim_ttl = keep_log_days, claim_ttl
    app.state.prices, app.state.use = prices, use
    app.state.logs = {}
    app.state.describing, app.state.description = Lock(), None
    app.state.webhook_private, app.state.public_url = webhook_private, public_url
    app.state.gatekeeper = gatekeeper
    return app


async def _description(request: Request) -> Response:
    """Describe the interface. The first description takes a second, in which others are not kept waiting."""
    page = await run_in_threadpool(_described, request.app)
    servers = json.dumps([{"url": request.scope["root_path"]}])
    return Response(b'{"servers":%b,%b' % (servers.encode(), page[1:]), media_type="application/json")


def _described(app: FastAPI) -> bytes:
    """Return the description as JSON, without where it is served: one thread makes it, once for all."""
    with app.state.describing:
        if app.state.description is None:
            app.state.description = json.dumps(
                app.openapi(), ensure_ascii=False, separators=(",", ":")
            ).encode()
            app.openapi_schema = None  # which is ten times as large
        description: bytes = app.state.description
        return description


async def _misunderstood(_request: Request, error: Exception) -> Response:
    """Answer a call with wrong arguments: one sentence that names each, without quoting it."""
    problems: Sequence[Any] = error.errors() if isinstance(error, RequestValidationError) else ()
    return error_response(HTTPStatus.BAD_REQUEST, "invalid", "; ".join(map(_sentence, problems)))


def _sentence(problem: Mapping[str, Any]) -> str:
    if problem["type"] == UNKNOWN_MEMBER:
        return ".".join((*map(str, problem["loc"][1:]), problem["msg"]))
    if problem["type"] == "missing" and tuple(problem["loc"]) == ("body",):
        return "the body is missing: send a JSON object, as application/json; {} if it has no members"
    return _OF_BODIES.get(problem["type"]) or validation_message([_named(problem)], "the body")


def _named(problem: Mapping[str, Any]) -> Mapping[str, Any]:
    """Name a problem by its member, without the part of the request that holds it."""
    return {**problem, "loc": problem["loc"][1:]}
