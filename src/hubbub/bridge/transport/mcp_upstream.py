"""The hub's side of the bridge: Streamable HTTP, in both of its forms.

A *transport session* belongs to the older revisions: opened by `initialize`, named by a header from then on, gone with
the process of the hub that opened it. The newer revision's requests stand for themselves.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping

from hubbub.bridge.messages import json_rpc
from hubbub.bridge.messages.json_rpc import Message
from hubbub.bridge.transport.loopback_http import LoopbackTransport
from hubbub.bridge.transport.transport import Away, HttpAnswer, Transport
from hubbub.client import refusal
from hubbub.client.event_stream import STREAM, EventReader
from hubbub.client.transport import FAILED, NOT_FOUND, Reply, Unreachable, is_near
from hubbub.model.agents.connections import SPOKE_HEADER
from hubbub.model.programs import retry_after
from hubbub.terminal.command import NO_TOKEN

Hear = Callable[[bytes], Awaitable[bool]]  # takes a message, and returns whether it has heard enough

SESSION_HEADER = "Mcp-Session-Id"
JSON = "application/json"
LARGEST_EVENT = 64 * 1024 * 1024
TEMPORARY = frozenset({409, 429, 502, 503, 504})
UNAUTHORIZED = 401


class SessionGone(Exception):
    """The hub does not know the transport session (any more)."""


class HttpRefused(Exception):
    """The hub refused the HTTP request; `reply` is its JSON-RPC error, if it sent one."""

    def __init__(self, sentence: str, reply: Message | None = None) -> None:
        super().__init__(sentence)
        self.reply = reply


class Upstream:
    """One MCP endpoint of the hub. `address` returns its URL, each time anew: a hub may come back elsewhere."""

    def __init__(self, address: Callable[[], str], token: str) -> None:
        self.session_id: str | None = None
        self.has_called = False  # a tool
        self.version: str | None = None
        self._carrier = transport_to(address, {"Authorization": f"Bearer {token}"})

    async def close(self) -> None:
        await self._carrier.aclose()

    async def post(
        self,
        message: Message,
        hear: Hear,
        line: bytes | None = None,
        more: Mapping[str, str] | None = None,
        *,
        is_heard: bool = False,
    ) -> bool:
        """Send a message, and pass the answering messages to `hear` until it has heard enough; return whether it has.

        `line` is the encoded message, if there is one, and `more` are headers to go with it: with an
        idempotency key there it may be sent again after `Away`. `is_heard` says that a call may send messages
        before its answer. Also raises `SessionGone` and `HttpRefused`.
        """
        headers = {**self._headers(message, is_heard=is_heard), **(more or {})}
        async with await self._answer("POST", headers, line or json_rpc.encoded(message)) as answer:
            if not _is_stream(answer):
                content = await answer.whole()
                return bool(content) and await hear(content)
            async for content in events_of(answer):
                if await hear(content):
                    return True
            return False

    async def listen(self, opened: Callable[[], Awaitable[None]], hear: Hear) -> None:
        """Pass the hub's unsolicited messages in the transport session to `hear`; `opened` is called before that."""
        async with await self._answer("GET", {**self._in_session(), "Accept": STREAM}) as answer:
            await opened()
            async for content in events_of(answer):
                if await hear(content):
                    return

    async def open(self, hello: Message) -> Message:
        """Send `initialize`, and enter the transport session that it opens. The answer may be an error."""
        headers = {"Accept": f"{JSON}, {STREAM}"}
        async with await self._answer("POST", headers, json_rpc.encoded(hello)) as answer:
            if _is_stream(answer):
                heard = [read(each) async for each in events_of(answer)]
                replies = [each for each in heard if json_rpc.answers(each, hello)]
            else:
                replies = [read(await answer.whole())]
            if not replies:
                raise Away("the hub ended the stream before it answered")
            if "result" in replies[0]:
                self.session_id = answer.header(SESSION_HEADER.lower().encode()) or None
                self.version = replies[0]["result"].get("protocolVersion")
        return replies[0]

    async def leave(self) -> None:
        """End the transport session, if there is one."""
        if self.session_id is not None:
            spoke = {SPOKE_HEADER: "1"} if self.has_called else {}
            async with await self._answer("DELETE", self._in_session() | spoke):
                self.session_id = None

    def _headers(self, message: Message, *, is_heard: bool) -> dict[str, str]:
        """Return the headers of a message.

        A call stands for itself in either form, since outside a session it costs the hub half as much; but in the
        older one the hub then sends nothing before the answer, and goes on if nobody wants that any more.
        """
        if json_rpc.modern_version(message):
            own = json_rpc.mirrored(message)
        elif message.get("method") == json_rpc.CALL and not is_heard:
            self.has_called = True
            own = self._of_version()
        else:
            own = self._in_session()
        return {"Accept": f"{JSON}, {STREAM}", **own}

    def _in_session(self) -> dict[str, str]:
        return self._of_version() | ({SESSION_HEADER: self.session_id} if self.session_id else {})

    def _of_version(self) -> dict[str, str]:
        return {"MCP-Protocol-Version": self.version} if self.version else {}

    async def _answer(
        self, method: str, headers: Mapping[str, str], content: bytes | None = None
    ) -> HttpAnswer:
        """Return a successful answer, or raise one of the three kinds of failure."""
        if content is not None:
            headers = {**headers, "Content-Type": JSON}
        for _ in range(retry_after.PATIENT):
            try:
                answer = await self._carrier.ask(method, headers, content)
            except ValueError as error:
                raise HttpRefused(str(error)) from error
            if answer.status < FAILED:
                return answer
            async with answer:
                headers_told = {"retry-after": answer.header(b"retry-after")}
                reply = Reply(answer.status, headers_told, await answer.whole(), "")
            wait = retry_after.retry_seconds(reply)
            if wait is None:
                break
            await asyncio.sleep(wait)
        raise _failure(reply, in_session=SESSION_HEADER in headers)


def transport_to(address: Callable[[], str], headers: Mapping[str, str]) -> Transport:
    """Return the fastest transport to the URL that `address` returns."""
    url = address()
    if is_near(url):
        return LoopbackTransport(address, headers)
    from hubbub.bridge.transport.httpx_transport import HttpxTransport

    return HttpxTransport(address, headers)


def _is_stream(answer: HttpAnswer) -> bool:
    return answer.header(b"content-type").startswith(STREAM)


def _failure(reply: Reply, *, in_session: bool) -> Exception:
    body = _error_in(reply)
    sentence = _in_options(reply, str(body["error"].get("message")) if body else str(refusal(reply)))
    if reply.status_code in TEMPORARY:
        is_told = reply.status_code == retry_after.TOO_MANY
        return Away(sentence if is_told else f"status {reply.status_code}")
    if reply.status_code == NOT_FOUND and in_session:
        return SessionGone()
    return HttpRefused(sentence, body and {**body, "error": {**body["error"], "message": sentence}})


def _error_in(reply: Reply) -> Message | None:
    """Return the JSON-RPC error in a reply; None if it is none."""
    try:
        body = reply.json()
    except ValueError:
        return None
    return body if isinstance(body, dict) and isinstance(body.get("error"), dict) else None


def _in_options(reply: Reply, sentence: str) -> str:
    """Put a refusal into terms of the command, whose user has set neither a header nor an address."""
    if reply.status_code == UNAUTHORIZED:
        return NO_TOKEN
    return sentence.replace("?tools= names", "--tools names")


async def events_of(answer: HttpAnswer) -> AsyncGenerator[bytes, None]:
    """Yield the events of a stream, as they come. Raises `Away`."""
    try:
        reader = EventReader(answer.header(b"content-type"), LARGEST_EVENT)
        async for chunk in answer.chunks():
            for event in reader.events(chunk):
                yield event.data.encode()
    except Unreachable as error:
        raise Away(str(error)) from error


def read(content: bytes) -> Message:
    """Decode the message that came. Raises `HttpRefused` if it is none."""
    message = json_rpc.decoded(content)
    if message is None:
        raise HttpRefused("the server at that address does not speak MCP")
    return message
