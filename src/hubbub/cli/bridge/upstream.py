"""The hub's side of the bridge: Streamable HTTP, in both of its eras.

A *transport session* is the older era's: opened by `initialize`, named by a header from then on, gone with the process
of the hub that opened it. The newer era's requests stand for themselves.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

import httpx2

from hubbub.cli.bridge import wire
from hubbub.cli.bridge.wire import Message
from hubbub.client import CONNECT_SECONDS, QUIET_SECONDS, refusal, trusts_environment

SESSION_HEADER = "Mcp-Session-Id"
STREAM = "text/event-stream"
LARGEST_EVENT = 64 * 1024 * 1024
TEMPORARY = frozenset({409, 429, 502, 503, 504})
NOT_FOUND = 404


class Away(Exception):
    """The hub cannot be reached, or the connection to it was lost."""


class SessionGone(Exception):
    """The hub does not know the transport session (any more)."""


class Refused(Exception):
    """The hub said no to the HTTP request; `reply` is its JSON-RPC error, where it sent one."""

    def __init__(self, sentence: str, reply: Message | None = None) -> None:
        super().__init__(sentence)
        self.reply = reply


class Upstream:
    """One MCP endpoint of the hub. `address` gives its URL, anew for each request: a hub may come back elsewhere."""

    def __init__(self, address: Callable[[], str], token: str) -> None:
        self.address = address
        self.session_id: str | None = None
        self.version: str | None = None
        self._http = httpx2.AsyncClient(
            headers={"Authorization": f"Bearer {token}"},
            timeout=httpx2.Timeout(QUIET_SECONDS, connect=CONNECT_SECONDS, pool=None),
            limits=httpx2.Limits(max_connections=None),
            trust_env=trusts_environment(address()),
        )

    async def close(self) -> None:
        await self._http.aclose()

    async def post(self, message: Message, key: str | None = None) -> AsyncIterator[Message]:
        """Send a message, and give whatever comes in answer to it.

        With an idempotency `key` it may be sent again after `Away`. Also raises `SessionGone` and `Refused`.
        """
        headers = self._headers(message) | ({"Idempotency-Key": key} if key else {})
        async with self._response("POST", headers, message) as response:
            if response.headers.get("content-type", "").startswith(STREAM):
                async for each in _events(response):
                    yield each
            elif content := await response.aread():
                yield _message(content)

    async def listen(self, opened: Callable[[], Awaitable[None]]) -> AsyncIterator[Message]:
        """What the hub has to say unasked in the transport session; `opened` is called once it can be heard."""
        async with self._response("GET", self._in_session() | {"Accept": STREAM}) as response:
            await opened()
            async for each in _events(response):
                yield each

    async def open(self, hello: Message) -> Message:
        """Send `initialize`, and enter the transport session that it opens. The answer may be an error."""
        headers = {"Accept": f"application/json, {STREAM}"}
        async with self._response("POST", headers, hello) as response:
            if response.headers.get("content-type", "").startswith(STREAM):
                replies = [each async for each in _events(response) if wire.answers(each, hello)]
            else:
                replies = [_message(await response.aread())]
            if not replies:
                raise Away("the hub ended the stream before it answered")
            if "result" in replies[0]:
                self.session_id = response.headers.get(SESSION_HEADER)
                self.version = replies[0]["result"].get("protocolVersion")
        return replies[0]

    async def leave(self) -> None:
        """End the transport session, if there is one."""
        if self.session_id is not None:
            async with self._response("DELETE", self._in_session()):
                self.session_id = None

    def _headers(self, message: Message) -> dict[str, str]:
        headers = {"Accept": f"application/json, {STREAM}"}
        return headers | (wire.mirrored(message) if wire.modern_version(message) else self._in_session())

    def _in_session(self) -> dict[str, str]:
        named = {SESSION_HEADER: self.session_id, "MCP-Protocol-Version": self.version}
        return {name: value for name, value in named.items() if value is not None}

    @asynccontextmanager
    async def _response(
        self, method: str, headers: Mapping[str, str], content: Message | None = None
    ) -> AsyncIterator[httpx2.Response]:
        """A successful response, or one of the three ways in which it is none."""
        body = wire.encoded(content) if content is not None else None
        if body is not None:
            headers = {**headers, "Content-Type": "application/json"}
        try:
            async with self._http.stream(method, self.address(), headers=headers, content=body) as response:
                if response.is_error:
                    await response.aread()
                    raise _failure(response, in_session=SESSION_HEADER in headers)
                yield response
        except httpx2.TransportError as error:
            raise Away(str(error)) from error


def _failure(response: httpx2.Response, *, in_session: bool) -> Exception:
    if response.status_code in TEMPORARY:
        return Away(f"status {response.status_code}")
    if response.status_code == NOT_FOUND and in_session:
        return SessionGone()
    try:
        body = response.json()
    except ValueError:
        body = None
    if isinstance(body, dict) and isinstance(body.get("error"), dict):
        return Refused(str(body["error"].get("message")), body)
    return Refused(str(refusal(response)))


async def _events(response: httpx2.Response) -> AsyncIterator[Message]:
    async for event in httpx2.EventSource(response, LARGEST_EVENT):
        if event.data:
            yield _message(event.data.encode())


def _message(content: bytes) -> Message:
    message = wire.decoded(content)
    if message is None:
        raise Refused("what answers there does not speak MCP")
    return message
