"""Parcels: deliveries that leave the hub, their attempts and their outcomes."""

from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum, auto
from typing import Annotated
from uuid import UUID

from hubbub.model.fields import REST, Seen

TRIES = 12  # within a day, at the most
FIRST_WAIT = timedelta(seconds=1)
GROWTH = 4
LONGEST_WAIT = timedelta(hours=6)


class OutboxItemKind(StrEnum):
    """The destination of a parcel."""

    COMMENT = "github.comment"  # to an issue
    WEBHOOK = "webhook"


class DeliveryOutcome(StrEnum):
    """The end of a parcel."""

    DELIVERED = auto()
    DEAD = auto()  # it cannot be delivered, or could not in all its tries
    SKIPPED = auto()  # the hub has no means to deliver it
    WITHDRAWN = auto()  # its receiver does not exist any more


class AttemptResult(StrEnum):
    """The result of one attempt."""

    DELIVERED = auto()
    FAILED = auto()  # another attempt may succeed
    REFUSED = auto()  # no attempt will succeed
    SKIPPED = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxItem:
    """One delivery that is to leave the hub: a row of the outbox."""

    id: Annotated[UUID, Seen(REST, "told to webhooks as Hubbub-Delivery")]
    seq: Annotated[int, Seen(REST, "its place in the outbox")]
    project_id: UUID
    kind: Annotated[OutboxItemKind, Seen(REST)]
    webhook_id: Annotated[UUID | None, Seen(REST)] = None
    activity: Annotated[int | None, Seen(REST, "the id of the activity for a webhook")] = None
    event: Annotated[str | None, Seen(REST, "the kind of that activity")] = None
    issue: Annotated[str | None, Seen(REST, "the issue that a comment goes to")] = None
    text: str | None = field(default=None, repr=False)
    task_id: Annotated[UUID | None, Seen(REST)] = None
    attempts: Annotated[int, Seen(REST, "the number begun since it was put, or tried again by hand")] = 0
    next_at: Annotated[int, Seen(REST, "the time of the next try, unless it has ended")]
    leased_until: int = 0  # until then an attempt is under way
    doubtful: bool = False  # an earlier attempt may have succeeded unnoticed
    outcome: Annotated[DeliveryOutcome | None, Seen(REST, "null: it has not ended")] = None
    last_error: Annotated[str | None, Seen(REST)] = None
    created_at: Annotated[int, Seen(REST)]
    ended_at: Annotated[int | None, Seen(REST)] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptReport:
    """The report on one attempt, by the sender who made it."""

    fate: AttemptResult
    status: int | None = None  # of HTTP, where there was an answer
    reason: str | None = None  # why it failed: the end of a sentence, without secrets
    wait: timedelta | None = None  # that the receiver asked for
    holds_up_all: bool = False  # the receiver's request is meant for all parcels of the kind
    doubtful: bool = False  # it may have arrived


def wait_after(attempts: int, chance: float) -> timedelta:
    """Return the time to wait after that many failed attempts; `chance`, from 0 to 1, is the share of the longest wait.

    The longest is one second after the first, four times as much after each further one, and at most six hours. Any
    share is equally likely, so that parcels that failed together are not tried together.
    """
    longest: timedelta = min(LONGEST_WAIT, FIRST_WAIT * GROWTH ** (attempts - 1))
    return longest * chance
