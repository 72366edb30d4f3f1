"""Hubs on one PostgreSQL database wake each other."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import takewhile
from queue import Queue

import psycopg
import pytest

from hubbub.model.people.rights import SYSTEM
from hubbub.store.engine.notify import CHANNEL, HUBS
from hubbub.store.engine.postgres import Postgres
from hubbub.store.engine.postgres_connection import PostgresConnection
from hubbub.store.tx import Tx
from tests.support.waiting import patience, until


def record(tx: Tx) -> None:
    tx.record("test.done", project_id=None)


class Alarm:
    """A listener that waits for the next wake-up."""

    def __init__(self) -> None:
        self._rung = threading.Event()

    def ring(self) -> None:
        self._rung.set()

    def wait(self) -> None:
        self._rung.wait()
        self._rung.clear()


@pytest.fixture
def elsewhere(postgres_url: str) -> Iterator[Postgres]:
    """Another hub on the same database."""
    with closing(Postgres.open(postgres_url)) as hub:
        yield hub


def recorded(store: Postgres) -> int:
    count: int = store.read_now(SYSTEM, lambda tx: tx.all("SELECT count(*) AS n FROM activity")[0]["n"])
    return count


def test_what_one_hub_writes_wakes_the_other(postgres_store: Postgres, elsewhere: Postgres) -> None:
    """A follower that looks only when it is woken learns what another hub has written."""
    alarm = Alarm()
    elsewhere.on_activity(alarm.ring)

    for number in range(1, 4):
        postgres_store.write_now(SYSTEM, record)
        wait_for(alarm, elsewhere, number)

    assert recorded(elsewhere) == 3


def wait_for(alarm: Alarm, store: Postgres, count: int) -> None:
    """Wait, looking only when the alarm rings, until that many activities can be read."""
    while recorded(store) < count:
        alarm.wait()


@contextmanager
def notifications(url: str) -> Iterator[Callable[[], list[str]]]:
    """Listen beside the hubs; called, it says what was notified since, before its own mark in the same order."""
    with psycopg.connect(url, autocommit=True) as db:
        db.execute(f"LISTEN {CHANNEL}")

        def heard() -> list[str]:
            db.execute("SELECT pg_notify(%s, 'mark')", (CHANNEL,))
            payloads = (notice.payload for notice in db.notifies(timeout=patience()))
            return list(takewhile(lambda payload: payload != "mark", payloads))

        yield heard


def test_many_writes_are_one_notification(postgres_url: str) -> None:
    """However much is written meanwhile, a hub notifies once an interval, and for the last time when it closes."""
    with notifications(postgres_url) as heard:
        with closing(Postgres.open(postgres_url, notify_every=600)) as store:
            store.write_now(SYSTEM, record)
            until(heard, "the first notification")
            for _ in range(100):
                store.write_now(SYSTEM, record)

        assert len(heard()) == 1


def test_a_transaction_that_held_up_the_log_wakes_when_it_ends(
    postgres_store: Postgres, elsewhere: Postgres
) -> None:
    """The end of a transaction that recorded nothing is a reason to look: the log may have waited for it."""
    alarm = Alarm()
    postgres_store.on_activity(alarm.ring)

    postgres_store.write_now(SYSTEM, lambda tx: tx.run("DELETE FROM users"))

    alarm.wait()


def test_a_lost_notification_costs_a_moment_only(postgres_url: str, elsewhere: Postgres) -> None:
    """When the listening connection is cut, the follower is woken all the same, and listens again."""
    alarm = Alarm()
    with closing(Postgres.open(postgres_url)) as store:
        store.on_activity(alarm.ring)
        with psycopg.connect(postgres_url, autocommit=True) as db:
            cut = """SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                     WHERE datname = current_database() AND query LIKE 'LISTEN%'"""
            until(lambda: db.execute(cut).fetchone() != (0,), "the listening connection")

        elsewhere.write_now(SYSTEM, record)
        wait_for(alarm, store, 1)
        alarm.wait()  # nothing more is written: it is woken by looking every second


def ended(store: Postgres, hub: str) -> bool:
    """Tell whether the store takes the hub of that name for one that has ended."""
    sql = f"SELECT {PostgresConnection.hub_has_ended} AS it FROM (SELECT :hub::text AS hub) AS asked"
    return bool(store.read_now(SYSTEM, lambda tx: tx.all(sql, hub=hub))[0]["it"])


def test_a_hub_is_seen_for_as_long_as_it_is_there(postgres_url: str, elsewhere: Postgres) -> None:
    """Others see that a hub is there, also after its connection was cut, and that it has ended as soon as it has."""
    with closing(Postgres.open(postgres_url)) as store:
        store.be_seen("one")
        store.on_activity(lambda: None)
        until(lambda: not ended(elsewhere, "one"), "the hub to be seen")
        assert ended(elsewhere, "another")
        with psycopg.connect(postgres_url, autocommit=True) as db:
            cut = f"""SELECT count(pg_terminate_backend(pid)) AS cut FROM pg_locks
                      WHERE locktype = 'advisory' AND classid = {HUBS} AND database = (
                          SELECT oid FROM pg_database WHERE datname = current_database())"""
            assert db.execute(cut).fetchone() == (1,)
        until(lambda: not ended(elsewhere, "one"), "the hub to be seen again")

    # the server's process for its connection ends a moment later
    until(lambda: ended(elsewhere, "one"), "the hub to be missed")


def test_news_reach_the_other_hubs(postgres_store: Postgres, elsewhere: Postgres) -> None:
    """The other hubs hear each word of a hub whole and in order, and it does not hear itself."""
    told = ["short", "x" * 50_000, "last"]
    heard: Queue[str] = Queue()
    own: list[str] = []
    for store, hear in ((elsewhere, heard.put), (postgres_store, own.append)):
        store.on_news(hear)
        store.on_activity(lambda: None)
    alarm = Alarm()
    elsewhere.on_activity(alarm.ring)
    postgres_store.write_now(SYSTEM, record)
    alarm.wait()  # by now it listens

    for news in told:
        postgres_store.tell_hubs(news)

    assert [heard.get(timeout=patience()) for _ in told] == told
    assert own == []
