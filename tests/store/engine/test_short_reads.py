"""Reads: SQLite runs them on their event loop, which none holds up."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from hubbub.model.people.rights import SYSTEM
from hubbub.store.engine import sqlite, sqlite_connection
from hubbub.store.engine.sqlite import SQLite
from hubbub.store.engine.sqlite_connection import TUPLES
from hubbub.store.tx import Operation, Row, Tx
from tests.store.engine.test_engines import add_user, user_names
from tests.store.engine.test_short_writes import MANY_STEPS, NUMBERS, Threads
from tests.support.waiting import patience


def read(store: SQLite, operation: Operation[object]) -> object:
    """Read on an event loop in this thread."""
    return asyncio.run(asyncio.wait_for(store.read(SYSTEM, operation), patience()))


def rows(number: int) -> Operation[int]:
    return lambda tx: len(tx.all(NUMBERS, most=number))


def tuples(number: int) -> Operation[int]:
    return lambda tx: len(tx.tuples(NUMBERS, most=number))


def each_row(tx: Tx) -> int:
    return sum(1 for _row in tx.each(NUMBERS, most=sqlite.ROWS + 1))


def statements(tx: Tx) -> int:
    return sum(len(user_names(tx)) + 1 for _ in range(sqlite.STATEMENTS + 1))


def steps(tx: Tx) -> object:
    return tx.all(MANY_STEPS)[0]["n"]


@pytest.mark.parametrize(
    ("work", "found"),
    [(rows(sqlite.ROWS), sqlite.ROWS), (tuples(sqlite.ROWS * TUPLES), sqlite.ROWS * TUPLES)],
)
def test_what_reads_little_is_read_on_its_loop(
    sqlite_store: SQLite, work: Operation[int], found: int
) -> None:
    """Few rows are read once, on the event loop; of those without names eight times as many are few."""
    few = Threads(work)

    assert read(sqlite_store, few) == found
    assert few.seen == [threading.get_ident()]


@pytest.mark.parametrize(
    ("work", "found"),
    [
        (rows(sqlite.ROWS + 1), sqlite.ROWS + 1),
        (tuples(sqlite.ROWS * TUPLES + 1), sqlite.ROWS * TUPLES + 1),
        (each_row, sqlite.ROWS + 1),
        (statements, sqlite.STATEMENTS + 1),
        (steps, 200_000),
    ],
)
def test_what_reads_much_begins_anew_beside_its_loop(
    sqlite_store: SQLite, work: Operation[object], found: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read of many rows is cut off on the loop and done whole by another thread."""
    monkeypatch.setattr(sqlite_connection, "LOOKS", 100)
    much = Threads(work)

    assert read(sqlite_store, much) == found
    assert (len(much.seen), much.seen[0]) == (2, threading.get_ident())
    assert much.seen[1] != threading.get_ident()


def test_a_read_that_was_cut_off_keeps_nothing_of_what_it_saw(sqlite_store: SQLite) -> None:
    """A read on the loop after one that was cut off sees what was written meanwhile.

    The error of what was cut off may keep its rows until garbage is collected.
    """
    kept: list[Iterator[Row]] = []

    def cut_off(tx: Tx) -> object:
        names = tx.each("SELECT name FROM users")
        kept.append(names)
        return next(names)["name"], steps(tx)

    for name in ("ann", "bob"):
        sqlite_store.write_now(SYSTEM, add_user(name))
    much = Threads(cut_off)
    assert read(sqlite_store, much) == ("ann", 200_000)
    assert len(much.seen) == len(kept) == 2

    sqlite_store.write_now(SYSTEM, add_user("cid"))
    assert read(sqlite_store, user_names) == ["ann", "bob", "cid"]


def test_who_has_no_loop_reads_as_much_as_they_like(sqlite_store: SQLite) -> None:
    """A thread without a loop reads all at once, also after a loop in it was cut off."""
    read(sqlite_store, rows(sqlite.ROWS + 1))
    much = Threads(rows(sqlite.ROWS + 1))

    assert sqlite_store.read_now(SYSTEM, much) == sqlite.ROWS + 1
    assert much.seen == [threading.get_ident()]
