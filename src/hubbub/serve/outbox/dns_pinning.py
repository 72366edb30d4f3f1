"""DNS pinning: connecting to the checked address of a name, and only if it is allowed.

A name that is checked and then looked up again, by the library that connects, can lead somewhere else the second time.
So a name is looked up once, and the connection goes to the checked address, by number; the server is still asked for
the name, and its certificate has to match it.
"""

import asyncio
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import httpx2

from shellgate.ip_addresses import is_public


class PrivateAddress(Exception):
    """The name leads to an address that is not public."""


class UnknownHost(Exception):
    """The name leads nowhere, at least now."""


@dataclass(frozen=True, slots=True)
class PinnedAddress:
    """The arguments of a request to one address of a name."""

    url: httpx2.URL
    headers: Mapping[str, str]
    extensions: Mapping[str, str]


async def pinned_addresses(url: httpx2.URL, *, allow_private: bool) -> Sequence[PinnedAddress]:
    """Return the ways to `url`, in the order in which to try them.

    Every form of an address is looked up, also the odd ones such as a decimal number. Raises `PrivateAddress` if any
    of the addresses is not public and that is not allowed, and `UnknownHost`.
    """
    host = url.raw_host.decode("ascii")
    port = url.port or {"http": 80, "https": 443}[url.scheme]
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UnknownHost(host) from error
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    if not allow_private and not all(map(is_public, addresses)):
        raise PrivateAddress(host)
    return [
        PinnedAddress(
            url.copy_with(host=address), {"Host": url.netloc.decode("ascii")}, {"sni_hostname": host}
        )
        for address in addresses
    ]
