"""A small internet for tests: names and public addresses, behind which servers on this machine's loopback answer."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx2

from shellgate.floor.downloads import UnknownHost

PUBLIC, OTHER = "93.184.216.34", "93.184.216.35"
Pages = Mapping[str, bytes]  # by path: all that the server says, its status line first


@dataclass
class Internet:
    """A fake internet: the addresses of names, and the endpoints of connections to an address."""

    names: Mapping[
        str, Sequence[Sequence[str]]
    ]  # by name: one answer after the other, the last one again and again
    ports: Mapping[str, int] = field(
        default_factory=dict
    )  # by address: the loopback port that answers for it
    asked: list[str] = field(default_factory=list)  # names that were looked up
    connected: list[str] = field(default_factory=list)  # addresses that were connected to

    async def resolve(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        answers = self.names.get(host)
        if not answers:
            raise UnknownHost(host)
        return answers[min(self.asked.count(host), len(answers)) - 1]

    async def location(self, url: str) -> str | None:
        return None

    def transport(self) -> httpx2.AsyncBaseTransport:
        return _Transport(self)


class _Transport(httpx2.AsyncBaseTransport):
    """A real connection, to the port that stands for the address."""

    def __init__(self, internet: Internet) -> None:
        self._internet, self._inner = internet, httpx2.AsyncHTTPTransport(trust_env=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        address = request.url.host
        self._internet.connected.append(address)
        port = self._internet.ports.get(address)
        if port is None:
            raise httpx2.ConnectError("nobody is there", request=request)
        request.url = request.url.copy_with(scheme="http", host="127.0.0.1", port=port)
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        await self._inner.aclose()


@asynccontextmanager
async def serving(pages: Pages, heard: list[bytes] | None = None) -> AsyncIterator[int]:
    """The port of a server that has these pages, and closes the connection after each; `heard` gets the requests."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await reader.readuntil(b"\r\n\r\n")
        if heard is not None:
            heard.append(request)
        writer.write(pages.get(request.split(b" ")[1].decode(), page(404, b"")))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


def page(status: int, body: bytes, *headers: str, length: int | None = None) -> bytes:
    """Return everything that a server sends."""
    announced = len(body) if length is None else length
    lines = [f"HTTP/1.1 {status} Said", f"Content-Length: {announced}", "Connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def moved(location: str, status: int = 302) -> bytes:
    return page(status, b"", f"Location: {location}")
