"""Plain tool calls, nearly all calls, which need nothing of the SDK: parsed once, done, and answered once.

The answers equal the SDK's byte for byte, which takes ten times as long; a test compares the two. Everything else is
left to the SDK: other methods, calls that stream, ask or wait, and malformed messages.
"""

import asyncio
import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus

import pydantic_core
from mcp import types
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import ERROR_CODE_HTTP_STATUS, InboundModernRoute, classify_inbound_request
from mcp.types import methods
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError
from starlette.datastructures import Headers
from starlette.types import Scope, Send

from hubbub.core.people.access import StaleToken
from hubbub.core.transaction import Transactions, VouchedTransactions
from hubbub.dialects.call import Call, HubContext, NotYet
from hubbub.model.errors import Invalid
from hubbub.model.fleet.calls import ToolResult, as_json
from hubbub.model.json_chunks import Encode, cut, gathered, is_flat, is_large
from hubbub.serve.http import body_limits
from hubbub.serve.http.guard import actor_of, mark_of
from hubbub.serve.http.whole_answers import WHOLE, start_of_whole
from hubbub.serve.mcp import address_options
from hubbub.serve.mcp.connections import Connections
from hubbub.serve.mcp.dialect_server import DialectServer, as_told
from hubbub.serve.mcp.jsonrpc import CALL, MIRRORED, SESSION, Json, accepted_formats, decode
from hubbub.serve.mcp.request_context import key_and_attempt

MESSAGE = frozenset({"jsonrpc", "id", "method", "params"})
PARAMS = frozenset({"name", "arguments", "_meta"})
TOKEN = "progressToken"  # asks for progress, which these calls do not report
REVISION, KIND, ACCEPT = b"mcp-protocol-version", b"content-type", b"accept"
JSON = (b"content-type", b"application/json")
_ascii = json.JSONEncoder(separators=(",", ":"))
RESERVED = "io.modelcontextprotocol/"


@dataclass(slots=True)
class PlainCall:
    """One plain call: its content, and the form of its answer."""

    id: int | str
    name: str
    given: Mapping[str, object]
    meta: Mapping[str, object]
    key: str | None
    attempt: int | None = None
    session: str | None = None
    is_modern: bool = False

    def context(self, site: HubContext, headers: Headers) -> Call:
        """Return the context of the call, at a hub."""
        return Call(
            site=site,
            headers=headers,
            meta=self.meta,
            attempt=self.attempt,
            connection=self.session,
            may_wait=False,
        )

    def headers(self, size: int) -> list[tuple[bytes, bytes]]:
        """Return the headers of an answer with that many bytes."""
        length = (b"content-length", str(size).encode())
        if self.session is None:
            return [length, JSON]
        return [JSON, (SESSION.encode(), self.session.encode()), length]


class PlainCalls:
    """The plain calls at one dialect."""

    def __init__(self, server: DialectServer, sessions: Connections) -> None:
        self.server, self.sessions, self.known = server, sessions, server.known

    def seen(self, scope: Scope, body: bytes) -> PlainCall | None:
        """Return the plain call in a request, if it holds one."""
        if self.server.dialect.streams or len(body) > body_limits.AT_ONCE or b"tools/call" not in body:
            return None
        fields: dict[bytes, bytes] = dict(scope["headers"])
        if len(fields) != len(scope["headers"]) or not _are_plain(fields):
            return None
        try:
            message = decode(body)
            address_options.parse(scope, self.server.dialect.tools)
        except (MCPError, Invalid):
            return None
        return self._fitting(scope, fields, message)

    def _fitting(self, scope: Scope, fields: Mapping[bytes, bytes], message: Json) -> PlainCall | None:
        params = message.get("params", {})
        given, meta = params.get("arguments", {}), params.get("_meta", {})
        if (
            message.keys() != MESSAGE
            or message["method"] != CALL
            or not params.keys() <= PARAMS
            or not isinstance(params.get("name"), str)
            or not isinstance(given, dict)
            or not isinstance(meta, dict)
            or type(meta.get(TOKEN, "")) not in (str, int)
            or not self.server.dialect.is_one_step(params["name"], given)
        ):
            return None
        try:
            key, attempt = key_and_attempt(meta, partial(_header, fields))
        except Invalid:
            return None
        call = PlainCall(message["id"], params["name"], given, meta, key, attempt)
        revision = fields[REVISION].decode("latin-1") if REVISION in fields else None
        if revision in MODERN_PROTOCOL_VERSIONS:
            return call if self._is_modern(call, fields, message) else None
        if revision is not None and revision not in HANDSHAKE_PROTOCOL_VERSIONS:
            return None
        if any(name.startswith(RESERVED) for name in meta):
            return None
        session = fields.get(SESSION.encode())
        return call if session is None else self._belonging(call, scope, fields, session.decode("latin-1"))

    def _is_modern(self, call: PlainCall, fields: Mapping[bytes, bytes], message: Json) -> bool:
        """Tell whether the call describes itself as required since 2026-07-28."""
        call.is_modern = True
        if not _says_json(fields) or any(name.startswith(MIRRORED) for name in fields):
            return False
        told = {name.decode("latin-1"): value.decode("latin-1") for name, value in fields.items()}
        if not isinstance(classify_inbound_request(message, headers=told), InboundModernRoute):
            return False
        own = {name: value for name, value in call.meta.items() if name.startswith(RESERVED)}
        return _is_envelope(json.dumps(own))

    def _belonging(
        self, call: PlainCall, scope: Scope, fields: Mapping[bytes, bytes], session: str
    ) -> PlainCall | None:
        """Return the call as one of its transport session; None if it is left to the SDK."""
        if self.known.seen(session, actor_of(scope).token_id) is None or not _says_json(fields):
            return None
        call.session = session
        return call

    async def answer(self, call: PlainCall, scope: Scope, send: Send) -> bool:
        """Do the call and answer it; False if it has to wait: then nothing of it is kept, and the SDK serves it.

        Raises `StaleToken` if the token has another holder by now.
        """
        actor, mark = actor_of(scope), mark_of(scope)
        transactions = self.server.transactions
        ways: Transactions | VouchedTransactions = (
            VouchedTransactions(transactions, mark) if mark else transactions
        )
        around = call.context(self.server.site, Headers(raw=scope["headers"]))
        asked = address_options.options_at(scope)
        with self.sessions.using(actor.token_id, call.session, asks=True):
            try:
                outcome = await self.server.perform(
                    ways,
                    actor,
                    call.name,
                    call.given,
                    key=call.key,
                    call=around,
                    asked=asked,
                    shape=partial(_shaped, call, self.server),
                )
                status, body = 200, _result(call, outcome, self.server)
            except NotYet:
                return False
            except StaleToken:
                raise
            except Exception as error:  # noqa: BLE001  # told as the SDK tells it
                status, body = _error(call, as_told(error, CALL))
            if isinstance(ways, VouchedTransactions):
                await ways.confirm(actor)
            await _send(scope, send, status, call.headers(sum(map(len, body))), body)
        return True


async def _send(
    scope: Scope, send: Send, status: int, headers: list[tuple[bytes, bytes]], body: Sequence[bytes]
) -> None:
    if len(body) == 1 and WHOLE in scope.get("extensions", ()):
        await send(start_of_whole(status, headers, body[0]))
        return
    await send({"type": "http.response.start", "status": status, "headers": headers})
    for piece in body[:-1]:
        await send({"type": "http.response.body", "body": piece, "more_body": True})
        await asyncio.sleep(0)  # others get their turn, however fast this client reads
    await send({"type": "http.response.body", "body": body[-1]})


def _header(fields: Mapping[bytes, bytes], name: str) -> str | None:
    value = fields.get(name.encode())
    return value.decode("latin-1") if value is not None else None


def _are_plain(fields: Mapping[bytes, bytes]) -> bool:
    """Tell whether the headers need no closer look, and the answer may be JSON."""
    told = [*fields.values()]
    if told != [each.strip(b" \t") for each in told]:
        return False
    takes_json, takes_events = _accepted(fields[ACCEPT]) if ACCEPT in fields else (True, True)
    return takes_json or not takes_events


def _says_json(fields: Mapping[bytes, bytes]) -> bool:
    """Tell whether the body is declared as JSON itself, not a subtype of it, as the SDK demands."""
    return fields.get(KIND, b"").partition(b";")[0].strip() == JSON[1]


@functools.lru_cache(maxsize=256)
def _accepted(accept: bytes) -> tuple[bool, bool]:
    return accepted_formats({"type": "http", "headers": [(ACCEPT, accept)]})


@functools.lru_cache(maxsize=256)  # a client sends the same description with each call
def _is_envelope(said: str) -> bool:
    """Tell whether a client's description of itself is valid by the SDK's rules."""
    meta = json.loads(said)
    revision = meta[types.PROTOCOL_VERSION_META_KEY]
    try:
        methods.validate_client_request(CALL, revision, {"name": "any", "_meta": meta})
    except (ValidationError, KeyError):
        return False
    return True


def _shaped(call: PlainCall, server: DialectServer, outcome: ToolResult) -> ToolResult:
    """Encode an outcome where it was read, a large one row by row."""
    _told(call, outcome, server)
    return outcome


def _result(call: PlainCall, outcome: ToolResult, server: DialectServer) -> Sequence[bytes]:
    """Return the body of an answer, in pieces as they are sent."""
    told = _told(call, outcome, server)
    first, last = b'{"jsonrpc":"2.0","id":%b,"result":' % _encoder(call)(call.id), b"}"
    return [b"".join((first, *told, last))] if len(told) == 1 else [first, *told, last]


def _told(call: PlainCall, outcome: ToolResult, server: DialectServer) -> Sequence[bytes]:
    encode = _encoder(call)
    told = outcome.encoded.get(encode)
    if told is None:
        told = outcome.encoded[encode] = _said(call, outcome, server, encode)
    return told


def _said(call: PlainCall, outcome: ToolResult, server: DialectServer, encode: Encode) -> Sequence[bytes]:
    """Encode the result, member by member; a large one stays in pieces."""
    in_pieces = is_large(outcome.value)
    shown, structured = _twice(outcome, encode, in_pieces=in_pieces)
    is_error = b',"isError":true' if outcome.is_error else b',"isError":false'
    kind, about = b"", b""
    if call.is_modern:
        kind = b',"resultType":"complete"'
        about = b',"_meta":%b' % encode({types.SERVER_INFO_META_KEY: server.server.server_info_stamp})
    pieces = [b'{"content":', *shown, is_error, kind, b',"structuredContent":', *structured, about, b"}"]
    return gathered(pieces) if in_pieces else [b"".join(pieces)]


def _twice(
    outcome: ToolResult, encode: Encode, *, in_pieces: bool
) -> tuple[Sequence[bytes], Sequence[bytes]]:
    """Encode the outcome for people and for programs; a large or a flat one is traversed once, for both."""
    value = outcome.value
    if outcome.texts is None and isinstance(value, Mapping):
        if in_pieces:
            return _piecewise(value, encode)
        if encode is not _in_ascii and outcome.structured is None and is_flat(value):
            structured = encode(value)
            return [encode([{"text": structured.decode(), "type": "text"}])], [structured]
    texts = [{"text": text, "type": "text"} for text in outcome.shown]
    return [encode(texts)], [encode(outcome.content)]


def _piecewise(value: object, encode: Encode) -> tuple[Sequence[bytes], Sequence[bytes]]:
    shown, structured = [b'[{"text":"'], list[bytes]()
    for part in cut(value):
        shown.append(part.quoted(encode, _as_text))
        structured.append(part.encoded(encode))
    return [*shown, b'","type":"text"}]'], structured


def _error(call: PlainCall, told: MCPError) -> tuple[int, Sequence[bytes]]:
    error = told.error.model_dump(exclude_none=True)
    status = ERROR_CODE_HTTP_STATUS.get(error["code"], HTTPStatus.OK) if call.is_modern else HTTPStatus.OK
    return status, [_encoder(call)({"jsonrpc": "2.0", "id": call.id, "error": error})]


def _encoder(call: PlainCall) -> Encode:
    return _in_ascii if call.is_modern else pydantic_core.to_json


def _in_ascii(message: object) -> bytes:
    return _ascii.encode(message).encode()


def _as_text(value: object) -> bytes:
    return as_json(value).encode()
