"""Webhooks: receivers, their events, and the signature by which a receiver knows the hub."""

import hashlib
import hmac
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum, auto
from typing import Annotated
from urllib.parse import urlsplit
from uuid import UUID

from hubbub.model.errors import Invalid
from hubbub.model.fields import REST, Secret, Seen
from hubbub.model.log.attention import new_needs
from hubbub.model.log.event_types import GROUPS, require_group, require_kind, require_of_project
from hubbub.model.records import Activity

EVERYTHING = "*"
NEEDS = "needs"  # needs of people that begin
URL_LENGTH = 2000
OWN_EVENTS = "outbox."  # reporting these would cause more of them, without end

_PATTERN = re.compile(r"\*|needs|[a-z]+\.(\*|[a-z_]+)")


class WebhookFormat(StrEnum):
    """The format in which a webhook is told."""

    JSON = auto()  # the activity itself, for a program
    NTFY = auto()  # one sentence with a title, for a person's telephone


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """An address to which a project's activities are posted."""

    id: Annotated[UUID, Seen(REST)]
    project_id: UUID
    url: Annotated[str, Seen(REST)] = field(repr=False)  # it may be all that is needed to post there
    events: Annotated[tuple[str, ...], Seen(REST, "kinds, groups such as task.*, needs, or * for all")]
    form: Annotated[WebhookFormat, Seen(REST)] = WebhookFormat.JSON
    secret: Annotated[str, Secret("the key that signs its deliveries")] = field(repr=False)
    after_tx: int  # with after_seq its place in the log: earlier activities are in the outbox
    after_seq: int
    created_by: Annotated[str, Seen(REST)]
    created_at: Annotated[int, Seen(REST)]
    removed_at: int | None = None
    answers_by: Annotated[
        UUID | None, Seen(REST, "the person in whose name its buttons answer; null: no buttons")
    ] = None

    @property
    def host(self) -> str:
        """Return the host of the address, without the parts that may be secret."""
        return host_of(self.url)

    def wants(
        self, happened: Activity, then: Iterable[Activity] = (), before: Iterable[Activity] = ()
    ) -> bool:
        """Tell whether the webhook wants the activity; `then` and `before` are those after and before it, if known."""
        if happened.kind.startswith(OWN_EVENTS):
            return False
        group = happened.kind.partition(".")[0]
        is_named = not {EVERYTHING, f"{group}.*", happened.kind}.isdisjoint(self.events)
        return is_named or (NEEDS in self.events and bool(new_needs(happened, then, before)))


def host_of(url: str) -> str:
    """Return the host of an address, with the port if it names one."""
    return urlsplit(url).netloc


def signature(secret: str, moment: int, body: bytes) -> str:
    """Return the header `Hubbub-Signature`: the Unix time in seconds, and the HMAC-SHA256 of `time.body`."""
    signed = hmac.new(secret.encode(), f"{moment}.".encode() + body, hashlib.sha256)
    return f"t={moment},v1={signed.hexdigest()}"


def require_url(url: str) -> str:
    """Return the address if it can be posted to. Raises `Invalid`."""
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
    """Return the patterns, each once. Raises `Invalid`."""
    wanted = tuple(dict.fromkeys(patterns))
    for pattern in wanted:
        if not _PATTERN.fullmatch(pattern):
            raise Invalid(
                "events are kinds such as task.completed, groups such as task.*, needs for what waits for people,"
                f" or *: not {pattern!r}"
            )
        if pattern.startswith(OWN_EVENTS):
            raise Invalid("webhooks cannot follow deliveries; list the deliveries instead")
        _require_telling(pattern)
    if not wanted:
        raise Invalid("name at least one event; * stands for all of them")
    return wanted


def _require_telling(pattern: str) -> None:
    """Raise `Invalid` for a pattern that matches no kind and no group."""
    group, _, name = pattern.partition(".")
    if name == EVERYTHING:
        require_of_project(f"{group}.{each}" for each in GROUPS[require_group(group)])
    elif name:
        require_of_project([require_kind(pattern)])
