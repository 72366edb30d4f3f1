"""The one table of a task's life, checked against what the tables of the dialects promise of it."""

import re
from collections import deque
from itertools import product

import pytest

from hubbub.model.errors import InvalidTransition
from hubbub.model.lifecycle import (
    CHANGES_HANDS,
    ENDED,
    HELD,
    LIFECYCLE,
    OPEN,
    UNDER_WAY,
    Event,
    Status,
    advance,
    as_mermaid,
    route,
)
from tests.support.each_row import each_row

S, E = Status, Event
ENDINGS = (E.COMPLETE, E.FAIL, E.CANCEL)


def test_every_event_has_its_row() -> None:
    """The table says of every event from where it may come and where it leads."""
    assert set(LIFECYCLE) == set(Event)
    assert all(sources and sources <= set(Status) for sources, _target in LIFECYCLE.values())


@each_row(("status", "event"), list(product(Status, Event)))
def test_every_status_answers_to_every_event(status: Status, event: Event) -> None:
    """Each of all pairs of status and event either leads where the table says, or is refused by name."""
    sources, target = LIFECYCLE[event]
    if status in sources:
        assert advance(status, event) is target
    else:
        with pytest.raises(InvalidTransition, match=f"^cannot {event} a task that is {status}$") as refusal:
            advance(status, event)
        assert (refusal.value.status, refusal.value.event) == (status, event)


def test_the_groups_of_statuses_divide_the_life() -> None:
    """A task is open or has ended; an open one is queued or held; one under way is held."""
    assert {S.COMPLETED, S.FAILED, S.CANCELLED, S.EXPIRED} == ENDED
    assert set(Status) == OPEN | ENDED
    assert not OPEN & ENDED
    assert HELD | {S.QUEUED} == OPEN
    assert S.QUEUED not in HELD
    assert {S.ACCEPTED, S.WORKING, S.BLOCKED} == UNDER_WAY


@each_row("event", ENDINGS)
def test_what_is_open_can_end(event: Event) -> None:
    """Completing, failing and cancelling end a task from any status in which it has not ended, and from no other."""
    assert {status for status in Status if status in LIFECYCLE[event][0]} == OPEN
    assert LIFECYCLE[event][1] in ENDED


def test_only_what_nobody_began_expires() -> None:
    """A task expires while it is queued, delivered or accepted; once begun it does not."""
    assert LIFECYCLE[E.EXPIRE] == (frozenset({S.QUEUED, S.DELIVERED, S.ACCEPTED}), S.EXPIRED)


def test_what_ended_otherwise_than_well_can_be_tried_again() -> None:
    """Failed, expired and cancelled tasks can be retried; a completed one cannot, and neither can an open one."""
    assert LIFECYCLE[E.RETRY][0] == ENDED - {S.COMPLETED}


def test_what_was_completed_can_be_reopened() -> None:
    """A completed task can come back, as what it was before anybody had it; nothing else is reopened."""
    assert LIFECYCLE[E.REOPEN] == (frozenset({S.COMPLETED}), S.QUEUED)


def test_nothing_else_leads_out_of_an_end() -> None:
    """Only a retry or a reopening brings an ended task back."""
    assert {event for event, (sources, _) in LIFECYCLE.items() if sources & ENDED} == {E.RETRY, E.REOPEN}


def test_what_is_open_can_be_given_to_another() -> None:
    """Any task that has not ended can be reassigned, and is then delivered anew."""
    for status in OPEN:
        assert advance(status, E.REASSIGN, E.DELIVER) is S.DELIVERED


def test_a_free_task_is_accepted_where_it_lies() -> None:
    """A queued task is claimed by accepting it, and a delivered one is accepted likewise; no other is."""
    assert LIFECYCLE[E.ACCEPT] == (frozenset({S.QUEUED, S.DELIVERED}), S.ACCEPTED)


def test_a_task_is_begun_by_who_has_it() -> None:
    """Work begins, or goes on, from any status in which somebody has the task and is not at it already."""
    sources, target = LIFECYCLE[E.START]
    assert sources == {S.DELIVERED, S.ACCEPTED, S.BLOCKED, S.IN_REVIEW}
    assert target is S.WORKING


def test_what_is_held_can_come_free() -> None:
    """When its holder is gone, a task that somebody had is queued again."""
    assert LIFECYCLE[E.RELEASE] == (HELD, S.QUEUED)


def test_new_hands_are_known_by_their_event() -> None:
    """A release, retry, reassignment or reopening may put a task into other hands, so that old reports are refused."""
    assert {E.RELEASE, E.RETRY, E.REASSIGN, E.REOPEN} == CHANGES_HANDS


def test_events_follow_one_another() -> None:
    """Several events are taken in turn, and the first that may not follow is the one that is refused."""
    assert advance(S.QUEUED, E.DELIVER, E.ACCEPT, E.START, E.SUBMIT, E.COMPLETE) is S.COMPLETED
    with pytest.raises(InvalidTransition) as refusal:
        advance(S.QUEUED, E.DELIVER, E.SUBMIT, E.COMPLETE)
    assert (refusal.value.status, refusal.value.event) == (S.DELIVERED, E.SUBMIT)


STEERING = frozenset({E.ACCEPT, E.START, E.BLOCK, E.SUBMIT, E.RELEASE, E.REOPEN})
LOST = ENDED - {S.COMPLETED}
each_pair = pytest.mark.parametrize(("status", "target"), list(product(Status, Status)))


def distance(status: Status, target: Status) -> int | None:
    """Return the number of steps of steering between two statuses, found by trying all."""
    steps, waiting = {status: 0}, deque([status])
    while waiting:
        here = waiting.popleft()
        for sources, there in (LIFECYCLE[event] for event in STEERING):
            if here in sources and there not in steps:
                steps[there] = steps[here] + 1
                waiting.append(there)
    return steps.get(target)


@each_pair
def test_a_route_leads_there_by_the_shortest_way(status: Status, target: Status) -> None:
    """The events of a route lead from one status to the other, and no fewer do; without a way it is refused."""
    steps = distance(status, target)
    if steps is None:
        with pytest.raises(InvalidTransition, match=f"^cannot move to {target} a task that is {status}$"):
            route(status, target)
    else:
        assert advance(status, *route(status, target)) is target
        assert len(route(status, target)) == steps


@each_row("status", sorted(set(Status) - LOST))
@each_row("target", [S.QUEUED, S.ACCEPTED, S.WORKING, S.BLOCKED, S.IN_REVIEW])
def test_whatever_is_not_lost_can_be_moved(status: Status, target: Status) -> None:
    """From all statuses but the lost ones a way leads to the start and to each in which a task is under way."""
    assert advance(status, *route(status, target)) is target


@each_pair
def test_a_route_never_tells_a_lie_on_its_way(status: Status, target: Status) -> None:
    """A route steers: it neither ends a task nor takes it through an end, nor gives it to anybody."""
    if distance(status, target) is None:
        return
    events = route(status, target)
    passed = [advance(status, *events[:count]) for count in range(1, len(events) + 1)]
    assert set(events) <= STEERING
    assert not set(passed) & ENDED


@each_row("target", sorted(set(Status) - LOST))
@each_row("status", sorted(LOST))
def test_what_is_lost_is_not_moved(status: Status, target: Status) -> None:
    """No route leads out of failed, cancelled or expired; that takes a retry."""
    with pytest.raises(InvalidTransition):
        route(status, target)


def test_every_status_can_be_reached() -> None:
    """From the first status, the table leads to all of them."""
    reached = {S.QUEUED}
    for _ in Status:
        reached |= {target for sources, target in LIFECYCLE.values() if sources & reached}
    assert reached == set(Status)


def test_the_diagram_is_the_table() -> None:
    """The picture has one arrow for each pair that the table allows, and begins and ends where tasks do."""
    lines = as_mermaid().splitlines()
    arrows = {
        match.groups() for line in lines if (match := re.fullmatch(r"    (\w+) --> (\w+): (\w+)", line))
    }

    assert lines[:2] == ["stateDiagram-v2", "    [*] --> queued"]
    assert arrows == {
        (str(source), str(target), str(event))
        for event, (sources, target) in LIFECYCLE.items()
        for source in sources
    }
    assert {line.split()[0] for line in lines if line.endswith("--> [*]")} == set(map(str, ENDED))
    assert len(lines) == len(set(lines)) == 2 + len(arrows) + len(ENDED)
