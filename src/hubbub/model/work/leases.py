"""Leases: things such as ports, databases and processors, held by an agent or a program that renews them.

A thing is called by its name, `db` or `port:8000`. Most things exist once; a project may count several, and `gpu:2`
means two of them. Only the users know what the units are: the hub ensures that never more are held than there are.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum, auto
from typing import Annotated
from uuid import UUID

from hubbub.model.errors import Invalid
from hubbub.model.fields import CARD, REST, Seen
from hubbub.model.records import Priority
from hubbub.model.timestamps import duration_text
from hubbub.model.visible_text import visible

TTL = timedelta(seconds=30)  # of a lease that is not renewed
SHORTEST, LONGEST = timedelta(seconds=5), timedelta(days=1)
TOOL_TTL = timedelta(minutes=30)  # of a lease held by a tool call, as long as for files
MOST = 500  # leases of a project, held and waiting
MOST_THINGS = 20  # of one lease
MOST_RULES = 100
MOST_CAPACITIES = 200
LARGEST = 1_000  # units of a counted thing
NAME_LENGTH = 100
PURPOSE_LENGTH = 200
COMMAND_LENGTH = 200

_NAME = re.compile(r"[A-Za-z0-9][\w.@/+-]*(?::[\w.@/+-]+)*", re.ASCII)
_COUNTED = re.compile(r"(?P<thing>.+):(?P<count>[0-9]{1,6})")

RELEASED, EXPIRED, LEFT, TOO_FEW = "released", "expired", "left", "too few"


class LeaseStatus(StrEnum):
    """The state of a lease."""

    WAITING = auto()
    HELD = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    id: Annotated[UUID, Seen(REST | CARD)]
    project_id: UUID
    number: Annotated[
        int, Seen(REST | CARD, "counted in the project; at equal priority the smaller goes first")
    ]
    things: Annotated[tuple[str, ...], Seen(REST | CARD, "as in a request, such as `port:8000`, `gpu:2`")]
    wants: Mapping[str, int]  # how many of each
    status: Annotated[LeaseStatus, Seen(REST | CARD)]
    holder: Annotated[str, Seen(REST | CARD, "an agent, or a person")]
    by_tool: bool = False  # held by a tool call: it ends with the agent's presence
    purpose: Annotated[
        str | None, Seen(REST | CARD, "its purpose, such as a command; cut, without secrets")
    ] = None
    host: Annotated[str | None, Seen(REST | CARD, "the machine where it is used, by its holder's word")] = (
        None
    )
    priority: Annotated[Priority, Seen(REST | CARD)]
    fence: Annotated[
        int | None, Seen(REST | CARD, "rises with each lease that is granted; null while it waits")
    ] = None
    units: Annotated[Mapping[str, Sequence[int]], Seen(REST | CARD, "the units of each counted thing")] = (
        field(default_factory=dict)
    )
    ttl: int  # milliseconds until it ends unless it is renewed
    asked_at: Annotated[int, Seen(REST | CARD)]
    granted_at: Annotated[int | None, Seen(REST | CARD, "null while it waits")] = None
    expires_at: Annotated[int, Seen(REST, "unless it is renewed")]

    @property
    def is_held(self) -> bool:
        return self.status is LeaseStatus.HELD

    @property
    def since(self) -> int:
        """Return since when it is held, or waited for."""
        return self.asked_at if self.granted_at is None else self.granted_at

    def covers(self, wants: Mapping[str, int]) -> bool:
        """Tell whether the lease holds all of these things."""
        return self.is_held and all(self.wants.get(thing, 0) >= count for thing, count in wants.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Conditions of a lease, beside its things."""

    priority: Priority = Priority.MEDIUM
    ttl: timedelta = TTL
    purpose: str | None = None
    host: str | None = None
    by_tool: bool = False


USUAL = Terms()


@dataclass(frozen=True, slots=True)
class Capacity:
    """The number of units of a counted thing."""

    thing: Annotated[str, Seen(REST)]
    capacity: Annotated[int, Seen(REST, "the number of units that may be held at a time")]


@dataclass(frozen=True, slots=True)
class LeaseRule:
    """A command that a project lets run only while these things are held."""

    command: Annotated[str, Seen(REST, "its first words, such as `docker compose up`")]
    things: Annotated[tuple[str, ...], Seen(REST)]


@dataclass(frozen=True, slots=True)
class Ahead:
    """Leases ahead of a waiting one: the holders of its things, and those that asked before, in turn."""

    holders: Sequence[Lease] = ()
    waiting: Sequence[Lease] = ()


@dataclass(frozen=True, slots=True)
class InUse:
    """Use of one thing: its holders, those that wait for it in turn, and how many there are."""

    thing: str
    held: Sequence[Lease]
    waiting: Sequence[Lease]
    capacity: int

    @property
    def taken(self) -> int:
        """Return the number of units that are held."""
        return sum(each.wants[self.thing] for each in self.held)


class LeaseTable:
    """The leases of a project and the capacities of its things: decides who is served next."""

    def __init__(self, leases: Iterable[Lease], capacities: Mapping[str, int]) -> None:
        self._capacities = capacities
        found = list(leases)
        self.held = [each for each in found if each.is_held]
        self.waiting = sorted((each for each in found if not each.is_held), key=turn)

    def grantable(self) -> list[tuple[Lease, dict[str, list[int]]]]:
        """Find the waiting leases that can be served now, with the units that each gets.

        One that cannot be served keeps its things from those behind it, so nobody is overtaken for ever. Since nobody
        holds a part of what they wait for, there are no deadlocks.
        """
        left = {thing: self.capacity(thing) for each in (*self.held, *self.waiting) for thing in each.wants}
        taken: dict[str, set[int]] = {}
        for lease in self.held:
            self._take(left, taken, lease)
        found = []
        for lease in self.waiting:
            if all(left[thing] >= count for thing, count in lease.wants.items()):
                units = {
                    thing: self._free(thing, count, taken.get(thing, set()))
                    for thing, count in lease.wants.items()
                    if thing in self._capacities
                }
                found.append((lease, units))
                for thing, numbers in units.items():
                    taken.setdefault(thing, set()).update(numbers)
            for thing, count in lease.wants.items():
                left[thing] -= count
        return found

    def ahead(self, lease: Lease) -> Ahead:
        """Find the leases ahead of one of the waiting ones."""
        before = self.waiting[: next((at for at, each in enumerate(self.waiting) if each.id == lease.id), 0)]
        return Ahead(
            [each for each in self.held if not each.wants.keys().isdisjoint(lease.wants)],
            [each for each in before if not each.wants.keys().isdisjoint(lease.wants)],
        )

    def capacity(self, thing: str) -> int:
        return self._capacities.get(thing, 1)

    def too_large(self) -> list[Lease]:
        """Return the waiting leases that want more than there is."""
        return [
            each
            for each in self.waiting
            if any(count > self.capacity(thing) for thing, count in each.wants.items())
        ]

    def _take(self, left: dict[str, int], taken: dict[str, set[int]], lease: Lease) -> None:
        for thing, count in lease.wants.items():
            left[thing] -= count
            taken.setdefault(thing, set()).update(lease.units.get(thing, ()))

    def _free(self, thing: str, count: int, taken: set[int]) -> list[int]:
        """Return the first free units."""
        return [each for each in range(self.capacity(thing)) if each not in taken][:count]


def turn(lease: Lease) -> tuple[int, int]:
    """Return the sort key of a waiting lease: its place in the queue."""
    return lease.priority, lease.number


def wanted(things: Iterable[str], capacities: Mapping[str, int]) -> dict[str, int]:
    """Count the wanted units of each thing: `gpu:2` means two where the project counts them, else a thing of that name.

    Raises `Invalid` for a text that cannot be a name, for none or too many things, and for more units than there are.
    """
    found: dict[str, int] = {}
    for text in dict.fromkeys(things):
        thing, count = _counted(named(text), capacities)
        found[thing] = found.get(thing, 0) + count
    if not 0 < len(found) <= MOST_THINGS:
        raise Invalid(f"things: name 1 to {MOST_THINGS} of them, such as `port:8000`")
    for thing, count in found.items():
        if count > (most := capacities.get(thing, 1)):
            raise Invalid(f"things: {count} of {thing} are wanted, but there are only {most} in this project")
    return found


def named(text: str) -> str:
    """Check the name of a thing. Raises `Invalid`."""
    if len(text) > NAME_LENGTH or not _NAME.fullmatch(text):
        raise Invalid(
            f"things: a thing is named like `db`, `port:8000` or `gpu:2`, in letters, digits and . _ @ / + -, "
            f"in at most {NAME_LENGTH} characters"
        )
    return text


def _counted(text: str, capacities: Mapping[str, int]) -> tuple[str, int]:
    found = _COUNTED.fullmatch(text)
    if text in capacities or found is None or found["thing"] not in capacities:
        return text, 1
    if (count := int(found["count"])) < 1:
        raise Invalid(f"things: {text} asks for none; ask for at least one")
    return found["thing"], count


def asked(wants: Mapping[str, int], capacities: Mapping[str, int]) -> tuple[str, ...]:
    """Name the things as in a request: counted ones with their number, others by name alone."""
    return tuple(f"{thing}:{count}" if thing in capacities else thing for thing, count in wants.items())


def refusal(ahead: Ahead, now: int) -> str:
    """Return one sentence that says what keeps the caller waiting."""
    held = [_held(each, now) for each in ahead.holders[:3]]
    more = len(ahead.holders) - len(held)
    said = held + ([f"{more} more hold some of it"] if more > 0 else [])
    if ahead.waiting:
        names = ", ".join(repr(each.holder) for each in ahead.waiting[:3])
        said.append(f"{len(ahead.waiting)} asked before ({names}{', …' if len(ahead.waiting) > 3 else ''})")
    return "; ".join(said) or "there is not enough of it just now"


def _held(lease: Lease, now: int) -> str:
    where = f" on {visible(lease.host)!r}" if lease.host else ""
    purpose = f" ({visible(lease.purpose)!r})" if lease.purpose else ""
    things = " ".join(lease.things)
    return (
        f"{things} has been held by {lease.holder!r}{where} for {duration_text(now - lease.since)}{purpose}"
    )
