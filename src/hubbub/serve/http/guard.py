"""The guard before every route: it checks the host, identifies the caller, and bounds the request.

In this order a request must name one of the hub's hosts (against DNS rebinding), come from no foreign web page, have a
token that is valid now, be no larger than its route allows, and declare its body as JSON. Tokens are looked up on
every request: one revoked a moment ago is refused. If a route looks by itself, in the transaction of the call, the
guard only remembers the token's last holder.
"""

import re
from collections.abc import Collection, Mapping
from http import HTTPStatus
from urllib.parse import parse_qsl, quote, urlencode

from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hubbub.core.fleet import enrolment
from hubbub.core.people.access import StaleToken, authenticate, fingerprint
from hubbub.core.transaction import Transactions
from hubbub.model.errors import Forbidden, HubError, StoreUnavailable, TooMany, Unauthorized
from hubbub.model.fleet.link_protocol import PATH as LINK
from hubbub.model.people.rights import LINK_ONLY, SYSTEM, TOOLS_ONLY, Actor, Role
from hubbub.serve.http import body_limits, page_paths
from hubbub.serve.http.hosts import Hosts
from hubbub.serve.http.login_cookies import SAFE, LoginCookies

MIB = 1024 * 1024
BODY_LIMIT = 1 * MIB
LARGE_BODY_LIMIT = 10 * MIB
OTLP = frozenset({"/v1/metrics", "/v1/logs", "/v1/traces"})  # where clients report their use, in their form
PROTOBUF = "application/x-protobuf"
TAKES_LARGE_BODIES = frozenset({"/mcp/relay", "/mcp/cmdop", "/api/v1/artifacts"}) | OTLP

NEEDS_NO_TOKEN = frozenset({"/health", "/ready", "/api/auth/register", "/api/auth/login"})
REST = "/api/v1/"
JOIN = f"{REST}nodes/join"  # for machines without a token, with a code that the route checks
REFUSED: Mapping[type[HubError], HTTPStatus] = {
    Unauthorized: HTTPStatus.UNAUTHORIZED,
    Forbidden: HTTPStatus.FORBIDDEN,
    StoreUnavailable: HTTPStatus.SERVICE_UNAVAILABLE,
    TooMany: HTTPStatus.TOO_MANY_REQUESTS,
}
# What `hubbub mcp cmdop` needs while it works on an order.
LENT = re.compile(r"/mcp/cmdop|/api/v1/(?:me|desk)")
MCP = re.compile(r"/mcp(?:/[^/]*)?")
INVALID_REQUEST = -32600  # of JSON-RPC
SHARED = re.compile(rf"/share/[^/]+|{page_paths.ANSWER}/[^/]+(/[^/]+)?")  # the link itself is the secret
TAKES_TOKEN_IN_QUERY = re.compile(r"/events(/.*)?|/ws")  # a browser cannot send headers to either

Fields = Mapping[bytes, bytes]  # the first value of each header

MARK = "mark"  # in the state of a request whose caller is to be confirmed: the fingerprint of its token
KNOWN = 10_000  # tokens whose holders are remembered

JSON = "application/json"
WRONG_HOST = (
    "this hub is not that host: call it by the address that it listens on or by localhost, "
    "or start it with --public-url for another name"
)
GOLEMXV = "/_gxv/api/v1"  # whose clients send their token as X-API-Key


def actor_of(scope: Scope) -> Actor:
    """Return the sender of this request. Raises `Unauthorized` on a route that anyone may use."""
    actor = scope.get("state", {}).get("actor")
    if not isinstance(actor, Actor):
        raise Unauthorized
    return actor


def mark_of(scope: Scope) -> str | None:
    """Return the fingerprint of the token by which the route has to confirm its actor; None if that is done."""
    mark: str | None = scope.get("state", {}).get(MARK)
    return mark


def error_response(
    status: int, code: str, message: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Make a refusal before anything was done: `{"error": code, "message": sentence}`, or at MCP one of JSON-RPC."""
    return _Refusal(status, code, message, headers)


class _Refusal(Response):
    """A refusal in the words of its address: MCP clients show a sentence only if it comes as a JSON-RPC error."""

    def __init__(self, status: int, code: str, message: str, headers: Mapping[str, str] | None) -> None:
        problem = {"code": INVALID_REQUEST, "message": message, "data": {"error": code}}
        rpc = {"jsonrpc": "2.0", "id": None, "error": problem}
        self._of_mcp = JSONResponse(rpc, status, headers)
        self._plain = JSONResponse({"error": code, "message": message}, status, headers)
        super().__init__(self._plain.body, status, headers, self._plain.media_type)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_mcp = scope["type"] == "http" and MCP.fullmatch(scope["path"])
        own = self._of_mcp if is_mcp else self._plain
        await own(scope, receive, send)


class Guard:
    """ASGI middleware around the whole hub; routes behind it find the caller with `actor_of`.

    It answers itself with 421 for a foreign host, 403 for a foreign origin, 401 without a valid token (and
    naming no OAuth metadata, on which clients would drop their bearer token), 413 for a body that is too large,
    however it is sent, or that has too many values, 400 for one that nests too deeply, 415 for one that is not
    declared as JSON, 429 for a call that comes too soon after others of its token, and 503 if the store cannot tell
    whether the token is valid.

    A small POST at one of `confirming`, or an export, with a token that was valid before is passed on, and `mark_of`
    says so: its route confirms the token in the transaction of the call, or raises `StaleToken`. Then the token is
    looked up, and the request judged once more.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        transactions: Transactions,
        hosts: Hosts,
        logins: LoginCookies,
        confirming: Collection[str] = (),
    ) -> None:
        self.app = app
        self.confirming = OTLP.union(confirming)
        self._stood: dict[str, Actor] = {}  # holders by fingerprint
        self.transactions = transactions
        self.hosts = hosts
        self.logins = logins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        fields: Fields = dict(reversed(scope["headers"]))  # the first of each name
        refusal = self._misdirected(scope) or await self._identify(scope, fields)
        if refusal is None and scope["type"] == "http" and _has_body(fields):
            body = await read_body(receive, _body_limit(scope))
            refusal = body if isinstance(body, Response) else await _unread(scope, fields, body)
            if isinstance(body, bytes) and refusal is None and mark_of(scope) is not None:
                await self._confirmed(scope, fields, body, receive, send)
                return
            receive = Replay(body, receive) if isinstance(body, bytes) else receive
            del body  # its reader keeps it for as long as it is needed
        await (refusal or self.app)(scope, receive, send)

    async def _confirmed(
        self, scope: Scope, fields: Fields, body: bytes, receive: Receive, send: Send
    ) -> None:
        """Pass on a request whose route confirms its caller, and judge it anew if that fails."""
        try:
            await self.app(scope, Replay(body, receive), send)
        except StaleToken:
            self._stood.pop(scope["state"].pop(MARK), None)
            refusal = await self._identify(scope, fields)
            await (refusal or self.app)(scope, Replay(body, receive), send)

    def _misdirected(self, scope: Scope) -> Response | None:
        hosts = _fields(scope, b"host")
        if not hosts or not all(self.hosts.include(f"http://{host}") for host in hosts):
            return error_response(HTTPStatus.MISDIRECTED_REQUEST, "wrong_host", WRONG_HOST)
        if not all(map(self.hosts.include, _fields(scope, b"origin"))):
            return error_response(
                HTTPStatus.FORBIDDEN, "foreign_origin", "web pages of other origins may not use this hub"
            )
        return None

    async def _identify(self, scope: Scope, fields: Fields) -> Response | None:
        """Put the actor into the scope, or return the refusal."""
        path: str = scope["path"]
        if path not in self.confirming and _is_open(path):
            return None
        if "/.well-known/" in path:
            return error_response(HTTPStatus.NOT_FOUND, "not_found", "there is nothing at this address")
        try:
            secret = _take_token(scope, fields)
            if path == JOIN and secret is not None and secret.startswith(enrolment.PREFIX):
                return None
            actor = await self._actor(scope, fields, secret)
            self.transactions.quotas.spend(actor)
            scope.setdefault("state", {})["actor"] = actor
        except (Unauthorized, Forbidden, StoreUnavailable, TooMany) as error:
            return _refusal(scope, error)
        return None

    async def _actor(self, scope: Scope, fields: Fields, secret: str | None) -> Actor:
        """Return the holder of the token or, if none was sent, of the cookie: an explicit token takes precedence."""
        if secret is None:
            return await self.logins.identify(scope)
        actor = await self._bearer(scope, fields, secret)
        if actor.role is Role.NODE and scope["path"] != LINK:
            raise Forbidden(LINK_ONLY)
        if actor.role is Role.ORDER and not LENT.fullmatch(scope["path"]):
            raise Forbidden(TOOLS_ONLY)
        return actor

    async def _bearer(self, scope: Scope, fields: Fields, secret: str) -> Actor:
        """Return the token's holder now; if the route confirms it, the holder of its last use."""
        is_confirmed_behind = scope["path"] in self.confirming and _is_small_post(scope, fields)
        mark = fingerprint(secret)
        if is_confirmed_behind and (known := self._stood.get(mark)) is not None:
            scope.setdefault("state", {})[MARK] = mark
            return known
        actor = await self.transactions.store.read(SYSTEM, lambda tx: authenticate(tx, secret))
        if is_confirmed_behind:
            if len(self._stood) >= KNOWN:
                self._stood.clear()
            self._stood[mark] = actor
        return actor


def _refusal(scope: Scope, error: HubError) -> Response:
    """Return the refusal of a request. A view of the dashboard leads to the sign-in form."""
    if isinstance(error, Unauthorized) and scope["type"] == "http" and page_paths.is_view(scope["path"]):
        path, query = quote(scope["path"]), scope["query_string"].decode("latin-1")
        wanted = quote(f"{path}?{query}" if query else path, safe="/")
        there = {"Location": f"{page_paths.LOGIN}?next={wanted}", "Cache-Control": "no-store"}
        return Response(None, HTTPStatus.SEE_OTHER, there)
    headers = {"WWW-Authenticate": "Bearer"} if isinstance(error, Unauthorized) else None
    if isinstance(error, TooMany):
        headers = {"Retry-After": str(error.retry_after)}
    status = next(REFUSED[kind] for kind in type(error).__mro__ if kind in REFUSED)
    return error_response(status, error.code, str(error), headers)


def _is_open(path: str) -> bool:
    """Tell whether the path needs no token: anybody may use it, or it is a secret itself."""
    return path in NEEDS_NO_TOKEN or SHARED.fullmatch(path) is not None or page_paths.is_open(path)


def _take_token(scope: Scope, fields: Fields) -> str | None:
    """Return the bearer token of a request, None without any.

    A token in the query is removed from it, so that nothing behind can log it.
    """
    scheme, _, secret = _field(fields, b"authorization").partition(" ")
    if scheme.lower() == "bearer" and secret:
        return secret.strip()
    if scope["path"].startswith(GOLEMXV) and (secret := _field(fields, b"x-api-key")):
        return secret.strip()
    if TAKES_TOKEN_IN_QUERY.fullmatch(scope["path"]):
        query: list[tuple[str, str]] = parse_qsl(
            scope["query_string"].decode("latin-1"), keep_blank_values=True
        )
        scope["query_string"] = urlencode([pair for pair in query if pair[0] != "token"]).encode()
        for name, value in query:
            if name == "token":
                return value
    return None


def _fields(scope: Scope, name: bytes) -> list[str]:
    """Return the values of the request's headers of that lower-case name."""
    return [value.decode("latin-1") for each, value in scope["headers"] if each == name]


def _field(fields: Fields, name: bytes) -> str:
    """Return the first value of a header; empty if there is none."""
    return fields.get(name, b"").decode("latin-1")


def _is_small_post(scope: Scope, fields: Fields) -> bool:
    """Tell whether a request announces a small body."""
    length = _field(fields, b"content-length") if scope.get("method") == "POST" else ""
    return length.isdecimal() and int(length) <= body_limits.AT_ONCE


def _has_body(fields: Fields) -> bool:
    return b"content-length" in fields or b"transfer-encoding" in fields


async def _unread(scope: Scope, fields: Fields, body: bytes) -> Response | None:
    """Return the refusal of a body that must not be parsed."""
    return _unreadable(scope, fields, body) or await _weighed(scope, body)


def _unreadable(scope: Scope, fields: Fields, body: bytes) -> Response | None:
    """Return the refusal of a body that is not declared as JSON, except one of the hub's own forms.

    A page of any site may have a browser send `text/plain`, a form, or no type, without asking the hub first;
    JSON it may not.
    """
    kind = _field(fields, b"content-type").partition(";")[0].strip().lower()
    if kind == JSON or kind.endswith("+json"):
        return None
    if not body or scope["method"] in SAFE or page_paths.is_open(scope["path"]):
        return None
    if kind == PROTOBUF and scope["path"] in OTLP:
        return None
    sentence = f"send the body as JSON, with the header Content-Type: {JSON}"
    return error_response(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", sentence)


def _body_limit(scope: Scope) -> int:
    """Return the limit of a body: large ones are for callers who may write."""
    actor = scope.get("state", {}).get("actor")
    writes = isinstance(actor, Actor) and actor.role is not Role.VIEWER
    return LARGE_BODY_LIMIT if writes and scope["path"] in TAKES_LARGE_BODIES else BODY_LIMIT


async def _weighed(scope: Scope, body: bytes) -> Response | None:
    """Return the refusal of a body with too much content. Dialects refuse deep ones in their own words.

    An export may be compressed: it is checked when it is read.
    """
    if scope["path"] in OTLP:
        return None
    found = await body_limits.body_excess_off_loop(body)
    if found is None or (found is body_limits.TOO_DEEP and not scope["path"].startswith(REST)):
        return None
    return error_response(*found)


async def read_body(receive: Receive, limit: int) -> bytes | Response:
    """Return the whole body of a request, or the refusal of one longer than `limit` bytes or cut short."""
    if isinstance(receive, Replay) and (whole := receive.take()) is not None:
        return whole  # it was bounded when it was read
    body = bytearray()  # not a list of pieces, whose memory would stay with the process
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return error_response(HTTPStatus.BAD_REQUEST, "incomplete_body", "the body ended too early")
        body += message.get("body", b"")
        if len(body) > limit:
            sentence = f"the body is larger than {limit // MIB} MiB"
            return error_response(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too_large", sentence)
        if not message.get("more_body", False):
            return bytes(body)


class Replay:
    """A `receive` that gives a body once, and then the rest of another `receive`."""

    __slots__ = ("_body", "_rest")

    def __init__(self, body: bytes, rest: Receive) -> None:
        self._body: bytes | None = body
        self._rest = rest

    async def __call__(self) -> Message:
        body = self.take()
        if body is None:
            return await self._rest()
        return {"type": "http.request", "body": body, "more_body": False}

    def take(self) -> bytes | None:
        """Return the body, which is given once; None if it is gone."""
        body, self._body = self._body, None
        return body
