"""The promises of both engines, tried on both."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from enum import IntEnum, StrEnum
from uuid import UUID

import apsw
import psycopg
import pytest

from hubbub.model.errors import Conflict, StoreUnavailable
from hubbub.model.ids import new_id
from hubbub.model.people.rights import SYSTEM, Actor
from hubbub.store import sequence_numbers, status_counters
from hubbub.store.engine.postgres import Postgres
from hubbub.store.engine.sqlite import SQLite
from hubbub.store.log import activity
from hubbub.store.tx import Operation, Store, Tx, WroteInRead
from tests.conftest import MovableClock

Broken = (apsw.ConstraintError, psycopg.IntegrityError)


def add_user(name: str) -> Operation[UUID]:
    """The simplest write: one row, with a name that must be unique."""

    def operation(tx: Tx) -> UUID:
        user_id = new_id()
        tx.run(
            "INSERT INTO users (id, name, owns_hub, created_at) VALUES (:id, :name, 0, :now)",
            id=user_id,
            name=name,
            now=tx.now,
        )
        return user_id

    return operation


def user_names(tx: Tx) -> list[str]:
    return [row["name"] for row in tx.all("SELECT name FROM users ORDER BY name")]


@contextmanager
def held_up(store: Store) -> Iterator[None]:
    """Keep the writer busy meanwhile, so that what is written gathers behind it."""
    begun, let_go = threading.Event(), threading.Event()

    def wait(_tx: Tx) -> None:
        begun.set()
        let_go.wait()

    with ThreadPoolExecutor(1) as thread:
        call = thread.submit(store.write_now, SYSTEM, wait)
        begun.wait()
        try:
            yield
        finally:
            let_go.set()
        call.result()


def write_all(store: Store, *operations: Operation[object], short: bool = False) -> list[object]:
    """Have all wait for the writer together; the outcomes, errors among them."""

    async def gather() -> list[object]:
        with held_up(store):
            calls = [store.write(SYSTEM, operation, short=short) for operation in operations]
        return await asyncio.gather(*calls, return_exceptions=True)

    return asyncio.run(gather())


class Colour(StrEnum):
    RED = "red"


class Size(IntEnum):
    LARGE = 3


def test_values_come_back_as_they_were_kept(store: Store) -> None:
    """None, whole and broken numbers, texts in any script and ids come back as they were written."""
    project_id, completion_id = new_id(), new_id()

    def operation(tx: Tx) -> None:
        tx.run(
            """INSERT INTO projects (id, slug, name, conflict_mode, heartbeat_interval, heartbeat_ttl, created_at)
               VALUES (:id, 'p', 'P', 'off', 30, 90, 0)""",
            id=project_id,
        )
        tx.run(
            """INSERT INTO completions (id, project_id, agent, task, result, score, completed_at)
               VALUES (:id, :project_id, :agent, :task, :result, :score, :at)""",
            id=completion_id,
            project_id=project_id,
            agent=Colour.RED,
            task="100% :done ::now",
            result="完成 ✓ 'quoted' \\ \n",
            score=0.25,
            at=2**53,
        )

    store.write_now(SYSTEM, operation)

    row = store.read_now(SYSTEM, lambda tx: tx.one("SELECT * FROM completions"))
    assert row == {
        "id": completion_id,
        "project_id": project_id,
        "agent": "red",
        "task": "100% :done ::now",
        "task_id": None,
        "result": "完成 ✓ 'quoted' \\ \n",
        "artifacts": None,
        "score": 0.25,
        "duration_minutes": None,
        "completed_at": 2**53,
    }


def test_an_enumeration_is_kept_as_its_value(store: Store) -> None:
    """A member of a StrEnum or an IntEnum is stored by value, and is found by it."""
    project_id = new_id()

    def operation(tx: Tx) -> None:
        tx.run(
            "INSERT INTO counters (project_id, noun, value) VALUES (:id, :noun, :value)",
            id=project_id,
            noun=Colour.RED,
            value=Size.LARGE,
        )

    store.write_now(SYSTEM, operation)

    found = store.read_now(SYSTEM, lambda tx: tx.one("SELECT noun, value FROM counters WHERE value = 3"))
    assert found == {"noun": "red", "value": 3}


def test_marks_in_the_statement_are_not_parameters(store: Store) -> None:
    """Colons and percent signs inside texts and comments of a statement mean what they say."""
    row = store.read_now(
        SYSTEM,
        lambda tx: tx.one(
            "SELECT ':a 100% ''%s'' ' AS t, 7 % 4 AS m, CAST(:b AS TEXT) AS b -- :c and %(d)s\n", b="%(e)s"
        ),
    )

    assert row == {"t": ":a 100% '%s' ", "m": 3, "b": "%(e)s"}


def test_values_are_taken_by_their_names(store: Store) -> None:
    """A statement takes its values by name each time: in whatever order they are given, and beside others."""
    sum_of = "SELECT CAST(:a AS BIGINT) * 10 + CAST(:b AS BIGINT) AS number, CAST(:a AS BIGINT) AS a"
    given: list[dict[str, object]] = [{"a": 1, "b": 2}, {"b": 4, "a": 3}, {"c": 9, "b": 6, "a": 5}]

    def operation(tx: Tx) -> list[object]:
        return [tx.value(sum_of, **values) for values in given]

    assert store.read_now(SYSTEM, operation) == [12, 34, 56]


def test_a_statement_without_rows_answers_nothing(store: Store) -> None:
    """Where no row is found or returned, `one` is None and `all` is empty."""
    store.write_now(SYSTEM, add_user("ann"))

    assert store.read_now(SYSTEM, lambda tx: tx.one("SELECT * FROM users WHERE name = 'bob'")) is None
    assert not store.write_now(SYSTEM, lambda tx: tx.all("DELETE FROM users WHERE name = 'bob' RETURNING id"))


def test_a_transaction_knows_who_asks_and_has_one_time(store: Store, clock: MovableClock) -> None:
    """Everything in one transaction happens at one time, that of the store's clock, for one actor."""
    clock.advance(timedelta(days=365))
    before = clock()

    actor, now, later = store.write_now(Actor(token_id=None), lambda tx: (tx.actor, tx.now, tx.now))

    assert actor == Actor(token_id=None)
    assert before <= now <= clock()
    assert later == now


def test_what_was_answered_is_there_for_everyone(store: Store) -> None:
    """Once a write has been answered, every later read sees it, in whatever thread and of whatever length."""

    async def read_three_ways() -> list[list[str]]:
        await store.write(SYSTEM, add_user("ann"))
        return [
            await store.read(SYSTEM, user_names),
            await store.read(SYSTEM, user_names, long=True),
            await asyncio.to_thread(store.read_now, SYSTEM, user_names),
        ]

    assert asyncio.run(read_three_ways()) == [["ann"], ["ann"], ["ann"]]


def test_many_write_at_once(store: Store) -> None:
    """Callers on several event loops and without any are all served, each with its own outcome."""
    names = [f"user-{number:03}" for number in range(120)]

    def on_a_loop(mine: list[str]) -> list[object]:
        return write_all(store, *map(add_user, mine))

    with ThreadPoolExecutor(8) as threads:
        looped = [threads.submit(on_a_loop, names[start : start + 25]) for start in (0, 25, 50, 75)]
        direct = [threads.submit(store.write_now, SYSTEM, add_user(name)) for name in names[100:]]
        ids = [user_id for call in looped for user_id in call.result()] + [call.result() for call in direct]

    rows = store.read_now(SYSTEM, lambda tx: tx.all("SELECT id FROM users ORDER BY name"))
    assert [row["id"] for row in rows] == ids


def test_a_refusal_undoes_its_own_call_alone(store: Store) -> None:
    """A call that raises leaves no trace among calls committed together, and the others are kept."""

    def refused(tx: Tx) -> None:
        add_user("nobody")(tx)
        raise Conflict("there is one already")

    outcomes = write_all(store, add_user("ann"), refused, add_user("bob"), refused, add_user("cid"))

    assert [type(result) for result in outcomes] == [UUID, Conflict, UUID, Conflict, UUID]
    assert store.read_now(SYSTEM, user_names) == ["ann", "bob", "cid"]


def test_a_broken_rule_of_the_schema_is_a_loud_error_of_one_call(store: Store) -> None:
    """A constraint that fails is a bug of one operation: it gets the engine's own error, the others are kept."""
    outcomes = write_all(store, add_user("ann"), add_user("ann"), add_user("bob"))

    assert sum(isinstance(result, Broken) for result in outcomes) == 1
    assert store.read_now(SYSTEM, user_names) == ["ann", "bob"]


def test_a_lone_call_that_raises_leaves_nothing(store: Store) -> None:
    """A call that is committed alone is undone as well, and the next one is not disturbed."""

    def refused(tx: Tx) -> None:
        add_user("nobody")(tx)
        raise Conflict("no")

    with pytest.raises(Conflict):
        store.write_now(SYSTEM, refused)
    store.write_now(SYSTEM, add_user("ann"))

    assert store.read_now(SYSTEM, user_names) == ["ann"]


def test_no_error_of_an_operation_is_lost_on_the_way(store: Store) -> None:
    """Even StopIteration, which no future carries, reaches the caller as an error, by writing and by reading."""

    def exhausted(_tx: Tx) -> None:
        next(iter(()))

    async def call_all() -> list[BaseException | None]:
        calls = [
            store.write(SYSTEM, exhausted),
            store.read(SYSTEM, exhausted),
            store.read(SYSTEM, exhausted, long=True),
        ]
        return await asyncio.gather(*calls, return_exceptions=True)

    assert [type(error) for error in asyncio.run(call_all())] == [RuntimeError] * 3


def test_a_caller_that_gives_up_disturbs_nobody(store: Store) -> None:
    """Calls in the same batch as one whose caller was cancelled are answered as if it had not been there."""

    async def give_up_one() -> tuple[UUID, UUID]:
        with held_up(store):
            calls = [
                asyncio.ensure_future(store.write(SYSTEM, add_user(name))) for name in ("ann", "bob", "cid")
            ]
            calls[1].cancel()
        return await calls[0], await calls[2]

    assert len(asyncio.run(give_up_one())) == 2
    assert {"ann", "cid"} <= set(store.read_now(SYSTEM, user_names))


def test_a_call_given_up_before_it_began_is_not_run(sqlite_store: SQLite) -> None:
    """On SQLite, where calls wait in line, one that is cancelled while it waits does nothing."""

    async def give_up() -> None:
        with held_up(sqlite_store):
            asyncio.ensure_future(sqlite_store.write(SYSTEM, add_user("ann"))).cancel()
            await asyncio.sleep(0)

    asyncio.run(give_up())
    sqlite_store.write_now(SYSTEM, add_user("bob"))

    assert sqlite_store.read_now(SYSTEM, user_names) == ["bob"]


def test_a_caller_whose_loop_is_gone_disturbs_nobody(store: Store) -> None:
    """An event loop that was closed while its call waited takes no other caller down."""

    async def ask(operation: Operation[object]) -> None:
        store.write(SYSTEM, operation)

    with held_up(store):
        asyncio.run(ask(lambda _tx: None))
    store.write_now(SYSTEM, add_user("ann"))

    assert store.read_now(SYSTEM, user_names) == ["ann"]


def test_a_read_sees_one_moment(store: Store) -> None:
    """A commit while a read is under way is not seen by it, not even halfway."""

    def read(tx: Tx) -> tuple[list[str], list[str]]:
        before = user_names(tx)
        store.write_now(SYSTEM, add_user("ann"))
        return before, user_names(tx)

    assert store.read_now(SYSTEM, read) == ([], [])
    assert store.read_now(SYSTEM, user_names) == ["ann"]


@pytest.mark.parametrize("long", [False, True])
def test_a_read_that_writes_is_a_bug(store: Store, *, long: bool) -> None:
    """An operation that writes while it is run as a read fails loudly, and nothing is written."""

    async def read() -> UUID:
        return await store.read(SYSTEM, add_user("ann"), long=long)

    with pytest.raises(WroteInRead):
        asyncio.run(read())

    assert store.read_now(SYSTEM, user_names) == []


def leaves(name: str, work: Callable[[Tx, list[str]], None]) -> Operation[None]:
    """A call that leaves it to the end of the transaction to add a user."""
    return lambda tx: tx.leave(work, name)


def add_all(tx: Tx, names: list[str]) -> None:
    """Add users at once. Their names are also written down in one, to see which were."""
    for name in [*names, "+".join(names)]:
        add_user(name)(tx)


@pytest.mark.parametrize("short", [False, True])
def test_what_calls_leave_is_done_once_for_all(store: Store, *, short: bool) -> None:
    """What several calls leave to the end of their transaction is done once, without what a refused call left."""

    def refused(tx: Tx) -> None:
        leaves("bob", add_all)(tx)
        raise Conflict("no")

    calls = [leaves("ann", add_all), refused, leaves("cid", add_all)]
    outcomes = write_all(store, *calls, short=short)

    assert [type(each) for each in outcomes] == [type(None), Conflict, type(None)]
    assert store.read_now(SYSTEM, user_names) == ["ann", "ann+cid", "cid"]


@pytest.mark.parametrize("short", [False, True])
@pytest.mark.parametrize("by_itself", [False, True])
def test_what_fails_at_the_end_fails_its_own_call_alone(
    store: Store, *, short: bool, by_itself: bool
) -> None:
    """If work for several calls fails, in the database or by itself, only the call that left the cause fails."""

    def work(tx: Tx, names: list[str]) -> None:
        for name in names:
            add_user(name)(tx)
            if name == "bob" and by_itself:
                raise Conflict("no bob")
            if name == "bob":
                add_user(name)(tx)

    outcomes = write_all(store, *[leaves(name, work) for name in ("ann", "bob", "cid")], short=short)

    assert [each is None for each in outcomes] == [True, False, True]
    assert isinstance(outcomes[1], Conflict if by_itself else Broken)
    assert store.read_now(SYSTEM, user_names) == ["ann", "cid"]


@pytest.mark.parametrize("short", [False, True])
def test_a_call_may_have_done_what_is_left(store: Store, *, short: bool) -> None:
    """A call that needs what is left has it done; if that call is refused, what others left is done all the same."""
    seen: list[list[str]] = []

    def needs(tx: Tx) -> None:
        leaves("bob", add_all)(tx)
        assert tx.catch_up()
        seen.append(user_names(tx))
        raise Conflict("no")

    write_all(store, leaves("ann", add_all), needs, leaves("cid", add_all), short=short)

    assert seen[0] == ["ann", "ann+bob", "bob"]
    left = store.read_now(SYSTEM, user_names)
    assert [name for name in left if "+" not in name] == ["ann", "cid"]


def moved(project_id: UUID, **changes: int) -> Operation[None]:
    def operation(tx: Tx) -> None:
        tx.tally.tasks.update({(project_id, status): change for status, change in changes.items()})

    return operation


def test_the_tally_adds_up(store: Store) -> None:
    """The tally of a project is the sum of what its committed transactions changed; undone ones do not count."""
    here, there = new_id(), new_id()

    def refused(tx: Tx) -> None:
        moved(here, queued=7)(tx)
        raise Conflict("no")

    write_all(store, *[moved(here, queued=1)] * 20, refused, moved(there, queued=1))
    write_all(store, *[moved(here, queued=-1, working=1)] * 5)

    assert store.read_now(SYSTEM, lambda tx: status_counters.counts(tx, here)) == {"queued": 15, "working": 5}
    assert store.read_now(SYSTEM, lambda tx: status_counters.counts(tx, there)) == {"queued": 1}
    assert store.read_now(SYSTEM, lambda tx: status_counters.counts(tx, new_id())) == {}


def test_writers_of_the_same_tallies_do_not_block_each_other_for_ever(store: Store) -> None:
    """Transactions that count in the same projects, in whatever order, all succeed."""
    one, two = new_id(), new_id()

    def both(first: UUID, second: UUID) -> Operation[None]:
        def operation(tx: Tx) -> None:
            moved(first, queued=1)(tx)
            moved(second, queued=1)(tx)

        return operation

    outcomes = write_all(store, *[both(one, two), both(two, one)] * 50)

    assert outcomes == [None] * 100
    assert store.read_now(
        SYSTEM, lambda tx: [status_counters.counts(tx, one), status_counters.counts(tx, two)]
    ) == [
        {"queued": 100},
        {"queued": 100},
    ]


def test_numbers_are_given_once_and_taken_back(store: Store) -> None:
    """Calls that are committed together count on from each other; one that is undone gives its numbers back."""
    project_id = new_id()

    def count(tx: Tx) -> int:
        return sequence_numbers.next_number(tx, project_id, "task")

    def refused(tx: Tx) -> None:
        count(tx)
        count(tx)
        raise Conflict("no")

    outcomes = write_all(store, refused, count, count, refused, count)

    assert [each for each in outcomes if not isinstance(each, Conflict)] == [1, 2, 3]
    assert store.write_now(SYSTEM, lambda tx: [count(tx), count(tx)]) == [4, 5]
    assert store.write_now(SYSTEM, count) == 6


def record(tx: Tx) -> None:
    tx.record("test.done", project_id=None)


def last_seq(tx: Tx) -> int:
    return activity.head(tx).seq


def test_listeners_are_woken_after_the_commit(store: Store) -> None:
    """A follower of the log is woken when there is something to read, and not before it can be read."""
    seen: list[int] = []
    woken = threading.Event()

    def wake() -> None:
        seen.append(store.read_now(SYSTEM, last_seq))
        woken.set()

    store.on_activity(wake)
    store.write_now(SYSTEM, record)

    woken.wait()
    assert seen[0] > 0


def test_a_listener_that_fails_is_reported_and_stops_nobody(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    """An error in a listener is logged; the other listeners are woken, and writing goes on."""
    woken = threading.Event()

    def fail() -> None:
        raise ZeroDivisionError

    store.on_activity(fail)
    store.on_activity(woken.set)
    store.write_now(SYSTEM, record)
    store.write_now(SYSTEM, add_user("ann"))

    woken.wait()
    assert "a listener to activities failed" in caplog.text
    assert store.read_now(SYSTEM, user_names) == ["ann"]


def test_closing_finishes_what_waits(store: Store) -> None:
    """Calls that were waiting when the store is closed are done and answered."""

    async def close_meanwhile() -> list[UUID]:
        with ThreadPoolExecutor(1) as thread:
            with held_up(store):
                calls = [store.write(SYSTEM, add_user(name)) for name in ("ann", "bob")]
                closing = thread.submit(store.close)
            outcomes = await asyncio.gather(*calls)
            closing.result()
        return outcomes

    assert [type(outcome) for outcome in asyncio.run(close_meanwhile())] == [UUID, UUID]


def test_a_closed_store_refuses_every_call(store: Store) -> None:
    """After it was closed, the store refuses reads and writes with a sentence; closing it again does nothing."""

    async def write() -> UUID:
        return await store.write(SYSTEM, add_user("ann"))

    async def read() -> list[str]:
        return await store.read(SYSTEM, user_names)

    store.close()
    store.close()

    for call in (write, read):
        with pytest.raises(StoreUnavailable, match="the hub is closing"):
            asyncio.run(call())
    with pytest.raises(StoreUnavailable, match="the hub is closing"):
        store.write_now(SYSTEM, add_user("ann"))
    with pytest.raises(StoreUnavailable, match="the hub is closing"):
        store.read_now(SYSTEM, user_names)


def test_the_engines_differ_in_three_words_only(sqlite_store: SQLite, postgres_store: Postgres) -> None:
    """An operation's own SQL works on both engines, also where these differ."""
    for store in (sqlite_store, postgres_store):

        def operation(tx: Tx) -> int:
            add_user("ann")(tx)
            rows = tx.all(f"SELECT {tx.db.transaction_number} AS tx FROM users {tx.db.for_update}")
            settled: int = tx.all(f"SELECT count(*) AS n FROM activity WHERE {tx.db.settled}")[0]["n"]
            return len(rows) + settled

        assert store.write_now(SYSTEM, operation) == 1
