"""A call outside sessions: one message in, one answer out, without a transport session at the SDK.

Many programs that only want to call a tool do just this, by `curl` or by a few lines of their own. The SDK would create
and end a transport session for each call, at twice the cost. Messages of a session that another hub began are served
this way too, and in every session the calls that stream: during such a call its client hears of progress, and may be
asked something, and the answer may come to any hub.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from typing import Any
from uuid import uuid4

import anyio
import pydantic_core
from mcp import types
from mcp.server import Server
from mcp.server.connection import Connection as Line
from mcp.server.runner import serve_one
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp.types import DEFAULT_NEGOTIATED_VERSION
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Send

from hubbub.core.agents import connections
from hubbub.model.agents.connections import Connection
from hubbub.serve.mcp.connection_cache import ConnectionCache, Content
from hubbub.serve.mcp.jsonrpc import SESSION

Json = dict[str, Any]

CANCELLED = -32800  # the SDK's code for a call that its client has cancelled
KEEP_ALIVE = timedelta(seconds=15)
LOOK_EVERY = timedelta(seconds=1)  # for the answer to a question, if nobody reports it
PROGRESS = "notifications/progress"
PLAIN = ((b"content-type", b"application/json"),)
STREAMED = (
    (b"cache-control", b"no-cache, no-transform"),
    (b"content-type", b"text/event-stream"),
    (b"x-accel-buffering", b"no"),
)


async def answer(
    server: Server[Any], message: Json, request: Request, connection: Connection | None = None
) -> Response:
    """Return the response to one JSON-RPC message; a notification has no effect."""
    if "method" not in message or "id" not in message:
        return Response(status_code=202)
    answered = await _answered(server, message, _Exchange(message["id"], _around(request)), connection)
    headers = {SESSION: connection.id} if connection is not None else {}
    return Response(pydantic_core.to_json(answered), media_type="application/json", headers=headers)


async def stream(
    server: Server[Any],
    message: Json,
    request: Request,
    send: Send,
    *,
    connection: Connection,
    known: ConnectionCache,
) -> None:
    """Answer a call by a stream of events: the tool's words and questions during the call, then the result.

    If none comes for `KEEP_ALIVE` before the result, that is plain JSON: clients limit the length of an event.
    """
    exchange = _Streaming(message["id"], _around(request), connection=connection, known=known)
    exchange.token = (message.get("params") or {}).get("_meta", {}).get("progressToken")
    working = asyncio.create_task(_answered(server, message, exchange, connection))

    def hear(content: Content) -> None:
        if content.get("cancel") == message["id"]:
            working.cancel()

    with known.heard(connection.id, hear):
        working.add_done_callback(lambda _task: exchange.said.put_nowait(None))
        try:
            await _write(exchange, working, connection, send)
        finally:
            working.cancel()


async def _write(
    exchange: "_Streaming", working: "asyncio.Task[Json]", connection: Connection, send: Send
) -> None:
    event = await _event(exchange)
    is_streamed = (
        event is not None or working.cancelled()
    )  # who has called off may have gone, and trip over JSON
    headers = [*(STREAMED if is_streamed else PLAIN), (SESSION.encode(), connection.id.encode())]
    await send({"type": "http.response.start", "status": HTTPStatus.OK, "headers": headers})
    while event is not None:
        await send({"type": "http.response.body", "body": event, "more_body": True})
        event = await _event(exchange)
    last = _last(exchange, working)
    body = _framed(last) if is_streamed else pydantic_core.to_json(last)
    await send({"type": "http.response.body", "body": body, "more_body": False})


async def _event(exchange: "_Streaming") -> bytes | None:
    """Return what the tool says next, or a sign of life if that takes long; None once it has ended."""
    try:
        said = await asyncio.wait_for(exchange.said.get(), KEEP_ALIVE.total_seconds())
    except TimeoutError:
        return b": ping\r\n\r\n"
    return None if said is None else _framed(said)


def _last(exchange: "_Streaming", working: "asyncio.Task[Json]") -> Json:
    """Return the answer of a call that has ended."""
    if not working.cancelled():
        return working.result()
    error = {"code": CANCELLED, "message": "Request cancelled"}
    return {"jsonrpc": "2.0", "id": exchange.request_id, "error": error}


def _framed(message: Json) -> bytes:
    return b"event: message\r\ndata: " + pydantic_core.to_json(message) + b"\r\n\r\n"


def _around(request: Request) -> ServerMessageMetadata:
    return ServerMessageMetadata(request_context=request)


async def _answered(
    server: Server[Any], message: Json, exchange: "_Exchange", connection: Connection | None
) -> Json:
    """Return the answer to a request, as JSON-RPC."""
    request = exchange.message_metadata.request_context
    assert isinstance(request, Request)
    said = connection.revision if connection is not None else DEFAULT_NEGOTIATED_VERSION
    revision = request.headers.get("mcp-protocol-version", said)
    capabilities: Json = {"elicitation": {}} if connection is not None and connection.asks else {}
    call = serve_one(
        server,
        exchange,
        message["method"],
        message.get("params"),
        connection=Line.from_envelope(revision, None, capabilities),
        lifespan_state={},
    )
    return {"jsonrpc": "2.0", "id": message["id"], **await _outcome(call)}


WRONG_PARAMS = "the params are not those of the method; those of tools/call are name and arguments, an object"


async def _outcome(call: Any) -> Json:
    try:
        return {"result": await call}
    except MCPError as error:
        return {"error": error.error.model_dump(exclude_none=True)}
    except ValidationError:
        return {"error": {"code": types.INVALID_PARAMS, "message": WRONG_PARAMS}}


@dataclass(slots=True)
class _Exchange:
    """The SDK's view of a request; nothing can be sent to the client but the answer."""

    request_id: types.RequestId
    message_metadata: ServerMessageMetadata
    transport: TransportContext = field(
        default_factory=lambda: TransportContext(kind="streamable-http", can_send_request=False)
    )
    can_send_request: bool = False
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> Json:
        raise NoBackChannelError(method)

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None:
        """Do nothing: nobody hears it."""

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Do nothing: nobody hears it."""


@dataclass(slots=True)
class _Streaming(_Exchange):
    """An exchange whose answer is a stream: the client hears news and is asked questions before the result."""

    transport: TransportContext = field(
        default_factory=lambda: TransportContext(kind="streamable-http", can_send_request=True)
    )
    can_send_request: bool = True
    said: "asyncio.Queue[Json | None]" = field(default_factory=asyncio.Queue)
    token: types.ProgressToken | None = None
    connection: Connection = field(kw_only=True)
    known: ConnectionCache = field(kw_only=True)

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> Json:
        """Ask the client a question; return its answer, which may come to any hub. Raises `MCPError` without one."""
        question = str(uuid4())
        await self.known.write(partial(connections.ask, connection_id=self.connection.id, question=question))
        self.said.put_nowait(
            {"jsonrpc": "2.0", "id": question, "method": method, "params": dict(params or {})}
        )
        try:
            answer = await self._answer(question)
        except asyncio.CancelledError:
            await self.notify("notifications/cancelled", {"requestId": question})
            raise
        finally:
            await asyncio.shield(self.known.write(partial(connections.close_question, question=question)))
        if "error" in answer:
            raise MCPError.from_error_data(types.ErrorData.model_validate(answer["error"]))
        return dict(answer["result"])

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None:
        self.said.put_nowait({"jsonrpc": "2.0", "method": method, "params": dict(params or {})})

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        if self.token is not None:
            said = {"progressToken": self.token, "progress": progress, "total": total, "message": message}
            await self.notify(PROGRESS, {name: each for name, each in said.items() if each is not None})

    async def _answer(self, question: str) -> Json:
        told = asyncio.Event()

        def hear(content: Content) -> None:
            if content.get("answered") == question:
                told.set()

        with self.known.heard(self.connection.id, hear):
            while True:
                if (
                    answer := await self.known.read(partial(connections.answered, question=question))
                ) is not None:
                    return dict(pydantic_core.from_json(answer))
                try:
                    await asyncio.wait_for(told.wait(), LOOK_EVERY.total_seconds())
                    told.clear()
                except TimeoutError:
                    continue
