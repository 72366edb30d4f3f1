"""A request's context in the SDK: its caller and arguments, and the error for a missing resource."""

import itertools
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

from mcp.server import ServerRequestContext
from mcp.server.connection import Connection
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, CallToolRequestParams
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from hubbub.core.log.idempotency import require_attempt
from hubbub.dialects.call import Call, HubContext
from hubbub.model.errors import Invalid, NotFound, Unauthorized
from hubbub.model.people.rights import Actor
from hubbub.serve.http.guard import actor_of

Context = ServerRequestContext[Any, Any]

IDEMPOTENCY_HEADER = "idempotency-key"
IDEMPOTENCY_META = "hubbub/idempotency-key"
ATTEMPT_HEADER = "idempotency-attempt"
ATTEMPT_META = "hubbub/idempotency-attempt"
ARGUMENTS = "hubbub.arguments"  # in the scope of a request: the arguments of a call in a large body
CONNECTION = "hubbub.connection"  # in the scope of a request: the id of its transport session
DIGITS = re.compile(r"[0-9]{1,16}")
RESOURCE_NOT_FOUND = -32002  # up to 2025-11-25; since then it is an invalid parameter


def caller(ctx: Context) -> Actor:
    """Return the sender of the request, by its token. Raises `Unauthorized`."""
    if ctx.request is None:
        raise Unauthorized
    return actor_of(ctx.request.scope)


def arguments(ctx: Context, params: CallToolRequestParams) -> Mapping[str, Any]:
    """Return the arguments of a tool: as the SDK has parsed them or, for a large body, as parsed before."""
    held = ctx.request.scope.get(ARGUMENTS) if ctx.request is not None else None
    given: Mapping[str, Any] = held if held is not None else params.arguments or {}
    return given


def idempotency_key(ctx: Context) -> tuple[str | None, int | None]:
    """Return the idempotency key of this call, and the number of the attempt. Raises `Invalid`."""
    return key_and_attempt(
        ctx.meta or {}, ctx.request.headers.get if ctx.request is not None else lambda _: None
    )


def key_and_attempt(
    meta: Mapping[str, Any], header: Callable[[str], str | None]
) -> tuple[str | None, int | None]:
    """Return the key and the number that belongs to it: both from `_meta`, or both from the headers.

    A program in between, such as the bridge, has keys of its own in the headers. Raises `Invalid`.
    """
    key, number = meta.get(IDEMPOTENCY_META), meta.get(ATTEMPT_META)
    if key is None:
        key, said = header(IDEMPOTENCY_HEADER), header(ATTEMPT_HEADER)
        number = int(said) if said is not None and DIGITS.fullmatch(said) else said
    if key is not None and not isinstance(key, str):
        raise Invalid(f"{IDEMPOTENCY_META} must be text")
    return key, require_attempt(number) if key is not None and number is not None else None


def call_context(ctx: Context, site: HubContext) -> Call:
    """Return the context of a call of a tool."""
    return Call(
        site=site,
        headers=ctx.request.headers if ctx.request is not None else {},
        meta=cast(Mapping[str, object], ctx.meta or {}),
        connection=session_id(ctx),
    )


def session_id(ctx: Context) -> str | None:
    """Return the id of the request's transport session; None if it has none."""
    name: str | None = ctx.request.scope.get(CONNECTION) if ctx.request is not None else None
    return name


def progress_reporter(ctx: Context) -> Callable[[str], Awaitable[None]]:
    """Return a function that sends a piece of text to the client during its call; None if the client wants none."""
    told = itertools.count(1)

    async def tell(text: str) -> None:
        await ctx.session.report_progress(next(told), None, text)

    return tell


def client_connection(ctx: Context) -> Connection:
    """Return the client's connection. The SDK keeps it private, but it alone knows when the session ends."""
    return ctx.session._connection  # noqa: SLF001


@contextmanager
def resource_not_found(ctx: Context, uri: str) -> Iterator[None]:
    """Turn `NotFound` into the error of the client's revision for a missing resource."""
    try:
        yield
    except NotFound:
        modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
        code = INVALID_PARAMS if modern else RESOURCE_NOT_FOUND
        raise MCPError(code, "there is no such resource, or it is not yours to read", {"uri": uri}) from None
