"""The way in, for every route of the hub: is the request meant for us, who sends it, is it bounded.

In this order a request must name a host that is ours (against DNS rebinding), come from no foreign web page, carry a
token that is valid now, and be no larger than its route allows. Tokens are looked up on every request: what was
revoked a moment ago is refused.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hubbub.core import joins
from hubbub.core.access import authenticate
from hubbub.core.transaction import Transactions
from hubbub.model.errors import Forbidden, HubError, StoreUnavailable, Unauthorized
from hubbub.model.link import PATH as LINK
from hubbub.model.rights import LINK_ONLY, SYSTEM, Actor, Role

MIB = 1024 * 1024
BODY_LIMIT = 1 * MIB
LARGE_BODY_LIMIT = 10 * MIB
TAKES_LARGE_BODIES = frozenset({"/mcp/relay", "/mcp/cmdop", "/api/v1/artifacts"})

NEEDS_NO_TOKEN = frozenset({"/health", "/ready", "/api/auth/register", "/api/auth/login"})
JOIN = "/api/v1/nodes/join"  # where a machine comes that has no token yet, but a code, which the route checks
REFUSED: Mapping[type[HubError], HTTPStatus] = {
    Unauthorized: HTTPStatus.UNAUTHORIZED,
    Forbidden: HTTPStatus.FORBIDDEN,
    StoreUnavailable: HTTPStatus.SERVICE_UNAVAILABLE,
}
SHARED = re.compile(r"/share/[^/]+")  # the link itself is the secret
TAKES_TOKEN_IN_QUERY = re.compile(r"/events(/.*)?|/ws")  # a browser cannot send headers to either

GOLEMXV = "/_gxv/api/v1"  # whose clients send their token as X-API-Key

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
DEFAULT_PORTS = {"http": 80, "https": 443}


def actor_of(scope: Scope) -> Actor:
    """Who sent this request. Raises `Unauthorized` on a route that anyone may use."""
    actor = scope.get("state", {}).get("actor")
    if not isinstance(actor, Actor):
        raise Unauthorized
    return actor


def error_response(
    status: int, code: str, message: str, headers: Mapping[str, str] | None = None
) -> Response:
    """A refusal before anything was done: `{"error": code, "message": sentence}`."""
    return JSONResponse({"error": code, "message": message}, status, headers)


@dataclass(frozen=True, slots=True)
class Hosts:
    """The names by which the hub may be addressed: where it listens, and on any port loopback and its public name."""

    names: frozenset[str]
    address: tuple[str, int]

    @classmethod
    def of(cls, host: str, port: int, public_url: str | None = None) -> "Hosts":
        """The names of a hub that listens on `host` and `port` and is known as `public_url`."""
        public = _address(public_url) if public_url else None
        return cls(LOOPBACK | ({public[0]} if public else set()), (host.lower(), port))

    def include(self, url: str) -> bool:
        """Whether the host that `url` names is one of ours."""
        address = _address(url)
        return address is not None and (address[0] in self.names or address == self.address)


def _address(url: str) -> tuple[str, int] | None:
    """Host and port of a URL, the port being the scheme's own where none is written; None if there is no host."""
    try:
        parts = urlsplit(url)
        port = parts.port or DEFAULT_PORTS.get(parts.scheme)
    except ValueError:
        return None
    return (parts.hostname, port) if parts.hostname and port and "@" not in parts.netloc else None


class Guard:
    """ASGI middleware around the whole hub; routes behind it find the caller with `actor_of`.

    It answers itself with 421 for a host that is not ours, 403 for a foreign origin, 401 without a valid token (and
    naming no OAuth metadata, on which clients would drop their bearer token), 413 for a body that is too large,
    however it is sent, and 503 when the store cannot tell whether the token is valid.
    """

    def __init__(self, app: ASGIApp, *, transactions: Transactions, hosts: Hosts) -> None:
        self.app = app
        self.transactions = transactions
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        refusal = self._misdirected(Headers(scope=scope)) or await self._identify(scope)
        if refusal is None and scope["type"] == "http" and _has_body(scope):
            body = await read_body(receive, _body_limit(scope["path"]))
            refusal = body if isinstance(body, Response) else None
            receive = replay(body, receive) if isinstance(body, bytes) else receive
        await (refusal or self.app)(scope, receive, send)

    def _misdirected(self, headers: Headers) -> Response | None:
        hosts = headers.getlist("host")
        if not hosts or not all(self.hosts.include(f"http://{host}") for host in hosts):
            return error_response(HTTPStatus.MISDIRECTED_REQUEST, "wrong_host", "this hub is not that host")
        if not all(self.hosts.include(origin) for origin in headers.getlist("origin")):
            return error_response(
                HTTPStatus.FORBIDDEN, "foreign_origin", "web pages of other origins may not use this hub"
            )
        return None

    async def _identify(self, scope: Scope) -> Response | None:
        """Put the actor into the scope, or say why there is none."""
        path: str = scope["path"]
        if path in NEEDS_NO_TOKEN or SHARED.fullmatch(path):
            return None
        if "/.well-known/" in path:
            return error_response(HTTPStatus.NOT_FOUND, "not_found", "there is nothing at this address")
        try:
            secret = _take_token(scope)
            if path == JOIN and secret.startswith(joins.PREFIX):
                return None
            actor = await self.transactions.store.read(SYSTEM, lambda tx: authenticate(tx, secret))
            if actor.role is Role.NODE and path != LINK:
                raise Forbidden(LINK_ONLY)
        except (Unauthorized, Forbidden, StoreUnavailable) as error:
            headers = {"WWW-Authenticate": "Bearer"} if isinstance(error, Unauthorized) else None
            return error_response(REFUSED[type(error)], error.code, str(error), headers)
        scope.setdefault("state", {})["actor"] = actor
        return None


def _take_token(scope: Scope) -> str:
    """The bearer token of a request. One in the query is taken out of it, so that nothing behind can log it."""
    scheme, _, secret = Headers(scope=scope).get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and secret:
        return secret.strip()
    if scope["path"].startswith(GOLEMXV) and (secret := Headers(scope=scope).get("x-api-key", "")):
        return secret.strip()
    if TAKES_TOKEN_IN_QUERY.fullmatch(scope["path"]):
        query: list[tuple[str, str]] = parse_qsl(
            scope["query_string"].decode("latin-1"), keep_blank_values=True
        )
        scope["query_string"] = urlencode([pair for pair in query if pair[0] != "token"]).encode()
        for name, value in query:
            if name == "token":
                return value
    raise Unauthorized


def _has_body(scope: Scope) -> bool:
    return any(name in (b"content-length", b"transfer-encoding") for name, _value in scope["headers"])


def _body_limit(path: str) -> int:
    return LARGE_BODY_LIMIT if path in TAKES_LARGE_BODIES else BODY_LIMIT


async def read_body(receive: Receive, limit: int) -> bytes | Response:
    """The whole body of a request, or the refusal of one that is longer than `limit` bytes or ends too early."""
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return error_response(HTTPStatus.BAD_REQUEST, "incomplete_body", "the body ended too early")
        chunk: bytes = message.get("body", b"")
        size += len(chunk)
        if size > limit:
            sentence = f"the body is larger than {limit // MIB} MiB"
            return error_response(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too_large", sentence)
        chunks.append(chunk)
        if not message.get("more_body", False):
            return b"".join(chunks)


def replay(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives `body` once, and then what `receive` gives."""
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return pending.pop() if pending else await receive()

    return replayed
