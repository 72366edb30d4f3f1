"""Internet addresses: which of them are everybody's, and which lead into somebody's own network."""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

_ALLOTTED = IPv6Network("2000::/3")  # all that is routed; the rest of IPv6 is local, multicast, or not in use
_TRANSLATED = IPv6Network("64:ff9b::/96")  # an IPv4 address behind a translator
_TUNNELLED = IPv6Network("2001::/32")  # Teredo, through which anything may be reached


def is_public(address: str) -> bool:
    """Whether the address is one of the public internet: not private, loopback, link-local, shared or multicast.

    IPv4 and IPv6 in their usual forms; an IPv6 address that stands for an IPv4 one is as public as that. What is no
    address is not public.
    """
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, IPv6Address):
        return _is_public_6(found)
    return _is_public_4(found)


def _is_public_6(address: IPv6Address) -> bool:
    meant = address.ipv4_mapped or address.sixtofour
    if meant is None and address in _TRANSLATED:
        meant = IPv4Address(int(address) & 0xFFFFFFFF)
    if meant is not None:
        return _is_public_4(meant)
    return address in _ALLOTTED and address not in _TUNNELLED and address.is_global


def _is_public_4(address: IPv4Address) -> bool:
    return address.is_global and not address.is_multicast
