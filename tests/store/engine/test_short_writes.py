"""Writes that say that they are short: SQLite runs them on their event loop, and holds that up by none."""

import asyncio
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import apsw
import pytest

from hubbub.model.errors import Conflict
from hubbub.model.ids import new_id
from hubbub.model.people.rights import SYSTEM
from hubbub.store.engine import sqlite_connection, sqlite_writer
from hubbub.store.engine.sqlite import DATABASE, SQLite
from hubbub.store.tx import Operation, Tx
from tests.store.engine.test_engines import add_user, user_names
from tests.support.waiting import patience

MANY_STEPS = """WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 200000)
                SELECT count(*) AS n FROM number"""

NUMBERS = """WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < :most)
             SELECT n FROM number"""


class Threads:
    """An operation that notes in which threads it was run."""

    def __init__(self, operation: Operation[object]) -> None:
        self.operation = operation
        self.seen: list[int] = []

    def __call__(self, tx: Tx) -> object:
        self.seen.append(threading.get_ident())
        return self.operation(tx)


def short(store: SQLite, *operations: Operation[object]) -> list[object]:
    """Write all of them, short and together, on an event loop in this thread; the outcomes, errors among them."""

    async def gather() -> list[object]:
        calls = [store.write(SYSTEM, operation, short=True) for operation in operations]
        return await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), patience())

    return asyncio.run(gather())


def test_they_are_run_on_their_loop(sqlite_store: SQLite) -> None:
    """A short read is run once, by the loop that it comes from, and kept as it is answered."""
    writes = [Threads(add_user(name)) for name in ("ann", "bob")]

    short(sqlite_store, *writes)

    assert [each.seen for each in writes] == [[threading.get_ident()]] * 2
    assert sqlite_store.read_now(SYSTEM, user_names) == ["ann", "bob"]


def test_one_that_is_refused_is_undone_alone(sqlite_store: SQLite) -> None:
    """A short write that raises leaves no trace, and those that are committed with it are kept."""

    def refused(tx: Tx) -> None:
        add_user("bob")(tx)
        raise Conflict("no")

    first, error, last = short(sqlite_store, add_user("ann"), refused, add_user("cid"))

    assert isinstance(error, Conflict)
    assert not isinstance(first, BaseException)
    assert not isinstance(last, BaseException)
    assert sqlite_store.read_now(SYSTEM, user_names) == ["ann", "cid"]


def test_a_refusal_before_the_first_change_has_nothing_run_again(sqlite_store: SQLite) -> None:
    """A short write that is refused before it has changed anything leaves the others of its turn as they were done."""

    def refused(_tx: Tx) -> None:
        raise Conflict("no")

    writes = [Threads(add_user("ann")), Threads(refused), Threads(add_user("cid"))]
    _ann, error, _cid = short(sqlite_store, *writes)

    assert isinstance(error, Conflict)
    assert [len(each.seen) for each in writes] == [1, 1, 1]
    assert sqlite_store.read_now(SYSTEM, user_names) == ["ann", "cid"]


@pytest.mark.parametrize("careful", [False, True])
def test_refusals_after_changes_are_undone_one_by_one(sqlite_store: SQLite, *, careful: bool) -> None:
    """Of several short writes in a turn that fail after they have changed something, each alone leaves no trace."""

    def refused(name: str) -> Operation[None]:
        def operation(tx: Tx) -> None:
            add_user(name)(tx)
            raise Conflict(name)

        return operation

    before = [add_user("ann")] if careful else []
    outcomes = short(
        sqlite_store,
        *before,
        refused("bob"),
        add_user("cid"),
        refused("dan"),
        refused("bob"),
        add_user("eve"),
    )

    assert [str(each) for each in outcomes if isinstance(each, Conflict)] == ["bob", "dan", "bob"]
    assert sqlite_store.read_now(SYSTEM, user_names) == ["ann", "cid", "eve"][not careful :]


def many_statements(tx: Tx) -> None:
    for _ in range(sqlite_writer.STATEMENTS):
        user_names(tx)


def many_rows(tx: Tx) -> None:
    tx.all(NUMBERS, most=sqlite_writer.ROWS + 1)


def one_long_statement(tx: Tx) -> None:
    tx.one(MANY_STEPS)


@pytest.mark.parametrize("work", [many_statements, many_rows, one_long_statement])
def test_one_that_is_not_short_begins_anew_elsewhere(
    sqlite_store: SQLite, work: Operation[None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An operation that takes more of a loop than promised is undone, and its turn done once, in another thread."""
    monkeypatch.setattr(sqlite_connection, "LOOKS", 100)

    def slow(tx: Tx) -> object:
        made = add_user("bob")(tx)
        work(tx)
        return made

    before, too_long, after = Threads(add_user("ann")), Threads(slow), Threads(add_user("cid"))
    outcomes = short(sqlite_store, before, too_long, after)

    here = threading.get_ident()
    assert not [each for each in outcomes if isinstance(each, BaseException)]
    assert [before.seen[0], too_long.seen[0]] == [here, here]
    assert here not in (before.seen[1:] + too_long.seen[1:] + after.seen)
    assert [len(each.seen) for each in (before, too_long, after)] == [2, 2, 1]
    assert sqlite_store.read_now(SYSTEM, user_names) == ["ann", "bob", "cid"]


def test_what_is_left_may_take_long(sqlite_store: SQLite) -> None:
    """What calls leave is undone with its turn if it takes more of a loop than promised, and done in another thread."""

    def add_slowly(tx: Tx) -> None:
        add_user("bob")(tx)
        many_statements(tx)

    added = Threads(add_slowly)

    def work(tx: Tx, _things: list[None]) -> None:
        added(tx)

    def leave(tx: Tx) -> None:
        tx.leave(work, None)

    first, second = short(sqlite_store, Threads(add_user("ann")), leave)

    assert not isinstance(first, BaseException)
    assert second is None
    assert [each == threading.get_ident() for each in added.seen] == [True, False]
    assert sqlite_store.read_now(SYSTEM, user_names) == ["ann", "bob"]


def test_what_is_counted_is_counted_once(sqlite_store: SQLite, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the counts of a turn take more of a loop than is left, the turn begins anew, and they are stored once."""
    project_id = new_id()

    def count(tx: Tx) -> None:
        tx.tally.numbers[project_id, "task"] += 1
        tx.tally.tasks[project_id, "queued"] += 1

    monkeypatch.setattr(sqlite_writer, "STATEMENTS", 1)
    counting = Threads(count)

    assert short(sqlite_store, counting) == [None]

    assert len(counting.seen) == 2
    assert sqlite_store.read_now(SYSTEM, lambda tx: tx.column("SELECT value FROM counters")) == [1]
    assert sqlite_store.read_now(SYSTEM, lambda tx: tx.column("SELECT tasks FROM task_tally")) == [1]


def test_a_write_that_is_cut_off_halfway_is_whole_in_the_end(
    sqlite_store: SQLite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where SQLite gives up the transaction, as it is cut off while it writes, all of the turn are run again."""
    monkeypatch.setattr(sqlite_connection, "LOOKS", 100)

    def fill(tx: Tx) -> None:
        tx.run(
            """INSERT INTO users (id, name, owns_hub, created_at)
               WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 20000)
               SELECT randomblob(16), 'user ' || n, 0, 0 FROM number"""
        )

    outcomes = short(sqlite_store, add_user("ann"), fill, add_user("bob"))

    assert not [each for each in outcomes if isinstance(each, BaseException)]
    assert len(sqlite_store.read_now(SYSTEM, user_names)) == 20_002


def test_a_loop_waits_for_no_other_program(tmp_path: Path) -> None:
    """While another program has locked the database a short write waits, and its loop goes on."""
    store = SQLite.open(tmp_path, busy_timeout=timedelta(seconds=2 * patience()))
    other = apsw.Connection(str(tmp_path / DATABASE))
    goes_on = threading.Event()

    def let_go() -> bool:
        went_on = goes_on.wait(patience())
        other.execute("ROLLBACK")
        return went_on

    async def write(letting_go: Future[bool]) -> None:
        call = asyncio.ensure_future(store.write(SYSTEM, add_user("ann"), short=True))
        for _ in range(10):  # in which the turn of the call comes
            await asyncio.sleep(0)
        assert not call.done()
        goes_on.set()
        assert await asyncio.wrap_future(letting_go)
        await call

    with ThreadPoolExecutor(1) as thread:
        other.execute("BEGIN IMMEDIATE")
        asyncio.run(write(thread.submit(let_go)))
    assert store.read_now(SYSTEM, user_names) == ["ann"]
    other.close()
    store.close()


def test_a_loop_that_ended_keeps_nobody_waiting(sqlite_store: SQLite) -> None:
    """Calls of others are done though the loop on which the next turn was due has stopped before it began."""

    def leave(name: str) -> None:
        loop = asyncio.new_event_loop()

        def ask() -> None:
            sqlite_store.write(SYSTEM, add_user(name), short=True)
            loop.stop()  # before the turn, which the loop would come to next

        loop.call_soon(ask)
        loop.run_forever()
        loop.close()

    leave("ann")
    short(sqlite_store, add_user("bob"))
    leave("cid")
    sqlite_store.write_now(SYSTEM, add_user("dan"))

    assert sqlite_store.read_now(SYSTEM, user_names) == ["ann", "bob", "cid", "dan"]


def test_closing_finishes_what_is_due_on_a_loop(tmp_path: Path) -> None:
    """A store that is closed before the loop has come to a short write does it first."""
    store = SQLite.open(tmp_path)

    async def close() -> object:
        call = store.write(SYSTEM, add_user("ann"), short=True)
        store.close()
        return await call

    assert asyncio.run(close())
    reopened = SQLite.open(tmp_path)
    assert reopened.read_now(SYSTEM, user_names) == ["ann"]
    reopened.close()
