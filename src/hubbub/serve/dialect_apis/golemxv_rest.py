"""The REST of GolemXV's clients. Each address is a tool; only the mapping is here."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from hubbub.core.transaction import Transactions
from hubbub.dialects.call import Call, HubContext
from hubbub.dialects.golemxv import DIALECT
from hubbub.model.errors import HubError, Invalid
from hubbub.model.fleet.calls import ToolResult
from hubbub.serve.dialect_apis.tool_responses import json_object, response
from hubbub.serve.http.guard import GOLEMXV, actor_of

TOOLS = {
    "/checkin": "checkin",
    "/heartbeat": "heartbeat",
    "/scope": "scope_update",
    "/checkout": "checkout",
    "/messages": "send_message",
    "/tasks/claim": "claim_task",
}
COMPLETED = "completed"
STATUSES = ("in_progress", "blocked", "failed", COMPLETED)

Handler = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class GolemXvRest:
    """The handlers of all addresses."""

    transactions: Transactions
    site: HubContext

    def routes(self) -> list[BaseRoute]:
        handlers: dict[str, Handler] = {path: self._tool(name) for path, name in TOOLS.items()}
        handlers["/tasks/{task_id:int}/status"] = self.status
        return [Route(GOLEMXV + path, handler, methods=["POST"]) for path, handler in handlers.items()]

    async def status(self, request: Request) -> Response:
        """Set a task's new status; `completed` comes with a report of the work."""
        try:
            given = {**await json_object(request), **request.path_params}
            if given.get("status") not in STATUSES:
                raise Invalid(f"status: must be one of {', '.join(STATUSES)}")
        except Invalid as error:
            return response(DIALECT.refuse(error))
        tool = "complete_task" if given.get("status") == COMPLETED else "update_task"
        return response(await self._call(request, tool, given))

    def _tool(self, name: str) -> Handler:
        async def handle(request: Request) -> Response:
            try:
                given = await json_object(request)
            except Invalid as error:
                return response(DIALECT.refuse(error))
            return response(await self._call(request, name, dict(given)))

        return handle

    async def _call(self, request: Request, tool: str, arguments: dict[str, object]) -> ToolResult:
        try:
            return await DIALECT.call(
                self.transactions,
                actor_of(request.scope),
                tool,
                arguments,
                request.headers.get("idempotency-key"),
                Call(site=self.site, headers=request.headers),
            )
        except HubError as error:
            return DIALECT.refuse(error)
