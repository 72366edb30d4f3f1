"""A server that gives prepared answers, byte for byte, and keeps what it was asked."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Say:
    """An answer; None for silence. Afterwards the connection is closed, or stays."""

    content: bytes | None
    closes: bool = False


def say(body: bytes, *headers: str, kind: str = "application/json") -> Say:
    """A whole answer with status 200."""
    lines = "\r\n".join((f"Content-Type: {kind}", f"Content-Length: {len(body)}", *headers))
    return Say(f"HTTP/1.1 200 OK\r\n{lines}\r\n\r\n".encode() + body)


@dataclass(slots=True)
class Desk:
    """Takes requests on any number of connections; the answers are given out in order."""

    answers: list[Say]
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)  # by a client
    port: int = 0
    _serving: set["asyncio.Task[None]"] = field(default_factory=set)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def headers(self, name: str) -> list[str | None]:
        """The value of a header, in each request."""
        start = f"{name.lower()}: ".encode()
        lines = [
            [line for line in request.split(b"\r\n") if line.lower().startswith(start)]
            for request in self.requests
        ]
        return [found[0][len(start) :].decode() if found else None for found in lines]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        this = asyncio.current_task()
        assert this is not None
        self._serving.add(this)
        try:
            with suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
                await self._answer(reader, writer)
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()
            self.left.set()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        closes = False
        while not closes:
            head = await reader.readuntil(b"\r\n\r\n")
            length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
            self.requests.append(head + await reader.readexactly(int(length or 0)))
            self.asked.set()
            answer = self.answers.pop(0)
            writer.write(answer.content or b"")
            closes = answer.closes

    async def close(self) -> None:
        """Close the connections that are still open."""
        for each in self._serving:
            each.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)


@asynccontextmanager
async def desk(*answers: Say) -> AsyncIterator[Desk]:
    """A desk that is open."""
    opened = Desk(list(answers))
    server = await asyncio.start_server(opened.serve, "127.0.0.1", 0)
    opened.port = server.sockets[0].getsockname()[1]
    try:
        yield opened
    finally:
        server.close()
        await opened.close()
