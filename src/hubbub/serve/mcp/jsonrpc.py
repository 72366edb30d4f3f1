"""Requests at an MCP endpoint: one JSON-RPC message, and the accepted formats of the answer."""

from typing import Any

import pydantic_core
from mcp import types
from mcp.server.streamable_http import check_accept_headers
from mcp.shared.exceptions import MCPError
from starlette.requests import Request
from starlette.types import Scope

SESSION = "mcp-session-id"
CALL = "tools/call"
CANCEL = "notifications/cancelled"
MIRRORED = b"mcp-param-"  # prefix of headers that repeat an argument
Json = dict[str, Any]

FIELDS = {"method": (str,), "id": (str, int), "params": (dict,)}


def decode(body: bytes) -> dict[str, Any]:
    """Parse the JSON-RPC message in a body. Raises `MCPError` with a sentence on its fault."""
    try:
        message = pydantic_core.from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise MCPError(types.PARSE_ERROR, f"the body is not JSON: {error}") from None
    if problem := _problem(message):
        raise MCPError(types.INVALID_REQUEST, problem)
    return dict(message)


def _problem(message: Any) -> str | None:
    """Return why this is not one JSON-RPC message; None if it is."""
    if isinstance(message, list):
        return "send one JSON-RPC message per request, not a batch"
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return 'the body must be a JSON-RPC message: an object with "jsonrpc": "2.0"'
    if "method" not in message and not {"result", "error"} & message.keys():
        return "the message has no method"
    for name, kinds in FIELDS.items():
        if name in message and (not isinstance(message[name], kinds) or isinstance(message[name], bool)):
            return f"the message's {name} is of the wrong type"
    return None


def accepted_formats(scope: Scope) -> tuple[bool, bool]:
    """Return whether the client takes JSON, and whether it takes event frames; both, if it does not say."""
    request = Request(scope)
    return check_accept_headers(request) if "accept" in request.headers else (True, True)
