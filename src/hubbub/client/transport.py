"""What carries a request to a hub: plain connections on this machine; elsewhere httpx2, with TLS and proxies.

Loading httpx2 takes longer than everything else that a short command does, so only the second one does it.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

from hubbub.model.programs.proxy_trust import trusts_environment

CONNECT_SECONDS = 5.0
READ_SECONDS = 30.0
WAIT_SECONDS = 45  # the longest wait that the hub grants in one request
QUIET_SECONDS = 75.0  # a live stream sends something every 30 s; after this long it is dead
FAILED, NOT_FOUND = 400, 404  # the least status of a failure, and the one of what is missing


class Unreachable(Exception):
    """Nothing answers at the address, or the connection to it was lost."""


class TooLate(Unreachable):
    """The answer took too long."""


class Untrusted(Unreachable):
    """Nobody whom this machine trusts vouches for what answers."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer. The names of its headers are in small letters."""

    status_code: int
    headers: Mapping[str, str]
    content: bytes
    url: str

    @property
    def is_error(self) -> bool:
        return self.status_code >= FAILED

    def json(self) -> Any:
        """Return its content. Raises `ValueError` if it is not JSON."""
        return json.loads(self.content)


class Answer(Protocol):
    """An answer whose headers are here; its body may still be on its way, and raise `Unreachable`."""

    @property
    def status_code(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]: ...

    def chunks(self) -> Iterator[bytes]:
        """Yield the body, as it comes."""

    def reply(self) -> Reply:
        """Return the answer with its whole body."""


class Transport(Protocol):
    """The way to one hub, for several threads at once."""

    def request(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str],
        content: bytes | None = None,
        *,
        timeout: float = READ_SECONDS,
    ) -> Reply:
        """Send a request and return the answer. `target` is a path, with its query, below the hub's address.

        Nothing may be silent for longer than `timeout`. Raises `Unreachable`.
        """

    def stream(
        self, target: str, headers: Mapping[str, str], *, timeout: float | None
    ) -> AbstractContextManager[Answer]:
        """Return a context with the answer to a GET, which ends with it. Raises `Unreachable`."""

    def close(self) -> None: ...


def is_near(url: str) -> bool:
    """Tell whether an address is reached by plain connections on this machine."""
    return urlsplit(url).scheme == "http" and not trusts_environment(url)


def transport_to(url: str) -> Transport:
    """Return the transport to the hub at an address."""
    if is_near(url):
        from hubbub.client.near_http import NearHttp

        return NearHttp(url)
    from hubbub.client.far_http import FarHttp

    return FarHttp(url)
