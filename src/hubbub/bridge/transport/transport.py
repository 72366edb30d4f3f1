"""Transports: they carry HTTP requests to one address of a hub, and bring the answers.

There are two. `loopback_http` is for a hub on this machine and made to be fast; `httpx_transport` is for all others,
and knows TLS and proxies.
"""

from collections.abc import AsyncIterator, Mapping
from types import TracebackType
from typing import Protocol, Self


class Away(Exception):
    """The hub cannot be reached, or the connection to it was lost."""


class HttpAnswer(Protocol):
    """An answer whose headers are here; its body may still be on its way, and raise `Away`.

    It is a context: on leaving it the answer is finished, however much of it was read.
    """

    @property
    def status(self) -> int: ...

    def header(self, name: bytes) -> str:
        """Return the value of a header, named in small letters; empty if there is none."""

    async def whole(self) -> bytes:
        """Return the body."""

    def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body, as it comes."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Transport(Protocol):
    """The way to the hub, open until it is closed."""

    async def ask(self, method: str, headers: Mapping[str, str], content: bytes | None = None) -> HttpAnswer:
        """Send a request; return the answer as soon as it begins. Raises `Away`, and `ValueError` for a bad header."""

    async def aclose(self) -> None: ...
