"""The socket that a hub listens on, and its address."""

import errno
import socket
from ipaddress import ip_address

from hubbub.model.errors import Conflict, Forbidden, Invalid

BACKLOG = 2048


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket: early connections wait until the hub is ready, and are not refused."""
    try:
        family, kind, protocol, _name, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
    except OSError as error:
        raise Invalid(f"the host {host!r} cannot be found; name an address of this machine") from error
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            sentence = f"port {port} of {host} is in use, perhaps by another hub; choose another one"
            raise Conflict(f"{sentence} with --port") from error
        if error.errno == errno.EACCES:
            sentence = f"port {port} needs rights that this user does not have; choose another"
            raise Forbidden(sentence) from error
        raise Invalid(f"the hub cannot listen on {host!r}; name an address of this machine") from error
    return listening


def url_of(host: str, port: int) -> str:
    """Return the hub's address for a program on this machine."""
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  # compared, not bound
    return f"http://[{reachable}]:{port}" if ":" in reachable else f"http://{reachable}:{port}"


def exposure(host: str, public_url: str | None) -> str | None:
    """Return a warning if others may reach the hub past TLS; None on loopback, or with an https address."""
    if _is_loopback(host) or (public_url or "").startswith("https:"):
        return None
    return (
        f"the hub listens on {host} without TLS: whoever can read along on that network gets the tokens and passwords; "
        "put a web server with TLS before it and start it with --public-url https://…, or let it listen on 127.0.0.1"
    )


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
