"""The REST of CommHub's node clients. The dialect makes the replies; only the addresses are here."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, TypeVar

from pydantic import BaseModel, Field, ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from hubbub.core.transaction import Transactions
from hubbub.dialects.commhub import DIALECT, rest_replies
from hubbub.dialects.commhub.tool_set import OptionalId
from hubbub.dialects.dialect import Reply
from hubbub.model.argument_names import complaint
from hubbub.model.errors import HubError, Invalid
from hubbub.model.fleet.calls import ToolResult
from hubbub.model.json_fields import validation_message
from hubbub.model.people.rights import SYSTEM, Actor
from hubbub.serve.dialect_apis.tool_responses import encode_large, json_object, response
from hubbub.serve.http.guard import actor_of
from hubbub.serve.http.passwords import PasswordLogin, check
from hubbub.serve.rest.base.shapes import Label, LongText, Name
from hubbub.store.tx import Operation, Tx

HISTORY = 50
LONGEST_HISTORY = 500
NUMBERS = frozenset({"limit", "ttl_seconds"})  # in a query every value is text

Model = TypeVar("Model", bound=BaseModel)
Body = Mapping[str, object]
Handler = Callable[[Request], Awaitable[ToolResult]]


class Account(BaseModel):
    username: Name
    password: LongText
    invite_code: Name | None = None
    label: Label | None = None  # of the token that a login makes; our own command line gives it


class Networked(BaseModel):
    network_id: OptionalId = None


class NodeToken(Networked):
    node_name: Name | None = None


class History(Networked):
    alias: OptionalId = None
    limit: Annotated[int, Field(ge=1, le=LONGEST_HISTORY)] = HISTORY


class CommHubRest:
    """The handlers of all addresses."""

    def __init__(self, transactions: Transactions, gatekeeper: PasswordLogin, *, is_open: bool) -> None:
        """Set up the addresses; with `is_open` anyone may register, without an invitation."""
        self.transactions = transactions
        self.gatekeeper = gatekeeper
        self.is_open = is_open

    def routes(self) -> list[BaseRoute]:
        return [
            _route("POST", "/api/auth/register", self.register),
            _route("POST", "/api/auth/login", self.login),
            _route("GET", "/api/auth/me", self.me),
            _route("POST", "/api/auth/node-token", self.node_token),
            _route("GET", "/api/status", self._tool("get_all_status", status="filter_status")),
            _route("GET", "/api/tasks", self._tool("list_tasks", to_name="alias")),
            _route("GET", "/api/task/{task_id}", self._tool("get_task")),
            _route("GET", "/api/completions", self._tool("get_completions")),
            _route("GET", "/api/messages", self.messages),
            _route("GET", "/api/nodes", self.nodes),
            _route("POST", "/api/task", self.send_task),
            _route("POST", "/api/broadcast", self._tool("broadcast")),
        ]

    async def register(self, request: Request) -> ToolResult:
        asked = _checked(Account, await json_object(request))
        check(asked.password, asked.username)
        if asked.invite_code or not self.is_open:  # before the work of hashing
            await self.gatekeeper.invited(request.scope, asked.invite_code or "")
        kept = await self.gatekeeper.passwords.hash(asked.password)

        def register(tx: Tx) -> Reply:
            return rest_replies.register(
                tx, asked.username, kept, invite_code=asked.invite_code, is_open=self.is_open
            )

        return _yes(await self.transactions.write(SYSTEM, register))

    async def login(self, request: Request) -> ToolResult:
        asked = _checked(Account, await json_object(request))
        user = await self.gatekeeper.admit(request.scope, asked.username, asked.password)
        return _yes(
            await self.transactions.write(SYSTEM, lambda tx: rest_replies.login(tx, user, asked.label))
        )

    async def me(self, request: Request) -> ToolResult:
        return await self._read(request, rest_replies.me)

    async def node_token(self, request: Request) -> ToolResult:
        asked = _checked(NodeToken, await json_object(request))
        return _yes(
            await self.transactions.write(
                actor_of(request.scope),
                lambda tx: rest_replies.node_token(tx, asked.network_id, asked.node_name),
            )
        )

    async def messages(self, request: Request) -> ToolResult:
        asked = _checked(History, _query(request, History))
        return await self._read(
            request,
            lambda tx: rest_replies.message_history(tx, asked.network_id, asked.alias, asked.limit),
            long=asked.alias is not None,  # it may look through many messages of others
        )

    async def nodes(self, request: Request) -> ToolResult:
        asked = _checked(Networked, _query(request, Networked))
        return await self._read(request, lambda tx: rest_replies.nodes(tx, asked.network_id))

    async def send_task(self, request: Request) -> ToolResult:
        body = await json_object(request)
        arguments = {**body, "from_session": body.get("from") or body.get("from_session")}
        answer = await self._call(request, "send_task", arguments)
        if answer.refusal is not None or answer.is_error:
            return answer
        return _yes({"task_id": answer.content["message_id"], **answer.content})

    def _tool(self, name: str, **words: str) -> Handler:
        """Return a handler for the tool of that name, with the members of body or query, and path, as arguments.

        `words` are CommHub's further names for parameters of the query, with the argument that each means.
        """

        async def handle(request: Request) -> ToolResult:
            if request.method == "POST":
                given = await json_object(request)
            else:
                query = _query(request, DIALECT.tools[name].input, *words)
                given = {words.get(each, each): value for each, value in _numbered(query).items()}
            return await self._call(request, name, {**given, **request.path_params})

        return handle

    async def _call(self, request: Request, tool: str, arguments: Body) -> ToolResult:
        key = request.headers.get("idempotency-key")
        actor = actor_of(request.scope)
        return await DIALECT.call(self.transactions, actor, tool, arguments, key, shape=encode_large)

    async def _read(self, request: Request, operation: Operation[Reply], *, long: bool = False) -> ToolResult:
        actor: Actor = actor_of(request.scope)
        return _yes(await self.transactions.read(actor, operation, long=long))


def _route(method: str, path: str, handler: Handler) -> BaseRoute:
    async def answer(request: Request) -> Response:
        try:
            return response(await handler(request))
        except HubError as error:
            return response(DIALECT.refuse(error))

    return Route(path, answer, methods=[method])


def _yes(reply: Reply) -> ToolResult:
    return ToolResult(DIALECT.success(reply))


def _checked(model: type[Model], given: Body) -> Model:
    """Validate the request by the model of its address. Raises `Invalid`."""
    try:
        return model.model_validate({name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        raise Invalid(validation_message(error.errors(include_url=False))) from None


def _query(request: Request, model: type[BaseModel], *further: str) -> Mapping[str, str]:
    """Return the query. Raises `Invalid` for an unknown parameter: without its filter the answer would mislead."""
    known = [name for name in (*model.model_fields, *further) if name not in request.path_params]
    strange = next((name for name in request.query_params if name not in known), None)
    if strange is not None:
        raise Invalid(complaint("this call", strange, known, "parameter"))
    return request.query_params


def _numbered(query: Mapping[str, str]) -> dict[str, object]:
    """Convert the numbers of a query; a wrong one stays text, for the tool to refuse."""
    return {name: _number(value) if name in NUMBERS else value for name, value in query.items()}


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
