"""A real hub in which every request is the owner's, for a suite that knows of no tokens.

Nothing else is different: the token is put into the headers of a request before the hub looks at it.
"""

from collections.abc import Awaitable, Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from hubbub.app import OWNER_TOKEN, Hub


class OpenHub(Hub):
    """The hub as it is served, for everyone who reaches it."""

    def _compose(self) -> tuple[ASGIApp, Callable[[], Awaitable[None]]]:
        app, release = super()._compose()
        secret = (self.settings.data / OWNER_TOKEN).read_bytes().strip()

        async def as_owner(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "http":
                scope["headers"] = [*scope["headers"], (b"authorization", b"Bearer " + secret)]
            await app(scope, receive, send)

        return as_owner, release
