"""Security headers of every answer: its type counts, no frame shows it, no other page reads it, no cache keeps it.

A page, a script or a stream keeps headers of its own. The rest is data: a browser that is led to it runs
nothing of the agents' texts in it.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS: Mapping[bytes, bytes] = {
    b"cache-control": b"no-store",
    b"content-security-policy": b"default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    b"cross-origin-resource-policy": b"same-origin",
    b"referrer-policy": b"no-referrer",
    b"x-content-type-options": b"nosniff",
}


class SecurityHeaders:
    """ASGI middleware: completes the headers of every answer over HTTP."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def labelled(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = message.get("headers", ())
                message["headers"] = [*headers, *_lacking(tuple([name for name, _value in headers]))]
            await send(message)

        await self.app(scope, receive, labelled if scope["type"] == "http" else send)


@lru_cache(maxsize=256)  # by the names that an answer has already: there are few kinds of answers
def _lacking(names: tuple[bytes, ...]) -> Sequence[tuple[bytes, bytes]]:
    said = {name.lower() for name in names}
    return [each for each in HEADERS.items() if each[0] not in said]
