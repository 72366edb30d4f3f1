"""A host in its caller's words: `host`, `user@host`, `host:port`. The gate and SSH parse it in the same way."""

import re
from dataclasses import dataclass

from hubbub.model.errors import Invalid

LENGTH = 255  # characters of the name of a host
_USER = r"[A-Za-z0-9_][A-Za-z0-9_.+$\\-]{0,63}"
_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"
_ADDRESS = r"[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(?:%[A-Za-z0-9_.-]+)?"  # of IPv6
_WRITTEN = re.compile(
    rf"(?:(?P<user>{_USER})@)?"
    rf"(?:\[(?P<bracketed>{_ADDRESS})\](?::(?P<after>[0-9]{{1,5}}))?"
    rf"|(?P<address>{_ADDRESS})"
    rf"|(?P<name>{_NAME})(?::(?P<port>[0-9]{{1,5}}))?)",
)


@dataclass(frozen=True, slots=True)
class Destination:
    """A host, and its user and port. None: by the SSH configuration."""

    host: str
    user: str | None = None
    port: int | None = None

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host and self.port is not None else self.host
        user = f"{self.user}@" if self.user is not None else ""
        return f"{user}{host}" if self.port is None else f"{user}{host}:{self.port}"

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names for a policy's rules: the host alone, and the full form if that is longer."""
        return tuple(dict.fromkeys((self.host, str(self))))


def parse(written: str) -> Destination:
    """Parse a destination. Raises `Invalid`, with a sentence on the allowed forms."""
    found = _WRITTEN.fullmatch(written) if len(written) <= 2 * LENGTH else None
    if found is None:
        raise Invalid(
            f"hostname must be a host, user@host or host:port, and {written[:80]!r} is none of these"
        )
    host = (found["bracketed"] or found["address"] or found["name"]).casefold().rstrip(".")
    digits = found["after"] or found["port"]
    port = None if digits is None else int(digits)
    if not host or len(host) > LENGTH or (port is not None and not 0 < port < 2**16):
        raise Invalid(
            f"hostname must be a host, with a port of 1 to 65535 if any, and {written[:80]!r} is none"
        )
    return Destination(host, found["user"], port)
