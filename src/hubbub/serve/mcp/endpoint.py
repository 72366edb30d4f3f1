"""One dialect at one HTTP path, for clients of every age and manner.

The SDK serves transport sessions (revisions up to 2025-11-25) and self-contained requests (2026-07-28). Beside them
stand clients that post a bare call without ever having said `initialize`, and those that accept only JSON or only
event frames; this module reads each message once, sees which kind it is, and gives it to who can serve it.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from typing import Any

import pydantic_core
from mcp import types
from mcp.server import Server
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.context import CallNext, HandlerResult
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Message, Receive, Scope, Send

from hubbub.core.transaction import Vouched
from hubbub.model.errors import Invalid
from hubbub.model.rights import Actor
from hubbub.serve import bodies
from hubbub.serve.auth import LARGE_BODY_LIMIT, actor_of, mark_of, read_body, replay
from hubbub.serve.followers import Follower, Followers
from hubbub.serve.mcp import bare, narrowed
from hubbub.serve.mcp.connections import Connections
from hubbub.serve.mcp.context import ARGUMENTS, Context, connection
from hubbub.serve.mcp.dialect_server import DialectServer
from hubbub.serve.mcp.elsewhere import Names, Sessions
from hubbub.serve.mcp.messages import CALL, MIRRORED, SESSION, accepted, decoded
from hubbub.serve.mcp.plain import PlainCalls

JSON_CONTENT = (b"content-type", b"application/json")
OPENING_LIMIT = 64 * 1024  # bytes of an `initialize`: what it brings is kept for as long as the session lasts
PLAINLY = True  # tests have the SDK serve plain calls too, and compare
STALLED = timedelta(seconds=30)  # after which a stream whose reader takes nothing is given up


class Endpoint:
    """The ASGI application of a path; `run` it for as long as it may be called.

    A call is answered by JSON in either revision, not by a stream of events: that costs less than half, and most tools
    have nothing to say before they are done. What streams is what is followed: resources. Of a dialect that `streams`,
    calls do so too, for clients that take events: they hear of progress, and may be asked something.
    """

    def __init__(
        self,
        served: DialectServer,
        followers: Followers,
        sessions: Connections,
        *,
        alone: bool,
    ) -> None:
        self.server, self.sessions = served.server, sessions
        self.tools = served.dialect.tools
        self.followers = followers
        self.served = served
        self.calls = PlainCalls(served, sessions) if PLAINLY else None
        self.server.middleware.append(self._meet)
        self._names = Names(self.server.name, alone)
        self._plain = _manager(self.server, self._names, json_response=True)
        streams = served.dialect.streams
        self._streaming = _manager(self.server, self._names, json_response=False) if streams else self._plain

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for each in {id(sdk): sdk for sdk in (self._plain, self._streaming)}.values():
                await stack.enter_async_context(each.run())
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "POST":
            body = await read_body(receive, LARGE_BODY_LIMIT)  # whole and bounded already, by the guard
            if isinstance(body, Response):
                await body(scope, receive, send)
                return
            if await self._is_answered(scope, body, send):
                return
            receive = replay(body, receive)
        await self._serve(scope, receive, send)

    async def _is_answered(self, scope: Scope, body: bytes, send: Send) -> bool:
        """Answer a plain call; any other message comes from whom the token stands for now. Raises `Outdated`."""
        call = self.calls.seen(scope, body) if self.calls is not None else None
        if call is not None and self.calls is not None and await self.calls.answer(call, scope, send):
            return True
        if (mark := mark_of(scope)) is not None:
            await Vouched(self.served.transactions, mark).confirm(actor_of(scope))
        return False

    async def _meet(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Know a transport session by which the SDK has just answered: its plain calls need the SDK no more."""
        result = await call_next(ctx)
        line = connection(ctx)
        if ctx.request is not None and line.has_standalone_channel and line.initialize_accepted:
            token, name = actor_of(ctx.request.scope).token_id, ctx.request.headers.get(SESSION)
            if self.sessions.meet(token, name, self.served, line.state):
                line.exit_stack.callback(self.sessions.part, token, name)
        return result

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve what is not plain, by the SDK."""
        scope["user"] = _owner(actor_of(scope))
        try:
            narrowed.judge(scope, self.tools)
        except Invalid as error:
            await _rejected(MCPError(types.INVALID_REQUEST, str(error)))(scope, receive, send)
            return
        if scope["method"] != "POST" and self._is_of_another_hub(Request(scope)):
            await _apart(scope["method"])(scope, receive, send)
        elif scope["method"] == "POST":
            await self._post(scope, receive, send)
        elif scope["method"] == "GET":
            await self._stream(scope, receive, send)
        else:
            await self._pass_on(scope, receive, send)

    def _is_of_another_hub(self, request: Request) -> bool:
        """Whether the request belongs to a transport session that another hub began for the same token."""
        name = request.headers.get(SESSION)
        return name is not None and self._names.is_of_another_hub(name, str(actor_of(request.scope).token_id))

    def _sdk(self, request: Request) -> StreamableHTTPSessionManager:
        """Who serves the transport session of a request: what a client takes is the same in all of its requests."""
        _takes_json, takes_events = accepted(request.scope)
        return self._streaming if takes_events else self._plain

    async def _post(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        body = await request.body()
        try:
            message = await bodies.beside(decoded, body)
        except MCPError as error:
            await _rejected(error)(scope, receive, send)
            return
        if message.get("method") == "initialize" and len(body) > OPENING_LIMIT:
            too_long = f"initialize takes at most {OPENING_LIMIT // 1024} KiB"
            await _rejected(MCPError(types.INVALID_REQUEST, too_long))(scope, receive, send)
            return
        takes_json, takes_events = accepted(request.scope)
        if takes_events and not takes_json:
            send = as_events(send)
        if _is_bare(request, message) or self._is_of_another_hub(request):
            await (await bare.answer(self.server, message, request))(scope, receive, send)
        else:
            begins = message.get("method") == "initialize"
            asks = "method" in message and "id" in message
            if len(body) > bodies.AT_ONCE:
                body = await asyncio.to_thread(_lightened, body, message, scope)
            del message  # the SDK reads the body for itself
            passed = replay(body, receive)
            await self._pass_on(_tidied(scope, takes_events), passed, send, begins=begins, asks=asks)

    async def _pass_on(
        self, scope: Scope, receive: Receive, send: Send, *, begins: bool = False, asks: bool = False
    ) -> None:
        """Give a message to the SDK. Raises `TooMany` for one session, or one that `asks`, too many."""
        request, actor = Request(scope), actor_of(scope)
        sdk, name = self._sdk(request), request.headers.get(SESSION)
        if not begins or name is not None:
            with self.sessions.using(actor.token_id, name, asks=asks):
                await sdk.handle_request(scope, receive, send)
            if scope["method"] == "DELETE":
                self.sessions.end(actor.token_id, name)
            return
        noted = _Noted(send)
        async with self.sessions.beginning(actor, partial(_end, sdk, scope)) as opening:
            await sdk.handle_request(scope, receive, noted)
            opening.name = noted.session

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A transport session's GET stream, which ends with its token."""
        with self.followers.open(actor_of(scope)) as follower:
            stream = _Stream(follower, receive, send)
            await self._pass_on(scope, stream.receive, stream.send)
            await stream.finish()


class _Noted:
    """A `send` that notes which session an answer begins."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.session: str | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] < HTTPStatus.BAD_REQUEST:
            self.session = Headers(raw=message["headers"]).get(SESSION)
        await self._send(message)


async def _end(sdk: StreamableHTTPSessionManager, scope: Scope, name: str) -> None:
    """End a session, as whoever began it would."""

    async def nothing() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def unheard(_message: Message) -> None:
        pass

    goodbye = {**scope, "method": "DELETE", "headers": [(SESSION.encode(), name.encode())]}
    await sdk.handle_request(goodbye, nothing, unheard)


def _manager(server: Server[Any], names: Names, *, json_response: bool) -> StreamableHTTPSessionManager:
    return Sessions(server, names, json_response=json_response, max_request_body_size=LARGE_BODY_LIMIT)


def _apart(method: str) -> Response:
    """What a hub says of a session that it did not begin: it keeps no stream for it, and has nothing to end."""
    if method == "DELETE":
        return Response(status_code=HTTPStatus.OK)
    return Response(status_code=HTTPStatus.METHOD_NOT_ALLOWED, headers={"Allow": "POST, DELETE"})


def _is_bare(request: Request, message: dict[str, Any]) -> bool:
    """Whether the message neither belongs to a transport session, nor begins one, nor is of a revision without any."""
    revision = request.headers.get("mcp-protocol-version")
    return (
        (revision is None or revision in HANDSHAKE_PROTOCOL_VERSIONS)
        and SESSION not in request.headers
        and message.get("method") != "initialize"
    )


def _owner(actor: Actor) -> AuthenticatedUser:
    """The actor in the SDK's words: a transport session may be used by the token that began it, and no other."""
    return AuthenticatedUser(AccessToken(token="", client_id=str(actor.token_id), scopes=[]))


def _lightened(body: bytes, message: dict[str, Any], scope: Scope) -> bytes:
    """What the SDK is given of a large body, which it reads on the event loop: of a call all but the arguments.

    They were read already, and whoever does the call finds them in its `scope`. Where headers repeat some of them, the
    SDK compares the two, and reads the whole.
    """
    params = message.get("params") or {}
    is_compared = any(name.startswith(MIRRORED) for name, _value in scope["headers"])
    if message.get("method") != CALL or not isinstance(params.get("arguments"), dict) or is_compared:
        return body
    scope[ARGUMENTS] = params["arguments"]
    return pydantic_core.to_json({**message, "params": {**params, "arguments": {}}})


def _tidied(scope: Scope, takes_events: bool) -> Scope:
    """The request as the SDK wants it: accepting JSON whatever it is sent, and no blanks around a header's value."""
    accept = b"application/json, text/event-stream" if takes_events else b"application/json"
    headers = [(name, value.strip(b" \t")) for name, value in scope["headers"] if name != b"accept"]
    return {**scope, "headers": [*headers, (b"accept", accept)]}


def _rejected(problem: MCPError) -> Response:
    error = problem.error.model_dump(exclude_none=True)
    return JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, HTTPStatus.BAD_REQUEST)


def as_events(send: Send) -> Send:
    """A `send` that puts a JSON answer into one event frame, for clients that read nothing else."""
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


class _Stream:
    """A response held open, seen from both sides.

    It ends for the SDK when its follower ends, and for the client properly when the SDK is done with it.
    """

    def __init__(self, follower: Follower, receive: Receive, send: Send) -> None:
        self._follower = follower
        self._receive = receive
        self._send = send
        self._is_open = False

    async def receive(self) -> Message:
        """What the client sends; that it left, once the follower has ended."""
        return await _first(self._receive, self._hang_up)

    async def send(self, message: Message) -> None:
        self._is_open = message["type"] == "http.response.start" or message.get("more_body", False)
        try:
            async with asyncio.timeout(STALLED.total_seconds()):
                await self._send(message)
        except TimeoutError:
            self._is_open = False
            self._follower.end()

    async def finish(self) -> None:
        if self._is_open:
            await self.send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _hang_up(self) -> Message:
        await self._follower.ended()
        return {"type": "http.disconnect"}


async def _first(*waiting: Callable[[], Awaitable[Message]]) -> Message:
    """The result of whichever is ready first; the others are called off."""
    tasks = [asyncio.ensure_future(each()) for each in waiting]
    try:
        done, _pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return done.pop().result()
    finally:
        for task in tasks:
            task.cancel()
