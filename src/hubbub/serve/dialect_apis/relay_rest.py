"""The REST of Relay's clients. The dialect makes the replies; only the addresses are here."""

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from hubbub.core.people import access
from hubbub.core.transaction import Transactions
from hubbub.dialects.call import HubContext
from hubbub.dialects.dialect import Reply
from hubbub.dialects.relay import DIALECT, rest_replies
from hubbub.model.errors import HubError
from hubbub.model.fleet.calls import ToolResult
from hubbub.model.people.rights import Right
from hubbub.serve.dialect_apis.tool_responses import response
from hubbub.serve.http.guard import actor_of
from hubbub.store.tx import Operation, Tx


@dataclass(frozen=True, slots=True)
class RelayRest:
    """The handlers of all addresses."""

    transactions: Transactions
    site: HubContext

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/api/relay/session", self.current, methods=["GET"]),
            Route("/api/relay/sessions/{name}/completion-check", self.completion, methods=["GET"]),
        ]

    async def current(self, request: Request) -> Response:
        def look(tx: Tx) -> Reply:
            project = access.enter(tx, request.query_params.get("project"), Right.READ)
            return DIALECT.success(rest_replies.session(tx, project.id, self.site))

        return await self._read(request, look)

    async def completion(self, request: Request) -> Response:
        def look(tx: Tx) -> Reply:
            project = access.enter(tx, request.query_params.get("project"), Right.READ)
            return rest_replies.completion(tx, project.id, request.path_params["name"])

        return await self._read(request, look)

    async def _read(self, request: Request, operation: Operation[Reply]) -> Response:
        try:
            answer = ToolResult(await self.transactions.read(actor_of(request.scope), operation))
        except HubError as error:
            answer = DIALECT.refuse(error)
        return response(answer)
