"""What a carrier is: it takes HTTP requests to one address of a hub, and brings the answers.

There are two. `near` is for a hub on this machine and made to be quick; `far` is for all others, and knows TLS and
proxies. Whoever needs more than the quick way offers gets a response of httpx2 from either.
"""

from collections.abc import Mapping
from types import TracebackType
from typing import Protocol, Self

import httpx2


class Away(Exception):
    """The hub cannot be reached, or the connection to it was lost."""


class HttpAnswer(Protocol):
    """An answer of which the headers are here; the body may be on its way still, and raise `Away`.

    A context: left, the answer is done with, however much of it was read.
    """

    @property
    def status(self) -> int: ...

    def header(self, name: bytes) -> str:
        """The value of a header, whose name is given in small letters; empty if there is none."""

    async def whole(self) -> bytes:
        """The body."""

    def response(self) -> httpx2.Response:
        """The same as httpx2 has it, its body unread. What it raises is httpx2's."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Transport(Protocol):
    """The way to the hub, open until it is closed."""

    async def ask(self, method: str, headers: Mapping[str, str], content: bytes | None = None) -> HttpAnswer:
        """Send a request; the answer as soon as it begins. Raises `Away`, or `ValueError` for no possible header."""

    async def aclose(self) -> None: ...
