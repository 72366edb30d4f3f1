"""What a door is: a way that a client itself offers to give an idle conversation something to read."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from hubbub.clients.hook.wake_poll import CANNOT

LONGEST = 200  # characters of what a program said
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


@dataclass(frozen=True, slots=True)
class OpenConversation:
    """A conversation of a client that is open now, in a folder; `thread` is what the client calls it."""

    thread: str
    folder: str
    is_busy: bool
    used_at: int  # Unix seconds


@dataclass(frozen=True, slots=True)
class WakeOutcome:
    """What came of knocking: `woken`, `queued` or `cannot`, and what the client said, where it says something."""

    result: str
    said: str | None = None


class WakeChannel(Protocol):
    """The way into one client of this machine."""

    client: str
    method: str

    def rooms(self) -> Sequence[OpenConversation]:
        """The conversations that are open now; none if the client does not run."""

    def knock(self, room: OpenConversation, text: str) -> WakeOutcome:
        """Give a conversation `text` to read, as its next prompt."""


def cannot(said: str) -> WakeOutcome:
    """That a client could not be woken, with what was said of it: one short line."""
    line = CONTROL.sub(" ", said).strip()
    return WakeOutcome(CANNOT, line[:LONGEST] or None)
