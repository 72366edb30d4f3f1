"""Trust on the way to an address: this machine itself needs less than others."""

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import ssl

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def trusts_environment(url: str) -> bool:
    """Tell whether proxies from the environment apply: never on the way to this machine itself."""
    return urlsplit(url).hostname not in LOOPBACK


def authorities(url: str) -> "ssl.SSLContext | bool":
    """Return the certificate authorities for httpx2: the system's, or those of SSL_CERT_FILE or SSL_CERT_DIR.

    They take longer to load than a call. Plain HTTP to this machine itself has no certificate, so it gets none.
    """
    if trusts_environment(url):
        return True
    import ssl  # which a command that calls a hub on this machine need not load

    if urlsplit(url).scheme == "http":
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # The environment's authorities count here, too, although its proxies do not.
    return ssl.create_default_context()
