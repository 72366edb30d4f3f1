"""The transport to a hub on this machine: HTTP/1.1 over connections of our own, at a fraction of the usual cost.

A call through the bridge waits for three programs, one after the other, so the time of each matters: with
httpx2 most of it was spent here. A hub on the same machine needs no more than plain connections that are kept.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from types import TracebackType
from typing import cast
from urllib.parse import urlsplit

import httptools

from hubbub.bridge.transport.transport import Away
from hubbub.client.transport import CONNECT_SECONDS, QUIET_SECONDS

HTTP_PORT = 80
READ_AHEAD = 256 * 1024  # bytes of a body that nobody has read yet; then the hub has to wait
FRAMES = frozenset({b"content-length", b"transfer-encoding"})  # headers that say where a body ends


class LoopbackTransport:
    """A `Transport` to the URL that `address` returns, anew for each connection; `headers` go with every request."""

    def __init__(self, address: Callable[[], str], headers: Mapping[str, str]) -> None:
        self.address, self.headers = address, headers
        self._idle: list[_Line] = []

    async def ask(self, method: str, headers: Mapping[str, str], content: bytes | None = None) -> "_Line":
        line = self._kept() or await self._open()
        try:
            return await line.ask(method, headers, content)
        except BaseException:
            line.close()
            raise

    async def aclose(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def _kept(self) -> "_Line | None":
        """Return a connection that is free and still good."""
        while self._idle:
            line = self._idle.pop()
            if line.is_free:
                return line
        return None

    async def _open(self) -> "_Line":
        url = self.address()
        parts = urlsplit(url)
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                _, line = await loop.create_connection(
                    lambda: _Line(url, self.headers, self._idle),
                    parts.hostname or "",
                    parts.port or HTTP_PORT,
                )
        except TimeoutError:
            raise Away("it took too long to connect") from None
        except OSError:
            raise Away("nothing answers at its address") from None
        return line


class _Line(asyncio.Protocol):
    """One connection and, as an `Answer`, the last one on it; `idle` is where it waits for its next request."""

    def __init__(self, url: str, headers: Mapping[str, str], idle: "list[_Line]") -> None:
        parts = urlsplit(url)
        self._idle = idle
        target = parts._replace(scheme="", netloc="", path=parts.path or "/", fragment="").geturl()
        self._target = f"{target} HTTP/1.1\r\nHost: {parts.netloc.rpartition('@')[2]}\r\n"
        self._common = _lines(headers)
        self._parser = httptools.HttpResponseParser(self)
        self._waiter: asyncio.Future[None] | None = None
        self._fault: str | None = None  # why nothing more will come
        self._forget()

    def _forget(self) -> None:
        """Prepare for another answer."""
        self.status = 0
        self._headers: list[tuple[bytes, bytes]] = []
        self._chunks: list[bytes] = []
        self._held = 0  # bytes in them
        self._is_headed: bool = False
        self._is_whole: bool = False
        self._is_kept: bool = False  # the connection, by the other side

    # ---- asking --------------------------------------------------------------------------------------------------

    async def ask(self, method: str, headers: Mapping[str, str], content: bytes | None) -> "_Line":
        """Send a request; return this object as soon as the headers of the answer are there."""
        length = "" if content is None else f"Content-Length: {len(content)}\r\n"
        head = f"{method} {self._target}{self._common}{_lines(headers)}{length}\r\n"
        self._forget()
        self._transport.write(head.encode() + (content or b""))
        while not self._is_headed:
            await self._news()
        return self

    @property
    def is_free(self) -> bool:
        """Tell whether another request can be sent: all was sent and received, and the other side is there."""
        return self._is_kept and self._fault is None and self._transport.get_write_buffer_size() == 0

    def close(self) -> None:
        self._transport.close()

    async def _news(self) -> None:
        """Wait until something has come. Raises `Away` if nothing will any more."""
        if self._fault is not None:
            raise Away(self._fault)
        self._transport.resume_reading()
        loop = asyncio.get_running_loop()
        self._waiter = loop.create_future()
        patience = loop.call_later(QUIET_SECONDS, self._wake, "it has been silent for too long")
        try:
            await self._waiter
        finally:
            patience.cancel()

    def _wake(self, fault: str | None = None) -> None:
        """Wake the waiter; after a `fault` nothing more will come."""
        self._fault = self._fault or fault
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # ---- the answer ----------------------------------------------------------------------------------------------

    def header(self, name: bytes) -> str:
        return next((value.decode("latin-1") for each, value in self._headers if each.lower() == name), "")

    async def whole(self) -> bytes:
        while not self._is_whole:
            await self._news()
        return b"".join(self._chunks)

    async def chunks(self) -> AsyncIterator[bytes]:
        while True:
            chunks, self._chunks, self._held = self._chunks, [], 0
            for chunk in chunks:
                yield chunk
            if not self._chunks:
                if self._is_whole:
                    return
                await self._news()

    async def __aenter__(self) -> "_Line":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.is_free:
            self._idle.append(self)
        else:
            self.close()

    # ---- callbacks of the connection -----------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self._wake("what answers there does not speak HTTP")
            self.close()
            return
        if self._held > READ_AHEAD:
            self._transport.pause_reading()
        self._wake()

    def connection_lost(self, error: Exception | None) -> None:
        """Handle the end: it completes a body of undeclared length, and breaks off any other."""
        framed = FRAMES & {name.lower() for name, _value in self._headers}
        self._is_whole = self._is_whole or (self._is_headed and not framed)
        self._wake("the connection was lost")

    # ---- callbacks of the parser ---------------------------------------------------------------------------------

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        self._is_headed, self.status = True, self._parser.get_status_code()

    def on_body(self, chunk: bytes) -> None:
        self._chunks.append(chunk)
        self._held += len(chunk)

    def on_message_complete(self) -> None:
        self._is_whole, self._is_kept = True, self._parser.should_keep_alive()


def _lines(headers: Mapping[str, str]) -> str:
    """Return headers as they are written. Raises `ValueError` for those that would be read differently."""
    lines = [f"{name}: {value}" for name, value in headers.items()]
    if not all(line.isascii() and line.isprintable() for line in lines):
        raise ValueError("a header holds printable ASCII, and nothing else")
    return "".join(f"{line}\r\n" for line in lines)
