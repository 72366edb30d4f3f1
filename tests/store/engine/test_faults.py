"""Faults outside of us, caused for real: no disk, no lock, no server, no more process."""

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from hubbub.model.errors import StoreUnavailable
from hubbub.model.people.rights import SYSTEM
from hubbub.store.engine import sqlite_writer
from hubbub.store.engine.postgres import Postgres
from hubbub.store.engine.sqlite import DATABASE, SQLite
from hubbub.store.tx import Operation, Tx
from tests.store.engine.test_engines import add_user, user_names, write_all

NOTHING_KEPT = "nothing of this call was kept$"
COUNT = "UPDATE users SET owns_hub = owns_hub + 1 WHERE name = :name RETURNING id"


@pytest.fixture
def postgres_url(own_database: str) -> str:
    """A database that nobody else uses, as these tests cut off whoever does."""
    return own_database


# No power


def test_what_was_answered_survives_a_power_cut(sqlite_store: SQLite) -> None:
    """Each commit is answered once the disk has it, and not only the system: SQLite is told to wait for that."""
    told = {name: sqlite_store.write_now(SYSTEM, _pragma(name)) for name in ("synchronous", "fullfsync")}

    assert told == {"synchronous": 2, "fullfsync": 1}  # FULL, and on macOS too


def _pragma(name: str) -> Operation[object]:
    """Return a setting of the connection that writes."""
    return lambda tx: (tx.one(f"PRAGMA {name}") or {}).get(name)


# A full disk


def pages(tx: Tx, limit: int) -> None:
    """Limit the database to `limit` pages, as a disk of that size would."""
    tx.run(f"PRAGMA max_page_count = {limit}")


def add_bulk(name: str) -> Operation[None]:
    """A user, and so much text that it needs many pages."""

    def operation(tx: Tx) -> None:
        add_user(name)(tx)
        tx.record("bulk", project_id=None, detail={"text": "x" * 100_000})

    return operation


def fill(store: SQLite) -> list[str]:
    """Add users until the disk is full; the names of those that were acknowledged."""
    names: list[str] = []
    while True:
        try:
            store.write_now(SYSTEM, add_bulk(f"user-{len(names):03}"))
        except StoreUnavailable:
            return names
        names.append(f"user-{len(names):03}")


def test_a_full_disk_is_said_and_loses_nothing(sqlite_store: SQLite) -> None:
    """When the disk is full, the caller is told so; what was acknowledged stays, and reading goes on."""
    sqlite_store.write_now(SYSTEM, lambda tx: pages(tx, 300))

    names = fill(sqlite_store)
    with pytest.raises(StoreUnavailable, match=f"^the disk is full; {NOTHING_KEPT}"):
        sqlite_store.write_now(SYSTEM, add_bulk("too much"))

    assert names
    assert sqlite_store.read_now(SYSTEM, user_names) == names


def test_the_hub_goes_on_when_there_is_space_again(sqlite_store: SQLite) -> None:
    """After a full disk, writes succeed as soon as there is space, without a restart, and the file is sound."""
    sqlite_store.write_now(SYSTEM, lambda tx: pages(tx, 300))
    names = fill(sqlite_store)

    sqlite_store.write_now(SYSTEM, lambda tx: pages(tx, 10_000))
    sqlite_store.write_now(SYSTEM, add_bulk("zoe"))

    assert sqlite_store.read_now(SYSTEM, user_names) == [*names, "zoe"]
    assert sqlite_store.read_now(SYSTEM, lambda tx: tx.one("PRAGMA integrity_check")) == {
        "integrity_check": "ok"
    }


@pytest.mark.parametrize("short", [False, True])
def test_a_full_disk_fails_a_whole_batch_and_each_caller_hears_it(
    sqlite_store: SQLite, *, short: bool
) -> None:
    """SQLite may give up the whole transaction when the disk is full: then every call in it gets its own error,
    also those that had succeeded by themselves, and none of them has left anything.
    """
    sqlite_store.write_now(SYSTEM, lambda tx: pages(tx, 300))
    names = fill(sqlite_store)

    outcomes = write_all(
        sqlite_store,
        add_user("first"),
        *[add_bulk(f"big-{n}") for n in range(9)],
        add_user("last"),
        short=short,
    )

    assert {str(outcome) for outcome in outcomes} == {"the disk is full; nothing of this call was kept"}
    assert len({id(outcome) for outcome in outcomes}) == len(outcomes) == 11
    assert sqlite_store.read_now(SYSTEM, user_names) == names


@pytest.mark.system
def test_a_disk_that_is_full_at_the_commit_loses_nothing(tmp_path: Path) -> None:
    """A disk that fills up as the transaction is written down fails the calls in it, none acknowledged is lost,
    and when there is space again the hub goes on.
    """
    command = [sys.executable, "-c", ON_A_SMALL_DISK, str(tmp_path)]

    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()

    acknowledged, refused = (line.split(" ", 1)[1] for line in told[:2])
    assert refused == "the disk could not be read or written; nothing of this call was kept"
    with closing(SQLite.open(tmp_path)) as store:
        names = store.read_now(SYSTEM, user_names)
    assert names == [*acknowledged.split(), "zoe"]


ON_A_SMALL_DISK = """
import resource, signal, sys
from pathlib import Path
from hubbub.model.errors import StoreUnavailable
from hubbub.model.people.rights import SYSTEM
from hubbub.store.engine.sqlite import SQLite
from tests.store.engine.test_faults import add_bulk, add_user

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a file beyond the limit is an error then, as on a full disk
store = SQLite.open(Path(sys.argv[1]))
_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, most))
names = []
try:
    while True:
        store.write_now(SYSTEM, add_bulk(f"user-{len(names):03}"))
        names.append(f"user-{len(names):03}")
except StoreUnavailable as error:
    print("acknowledged", *names)
    print("refused", error)
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
store.write_now(SYSTEM, add_user("zoe"))
store.close()
"""


def test_a_data_folder_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    """Where the folder cannot be made, opening fails with a sentence, without the path."""
    (tmp_path / "data").write_text("a file in its place")

    with pytest.raises(StoreUnavailable, match=r"^the data folder cannot be used: File exists$"):
        SQLite.open(tmp_path / "data")


# A lock in other hands

LOCKER = """
import apsw, sys
db = apsw.Connection(sys.argv[1])
db.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.readline()
db.execute("COMMIT")
"""


@contextmanager
def locked_by_another_program(folder: Path) -> Iterator[Callable[[], None]]:
    """Another process holds the write lock, until what this yields is called."""
    command = [sys.executable, "-c", LOCKER, str(folder / DATABASE)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        other.stdout.readline()

        def unlock() -> None:
            assert other.stdin is not None
            other.stdin.close()
            other.wait()

        yield unlock


def test_a_lock_that_stays_is_said(tmp_path: Path) -> None:
    """A database that another program keeps locked for too long fails the write; reads go on, and writes do later."""
    with closing(SQLite.open(tmp_path, busy_timeout=timedelta(milliseconds=30))) as store:
        with locked_by_another_program(tmp_path) as unlock:
            with pytest.raises(
                StoreUnavailable, match=f"^the database is locked by another program; {NOTHING_KEPT}"
            ):
                store.write_now(SYSTEM, add_user("ann"))
            assert store.read_now(SYSTEM, user_names) == []
            unlock()
        store.write_now(SYSTEM, add_user("bob"))

        assert store.read_now(SYSTEM, user_names) == ["bob"]


def test_a_lock_that_passes_is_waited_for(tmp_path: Path) -> None:
    """A write waits for a lock that another program lets go of in time."""
    with (
        closing(SQLite.open(tmp_path, busy_timeout=timedelta(minutes=10))) as store,
        ThreadPoolExecutor(1) as thread,
        locked_by_another_program(tmp_path) as unlock,
    ):
        call = thread.submit(store.write_now, SYSTEM, add_user("ann"))
        unlock()
        call.result()

        assert store.read_now(SYSTEM, user_names) == ["ann"]


def test_a_long_reader_stops_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While somebody reads for long, the write-ahead log cannot be emptied and grows: writers go on all the same, and
    once the reader is done the log is cut.
    """
    monkeypatch.setattr(sqlite_writer, "WAL_LIMIT", 1_000_000)
    monkeypatch.setitem(sqlite_writer.PRAGMAS, "journal_size_limit", 1_000_000)
    begun, let_go = threading.Event(), threading.Event()
    log = tmp_path / f"{DATABASE}-wal"

    def read(tx: Tx) -> list[str]:
        before = user_names(tx)
        begun.set()
        let_go.wait()
        return before + user_names(tx)

    with closing(SQLite.open(tmp_path)) as store, ThreadPoolExecutor(1) as thread:
        call = thread.submit(store.read_now, SYSTEM, read)
        begun.wait()
        for number in range(sqlite_writer.CHECKPOINT_AT // 20):
            store.write_now(SYSTEM, add_bulk(f"user-{number}"))
        grown = log.stat().st_size
        let_go.set()

        assert call.result() == []
        for name in ("ann", "bob"):
            store.write_now(SYSTEM, add_user(name))
        assert len(store.read_now(SYSTEM, user_names)) == sqlite_writer.CHECKPOINT_AT // 20 + 2
        assert log.stat().st_size < 1_000_000 < grown


# A process that is killed

WRITER = """
import asyncio, sys
from pathlib import Path
from hubbub.model.people.rights import SYSTEM
from hubbub.store.engine.postgres import Postgres
from hubbub.store.engine.sqlite import SQLite
from tests.store.engine.test_faults import add_pair

engine, target = sys.argv[1:]
store = SQLite.open(Path(target)) if engine == "sqlite" else Postgres.open(target)


async def write(writer):
    number = 0
    while True:
        number += 1
        await store.write(SYSTEM, add_pair(f"{writer}.{number}"), short=writer % 2 == 0)
        sys.stdout.write(f"{writer}.{number}\\n")
        sys.stdout.flush()


async def main():
    await asyncio.gather(*map(write, range(8)))


asyncio.run(main())
"""


def add_pair(name: str) -> Operation[None]:
    """Two rows of one transaction."""

    def operation(tx: Tx) -> None:
        add_user(name)(tx)
        tx.record(f"added {name}", project_id=None)

    return operation


@pytest.mark.parametrize("engine", ["sqlite", pytest.param("postgres", marks=pytest.mark.system)])
@pytest.mark.parametrize(
    "acknowledgements", [40, *(pytest.param(each, marks=pytest.mark.system) for each in (1, 150))]
)
def test_what_was_acknowledged_survives_a_kill(
    engine: str, acknowledgements: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """A hub that is killed with SIGKILL while eight callers write, half of them shortly, has kept everything it had
    acknowledged, and every transaction whole or not at all.
    """
    target = str(tmp_path) if engine == "sqlite" else request.getfixturevalue("postgres_url")
    command = [sys.executable, "-c", WRITER, engine, target]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as hub:
        assert hub.stdout is not None
        told = "".join(hub.stdout.readline() for _ in range(acknowledgements))
        hub.kill()
        told += hub.stdout.read()
    acknowledged = set(told[: told.rindex("\n")].split("\n"))

    with closing(SQLite.open(tmp_path) if engine == "sqlite" else Postgres.open(target)) as store:
        names = store.read_now(SYSTEM, user_names)
        kinds = store.read_now(
            SYSTEM, lambda tx: [row["kind"] for row in tx.all("SELECT kind FROM activity")]
        )

    assert acknowledged <= set(names)
    assert sorted(kinds) == sorted(f"added {name}" for name in names)


# A PostgreSQL server that is not there


def cut_off(tx: Tx) -> None:
    """Lose the connection in the middle of the transaction."""
    tx.run("SELECT pg_terminate_backend(pg_backend_pid())")


def test_a_lost_connection_is_replaced(postgres_store: Postgres) -> None:
    """An operation whose connection is cut before the commit is run again on another one, and happens once."""
    tries: list[None] = []

    def operation(tx: Tx) -> UUID:
        tries.append(None)
        added = add_user("ann")(tx)
        if len(tries) == 1:
            cut_off(tx)
        return added

    assert isinstance(postgres_store.write_now(SYSTEM, operation), UUID)
    assert len(tries) == 2
    assert postgres_store.read_now(SYSTEM, user_names) == ["ann"]


def test_a_server_that_keeps_cutting_off_is_said(postgres_store: Postgres) -> None:
    """When no connection lasts, the caller is told, nothing was kept, and the next call finds the store working."""

    def operation(tx: Tx) -> None:
        add_user("ann")(tx)
        cut_off(tx)

    with pytest.raises(
        StoreUnavailable, match=f"^the connection to the database server was lost; {NOTHING_KEPT}"
    ):
        postgres_store.write_now(SYSTEM, operation)
    postgres_store.write_now(SYSTEM, add_user("bob"))

    assert postgres_store.read_now(SYSTEM, user_names) == ["bob"]


def test_callers_do_not_notice_a_restart_of_the_server(postgres_store: Postgres, postgres_url: str) -> None:
    """When all connections are gone at once, as after a restart, the next calls find new ones."""
    write_all(postgres_store, *[add_user(f"user-{number}") for number in range(40)])
    with psycopg.connect(postgres_url) as db:
        db.execute(
            """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
               WHERE datname = current_database() AND pid <> pg_backend_pid()"""
        )

    outcomes = write_all(postgres_store, *[add_user(f"later-{number}") for number in range(40)])

    assert {type(outcome) for outcome in outcomes} == {UUID}
    assert len(postgres_store.read_now(SYSTEM, user_names)) == 80


def test_a_connection_lost_during_the_commit_is_not_called_undone(
    postgres_store: Postgres, postgres_url: str
) -> None:
    """Where nobody can know whether the server has committed, the call is not repeated and the error says so."""
    with psycopg.connect(postgres_url) as db:
        db.execute(
            """CREATE FUNCTION cut_off() RETURNS trigger LANGUAGE plpgsql AS
               $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
               CREATE CONSTRAINT TRIGGER at_the_end AFTER INSERT ON users
               DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cut_off()"""
        )

    with pytest.raises(StoreUnavailable, match=r"lost during the commit; look whether this call was kept$"):
        postgres_store.write_now(SYSTEM, add_user("ann"))


def test_a_server_that_is_not_there_is_said(tmp_path: Path) -> None:
    """Opening a store on a server that does not answer fails with a sentence that names only the place."""
    for opening in (Postgres.open, Postgres.migrate):
        with pytest.raises(StoreUnavailable) as refusal:
            opening(f"postgresql://me:secret@/x?host={tmp_path}")

        assert str(refusal.value) == (
            f"nothing answers at the socket 5432 of this machine in {tmp_path}; "
            "check host and port in the database's address, and that PostgreSQL runs there"
        )


@pytest.mark.parametrize("asks", [Tx.one, Tx.run])
def test_operations_that_wait_for_each_other_are_begun_again(
    postgres_url: str, asks: Callable[..., object]
) -> None:
    """One of two operations that lock the same rows in opposite order begins again, until both have succeeded."""
    with psycopg.connect(postgres_url, autocommit=True) as db:
        db.execute(f"ALTER DATABASE {db.info.dbname} SET deadlock_timeout = '20ms'")
    meeting = threading.Barrier(2)
    seen: list[Tx] = []

    def lock(first: str, second: str) -> Operation[None]:
        met: list[None] = []

        def operation(tx: Tx) -> None:
            seen.append(tx)
            tx.one(COUNT, name=first)
            if not met:
                met.append(None)
                meeting.wait()
            asks(tx, COUNT, name=second)

        return operation

    with closing(Postgres.open(postgres_url)) as store:
        write_all(store, add_user("ann"), add_user("bob"))
        with ThreadPoolExecutor(2) as threads:
            calls = [
                threads.submit(store.write_now, SYSTEM, operation)
                for operation in (lock("ann", "bob"), lock("bob", "ann"))
            ]
            assert [call.result() for call in calls] == [None, None]
        rows = store.read_now(SYSTEM, lambda tx: tx.all("SELECT name, owns_hub FROM users ORDER BY name"))

    assert rows == [{"name": "ann", "owns_hub": 2}, {"name": "bob", "owns_hub": 2}]
    assert len({id(tx) for tx in seen}) > 2


def test_a_call_that_the_server_stops_is_begun_again(postgres_store: Postgres) -> None:
    """A call among others whose statement the server cancels, as it may after a wait for a lock, is run again."""
    tries: list[None] = []

    def operation(tx: Tx) -> UUID:
        tries.append(None)
        if len(tries) == 1:
            tx.run("SELECT pg_cancel_backend(pg_backend_pid())")
            tx.one("SELECT pg_sleep(60)")
        return add_user("ann")(tx)

    assert isinstance(postgres_store.write_now(SYSTEM, operation), UUID)
    assert len(tries) == 2
    assert postgres_store.read_now(SYSTEM, user_names) == ["ann"]


def test_a_row_that_stays_locked_is_said(postgres_store: Postgres, postgres_url: str) -> None:
    """A row that another program keeps locked on PostgreSQL fails the call that waits for it, with a sentence."""
    postgres_store.write_now(SYSTEM, add_user("ann"))

    def rename(tx: Tx) -> None:
        tx.run("SET LOCAL lock_timeout = '20ms'")
        tx.run("UPDATE users SET name = 'eve'")

    with psycopg.connect(postgres_url) as db:
        db.execute("SELECT * FROM users FOR UPDATE")
        with pytest.raises(
            StoreUnavailable, match=f"^the database is locked by another program; {NOTHING_KEPT}"
        ):
            postgres_store.write_now(SYSTEM, rename)

    assert postgres_store.read_now(SYSTEM, user_names) == ["ann"]


def test_a_text_that_postgres_cannot_hold_is_an_error_of_its_call(postgres_store: Postgres) -> None:
    """A NUL character in a text, which the edges refuse, fails its own call and nothing else."""
    outcomes = write_all(postgres_store, add_user("a\0b"), add_user("ann"))

    assert isinstance(outcomes[0], psycopg.DataError)
    assert postgres_store.read_now(SYSTEM, user_names) == ["ann"]
