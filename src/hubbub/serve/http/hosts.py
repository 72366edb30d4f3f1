"""The hub's host names, and the web pages that are its own."""

from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from starlette.datastructures import Headers

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Hosts:
    """The hub's host names: its address, and on any port loopback and its public name."""

    names: frozenset[str]
    address: tuple[str, int]
    public: tuple[str, int] | None = None

    @classmethod
    def of(cls, host: str, port: int, public_url: str | None = None) -> "Hosts":
        """Return the names of a hub that listens on `host` and `port` and is known as `public_url`."""
        public = _address(public_url) if public_url else None
        return cls(LOOPBACK | ({public[0]} if public else set()), (host.lower(), port), public)

    def include(self, url: str) -> bool:
        """Tell whether the host in `url` is one of the hub's."""
        address = _address(url)
        return address is not None and (address[0] in self.names or address == self.address)

    def are_own_pages(self, headers: Headers) -> bool:
        """Tell whether a request comes from a page of this hub, or from no page, by the browser's word.

        A page of another program on this machine is foreign: cookies, unlike pages, know no ports.
        """
        origin, host = headers.get("origin"), headers.get("host", "")
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return False
        if origin is None:
            return True
        scheme, _, name = origin.partition("://")
        if scheme in DEFAULT_PORTS and name.lower() == host.lower():
            return True
        return (
            self.public is not None and _address(origin) == self.public
        )  # a proxy may have changed `SshHost`


@lru_cache(maxsize=1024)  # nearly all requests name the same host
def _address(url: str) -> tuple[str, int] | None:
    """Return host and port of a URL, with the scheme's port if none is written; None if there is no host."""
    try:
        parts = urlsplit(url)
        port = parts.port or DEFAULT_PORTS.get(parts.scheme)
    except ValueError:
        return None
    return (parts.hostname, port) if parts.hostname and port and "@" not in parts.netloc else None
