"""The lifecycle of a task. This table alone says which step may follow which.

A task is *queued* while nobody has it, *delivered* once it lies in its assignee's inbox, and then *held* in one of
several ways until it ends. The SQL that moves a task takes its WHERE from this table (`store/work/tasks.py`), so that
one of two racing callers wins. The picture in the documentation is drawn from it (`as_mermaid`).
"""

from collections import deque
from enum import StrEnum, auto
from functools import cache

from hubbub.model.errors import InvalidTransition


class Status(StrEnum):
    """The status of a task."""

    QUEUED = auto()  # without a holder
    DELIVERED = auto()  # in an agent's inbox, unread
    ACCEPTED = auto()  # the agent has said yes
    WORKING = auto()  # the agent has begun
    BLOCKED = auto()  # the agent waits for something
    IN_REVIEW = auto()  # the agent is done, another looks at it
    COMPLETED = auto()
    FAILED = auto()
    CANCELLED = auto()
    EXPIRED = auto()  # nobody began in time


class Event(StrEnum):
    """A step in the life of a task."""

    DELIVER = auto()  # it reaches its assignee's inbox
    ACCEPT = auto()
    START = auto()
    BLOCK = auto()
    SUBMIT = auto()  # handed in for review
    COMPLETE = auto()
    FAIL = auto()
    CANCEL = auto()
    EXPIRE = auto()
    RELEASE = auto()  # its holder is gone, or is back after it was gone
    RETRY = auto()
    REASSIGN = auto()
    REOPEN = auto()  # it was not completed after all


S, E = Status, Event
ENDED = frozenset({S.COMPLETED, S.FAILED, S.CANCELLED, S.EXPIRED})
OPEN = frozenset(Status) - ENDED
HELD = OPEN - {S.QUEUED}
NOT_BEGUN = frozenset({S.QUEUED, S.DELIVERED, S.ACCEPTED})
UNDER_WAY = frozenset({S.ACCEPTED, S.WORKING, S.BLOCKED})  # accepted and not yet handed in

LIFECYCLE: dict[Event, tuple[frozenset[Status], Status]] = {
    # event      from                                       to
    E.DELIVER:  (frozenset({S.QUEUED}),                     S.DELIVERED),
    E.ACCEPT:   (frozenset({S.QUEUED, S.DELIVERED}),        S.ACCEPTED),
    E.START:    (HELD - {S.WORKING},                        S.WORKING),
    E.BLOCK:    (frozenset({S.ACCEPTED, S.WORKING}),        S.BLOCKED),
    E.SUBMIT:   (frozenset({S.WORKING}),                    S.IN_REVIEW),
    E.COMPLETE: (OPEN,                                      S.COMPLETED),
    E.FAIL:     (OPEN,                                      S.FAILED),
    E.CANCEL:   (OPEN,                                      S.CANCELLED),
    E.EXPIRE:   (frozenset({S.QUEUED, S.DELIVERED, S.ACCEPTED}), S.EXPIRED),
    E.RELEASE:  (HELD,                                      S.QUEUED),
    E.RETRY:    (frozenset({S.FAILED, S.CANCELLED, S.EXPIRED}), S.QUEUED),
    E.REASSIGN: (OPEN,                                      S.QUEUED),
    E.REOPEN:   (frozenset({S.COMPLETED}),                  S.QUEUED),
}  # fmt: skip

# After these the task may have another holder: the old one's reports are refused by its epoch.
CHANGES_HANDS = frozenset({E.RELEASE, E.RETRY, E.REASSIGN, E.REOPEN})


def advance(status: Status, *events: Event) -> Status:
    """Return the status after `events`, one after the other. Raises `InvalidTransition` at the first impossible one."""
    for event in events:
        allowed_from, target = LIFECYCLE[event]
        if status not in allowed_from:
            raise InvalidTransition(status, event)
        status = target
    return status


# By these a caller with the right moves a task on, or back.
_STEERING = (E.ACCEPT, E.START, E.BLOCK, E.SUBMIT, E.RELEASE, E.REOPEN)


@cache
def route(status: Status, target: Status) -> tuple[Event, ...]:
    """Find the shortest way from one status to another by moving the task on or back; empty if it is there.

    Raises `InvalidTransition` if there is none: a task that failed, was cancelled or expired has to be retried.
    """
    ways: dict[Status, tuple[Event, ...]] = {status: ()}
    reached = deque([status])
    while reached:
        here = reached.popleft()
        for event in _STEERING:
            allowed_from, there = LIFECYCLE[event]
            if here in allowed_from and there not in ways:
                ways[there] = (*ways[here], event)
                reached.append(there)
    if target not in ways:
        raise InvalidTransition(status, f"move to {target}")
    return ways[target]


def as_mermaid() -> str:
    """Draw the table as a state diagram, for the documentation."""
    edges = [
        f"    {source} --> {target}: {event}"
        for event, (sources, target) in LIFECYCLE.items()
        for source in Status
        if source in sources
    ]
    ends = [f"    {status} --> [*]" for status in Status if status in ENDED]
    return "\n".join(["stateDiagram-v2", f"    [*] --> {S.QUEUED}", *edges, *ends])
