"""Internet addresses: public ones, and those in private networks."""

from enum import Enum, auto
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

_ALLOTTED = IPv6Network("2000::/3")  # all that is routed; the rest of IPv6 is local, multicast, or not in use
_TRANSLATED = IPv6Network("64:ff9b::/96")  # an IPv4 address behind a translator
_COMPATIBLE = IPv6Network("::/96")  # an IPv4 address as it was written once
_SPECIAL_6 = (  # what is set apart within that: protocols and tunnels such as Teredo, and two blocks for documents
    IPv6Network("2001::/23"),
    IPv6Network("2001:db8::/32"),
    IPv6Network("3fff::/20"),
)
_SPECIAL_4 = IPv4Network("192.0.0.0/24")  # for protocols; clouds have their own secrets there
_PRIVATE_4 = tuple(map(IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")))
_PRIVATE_6 = IPv6Network("fc00::/7")
# Where clouds tell a machine its own secrets, beside the link-local addresses, which are none of the public ones.
_METADATA = frozenset(map(ip_address, ("168.63.129.16", "fd00:ec2::254", "fd20:ce::254")))


class AddressReach(Enum):
    """The reach of an address."""

    PUBLIC = auto()
    PRIVATE = auto()  # a private network
    LOCAL = auto()  # this machine, its link, its provider; or nobody


def reach(address: str) -> AddressReach:
    """Return the reach of an address: IPv4 and IPv6 in their usual forms; an IPv6 form of an IPv4 one counts as that.

    A text that is no address counts as local.
    """
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return AddressReach.LOCAL
    meant = _meant(found)
    if meant in _METADATA:
        return AddressReach.LOCAL
    if isinstance(meant, IPv4Address):
        if any(meant in network for network in _PRIVATE_4):
            return AddressReach.PRIVATE
        is_public = meant.is_global and not meant.is_multicast and meant not in _SPECIAL_4
        return AddressReach.PUBLIC if is_public else AddressReach.LOCAL
    if meant in _PRIVATE_6:
        return AddressReach.PRIVATE
    is_public = meant in _ALLOTTED and meant.is_global and not any(meant in each for each in _SPECIAL_6)
    return AddressReach.PUBLIC if is_public else AddressReach.LOCAL


def is_public(address: str) -> bool:
    """Tell whether the address is on the public internet: not private, loopback, link-local, shared or multicast."""
    return reach(address) is AddressReach.PUBLIC


def _meant(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Return the IPv4 address that an IPv6 one stands for, if it does."""
    if isinstance(address, IPv4Address):
        return address
    meant = address.ipv4_mapped or address.sixtofour
    if meant is None and (address in _TRANSLATED or address in _COMPATIBLE):
        meant = IPv4Address(int(address) & 0xFFFFFFFF)
    return meant or address
