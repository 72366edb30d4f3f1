"""A minimal client of the hub: one request, one JSON answer, one deadline for all of it.

Written on bare sockets, since the standard library's own HTTP client takes longer to import than most answers take.
"""

from __future__ import annotations

import json
import socket
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hubbub.clients.hook.hub_target import Target

LARGEST = 1_000_000  # bytes of an answer
API = "/api/v1"
_PORTS = {"http": 80, "https": 443}


class Unanswered(OSError):
    """The hub did not answer in time, or not in a form that we understand."""


class TimedOut(Unanswered, TimeoutError):
    """The hub was reached, and did not answer in time."""


def call(
    target: Target,
    method: str,
    path: str,
    body: Mapping[str, object] | None = None,
    *,
    query: Mapping[str, str | None] | None = None,
    until: float,
) -> tuple[int, dict[str, object]]:
    """Send a request for `path` below `/api/v1`; return the status and the JSON object of the answer.

    `until` is the time, of `time.monotonic()`, at which we stop waiting. `path` and the values of `query` are unquoted:
    they are quoted here; `path` may contain slashes. Raises `OSError`, of which `Unanswered` is one.
    """
    scheme, host, port, prefix = _place(target.url)
    asked = {"project": target.project, **(query or {})}
    words = "&".join(f"{name}={_quoted(value, '')}" for name, value in asked.items() if value is not None)
    where = f"{prefix}{API}{_quoted(path, '/')}{'?' + words if words else ''}"
    content = b"" if body is None else json.dumps(body).encode()
    head = (
        f"{method} {where} HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {_line(target.token)}\r\n"
        f"Accept: application/json\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n"
        "Connection: close\r\n\r\n"
    )
    with _connected(scheme, host.strip("[]"), port, until) as connection:
        connection.sendall(head.encode("latin-1") + content)
        return _answer(_all(connection, until))


def _place(url: str) -> tuple[str, str, int, str]:
    """Split the address into scheme, host, port and the path in front of everything."""
    scheme, _, rest = url.partition("://")
    if scheme not in _PORTS:
        raise Unanswered("the hub's address does not begin with http:// or https://")
    authority, slash, prefix = _line(rest).partition("/")
    host, colon, port = authority.rpartition(":")
    if not colon or "]" in port:
        host, port = authority, str(_PORTS[scheme])
    if not port.isdigit() or not host:
        raise Unanswered("the hub's address has no host, or no number for its port")
    return scheme, host, int(port), (slash + prefix).rstrip("/")


def _line(text: str) -> str:
    if not text.isascii() or not text.isprintable():
        raise Unanswered("the hub's address or the token has characters that are not allowed")
    return text


def _quoted(text: str, kept: str) -> str:
    plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~" + kept
    return "".join(
        character if character in plain else "".join(f"%{byte:02X}" for byte in character.encode())
        for character in text
    )


def _connected(scheme: str, host: str, port: int, until: float) -> socket.socket:
    connection = socket.create_connection((host, port), timeout=_left(until))
    if scheme == "http":
        return connection
    import ssl  # many hubs are on this machine, and need none

    connection.settimeout(_left(until))
    return ssl.create_default_context().wrap_socket(connection, server_hostname=host)


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise TimedOut("the hub took too long")
    return left


def _all(connection: socket.socket, until: float) -> bytes:
    received = bytearray()
    while len(received) <= LARGEST:
        connection.settimeout(_left(until))
        try:
            part = connection.recv(65536)
        except TimeoutError:
            raise TimedOut("the hub took too long") from None
        if not part:
            return bytes(received)
        received += part
    raise Unanswered("the hub's answer is too long")


def _answer(received: bytes) -> tuple[int, dict[str, object]]:
    head, _, content = received.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    words = lines[0].split(" ", 2)
    if len(words) < 2 or not words[0].startswith("HTTP/1.") or not words[1].isdigit():
        raise Unanswered("the server at this address is not a hub")
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])
    }
    if headers.get("transfer-encoding", "").lower() == "chunked":
        content = _joined(content)
    elif len(content) < int(headers.get("content-length", "0")):
        raise Unanswered("the hub's answer ends too early")
    try:
        answered = json.loads(content) if content else {}
    except RecursionError:
        raise Unanswered("the server at this address is not a hub") from None
    if not isinstance(answered, dict):
        raise Unanswered("the server at this address is not a hub")
    return int(words[1]), answered


def _joined(chunked: bytes) -> bytes:
    """Join the chunks of an answer, which some proxies send."""
    whole = bytearray()
    while True:
        size, _, rest = chunked.partition(b"\r\n")
        length = int(size.split(b";")[0], 16)
        if length < 0:
            raise Unanswered("the server at this address is not a hub")
        if length == 0:
            return bytes(whole)
        whole += rest[:length]
        chunked = rest[length + 2 :]
