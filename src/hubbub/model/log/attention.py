"""Attention: states of tasks and agents as people see them, what needs a person, and who may do what.

Only this module decides that. The cards of a picture hold its answers (`core/snapshots`), so that page,
terminal, telephone and REST show the same. A change by time alone is given with its moment: a need holds from `since`
until `until`, either of which may lie ahead, so nobody has to ask again as time passes.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum, auto
from functools import cache
from itertools import takewhile
from operator import attrgetter
from typing import Self

from hubbub.model.lifecycle import HELD, LIFECYCLE, UNDER_WAY, Event, Status
from hubbub.model.log.projection import Card, NeedCard, Projection, Projector
from hubbub.model.records import Activity, Condition
from hubbub.model.timestamps import milliseconds
from hubbub.model.work.permissions import MAY, TaskRole, Verb

UNBEGUN_FOR = milliseconds(timedelta(minutes=30))  # longer than any wake method needs: nobody will begin it
SILENT_FOR = milliseconds(timedelta(hours=1))  # working agents report within an hour
FAILED_FOR = milliseconds(timedelta(days=1))  # an older failure is history
MISSED_FOR = milliseconds(timedelta(days=1))  # people who return to their desk see what they missed
LATE = "task.late"  # the activity that reports a task as late
SILENT = "silent"  # the ending of a presence whose agent stopped reporting


class TaskState(StrEnum):
    """A status in a shorter word; only `WAITING` depends on the holder."""

    QUEUED = auto()
    DELIVERED = auto()
    ACKED = auto()
    RUNNING = auto()
    BLOCKED = auto()
    WAITING = auto()  # its holder cannot go on before a person answers
    REVIEW = auto()
    DONE = auto()
    FAILED = auto()
    CANCELLED = auto()
    EXPIRED = auto()


class AgentState(StrEnum):
    """The state of an agent, as far as anyone can tell."""

    WORKING = auto()
    IDLE = auto()
    BLOCKED = auto()
    WAITING = auto()  # for a person
    ERROR = auto()
    STALE = auto()  # it fell silent while it held work that it had begun, whose state is unknown
    OFFLINE = auto()


class NeedKind(StrEnum):
    """The reason why a person is needed, most urgent first: an agent is held up; work is in danger, lost or late."""

    APPROVAL = auto()
    QUESTION = auto()
    LETTER = auto()
    REVIEW = auto()  # work for a person was handed in
    STOPPED = auto()  # agents in a loop
    BUDGET = auto()  # a budget is nearly or wholly spent
    PAUSED = auto()  # every account, so that no agent begins anything
    EXPIRED = auto()  # an unanswered question
    STALE = auto()
    CONFLICT = auto()
    FAILED = auto()
    LATE = auto()


_RANKS = {kind: rank for rank, kind in enumerate(NeedKind)}


@dataclass(frozen=True, slots=True)
class Need:
    """Something that needs a person, from `since` until `until`; without an end until something happens."""

    kind: NeedKind
    since: int
    until: int | None = None

    @property
    def rank(self) -> int:
        """The urgency: a smaller number is more urgent."""
        return _RANKS[self.kind]

    def holds(self, now: int) -> bool:
        """Tell whether it needs somebody at that moment."""
        return self.since <= now and (self.until is None or now < self.until)

    def shape(self) -> NeedCard:
        """Shape the need for a card."""
        return NeedCard(kind=self.kind, rank=self.rank, since=self.since, until=self.until)

    @classmethod
    def told(cls, shape: NeedCard | None) -> Self | None:
        """Read the need of a card; None if the card needs nobody."""
        if shape is None:
            return None
        return cls(NeedKind(shape["kind"]), shape["since"], shape["until"])


@dataclass(frozen=True, slots=True)
class AgentFacts:
    """Facts about an agent that decide its state, and that of its tasks."""

    condition: str | None  # its own report; None for a name without any presence so far
    is_live: bool
    end_reason: str | None
    since: int  # of its condition
    ended_at: int
    asks: bool  # a question of its calls waits for an answer
    work: frozenset[str] = frozenset()  # the statuses of the tasks that it has under way
    paused_until: int = 0  # until when its account is paused, or was

    @property
    def waits(self) -> bool:
        """Tell whether the agent cannot go on before a person answers it."""
        return self.asks or (self.is_live and self.condition == Condition.WAITING)

    @property
    def state(self) -> AgentState:
        """Return the agent's own report, unless it is gone, waits for people, or holds work that says more."""
        if not self.is_live:
            is_stale = self.end_reason == SILENT and not self.work.isdisjoint(UNDER_WAY)
            return AgentState.STALE if is_stale else AgentState.OFFLINE
        if self.waits:
            return AgentState.WAITING
        if self.condition != Condition.IDLE:
            return AgentState(self.condition or Condition.OFFLINE)
        if Status.WORKING in self.work:
            return AgentState.WORKING
        return AgentState.BLOCKED if Status.BLOCKED in self.work else AgentState.IDLE

    @property
    def need(self) -> Need | None:
        """Return the reason to look after the agent itself; a question about a task is the task's need."""
        if self.state is AgentState.STALE:
            return Need(NeedKind.STALE, self.ended_at)
        asks_of_itself = (
            self.waits and not self.asks and self.work.isdisjoint({Status.WORKING, Status.BLOCKED})
        )
        return Need(NeedKind.QUESTION, self.since) if asks_of_itself else None


_STATES: Mapping[str, TaskState] = {
    Status.QUEUED: TaskState.QUEUED,
    Status.DELIVERED: TaskState.DELIVERED,
    Status.ACCEPTED: TaskState.ACKED,
    Status.WORKING: TaskState.RUNNING,
    Status.BLOCKED: TaskState.BLOCKED,
    Status.IN_REVIEW: TaskState.REVIEW,
    Status.COMPLETED: TaskState.DONE,
    Status.FAILED: TaskState.FAILED,
    Status.CANCELLED: TaskState.CANCELLED,
    Status.EXPIRED: TaskState.EXPIRED,
}


def state_of_task(status: str, holder: AgentFacts | None = None) -> TaskState:
    """Return the state of a task; `holder` matters for one that is worked on."""
    is_waiting = status == Status.WORKING and holder is not None and holder.waits
    return TaskState.WAITING if is_waiting else _STATES[status]


def need_of_task(
    status: str,
    *,
    updated_at: int,
    ended_at: int | None,
    ready_at: int | None,
    holder: AgentFacts | None,
    paused_until: int = 0,
    is_for_person: bool = False,
) -> Need | None:
    """Return the reason to look after a task, if there is one.

    `ready_at` is when everything it needs was completed; 0 if it needs nothing. With None it waits for something
    unfinished, and is not late, however long that takes. `paused_until` is until when the account of the agent that is
    to begin it is paused, or was. Work `is_for_person` if a person sent the task, who then reviews it.
    """
    match status:
        case Status.BLOCKED | Status.IN_REVIEW if status == Status.BLOCKED or is_for_person:
            return Need(NeedKind.QUESTION if status == Status.BLOCKED else NeedKind.REVIEW, updated_at)
        case Status.FAILED:
            since = ended_at or updated_at
            return Need(NeedKind.FAILED, since, since + FAILED_FOR)
        case Status.QUEUED | Status.DELIVERED if ready_at is not None:
            return Need(NeedKind.LATE, max(updated_at, ready_at, paused_until) + UNBEGUN_FOR)
        case Status.WORKING if holder is not None and holder.waits:
            asked = Need(NeedKind.QUESTION, max(updated_at, holder.since))
            return None if holder.asks else asked  # the approval is the question
        case Status.WORKING if holder is not None and holder.is_live:
            return Need(NeedKind.LATE, max(updated_at, holder.since, holder.paused_until) + SILENT_FOR)
        case _:
            return None


# When a verb is possible; who may is in `permissions.MAY`. People are not offered verbs that are not here.
_POSSIBLE: Mapping[Verb, frozenset[Status]] = {
    Verb.APPROVE: frozenset({Status.IN_REVIEW}),
    Verb.REQUEST_CHANGES: frozenset({Status.IN_REVIEW}),
    Verb.UNBLOCK: frozenset({Status.BLOCKED}),
    Verb.RETRY: LIFECYCLE[Event.RETRY][0],
    Verb.REASSIGN: LIFECYCLE[Event.REASSIGN][0],
    Verb.CANCEL: LIFECYCLE[Event.CANCEL][0],
    Verb.RELEASE: HELD,
    Verb.COMPLETE: LIFECYCLE[Event.COMPLETE][0],
    Verb.DESCRIBE: LIFECYCLE[Event.CANCEL][0] | LIFECYCLE[Event.RETRY][0],
    Verb.COMMENT: frozenset(Status),
}


@cache
def allowed_verbs(status: str, part: TaskRole = TaskRole.PERSON) -> tuple[str, ...]:
    """List the verbs, as REST spells them, that this role allows on a task in that status."""
    return tuple(
        verb.name.lower().replace("_", "-")
        for verb, possible in _POSSIBLE.items()
        if part in MAY[verb] and status in possible
    )


@dataclass(frozen=True, slots=True)
class Needed:
    """A card of a picture that needs a person, with its noun and key."""

    need: Need
    noun: str
    key: str
    card: Card

    @property
    def id(self) -> str:
        """Return an id that stays the same while the need does."""
        return f"{self.need.kind}:{self.key}"

    @property
    def urgency(self) -> tuple[int, int, str]:
        """Return a sort key: the most urgent first, then the longest waiting."""
        return self.need.rank, self.need.since, self.key


def needing(noun: str, cards: Iterable[tuple[str, Card]], now: int) -> Iterator[Needed]:
    """Yield the cards, given by key, that need a person at that moment."""
    for key, card in cards:
        need = Need.told(card.get("need"))
        if need is not None and need.holds(now):
            yield Needed(need, noun, key, card)


def needed(picture: Projection, now: int) -> list[Needed]:
    """List the cards that need a person at that moment, the most urgent first."""
    found = (each for noun, cards in picture.items() for each in needing(noun, cards.items(), now))
    return sorted(found, key=attrgetter("urgency"))


def new_needs(
    happened: Activity, then: Iterable[Activity] = (), before: Iterable[Activity] = ()
) -> list[Needed]:
    """List the needs that begin with an activity, the most urgent first; a need is reported once, at its beginning.

    `then` are the activities that followed. Those of the same moment may end a need again, as when an agent falls
    silent and loses its work. Of those `before`, one of the same moment may have shown the need already. Lateness
    begins as time passes, and has an activity of its own.
    """
    if happened.patch is None or happened.kind == "task.described":  # new words for an existing need
        return []
    fold, is_late = Projector(), happened.kind == LATE
    _fold(fold, () if is_late else (each for each in before if each.at == happened.at))
    known = {(each.noun, each.id) for each in _since(fold.picture, happened.at)}
    _fold(fold, [happened])
    new = {(each.noun, each.id) for each in _since(fold.picture, happened.at, or_earlier=is_late)} - known
    _fold(fold, takewhile(lambda each: each.at == happened.at, then))
    left = _since(fold.picture, happened.at, or_earlier=is_late)
    return [each for each in left if (each.noun, each.id) in new]


def _fold(fold: Projector, activities: Iterable[Activity]) -> None:
    for each in activities:
        fold.apply(each.seq, json.loads(each.patch) if each.patch else None)


def _since(picture: Projection, moment: int, *, or_earlier: bool = False) -> list[Needed]:
    return [each for each in needed(picture, moment) if or_earlier or each.need.since == moment]
