"""JSON-RPC messages, as far as a bridge has to understand them."""

import base64
import json
import re
from typing import Any

Message = dict[str, Any]
Id = str | int | float | None

MODERN_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CALL = "tools/call"
SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"
NAMED_BY = {
    CALL: "name",
    "prompts/get": "name",
    "resources/read": "uri",
}  # the value repeated in the header Mcp-Name

PARSE_ERROR, INVALID_REQUEST, UNAVAILABLE = -32700, -32600, -32000
_PLAIN_HEADER = re.compile(r"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?")
_ENCODED_HEADER = re.compile(r"=\?base64\?.*\?=")


def encoded(message: Message | str | int) -> bytes:
    """Encode a message, or an id, as one line. Lone surrogates, which UTF-8 cannot hold, stay escaped."""
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def decoded(line: bytes) -> Message | None:
    """Decode the message on a line; None if it is not a JSON object, or has an impossible id."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) and isinstance(message.get("id"), Id) else None


def is_request(message: Message) -> bool:
    return "method" in message and message.get("id") is not None


def opening(request: Message) -> bytes:
    """Return the beginning of the hub's answer to `request`, which is recognised by it without decoding."""
    return b'{"jsonrpc":"2.0","id":' + encoded(request["id"]) + b","


def answers(message: Message, request: Message) -> bool:
    """Tell whether `message` is the response to `request`."""
    return "method" not in message and message.get("id") == request["id"]


def parameters(message: Message) -> Message:
    params = message.get("params")
    return params if isinstance(params, dict) else {}


def meta(message: Message) -> Message:
    found = parameters(message).get("_meta")
    return found if isinstance(found, dict) else {}


def modern_version(message: Message) -> str | None:
    """Return the revision that a self-contained request names; None for a message of a transport session."""
    version = meta(message).get(MODERN_VERSION_KEY)
    return version if isinstance(version, str) else None


def mirrored(message: Message) -> dict[str, str]:
    """Return the headers in which a self-contained message repeats parts of its body."""
    method = str(message.get("method", ""))
    version = modern_version(message) or ""
    headers = {"MCP-Protocol-Version": header_value(version), "Mcp-Method": header_value(method)}
    name = parameters(message).get(NAMED_BY.get(method, ""))
    if isinstance(name, str):
        headers["Mcp-Name"] = header_value(name)
    return headers


def header_value(text: str) -> str:
    """Return `text` if a header can hold it; else in base64, marked as the protocol says."""
    if _PLAIN_HEADER.fullmatch(text) and not _ENCODED_HEADER.fullmatch(text):
        return text
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


def error(request_id: object, code: int, sentence: str) -> Message:
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": sentence}}


def cancelled(request: Message) -> Message:
    """Return the notification that nobody waits for the answer to `request` any more."""
    return {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": request["id"]},
    }


def updated(uri: str, subscription_id: object = None) -> Message:
    """Return the notification that a resource may have changed."""
    params: Message = {"uri": uri}
    if subscription_id is not None:
        params["_meta"] = {SUBSCRIPTION_KEY: subscription_id}
    return {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": params}
