"""Limits of a token's use: counting, and its exchange between several hubs."""

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from uuid import uuid4

import pytest

from hubbub.core.people import quotas
from hubbub.core.people.quotas import MIB, MOST_OF_BROWSER, Limits, Quota, Quotas, QuotaUse
from hubbub.model.errors import TooMany
from hubbub.model.people.rights import SYSTEM, Actor
from hubbub.store.tx import Store
from tests.conftest import MovableClock


class Time:
    """A clock of seconds that a test moves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(quotas, "time", SimpleNamespace(monotonic=lambda: self.now))


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    return Time(monkeypatch)


def someone() -> Actor:
    return Actor(token_id=uuid4(), user_id=uuid4())


def test_a_burst_goes_through_and_a_loop_gets_its_share(time: Time) -> None:
    """After a pause many calls go through at once; who goes on gets as many a second as there may be, others theirs."""
    counted, loop, other = Quotas(Limits(rate=10, burst=30)), someone(), someone()
    for _ in range(30):
        counted.spend(loop)
    with pytest.raises(TooMany, match="this token makes more than 10 calls a second; wait 1 s") as refused:
        counted.spend(loop)
    assert refused.value.retry_after == 1
    counted.spend(other)
    time.now += 1
    for _ in range(10):
        counted.spend(loop)
    with pytest.raises(TooMany):
        counted.spend(loop)
    time.now += 3600
    for _ in range(30):
        counted.spend(loop)
    with pytest.raises(TooMany):
        counted.spend(loop)
    assert counted.refused == {Quota.CALLS: 3}
    assert counted.number_refused() == 1


def test_the_hub_itself_and_who_has_no_limit_are_not_counted(time: Time) -> None:
    """0 is as much as one likes; what the hub does by itself is nobody's."""
    assert time.now
    strict, free, anyone = Quotas(Limits(rate=1, burst=1, streams=1, stored=1)), Quotas(Limits()), someone()
    for _ in range(3):
        strict.spend(SYSTEM)
        strict.note(SYSTEM, 10)
        strict.require_room(SYSTEM)
        strict.require_stream(SYSTEM, 10)
        free.spend(anyone)
        free.note(anyone, 10)
        free.require_room(anyone)
        free.require_stream(anyone, 10)
    assert (strict.refused, free.refused) == ({}, {})


def test_logins_of_one_person_count_together(time: Time) -> None:
    """However many browsers people sign in with, they have one share."""
    assert time.now
    counted, person = Quotas(Limits(rate=1, burst=2)), replace(someone(), is_browser=True)
    counted.spend(person)
    counted.spend(replace(person, token_id=uuid4()))
    with pytest.raises(TooMany):
        counted.spend(replace(person, token_id=uuid4()))


def test_streams_are_bounded(time: Time) -> None:
    """A token holds as many streams open as it may; a login 200, whatever tokens may."""
    assert time.now
    counted, agent = Quotas(Limits(streams=3)), someone()
    counted.require_stream(agent, 2)
    with pytest.raises(TooMany, match="holds 3 streams open"):
        counted.require_stream(agent, 3)
    browser = replace(someone(), is_browser=True)
    Quotas(Limits()).require_stream(browser, MOST_OF_BROWSER - 1)
    with pytest.raises(TooMany):
        Quotas(Limits()).require_stream(browser, MOST_OF_BROWSER)


def add_up(store: Store, counted: Quotas) -> None:
    """Add the counts to the database, as a hub does."""
    taken = counted.take_unsaved()
    counted.learn(store.write_now(SYSTEM, lambda tx: counted.save(tx, taken)))


def test_what_is_stored_is_counted_over_all_hubs_and_restarts(store: Store, clock: MovableClock) -> None:
    """Hubs of one database add up what a token stores, and a hub that starts anew learns it; the next day is new."""
    here, there = (Quotas(Limits(stored=2 * MIB), clock) for _ in range(2))
    agent, other = someone(), someone()
    here.note(agent, MIB)
    there.note(agent, MIB - 1)
    there.note(other, 1)
    add_up(store, here)
    add_up(store, there)
    there.require_room(agent)
    there.note(agent, 1)
    with pytest.raises(TooMany, match="has stored 2 MiB today"):
        there.require_room(agent)
    add_up(store, there)
    add_up(store, there)
    add_up(store, here)
    with pytest.raises(TooMany) as refused:
        here.require_room(agent)
    assert 0 < refused.value.retry_after <= 86_400
    started = Quotas(Limits(stored=2 * MIB), clock)
    started.learn(store.read_now(SYSTEM, started.read))
    with pytest.raises(TooMany):
        started.require_room(agent)
    started.require_room(other)

    clock.advance(timedelta(seconds=refused.value.retry_after))

    for each in (here, there, started):
        each.require_room(agent)
    store.write_now(SYSTEM, quotas.forget)
    clock.advance(timedelta(days=2))
    store.write_now(SYSTEM, quotas.forget)
    assert store.read_now(SYSTEM, lambda tx: tx.all("SELECT * FROM usage")) == []


def test_what_could_not_be_added_up_is_not_lost(store: Store, clock: MovableClock) -> None:
    """When the database is away, what was stored is added the next time."""
    counted, agent = Quotas(Limits(stored=MIB), clock), someone()
    counted.note(agent, 7)
    counted.give_back(counted.take_unsaved())
    add_up(store, counted)
    rows = store.read_now(SYSTEM, lambda tx: tx.all("SELECT subject, stored FROM usage"))
    assert [(row["subject"], row["stored"]) for row in rows] == [(agent.token_id, 7)]


def test_it_is_told_how_fast_calls_come(time: Time) -> None:
    """The calls a second are counted over the last ten seconds, and with them how near the limit is."""
    counted, agent = Quotas(Limits(rate=10, burst=1000)), replace(someone(), rate=5)
    assert agent.token_id is not None
    for _ in range(40):
        counted.spend(agent)
    assert counted.measures(agent.token_id)[Quota.CALLS] == QuotaUse(4.0, 5)
    assert counted.measures(agent.token_id)[Quota.CALLS].is_near
    time.now += 15
    assert counted.measures(agent.token_id)[Quota.CALLS] == QuotaUse(2.0, 5)
    assert not counted.measures(agent.token_id)[Quota.CALLS].is_near
    time.now += 5
    assert counted.measures(agent.token_id)[Quota.CALLS].used == 0
