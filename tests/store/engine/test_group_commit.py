"""Group commit on PostgreSQL: waiting calls are committed together, and none is held up by another's."""

import asyncio
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from functools import partial
from uuid import UUID

import psycopg
import pytest

from hubbub.core.people import projects
from hubbub.core.work import tasks
from hubbub.model.errors import Conflict
from hubbub.model.people.rights import SYSTEM
from hubbub.model.records import Task
from hubbub.store import status_counters
from hubbub.store.engine.postgres import Postgres
from hubbub.store.engine.postgres_connection import PostgresConnection
from hubbub.store.tx import Operation, Store, Tx
from tests.store.engine.test_engines import add_user, held_up, user_names, write_all


def transaction(tx: Tx) -> int:
    """The number of the transaction in which this runs."""
    return int(tx.all(f"SELECT {tx.db.transaction_number} AS number")[0]["number"])


def test_what_waits_is_committed_together(postgres_store: Postgres) -> None:
    """Calls that gather while a writer is busy take fewer transactions than there are calls."""
    numbers = write_all(postgres_store, *[transaction] * 40)

    assert all(isinstance(number, int) for number in numbers)
    assert len(set(numbers)) < len(numbers)


def test_what_calls_ask_alike_is_asked_once(postgres_store: Postgres) -> None:
    """Calls that are committed together share the answer to the question that each begins with."""

    def ask(tx: Tx) -> tuple[str, int]:
        row = tx.one("SELECT CAST(clock_timestamp() AS TEXT) AS moment")
        assert row is not None
        return row["moment"], transaction(tx)

    answers = [told for told in write_all(postgres_store, *[ask] * 40) if isinstance(told, tuple)]

    assert len(answers) == 40
    assert len({moment for moment, _number in answers}) == len({number for _moment, number in answers}) < 40


def test_what_a_call_changed_the_next_one_sees(postgres_store: Postgres) -> None:
    """A question asked again after a change in the same transaction gets a new answer."""
    outcomes = write_all(postgres_store, user_names, add_user("ann"), user_names, add_user("bob"), user_names)

    assert outcomes[::2] == [[], ["ann"], ["ann", "bob"]]


def test_who_has_locked_something_asks_anew(postgres_store: Postgres, postgres_url: str) -> None:
    """A call that holds a lock sees what another program has committed meanwhile."""
    postgres_store.write_now(SYSTEM, add_user("ann"))

    def look_twice(tx: Tx) -> tuple[list[str], list[str]]:
        first = user_names(tx)
        with psycopg.connect(postgres_url) as db:
            db.execute("UPDATE users SET name = 'eve'")
        tx.all("SELECT id FROM users FOR UPDATE")
        return first, user_names(tx)

    assert postgres_store.write_now(SYSTEM, look_twice) == (["ann"], ["eve"])


def test_what_fails_late_fails_its_own_call_alone(postgres_store: Postgres) -> None:
    """A statement that nobody waits for fails the call that made it, also where the next one is refused meanwhile."""

    def wrong(tx: Tx) -> None:
        tx.run("INSERT INTO nowhere (id) VALUES (:id)", id=1)

    def refused(_tx: Tx) -> None:
        raise Conflict("no")

    outcomes = write_all(postgres_store, add_user("ann"), wrong, refused, add_user("bob"))

    assert [type(each) for each in outcomes] == [UUID, psycopg.errors.UndefinedTable, Conflict, UUID]
    assert postgres_store.read_now(SYSTEM, user_names) == ["ann", "bob"]


def test_more_than_the_wire_takes_at_once_is_kept(postgres_store: Postgres) -> None:
    """A call that tells, and asks, more than server and socket hold in between is done like any other."""
    long = "α" * 5_000_000

    def echo(tx: Tx) -> object:
        for _ in range(3):
            tx.run("SELECT CAST(:long AS TEXT) AS said", long=long)
        return tx.all("SELECT CAST(:long AS TEXT) AS said", long=long)[0]["said"]

    assert postgres_store.write_now(SYSTEM, echo) == long


def test_a_slow_call_stops_nobody(postgres_store: Postgres) -> None:
    """While one call takes long, others are done, as many as come; it is done in the end."""
    others_are_done = threading.Event()

    def slow(tx: Tx) -> UUID:
        others_are_done.wait()
        return add_user("slow")(tx)

    with ThreadPoolExecutor(1) as thread:
        call = thread.submit(postgres_store.write_now, SYSTEM, slow)
        for number in range(10):
            postgres_store.write_now(SYSTEM, add_user(f"quick-{number}"))
        others_are_done.set()
        call.result()

    assert len(postgres_store.read_now(SYSTEM, user_names)) == 11


def test_a_locked_row_stops_only_who_waits_for_it(postgres_store: Postgres, postgres_url: str) -> None:
    """A call that meets a row in another program's hands waits for it, and the calls beside it are done meanwhile."""
    postgres_store.write_now(SYSTEM, add_user("ann"))

    def rename(tx: Tx) -> None:
        tx.run("UPDATE users SET name = 'eve' WHERE name = 'ann'")

    with ThreadPoolExecutor(1) as thread, psycopg.connect(postgres_url) as db:
        db.execute("SELECT * FROM users FOR UPDATE")
        call = thread.submit(postgres_store.write_now, SYSTEM, rename)
        outcomes = write_all(postgres_store, *[add_user(f"user-{number}") for number in range(5)])
        assert [type(outcome) for outcome in outcomes] == [UUID] * 5
        assert "ann" in postgres_store.read_now(SYSTEM, user_names)
        db.rollback()
        call.result()

    assert "eve" in postgres_store.read_now(SYSTEM, user_names)


def test_a_statement_that_the_server_refuses_fails_alike_each_time(postgres_store: Postgres) -> None:
    """Nothing of a statement that could not be prepared is remembered: it fails its own call, and in the same words."""

    def wrong(tx: Tx) -> None:
        add_user("nobody")(tx)
        tx.run("INSERT INTO nowhere (id) VALUES (:id)", id=1)

    for _ in range(2):
        outcomes = write_all(postgres_store, add_user("ann"), wrong, wrong)
        assert [isinstance(outcome, psycopg.errors.UndefinedTable) for outcome in outcomes] == [
            False,
            True,
            True,
        ]
        with pytest.raises(psycopg.errors.UndefinedTable):
            postgres_store.read_now(SYSTEM, lambda tx: tx.all("SELECT * FROM nowhere"))

    assert postgres_store.read_now(SYSTEM, user_names) == ["ann"]


def test_what_differs_in_kind_goes_into_one_statement(postgres_store: Postgres) -> None:
    """A parameter may be empty, whole, broken, a text or true from one call to the next."""
    given = [None, 1, 2.5, "x", True, None, 7]

    def asked(value: object) -> object:
        sql = "SELECT CAST(:value AS TEXT) AS told"
        return postgres_store.read_now(SYSTEM, lambda tx: tx.all(sql, value=value)[0]["told"])

    assert [asked(value) for value in given] == [None, "1", "2.5", "x", "true", None, "7"]


def test_what_calls_ask_first_is_asked_together(
    postgres_store: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Calls that begin with questions of their own, one after another's answer, wait for the server together."""
    waits: list[PostgresConnection] = []
    settle = PostgresConnection.settle

    def counted(connection: PostgresConnection) -> None:
        waits.append(connection)
        settle(connection)

    monkeypatch.setattr(PostgresConnection, "settle", counted)

    def ask(number: int, tx: Tx) -> list[str]:
        first = tx.one("SELECT CAST(:number AS TEXT) AS told", number=number)
        assert first is not None
        second = tx.one("SELECT CAST(:first AS TEXT) || '!' AS told", first=first["told"])
        assert second is not None
        return [first["told"], second["told"]]

    told = write_all(postgres_store, *[partial(ask, number) for number in range(40)])

    assert told == [[f"{number}", f"{number}!"] for number in range(40)]
    assert len(waits) < 40


def test_nothing_is_asked_ahead_that_changes(postgres_store: Postgres) -> None:
    """Calls that ask about the table that all of them change are run once each."""
    begun: Counter[str] = Counter()

    def add_once(name: str, tx: Tx) -> bool:
        begun[name] += 1
        is_new = tx.one("SELECT id FROM users WHERE name = :name", name=name) is None
        add_user(name)(tx)
        return is_new

    names = [f"user-{number}" for number in range(20)]
    assert write_all(postgres_store, *[partial(add_once, name) for name in names]) == [True] * 20
    assert begun == Counter(names)


def test_what_was_asked_ahead_is_asked_anew_after_a_change(store: Store) -> None:
    """A call sees what the calls before it did, also where all of them began with questions of their own."""

    def add_once(name: str) -> Operation[bool]:
        def operation(tx: Tx) -> bool:
            if tx.one("SELECT id FROM users WHERE name = :name", name=name) is not None:
                return False
            add_user(name)(tx)
            return True

        return operation

    def look(tx: Tx) -> object:
        return tx.one("SELECT id FROM users WHERE name = :name", name="nobody")

    outcomes = write_all(store, look, *map(add_once, ["ann", "bob", "cat", "bob", "ann", "dan", "cat"]))

    assert outcomes == [None, True, True, True, False, False, True, False]
    assert store.read_now(SYSTEM, user_names) == ["ann", "bob", "cat", "dan"]


def test_sends_over_many_projects_count_on_in_each(store: Store) -> None:
    """Sends that are committed together are numbered in their projects as they came; one that is refused takes none."""
    ids = [store.write_now(SYSTEM, partial(made, slug=f"p{number}")) for number in range(70)]

    def refused(project_id: UUID, tx: Tx) -> None:
        send(project_id)(tx)
        raise Conflict("no")

    for turn in range(3):
        sends = [send(each) for each in ids]
        sent = write_all(store, *sends[:40], partial(refused, ids[0]), *sends[40:], *sends[:20])
        numbers = [task.number for task in sent if isinstance(task, Task)]
        assert numbers == [2 * turn + 1] * 20 + [turn + 1] * 50 + [2 * turn + 2] * 20
        assert [type(each) for each in sent if not isinstance(each, Task)] == [Conflict]
    counted = [store.read_now(SYSTEM, partial(status_counters.counts, project_id=each)) for each in ids]
    assert counted == [{"queued": 6}] * 20 + [{"queued": 3}] * 50


def test_a_counter_in_other_hands_stops_only_its_project(postgres_store: Postgres, postgres_url: str) -> None:
    """Where another program counts in a project, sends over many projects go on in all the others."""
    ids = [postgres_store.write_now(SYSTEM, partial(made, slug=f"p{number}")) for number in range(6)]
    write_all(postgres_store, *map(send, ids))

    with ThreadPoolExecutor(1) as thread, psycopg.connect(postgres_url) as db:
        db.execute("SELECT * FROM counters WHERE project_id = %s FOR UPDATE", [ids[3]])
        held = thread.submit(postgres_store.write_now, SYSTEM, send(ids[3]))
        others = [each for each in ids if each != ids[3]]
        sent = write_all(postgres_store, *map(send, others))
        assert [task.number for task in sent if isinstance(task, Task)] == [2] * 5
        db.rollback()
        assert held.result().number == 2


def test_a_call_is_in_the_hands_of_one_writer(postgres_store: Postgres) -> None:
    """A slow call that is run ahead of its turn stops nobody, and no other writer runs it at the same time."""
    others_are_done, at_work = threading.Event(), threading.Lock()

    def ask(number: int, tx: Tx) -> object:
        return tx.one("SELECT CAST(:number AS TEXT) AS told", number=number)

    def slow(tx: Tx) -> UUID:
        assert at_work.acquire(blocking=False)
        try:
            others_are_done.wait()
            return add_user("slow")(tx)
        finally:
            at_work.release()

    async def gather() -> list[object]:
        with held_up(postgres_store):
            first = [postgres_store.write(SYSTEM, partial(ask, number)) for number in range(3)]
            one = postgres_store.write(SYSTEM, slow)
            others = [postgres_store.write(SYSTEM, add_user(f"quick-{number}")) for number in range(10)]
        await asyncio.gather(*others)
        others_are_done.set()
        return await asyncio.gather(*first, one)

    *told, made_by_slow = asyncio.run(gather())

    assert told == [{"told": "0"}, {"told": "1"}, {"told": "2"}]
    assert isinstance(made_by_slow, UUID)
    assert len(postgres_store.read_now(SYSTEM, user_names)) == 11


def test_hubs_that_write_in_the_same_projects_count_on(postgres_url: str) -> None:
    """Three hubs that send in the same projects at once, give each number once, and leave none out."""
    with ExitStack() as stack:
        hubs = [stack.enter_context(closing(Postgres.open(postgres_url))) for _ in range(3)]
        ids = [hubs[0].write_now(SYSTEM, lambda tx: projects.create(tx, "one").id)]
        ids.append(hubs[0].write_now(SYSTEM, lambda tx: projects.create(tx, "two").id))

        def send_all(place: int) -> list[object]:
            order = ids if place % 2 else ids[::-1]
            return write_all(hubs[place], *[send(project_id) for _ in range(20) for project_id in order])

        with ThreadPoolExecutor(len(hubs)) as threads:
            told = [task for sent in threads.map(send_all, range(len(hubs))) for task in sent]

        numbers = Counter((task.project_id, task.number) for task in told if isinstance(task, Task))
        assert numbers == Counter((each, number) for each in ids for number in range(1, 61))
        counted = [hubs[1].read_now(SYSTEM, partial(status_counters.counts, project_id=each)) for each in ids]
        assert counted == [{"queued": 60}, {"queued": 60}]


def made(tx: Tx, slug: str) -> UUID:
    return projects.create(tx, slug).id


def send(project_id: UUID) -> Operation[Task]:
    return lambda tx: tasks.send(tx, project_id, sender="hub", to=None, text="work")
