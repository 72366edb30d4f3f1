"""A call on its own: one message in, one answer out, with neither a handshake nor a transport session before it.

Many programs that only want to call a tool do just this, by `curl` or by a few lines of their own. The SDK would serve
them through a transport session that it makes and ends for each call, at twice the price.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
import pydantic_core
from mcp import types
from mcp.server import Server
from mcp.server.connection import Connection
from mcp.server.runner import serve_one
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp.types import DEFAULT_NEGOTIATED_VERSION
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response

Json = dict[str, Any]

TRANSPORT = TransportContext(kind="streamable-http", can_send_request=False)


async def answer(server: Server[Any], message: Json, request: Request) -> Response:
    """The response to one JSON-RPC message; a notification is taken note of, and that is all."""
    if "method" not in message or "id" not in message:
        return Response(status_code=202)
    revision = request.headers.get("mcp-protocol-version", DEFAULT_NEGOTIATED_VERSION)
    call = serve_one(
        server,
        _Exchange(message["id"], ServerMessageMetadata(request_context=request)),
        message["method"],
        message.get("params"),
        connection=Connection.from_envelope(revision, None, None),
        lifespan_state={},
    )
    answered = {"jsonrpc": "2.0", "id": message["id"], **await _outcome(call)}
    return Response(pydantic_core.to_json(answered), media_type="application/json")


async def _outcome(call: Any) -> Json:
    try:
        return {"result": await call}
    except MCPError as error:
        return {"error": error.error.model_dump(exclude_none=True)}
    except ValidationError:
        return {"error": {"code": types.INVALID_PARAMS, "message": "the params are not those of the method"}}


@dataclass(slots=True)
class _Exchange:
    """What the SDK wants to know of a request; nothing can be sent to the client but the answer."""

    request_id: types.RequestId
    message_metadata: ServerMessageMetadata
    transport: TransportContext = TRANSPORT
    can_send_request: bool = False
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> Json:
        raise NoBackChannelError(method)

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None:
        """Nobody hears it."""

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Nobody hears it."""
