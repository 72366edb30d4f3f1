"""F7: allowed sources of a download. A name is looked up once, and the connection goes to the checked address.

Public addresses are a matter of rules; private ones are always asked about unless a rule names the host. Addresses
of this machine, of its link or of a cloud's secrets for the machine are never fetched.
"""

import asyncio
import re
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Protocol

import httpx2

from shellgate.analysis import Analysis, CallPart
from shellgate.decision import Decision
from shellgate.floor import file_calls
from shellgate.ip_addresses import AddressReach, reach
from shellgate.verdicts import ask, deny
from shellgate.world import World

TOOL = "download_file"
CLAUSE = "F7"
REDIRECTS = 5
ENDLESS = deny(CLAUSE, f"It is redirected more than {REDIRECTS} times.")
SCHEMES = ("http", "https")
LONGEST = 8_192  # characters of an address
_AUTHORITY = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+")
_NAME = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*")
_OWN_NAMES = frozenset(
    {"localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback", "broadcasthost"}
)
_METADATA_NAMES = frozenset({"metadata", "metadata.google.internal", "metadata.goog", "instance-data"})


class UnknownHost(Exception):
    """The name leads nowhere, at least now."""


class Unasked(Exception):
    """The name was not looked up."""


class Network(Protocol):
    """The network's facts before a download begins."""

    async def resolve(self, host: str) -> Sequence[str]:
        """Return the addresses of a name. Raises `UnknownHost`, or `Unasked` if names are not looked up."""

    async def location(self, url: str) -> str | None:
        """Return the redirect of an address; None if there is none, or it is unknown."""


class Internet:
    """The network as it is. Nothing is asked of a server before the gate has let the download through."""

    async def resolve(self, host: str) -> Sequence[str]:
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            raise UnknownHost(host) from None
        addresses = dict.fromkeys(str(entry[4][0]) for entry in found)
        return sorted(addresses, key=lambda each: ":" in each)  # not every network reaches IPv6

    async def location(self, url: str) -> str | None:
        return None


class Unplugged:
    """No network: for decisions on a download without looking up names."""

    async def resolve(self, host: str) -> Sequence[str]:
        raise Unasked(host)

    async def location(self, url: str) -> str | None:
        return None


INTERNET = Internet()


@dataclass(frozen=True, slots=True)
class DownloadSite:
    """The site of an address, before its name is looked up."""

    url: httpx2.URL
    host: str  # as its server knows it
    literal: str | None = None  # the host is this address, in whatever spelling


@dataclass(frozen=True, slots=True)
class ResolvedSite:
    """A site that was looked up: its addresses, and the floor's decisions on them."""

    addresses: tuple[str, ...] = ()
    floor: Decision | None = None
    private: str | None = None  # one of its addresses that is in a private network


async def read(arguments: Mapping[str, object], world: World, network: Network = INTERNET) -> Analysis:
    """Read a download, with its known redirects. Its target is the path where it is saved."""
    saved = file_calls.read("write_file", {"path": arguments.get("dest", "")}, world)
    url = str(arguments.get("url", ""))
    site = understood(url)
    host = None if isinstance(site, Decision) else site.host
    parts = [replace(part, tool=TOOL, host=host) for part in saved.parts]
    whole = Analysis(parts=tuple(parts), floor=saved.floor, target=saved.target)
    first: ResolvedSite | None = None
    for _ in range(REDIRECTS + 1):
        if isinstance(site, Decision):
            return replace(whole, floor=(*whole.floor, site))
        found = await looked_up(site, network)
        first = first or found
        whole = _with(whole, site, found, first)
        if found.floor is not None:
            return whole
        url = await network.location(str(site.url)) or ""
        if not url:
            return whole
        site = understood(url, base=site.url)
    return replace(
        whole, floor=(*whole.floor, deny(CLAUSE, f"It is redirected more than {REDIRECTS} times."))
    )


def _with(whole: Analysis, site: DownloadSite, found: ResolvedSite, first: ResolvedSite) -> Analysis:
    """Return the analysis with one more connection in it."""
    return replace(
        whole,
        parts=(*whole.parts, part_of(site, found)),
        address=next(iter(found.addresses), None),
        addresses=first.addresses,
    )


def part_of(site: DownloadSite, found: ResolvedSite) -> CallPart:
    """Return one connection of a download: rules that forbid the host apply, and a private one is asked about."""
    part = CallPart(tool=TOOL, target=str(site.url), host=site.host)
    if found.floor is not None:
        return replace(part, floor=(found.floor,))
    if found.private is not None:
        return replace(part, concern=f"it leads to {found.private}, in a private network")
    return replace(part, never_asks=True)


def understood(url: str, base: httpx2.URL | None = None) -> DownloadSite | Decision:
    """Return the site of an address; or the floor's decision on one without a site, or with a misleading one.

    `base` is the address that led there, to which this one may be relative.
    """
    if len(url) > LONGEST or any(each.isspace() or not each.isprintable() or each == "\\" for each in url):
        return deny(CLAUSE, "The address holds blanks, backslashes or characters that cannot be seen.")
    try:
        parsed = base.join(url) if base is not None else httpx2.URL(url)
    except httpx2.InvalidURL:
        return deny(CLAUSE, "The address cannot be understood.")
    written = _AUTHORITY.match(str(parsed) if base is not None else url)
    if written is None or written[1].lower() not in SCHEMES:
        return deny(CLAUSE, "Only addresses that begin with http:// or https:// are fetched.")
    if "@" in written[2] or parsed.userinfo:
        return deny(CLAUSE, "The address holds the name of a user.")
    return _site(parsed.copy_with(fragment=None))


def _site(url: httpx2.URL) -> DownloadSite | Decision:
    host = url.raw_host.decode("ascii").rstrip(".")
    if ":" in host:
        return _literal_6(url, host)
    if _NUMBER.fullmatch(host.rpartition(".")[2]):
        return _literal_4(url, host)
    if not _NAME.fullmatch(host) or (url.port is not None and not 0 < url.port < 65_536):
        return deny(CLAUSE, "The address names no host that there can be.")
    if host in _OWN_NAMES or host.endswith((".localhost", ".localhost.localdomain")):
        return deny(CLAUSE, "It leads to this machine itself.")
    if host in _METADATA_NAMES or host.startswith("instance-data."):
        return deny(CLAUSE, "It leads to where a cloud keeps the secrets of this machine.")
    return DownloadSite(url, host)


def _literal_6(url: httpx2.URL, host: str) -> DownloadSite | Decision:
    try:
        return DownloadSite(url, f"[{host}]", str(IPv6Address(host)))
    except AddressValueError:
        return deny(CLAUSE, "The address names no host that there can be.")


def _literal_4(url: httpx2.URL, host: str) -> DownloadSite | Decision:
    """Return an IPv4 address in any of the spellings that systems understand: `127.1`, `0x7f.1`, `2130706433`."""
    parts = host.split(".")
    try:
        *numbers, last = [_number(each) for each in parts]
        value = last + sum(number << (8 * (3 - at)) for at, number in enumerate(numbers))
        fits = (
            len(parts) <= 4 and all(number < 256 for number in numbers) and last < 256 ** (4 - len(numbers))
        )
    except ValueError:
        fits = False
    if not fits:
        return deny(CLAUSE, "The address names no host that there can be.")
    return DownloadSite(url, host, str(IPv4Address(value)))


def _number(text: str) -> int:
    """Parse a number as in C: hexadecimal with `0x`, octal with `0`. Raises `ValueError`."""
    if not _NUMBER.fullmatch(text) or len(text) > 16:
        raise ValueError(text)
    if text[:2] in ("0x", "0X"):
        return int(text[2:] or "0", 16)
    return int(text, 8 if text.startswith("0") else 10)


async def looked_up(site: DownloadSite, network: Network) -> ResolvedSite:
    """Look up a site, and check every one of its addresses."""
    try:
        addresses = [site.literal] if site.literal is not None else await network.resolve(site.host)
    except Unasked:
        return ResolvedSite(floor=ask(CLAUSE, f"Where {site.host} leads was not looked up."))
    except UnknownHost:
        return ResolvedSite(floor=deny(CLAUSE, f"The host name {site.host} leads nowhere just now."))
    return checked(site, addresses)


def checked(site: DownloadSite, addresses: Sequence[str]) -> ResolvedSite:
    """Return the floor's decision on a site with these addresses: each of them must be public."""
    if not addresses:
        return ResolvedSite(floor=deny(CLAUSE, f"The host name {site.host} leads nowhere just now."))
    reaches = {address: reach(address) for address in addresses}
    for address, who in reaches.items():
        if who is AddressReach.LOCAL:
            host = "It" if site.literal is not None else site.host
            reason = f"{host} leads to {address}: this machine, its own link or provider, or nobody."
            return ResolvedSite(floor=deny(CLAUSE, reason))
    private = next((address for address, who in reaches.items() if who is AddressReach.PRIVATE), None)
    return ResolvedSite(tuple(addresses), private=private)
