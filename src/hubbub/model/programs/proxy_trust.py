"""The way to an address: on this machine itself it needs less than to another."""

import ssl
from urllib.parse import urlsplit

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def trusts_environment(url: str) -> bool:
    """Whether proxies named in the environment apply: never on the way to this machine itself."""
    return urlsplit(url).hostname not in LOOPBACK


def authorities(url: str) -> ssl.SSLContext | bool:
    """Who may vouch for what answers there, for httpx2: those the system knows, which take longer to read than a call.

    Without TLS on this machine itself there is nothing to vouch for, so nobody may.
    """
    if urlsplit(url).scheme == "http" and not trusts_environment(url):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return True
