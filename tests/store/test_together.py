"""On PostgreSQL: what waits is committed together, and nobody is held up by another's call."""

import threading
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import psycopg
import pytest

from hubbub.model.rights import SYSTEM
from hubbub.store.postgres import Postgres
from hubbub.store.tx import Tx
from tests.store.test_engines import add_user, user_names, write_all


def transaction(tx: Tx) -> int:
    """The number of the transaction in which this runs."""
    return int(tx.all(f"SELECT {tx.db.transaction_number} AS number")[0]["number"])


def test_what_waits_is_committed_together(postgres_store: Postgres) -> None:
    """Calls that gather while a writer is busy take fewer transactions than there are calls."""
    numbers = write_all(postgres_store, *[transaction] * 40)

    assert all(isinstance(number, int) for number in numbers)
    assert len(set(numbers)) < len(numbers)


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
    """Of a statement that could not be prepared nothing is remembered: it fails its own call, and in the same words."""

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
