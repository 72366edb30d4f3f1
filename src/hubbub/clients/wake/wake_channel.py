"""Wake channels: a client's own ways to give an idle conversation a text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from hubbub.clients.hook.wake_poll import CANNOT

LONGEST = 200  # characters of a program's words
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


@dataclass(frozen=True, slots=True)
class OpenConversation:
    """An open conversation of a client, in a folder; `thread` is the client's name for it."""

    thread: str
    folder: str
    is_busy: bool
    used_at: int  # Unix seconds


@dataclass(frozen=True, slots=True)
class WakeOutcome:
    """The result of knocking: `woken`, `queued` or `cannot`, and the client's words, if it has any."""

    result: str
    said: str | None = None


class WakeChannel(Protocol):
    """The channel to one client of this machine."""

    client: str
    method: str

    def rooms(self) -> Sequence[OpenConversation]:
        """Return the open conversations; none if the client does not run."""

    def knock(self, room: OpenConversation, text: str) -> WakeOutcome:
        """Give a conversation `text` as its next prompt."""


def cannot(said: str) -> WakeOutcome:
    """Report that a client could not be woken, with its words in one short line."""
    line = CONTROL.sub(" ", said).strip()
    return WakeOutcome(CANNOT, line[:LONGEST] or None)
