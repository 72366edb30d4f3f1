"""One dialect at one HTTP path, for clients of every revision and habit.

The SDK serves transport sessions (revisions up to 2025-11-25) and self-contained requests (2026-07-28). There are also
clients that post a call without ever having sent `initialize`, and clients that accept only JSON or
only event frames; this module reads each message once, determines its kind, and gives it to the right server.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any
from uuid import uuid4

import pydantic_core
from mcp import types
from mcp.server import Server
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.context import CallNext, HandlerResult
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Message, Receive, Scope, Send

from hubbub.core.agents import connections
from hubbub.core.transaction import VouchedTransactions
from hubbub.model.agents.connections import Connection
from hubbub.model.errors import Invalid
from hubbub.model.people.rights import Actor
from hubbub.serve.http import body_limits
from hubbub.serve.http.guard import LARGE_BODY_LIMIT, Replay, actor_of, mark_of, read_body
from hubbub.serve.live.subscribers import Subscribers
from hubbub.serve.mcp import address_options, stateless_calls
from hubbub.serve.mcp.connections import Connections
from hubbub.serve.mcp.dialect_server import DialectServer
from hubbub.serve.mcp.jsonrpc import CALL, CANCEL, MIRRORED, SESSION, Json, accepted_formats, decode
from hubbub.serve.mcp.plain_calls import PlainCalls
from hubbub.serve.mcp.request_context import ARGUMENTS, CONNECTION, Context, client_connection
from hubbub.serve.mcp.update_stream import UpdateStreams

JSON_CONTENT = (b"content-type", b"application/json")
ALLOWED = "GET, POST, DELETE"
OPENING_LIMIT = 64 * 1024  # bytes of an `initialize`: its content is kept for as long as the session lasts
PLAINLY = True  # tests have the SDK serve plain calls too, and compare


class Endpoint:
    """The ASGI application of a path; `run` it for as long as it may be called.

    A call is answered by JSON in either revision, not by a stream of events: that costs less than half, and most tools
    send nothing before their result. Followed resources stream. In a dialect that `streams`, calls do so too,
    for clients that take events: they hear of progress, and may be asked something.
    """

    def __init__(
        self,
        served: DialectServer,
        followers: Subscribers,
        sessions: Connections,
    ) -> None:
        self.server, self.sessions = served.server, sessions
        self.tools = served.dialect.tools
        self.served = served
        self.known = served.known
        self.streams = UpdateStreams(served.transactions, followers, self.known)
        self.calls = PlainCalls(served, sessions) if PLAINLY else None
        self.server.middleware.append(self._meet)
        self._plain = _manager(self.server, json_response=True)
        streams = served.dialect.streams
        self._streaming = _manager(self.server, json_response=False) if streams else self._plain
        self._ending: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for each in {id(sdk): sdk for sdk in (self._plain, self._streaming)}.values():
                await stack.enter_async_context(each.run())
            stack.enter_context(self.known.hear_ends(self._ended))
            yield

    def _ended(self, name: str) -> None:
        """End the SDK's part of a transport session that has ended, perhaps at another hub."""
        if (close := self.sessions.take(name)) is not None:
            task = asyncio.create_task(close(name))
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "POST":
            body = await read_body(receive, LARGE_BODY_LIMIT)  # the guard has read and bounded it already
            if isinstance(body, Response):
                await body(scope, receive, send)
                return
            if await self._is_answered(scope, body, send):
                return
            receive = Replay(body, receive)
        await self._serve(scope, receive, send)

    async def _is_answered(self, scope: Scope, body: bytes, send: Send) -> bool:
        """Answer a plain call; for any other message confirm the token's holder. Raises `StaleToken`."""
        call = self.calls.seen(scope, body) if self.calls is not None else None
        if (
            self.calls is not None
            and call is not None
            and await self._has_met(call.session, scope)
            and await self.calls.answer(call, scope, send)
        ):
            return True
        if (mark := mark_of(scope)) is not None:
            await VouchedTransactions(self.served.transactions, mark).confirm(actor_of(scope))
        return False

    async def _has_met(self, session: str | None, scope: Scope) -> bool:
        """Tell whether a plain call may be answered in its session: the SDK has, or does so now to a ping of ours.

        A ping also tells the SDK that the session is in use. The call itself would do so, but the SDK writes an answer
        on the event loop, as a whole, and some are as large as the hub.
        """
        token = actor_of(scope).token_id
        if session is None or self.sessions.is_plain(token, session, self.served):
            return True
        await _ping(self._sdk(scope), scope, session)
        return self.sessions.is_plain(token, session, self.served)

    async def _meet(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Note a transport session in which the SDK has just answered: its plain calls need the SDK no more."""
        result = await call_next(ctx)
        line = client_connection(ctx)
        if ctx.request is not None and line.has_standalone_channel and line.initialize_accepted:
            token, name = actor_of(ctx.request.scope).token_id, ctx.request.headers.get(SESSION)
            if self.sessions.meet(token, name, self.served):
                line.exit_stack.callback(self.sessions.part, token, name)
        return result

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request that is not plain."""
        actor = actor_of(scope)
        scope["user"] = _owner(actor)
        try:
            address_options.parse(scope, self.tools)
        except Invalid as error:
            await _rejected(MCPError(types.INVALID_REQUEST, str(error)))(scope, receive, send)
            return
        name = _session(scope)
        connection = await self.known.find(name, actor.token_id) if name is not None else None
        if name is not None and connection is None:
            await _rejected(MCPError(types.INVALID_REQUEST, "Session not found"), HTTPStatus.NOT_FOUND)(
                scope, receive, send
            )
        elif connection is None:
            await self._without(scope, receive, send)
        else:
            scope[CONNECTION] = connection.id
            await self._within(connection, scope, receive, send)

    async def _without(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request outside any transport session."""
        if scope["method"] != "POST":
            await self._sdk(scope).handle_request(scope, receive, send)
            return
        posted = await self._posted(scope, receive, send)
        if posted is None:
            return
        if _is_bare(posted.request, posted.message):
            await (await stateless_calls.answer(self.server, posted.message, posted.request))(
                scope, receive, posted.send
            )
        elif posted.message.get("method") != "initialize":
            await self._by_sdk(posted)
        elif len(posted.body) > OPENING_LIMIT:
            too_long = f"initialize takes at most {OPENING_LIMIT // 1024} KiB"
            await _rejected(MCPError(types.INVALID_REQUEST, too_long))(scope, receive, posted.send)
        else:
            await self._begin(posted)

    async def _within(self, connection: Connection, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request of a transport session, whichever hub began it."""
        if scope["method"] == "POST":
            posted = await self._posted(scope, receive, send)
            if posted is not None:
                await self._pass_on(connection, posted)
        elif scope["method"] == "GET":
            with self.sessions.using(connection.token_id, connection.id, asks=False):
                await self.streams.serve(connection, scope, receive, send)
        elif scope["method"] == "DELETE":
            await self.served.leave(Request(scope), connection)
            await self.known.end(connection.id)
            await Response(status_code=HTTPStatus.OK)(scope, receive, send)
        else:
            await Response(status_code=HTTPStatus.METHOD_NOT_ALLOWED, headers={"Allow": ALLOWED})(
                scope, receive, send
            )

    async def _pass_on(self, connection: Connection, posted: "_Posted") -> None:
        """Serve a message of a transport session. Raises `TooMany` if too many requests are under way."""
        message, scope = posted.message, posted.request.scope
        if "method" not in message:
            await self._bring(connection, message)
            await Response(status_code=HTTPStatus.ACCEPTED)(scope, posted.request.receive, posted.send)
            return
        if message["method"] == CANCEL:
            self.known.tell(connection.id, {"cancel": (message.get("params") or {}).get("requestId")})
        with self.sessions.using(connection.token_id, connection.id, asks="id" in message):
            if (
                message["method"] == CALL
                and "id" in message
                and self.served.dialect.streams
                and posted.takes_events
            ):
                await stateless_calls.stream(
                    self.server, message, posted.request, posted.send, connection=connection, known=self.known
                )
            elif self.sessions.is_here(connection.token_id, connection.id, self._sdk(scope)):
                await self._by_sdk(posted)
            else:
                said = await stateless_calls.answer(self.server, message, posted.request, connection)
                await said(scope, posted.request.receive, posted.send)

    async def _bring(self, connection: Connection, message: Json) -> None:
        """Take the answer to a question that any hub has asked; any other answer is dropped."""
        question = str(message.get("id"))
        said = {name: message[name] for name in ("result", "error") if name in message}
        answer = partial(
            connections.answer, connection_id=connection.id, question=question, said=json.dumps(said)
        )
        await self.known.write(answer)
        self.known.tell(connection.id, {"answered": question})

    async def _begin(self, posted: "_Posted") -> None:
        """Begin a transport session: here by the SDK, and for every other hub in the store."""
        scope, params = posted.request.scope, posted.message.get("params") or {}
        actor, sdk = actor_of(scope), self._sdk(scope)

        async def keep(name: str) -> None:
            await self.known.begin(_opened(name, actor, self.server.name, params))

        noted = _Noted(posted.send, keep)
        async with self.sessions.beginning(actor, partial(_end, sdk, scope), sdk) as opening:
            for name in opening.given_up:
                await self.known.end(name)
            await sdk.handle_request(scope, posted.request.receive, noted)
            opening.name = noted.session

    def _sdk(self, scope: Scope) -> StreamableHTTPSessionManager:
        """Choose the SDK's manager for a request, by the formats that it accepts; it has no other's sessions."""
        _takes_json, takes_events = accepted_formats(scope)
        return self._streaming if takes_events else self._plain

    async def _posted(self, scope: Scope, receive: Receive, send: Send) -> "_Posted | None":
        """Read the message in a request; answer the request and return None if there is none."""
        request = Request(scope, receive)
        body = await request.body()
        try:
            message = await body_limits.run_off_loop(decode, body)
        except MCPError as error:
            await _rejected(error)(scope, receive, send)
            return None
        takes_json, takes_events = accepted_formats(scope)
        if takes_events and not takes_json:
            send = as_events(send)
        if len(body) > body_limits.AT_ONCE and not _is_bare(request, message):
            body = await asyncio.to_thread(_lightened, body, message, scope)
        tidied = Request(_tidied(scope, takes_events), Replay(body, receive))
        return _Posted(tidied, body, message, send, takes_events=takes_events and takes_json)

    async def _by_sdk(self, posted: "_Posted") -> None:
        await self._sdk(posted.request.scope).handle_request(
            posted.request.scope, posted.request.receive, posted.send
        )


@dataclass(slots=True)
class _Posted:
    """A message, and the way to answer it."""

    request: Request
    body: bytes
    message: Json
    send: Send
    takes_events: bool  # beside JSON


class _Noted:
    """A `send` that notes the session that an answer begins, and stores it before the client knows of it."""

    def __init__(self, send: Send, keep: Callable[[str], Awaitable[None]]) -> None:
        self._send, self._keep = send, keep
        self.session: str | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] < HTTPStatus.BAD_REQUEST:
            self.session = Headers(raw=message["headers"]).get(SESSION)
            if self.session is not None:
                await self._keep(self.session)
        await self._send(message)


async def _end(sdk: StreamableHTTPSessionManager, scope: Scope, name: str) -> None:
    """End a session as its opener would."""
    await _ask(sdk, {**scope, "method": "DELETE", "headers": [(SESSION.encode(), name.encode())]}, b"")


async def _ping(sdk: StreamableHTTPSessionManager, scope: Scope, name: str) -> None:
    """Send the SDK a ping in a session, as the client in `scope` would."""
    ping = {"jsonrpc": "2.0", "id": uuid4().hex, "method": "ping"}  # whatever ids the client uses
    accept = b"application/json, text/event-stream"
    headers = [(SESSION.encode(), name.encode()), JSON_CONTENT, (b"accept", accept)]
    asking = {**scope, "user": _owner(actor_of(scope)), "headers": headers}
    await _ask(sdk, asking, pydantic_core.to_json(ping))


async def _ask(sdk: StreamableHTTPSessionManager, scope: Scope, body: bytes) -> None:
    """Have the SDK serve a request of our own, whose answer nobody needs."""

    async def gone() -> Message:
        return {"type": "http.disconnect"}

    async def unheard(_message: Message) -> None:
        pass

    await sdk.handle_request(scope, Replay(body, gone), unheard)


def _manager(server: Server[Any], *, json_response: bool) -> StreamableHTTPSessionManager:
    return StreamableHTTPSessionManager(
        server, json_response=json_response, max_request_body_size=LARGE_BODY_LIMIT
    )


def _opened(name: str, actor: Actor, dialect: str, params: Json) -> Connection:
    """Return the session that an `initialize` with these params begins."""
    wanted, can = params.get("protocolVersion"), params.get("capabilities") or {}
    revision = wanted if wanted in HANDSHAKE_PROTOCOL_VERSIONS else LATEST_HANDSHAKE_VERSION
    return Connection(name, actor.token_id, dialect, revision, asks=can.get("elicitation") is not None)


def _session(scope: Scope) -> str | None:
    """Return the transport session of a request, if its revision has sessions."""
    headers = Headers(scope=scope)
    revision = headers.get("mcp-protocol-version")
    return headers.get(SESSION) if revision is None or revision in HANDSHAKE_PROTOCOL_VERSIONS else None


def _is_bare(request: Request, message: Json) -> bool:
    """Tell whether the message has no transport session, begins none, and is of a revision that has them."""
    revision = request.headers.get("mcp-protocol-version")
    return (
        (revision is None or revision in HANDSHAKE_PROTOCOL_VERSIONS)
        and SESSION not in request.headers
        and message.get("method") != "initialize"
    )


def _owner(actor: Actor) -> AuthenticatedUser:
    """Return the actor in the SDK's form: a transport session belongs to the token that began it alone."""
    return AuthenticatedUser(AccessToken(token="", client_id=str(actor.token_id), scopes=[]))


def _lightened(body: bytes, message: Json, scope: Scope) -> bytes:
    """Return a large body for the SDK, which parses it on the event loop, without the arguments of a call.

    They were read already, and the performer of the call finds them in its `scope`. If headers repeat some of them,
    the SDK compares the two, and gets the whole body.
    """
    params = message.get("params") or {}
    is_compared = any(name.startswith(MIRRORED) for name, _value in scope["headers"])
    if message.get("method") != CALL or not isinstance(params.get("arguments"), dict) or is_compared:
        return body
    scope[ARGUMENTS] = params["arguments"]
    return pydantic_core.to_json({**message, "params": {**params, "arguments": {}}})


def _tidied(scope: Scope, takes_events: bool) -> Scope:
    """Adapt the request to the SDK: it accepts JSON whatever it is sent, and its headers have no outer blanks."""
    accept = b"application/json, text/event-stream" if takes_events else b"application/json"
    headers = [(name, value.strip(b" \t")) for name, value in scope["headers"] if name != b"accept"]
    return {**scope, "headers": [*headers, (b"accept", accept)]}


def _rejected(problem: MCPError, status: HTTPStatus = HTTPStatus.BAD_REQUEST) -> Response:
    error = problem.error.model_dump(exclude_none=True)
    return JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, status)


def as_events(send: Send) -> Send:
    """Return a `send` that puts a JSON answer into one event frame, for clients that read nothing else."""
    start: Message | None = None

    async def framed(message: Message) -> None:
        nonlocal start
        if message.get("status") == HTTPStatus.OK and JSON_CONTENT in message["headers"]:
            start = message
        elif start is None:
            await send(message)
        else:
            body = b"event: message\r\ndata: " + message["body"] + b"\r\n\r\n"
            await send({**start, "headers": _event_headers(start, len(body))})
            await send({**message, "body": body})

    return framed


def _event_headers(start: Message, length: int) -> list[tuple[bytes, bytes]]:
    replaced = {b"content-type": b"text/event-stream", b"content-length": str(length).encode()}
    return [(name, replaced.get(name, value)) for name, value in start["headers"]]
