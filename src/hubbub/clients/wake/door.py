"""What a door is: a way that a client itself offers to give an idle conversation something to read."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from hubbub.clients.hook.waiting import CANNOT

LONGEST = 200  # characters of what a program said
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


@dataclass(frozen=True, slots=True)
class Room:
    """A conversation of a client that is open now, in a folder; `thread` is what the client calls it."""

    thread: str
    folder: str
    is_busy: bool
    used_at: int  # Unix seconds


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of knocking: `woken`, `queued` or `cannot`, and what the client said, where it says something."""

    result: str
    said: str | None = None


class Door(Protocol):
    """The way into one client of this machine."""

    client: str
    method: str

    def rooms(self) -> Sequence[Room]:
        """The conversations that are open now; none if the client does not run."""

    def knock(self, room: Room, text: str) -> Outcome:
        """Give a conversation `text` to read, as its next prompt."""


def cannot(said: str) -> Outcome:
    """That a client could not be woken, with what was said of it: one short line."""
    line = CONTROL.sub(" ", said).strip()
    return Outcome(CANNOT, line[:LONGEST] or None)
