"""Waking agents: the wakers, the progress of a wake-up, and the forecast for a letter's sender.

A wake is a pointer and never content: some clients hand it to their model as if a person had typed it. So its text is
made here, from one template, of numbers that the hub itself gave out; no name and no word of a sender is in it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum, auto
from typing import Literal, Protocol
from uuid import UUID

from hubbub.model.timestamps import milliseconds

GATHER = timedelta(seconds=2)  # letters that come within are pointed at together
GRACE = timedelta(seconds=15)  # a waker is there for so much longer than it waits, to ask again
LAPSE = timedelta(minutes=10)  # a wake that came to nothing stands in the way of no other after this
BUSY = timedelta(minutes=10)  # an agent in a turn looks again within this, or is not in a turn any more
TURNS = timedelta(hours=12)  # for which hooks at the boundaries of turns are taken to be there
SHOWN = 5  # letters that a text names


class WakeMethod(StrEnum):
    """The way in which a waker reaches its agent."""

    MONITOR = auto()  # a program of the client, whose lines it takes for events
    REWAKE = auto()  # a hook of the client that ends when the agent is to wake
    QUEUE = auto()  # the client's own queue of prompts
    PROMPT = auto()  # the client's own interface for prompts
    TURN = auto()  # hooks at the boundaries of turns: they tell, and wake nobody


DOORS = frozenset({WakeMethod.MONITOR, WakeMethod.QUEUE, WakeMethod.PROMPT})  # of the client itself


class HookPhase(StrEnum):
    """The moment at which a client's hook looks for mail."""

    START = auto()  # the client has begun, or has forgotten what it knew
    PROMPT = auto()  # somebody told the agent what to do
    TOOL = auto()  # in a turn, after a tool
    TURN = auto()  # a turn is over

    @property
    def is_busy(self) -> bool:
        """True if the agent is in a turn at that moment."""
        return self in (HookPhase.PROMPT, HookPhase.TOOL)


class WakeResult(StrEnum):
    """The result of a wake, as its waker reports it."""

    WOKEN = auto()
    QUEUED = auto()  # until the agent's next turn
    CANNOT = auto()


class WakeEnding(StrEnum):
    """The reason why a wake is over."""

    ANSWERED = auto()  # the agent looked into its inbox
    NEEDLESS = auto()  # what it pointed at was read or withdrawn before
    REPLACED = auto()  # by one that points at more
    REFUSED = auto()  # whoever took it cannot wake the agent
    LOST = auto()  # whoever took it has gone without a word
    IGNORED = auto()  # nothing came of it for too long


class DeliveryChannel(StrEnum):
    """The way in which an agent hears at once of a letter."""

    STREAM = auto()  # they follow their inbox
    WAIT = auto()  # they hold a call open until something comes


class DeliveryChannels(Protocol):
    """Knowledge that only the holder of open calls has."""

    def way_to(self, project_id: UUID, agent: str) -> DeliveryChannel | None:
        """Return the way in which an agent would hear of a letter now; None if it looks by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waker:
    """A waker of an agent, or a teller of its mail; registered until `expires_at`, unless it asks again."""

    project_id: UUID
    agent: str
    instance: str  # which run of the client it stands beside, in the client's words
    method: WakeMethod
    client: str
    idle: bool  # whether it wakes a client that does nothing
    since: int = 0  # kept by the hub, as are the other moments
    asked_at: int = 0
    expires_at: int = 0
    busy: bool = False  # whether the agent was in a turn when it was last heard of
    thread: str | None = None
    host: str | None = None
    refused_at: int | None = None  # when it last said that it cannot

    def is_there(self, now: int) -> bool:
        return self.expires_at > now

    def can_wake(self, now: int) -> bool:
        """Tell whether it may get a wake: it is there, it can wake, and has not refused lately."""
        refused = self.refused_at is not None and self.refused_at + milliseconds(LAPSE) > now
        return self.is_there(now) and self.method is not WakeMethod.TURN and not refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Wake:
    """One wake-up: its text, its waker and its result."""

    id: UUID
    project_id: UUID
    agent: str
    probe: bool  # made to try it, rather than for mail alone
    text: str
    unread: int
    asked_at: int
    taken_at: int | None = None
    instance: str | None = None
    client: str | None = None
    method: WakeMethod | None = None
    told_at: int | None = None
    result: WakeResult | None = None
    said: str | None = None  # by whoever took it, of why
    took_ms: int | None = None
    answered_at: int | None = None
    ended_at: int | None = None
    ending: WakeEnding | None = None

    @property
    def status(self) -> str:
        """Its status in one word: the ending, else the waker's result, else `taken` or `waiting`."""
        if self.ending is not None:
            return self.ending
        return self.result or ("waiting" if self.taken_at is None else "taken")


WakeChannel = Literal["hook", "native", "worker", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryForecast:
    """Forecast for the sender of a letter, by the hub's present knowledge of the receiver."""

    wake: WakeChannel
    likely_seen: bool  # it will probably look soon
    note: str  # one sentence for the sender


def wake_text(refs: Sequence[str], unread: int) -> str:
    """Word a wake; `refs` are letters in the hub's numbering, such as M-9 and T-4, most urgent first."""
    shown = list(refs[:SHOWN])
    if unread > len(shown):
        shown.append(f"and {unread - len(shown)} more")
    return f"hubbub: {unread} unread ({', '.join(shown)}). Read your hubbub inbox."
