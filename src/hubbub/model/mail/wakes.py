"""Waking agents: the wakers, the progress of a wake-up, and the forecast for a letter's sender.

A wake is a pointer and never content: some clients pass it to their model as if a person had typed it. So its text is
made here, from one template and the hub's own numbers; it contains no name and no word of a sender.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum, auto
from typing import Literal, Protocol
from uuid import UUID

from hubbub.model.timestamps import milliseconds

GATHER = timedelta(seconds=2)  # letters that come within it share a wake
GRACE = timedelta(seconds=15)  # added to a waker's own wait, for it to ask again
LAPSE = timedelta(minutes=10)  # after which an unanswered wake no longer prevents another
BUSY = timedelta(minutes=10)  # an agent in a turn looks again within it, or has left the turn
TURNS = timedelta(hours=12)  # how long hooks at the boundaries of turns are taken to be there
SHOWN = 5  # letters that a text names


class WakeMethod(StrEnum):
    """The way in which a waker reaches its agent."""

    MONITOR = auto()  # a program of the client, whose lines it takes for events
    REWAKE = auto()  # a hook of the client that ends when the agent is to wake
    QUEUE = auto()  # the client's own queue of prompts
    PROMPT = auto()  # the client's own interface for prompts
    TURN = auto()  # hooks at the boundaries of turns: they tell, and wake nobody


DOORS = frozenset({WakeMethod.MONITOR, WakeMethod.QUEUE, WakeMethod.PROMPT})  # provided by the client itself


class HookPhase(StrEnum):
    """The moment at which a client's hook looks for mail."""

    START = auto()  # the client has begun, or has lost its memory
    PROMPT = auto()  # a person gave the agent a prompt
    TOOL = auto()  # in a turn, after a tool
    TURN = auto()  # a turn has ended

    @property
    def is_busy(self) -> bool:
        """Tell whether the agent is in a turn at that moment."""
        return self in (HookPhase.PROMPT, HookPhase.TOOL)


class WakeResult(StrEnum):
    """The result of a wake, as its waker reports it."""

    WOKEN = auto()
    QUEUED = auto()  # until the agent's next turn
    CANNOT = auto()


class WakeEnding(StrEnum):
    """The reason why a wake is over."""

    ANSWERED = auto()  # the agent looked into its inbox
    NEEDLESS = auto()  # its letters were read or withdrawn before
    REPLACED = auto()  # by one that points at more
    REFUSED = auto()  # its waker cannot wake the agent
    LOST = auto()  # its waker has gone without a report
    IGNORED = auto()  # the agent did not react for too long


class DeliveryChannel(StrEnum):
    """The way in which an agent hears of a letter at once."""

    STREAM = auto()  # it follows its inbox
    WAIT = auto()  # it holds a call open until a letter comes


class DeliveryChannels(Protocol):
    """The open calls and streams of a hub, which only their holder knows."""

    def way_to(self, project_id: UUID, agent: str) -> DeliveryChannel | None:
        """Return the way in which an agent would hear of a letter now; None if it looks by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waker:
    """A waker of an agent, or a teller of its mail; registered until `expires_at`, unless it asks again."""

    project_id: UUID
    agent: str
    instance: str  # the run of the client that it belongs to, in the client's words
    method: WakeMethod
    client: str
    idle: bool  # whether it wakes a client that does nothing
    since: int = 0  # kept by the hub, as are the other moments
    asked_at: int = 0
    expires_at: int = 0
    busy: bool = False  # whether the agent was in a turn at the last report
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
    probe: bool  # a test, not made for mail alone
    text: str
    unread: int
    asked_at: int
    taken_at: int | None = None
    instance: str | None = None
    client: str | None = None
    method: WakeMethod | None = None
    told_at: int | None = None
    result: WakeResult | None = None
    said: str | None = None  # the waker's reason
    took_ms: int | None = None
    answered_at: int | None = None
    ended_at: int | None = None
    ending: WakeEnding | None = None

    @property
    def status(self) -> str:
        """Return the status in one word: the ending, else the waker's result, else `taken` or `waiting`."""
        if self.ending is not None:
            return self.ending
        return self.result or ("waiting" if self.taken_at is None else "taken")


WakeChannel = Literal["hook", "native", "worker", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryForecast:
    """Forecast for the sender of a letter, from the hub's present knowledge of the receiver."""

    wake: WakeChannel
    likely_seen: bool  # it will probably look soon
    note: str  # one sentence for the sender


READ_INBOX = "Read your hubbub inbox."


def wake_text(refs: Sequence[str], unread: int) -> str:
    """Word a wake; `refs` are letters in the hub's numbering, such as M-9 and T-4, most urgent first."""
    shown = list(refs[:SHOWN])
    if unread > len(shown):
        shown.append(f"and {unread - len(shown)} more")
    return f"hubbub: {unread} unread ({', '.join(shown)}). {READ_INBOX}"
