"""Webhooks: who wants to be told, of what, and how a receiver knows that it was us."""

import hashlib
import hmac
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import urlsplit
from uuid import UUID

from hubbub.model.errors import Invalid

EVERYTHING = "*"
URL_LENGTH = 2000
OWN_EVENTS = "outbox."  # to tell of these would make more of them, without end

_PATTERN = re.compile(r"\*|[a-z]+\.(\*|[a-z_]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """An address to which a project's activities are posted."""

    id: UUID
    project_id: UUID
    url: str = field(repr=False)  # who knows it may be able to post there
    events: tuple[str, ...]  # patterns: a kind, `task.*`, or `*`
    secret: str = field(repr=False)
    after_tx: int  # with after_seq its place in the log: what came before was put into the outbox
    after_seq: int
    created_by: str
    created_at: int
    removed_at: int | None = None

    @property
    def host(self) -> str:
        """Where it leads, without what may be secret in the address."""
        return host_of(self.url)

    def wants(self, kind: str) -> bool:
        """Whether it is to be told of activities of that kind."""
        if kind.startswith(OWN_EVENTS):
            return False
        group = kind.partition(".")[0]
        return not {EVERYTHING, f"{group}.*", kind}.isdisjoint(self.events)


def host_of(url: str) -> str:
    """The host of an address, with the port if it names one."""
    return urlsplit(url).netloc


def signature(secret: str, moment: int, body: bytes) -> str:
    """What the header `Hubbub-Signature` says: the Unix time in seconds, and the HMAC-SHA256 of `time.body`."""
    signed = hmac.new(secret.encode(), f"{moment}.".encode() + body, hashlib.sha256)
    return f"t={moment},v1={signed.hexdigest()}"


def require_url(url: str) -> str:
    """The address, if it is one that can be posted to. Raises `Invalid`."""
    try:
        parts = urlsplit(url)
        is_whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_whole = False
    if not is_whole or len(url) > URL_LENGTH or any(each.isspace() or not each.isprintable() for each in url):
        raise Invalid(
            f"a webhook's address begins with https:// or http://, of up to {URL_LENGTH} characters"
        )
    if parts.username is not None or parts.fragment:
        raise Invalid(
            "a webhook's address has no user, no password and no #fragment; the signature proves us"
        )
    return url


def require_events(patterns: Iterable[str]) -> tuple[str, ...]:
    """The patterns, each once. Raises `Invalid`."""
    wanted = tuple(dict.fromkeys(patterns))
    for pattern in wanted:
        if not _PATTERN.fullmatch(pattern):
            raise Invalid(
                f"events are kinds such as task.completed, groups such as task.*, or *: not {pattern!r}"
            )
        if pattern.startswith(OWN_EVENTS):
            raise Invalid(
                "webhooks are not told of what becomes of deliveries; ask for the deliveries instead"
            )
    if not wanted:
        raise Invalid("name at least one event; * stands for all of them")
    return wanted
