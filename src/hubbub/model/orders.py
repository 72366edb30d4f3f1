"""What is asked of a machine, and what comes of it: what the hub, the tool sets and the machines all speak of."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol


class Code(StrEnum):
    """Why a machine does not do what it is asked."""

    DENIED = "denied"
    NEEDS_APPROVAL = "needs_approval"
    NOT_FOUND = "not_found"
    TIMEOUT = "timeout"
    INVALID = "invalid"
    OFFLINE = "offline"
    TOO_LARGE = "too_large"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who asks, as their token says."""

    project: str  # its slug
    name: str  # of the agent, or of the person
    token_id: str | None = None
    is_person: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a person is asked before a call may go on."""

    who: Principal
    node: str
    tool: str
    arguments: Mapping[str, object]
    folder: str
    shown: str  # the resolved words of the call, invisible characters escaped
    reason: str
    digest: str  # of who, tool, canonical arguments, folder, node


class Ruling(StrEnum):
    """What became of a question."""

    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"  # nobody answered in time


@dataclass(frozen=True, slots=True)
class Answered:
    """A question's ruling, and the id under which people find it."""

    ruling: Ruling
    approval_id: str
    by: str | None = None  # the person


class Client(Protocol):
    """Whoever sits at the client that made the call, where the operator lets them answer for a person."""

    async def ask(self, question: Question) -> bool | None:
        """Their yes or no; None where they cannot be asked. May raise what the edge wants raised to ask later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One call of a tool, to be done on a machine if its gate lets it."""

    who: Principal
    tool: str
    arguments: Mapping[str, object] = field(default_factory=dict)  # checked, without those that were left out
    client: Client | None = None
    progress: Callable[[str], Awaitable[None]] | None = None  # tells the caller a piece of text while it runs
    chain: tuple[str, ...] = ()  # which agents asked which, up to this call


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a call comes to. `texts`, where given, are what people and models read instead of the JSON."""

    value: object  # JSON: an object or an array
    is_error: bool = False
    texts: tuple[str, ...] | None = None
    structured: Mapping[str, object] | None = None  # where it says more than `value` does


def refused(code: Code, sentence: str, **more: object) -> Outcome:
    """A call that was not done, and why in one sentence."""
    return Outcome(value={"error": sentence, "code": str(code), **more}, is_error=True)


Act = Callable[[Order], Awaitable[Outcome]]


class Node(Protocol):
    """A machine, as whoever sends it orders sees it."""

    @property
    def name(self) -> str: ...

    async def perform(self, order: Order, act: Act | None = None) -> Outcome:
        """Do the order if the gate lets it, and say what came of it.

        `act` does what is not the machine's to do: it is called once the gate has let the call through.
        """
