"""Copying everything from one engine to the other, while no hub is running on either.

One transaction: each table is copied, read back and compared before anything is kept.
"""

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol
from uuid import UUID

import apsw
import psycopg
from psycopg import errors

from hubbub.model.errors import StoreRefused, StoreUnavailable
from hubbub.store import backup, migrate
from hubbub.store.engine.connection_faults import readable, unconnected
from hubbub.store.engine.folder_lock import FolderLock
from hubbub.store.engine.notify import CONNECT_TIMEOUT, HUBS_PRESENT
from hubbub.store.engine.postgres import FAULTS, FORBIDDEN
from hubbub.store.engine.sqlite import DATABASE
from hubbub.store.engine.sqlite_connection import SQLiteConnection, explaining

NOTHING = "nothing was copied"
PATIENCE = timedelta(seconds=5)  # for another program that has locked the file
FETCHED = 2000  # rows at once

Tables = dict[str, list[str]]  # the columns of each
Values = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Copied:
    """The numbers of tables and rows that were copied."""

    tables: int
    rows: int


@dataclass(slots=True)
class Checksum:
    """The number of rows and the sum of their hashes: the same for the same rows in any order."""

    rows: int = 0
    total: int = 0

    def of(self, rows: Iterable[Values]) -> Iterator[Values]:
        """Yield the rows, each of them counted."""
        for row in rows:
            self.rows += 1
            self.total += int.from_bytes(blake2b(repr(row).encode(), digest_size=16).digest())
            yield row


class Side(Protocol):
    """A database of either engine. Its rows are tuples of numbers, texts and `UUID`s."""

    def tables(self) -> Tables:
        """Return the hub's tables; `migrations` is each database's own."""

    def rows(self, table: str, columns: Sequence[str]) -> Generator[Values]: ...

    def fill(self, table: str, columns: Sequence[str], rows: Iterable[Values]) -> None: ...

    def last_number(self) -> int:
        """Return the number of the last activity that was ever written."""

    def go_on_after(self, number: int) -> None:
        """Let the next activity have a greater number."""


@dataclass(frozen=True, slots=True)
class OnSQLite:
    """`Side` over a file."""

    db: apsw.Connection

    def tables(self) -> Tables:
        return _listed(
            self.db.execute(
                """SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c
                   WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%' AND t.name <> 'migrations'"""
            )
        )

    def rows(self, table: str, columns: Sequence[str]) -> Generator[Values]:
        for row in self.db.execute(f"SELECT {_names(columns)} FROM {table}"):
            yield tuple(UUID(bytes=value) if type(value) is bytes else value for value in row)

    def fill(self, table: str, columns: Sequence[str], rows: Iterable[Values]) -> None:
        marks = ", ".join("?" * len(columns))
        self.db.executemany(f"INSERT INTO {table} ({_names(columns)}) VALUES ({marks})", rows)

    def last_number(self) -> int:
        ((number,),) = self.db.execute("SELECT max(seq) FROM sqlite_sequence WHERE name = 'activity'")
        return int(number or 0)

    def go_on_after(self, number: int) -> None:
        self.db.execute("DELETE FROM sqlite_sequence WHERE name = 'activity'")
        self.db.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('activity', ?)", (number,))


@dataclass(frozen=True, slots=True)
class OnPostgres:
    """`Side` over a server."""

    db: psycopg.Connection[Values]

    def tables(self) -> Tables:
        return _listed(
            self.db.execute(
                """SELECT table_name, column_name FROM information_schema.columns
                   WHERE table_schema = current_schema() AND table_name <> 'migrations'"""
            )
        )

    def rows(self, table: str, columns: Sequence[str]) -> Generator[Values]:
        with self.db.cursor(name="copied") as cursor:
            cursor.itersize = FETCHED
            yield from cursor.execute(f"SELECT {_names(columns)} FROM {table}".encode())

    def fill(self, table: str, columns: Sequence[str], rows: Iterable[Values]) -> None:
        with (
            self.db.cursor() as cursor,
            cursor.copy(f"COPY {table} ({_names(columns)}) FROM STDIN".encode()) as copy,
        ):
            for row in rows:
                copy.write_row(row)

    def last_number(self) -> int:
        (row,) = self.db.execute(
            "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM activity_seq_seq"
        )
        return int(row[0])

    def go_on_after(self, number: int) -> None:
        if number:
            self.db.execute("SELECT setval('activity_seq_seq', %s)", (number,))


def to_postgres(folder: Path, url: str) -> Copied:
    """Copy the SQLite database of a data folder into the empty PostgreSQL database at `url`.

    Raises `StoreRefused`, and changes nothing, if a hub runs on the folder, one of the two is of another version, or
    the database has rows; `StoreUnavailable` if one of the two fails.
    """
    if not (folder / DATABASE).exists():
        raise StoreRefused(f"there is no {DATABASE} in {folder} to copy")
    with explaining(NOTHING):
        lock = FolderLock.take(folder)
    try:
        with explaining(NOTHING), closing(SQLiteConnection(folder / DATABASE, PATIENCE).db) as source:
            if migrate.missing(migrate.known(), migrate.applied_sqlite(source)):
                raise StoreRefused(migrate.NOT_PREPARED)
            with _connected(url) as target:
                migrate.prepare_postgres(target)
                with _without_references(target):
                    return _copy(OnSQLite(source), OnPostgres(target))
    finally:
        lock.release()


def to_file(url: str, file: Path) -> Copied:
    """Copy the PostgreSQL database at `url` to the new SQLite database `file`, which is as a backup of SQLite is.

    Raises `StoreRefused`, and leaves no file, if a hub runs on the database, or it is of another version;
    `StoreUnavailable` if one of the two fails.
    """
    backup.require_new(file)
    with (
        explaining(NOTHING),
        TemporaryDirectory(prefix=".hubbub-copy-", dir=file.parent) as folder,
        _connected(url) as source,
        closing(SQLiteConnection(Path(folder, DATABASE), PATIENCE).db) as target,
    ):
        source.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        migrate.check_postgres(source)
        if source.execute(f"SELECT 1 WHERE EXISTS ({HUBS_PRESENT})".encode()).fetchone():
            raise StoreRefused("a hub is running on the database; stop every hub of it first")
        migrate.migrate_sqlite(target, Path(folder))
        with target:
            copied = _copy(OnPostgres(source), OnSQLite(target))
            for statement in migrate.ONE_ORDER:
                target.execute(statement)
        backup.copy(target, file)
    return copied


def _copy(source: Side, target: Side) -> Copied:
    """Copy all rows from one side to the other, and compare what is there then with what was read."""
    tables = source.tables()
    if target.tables() != tables:
        raise StoreRefused(
            "the two databases do not have the same tables: one of them is not the hub's alone"
        )
    for table, columns in tables.items():
        with closing(target.rows(table, columns)) as rows:
            if next(rows, None) is not None:
                raise StoreRefused(
                    f"the database to copy into is not empty: its table {table} has rows; make a new one"
                )
    total = 0
    for table, columns in tables.items():
        read, found = Checksum(), Checksum()
        target.fill(table, columns, read.of(source.rows(table, columns)))
        total += sum(1 for _ in found.of(target.rows(table, columns)))
        if found != read:
            raise StoreRefused(f"the rows of {table} did not arrive as they were; {NOTHING}")
    target.go_on_after(source.last_number())
    return Copied(len(tables), total)


@contextmanager
def _connected(url: str) -> Iterator[psycopg.Connection[Values]]:
    """Connect to the server for one transaction, undone if the block raises; explain the server's faults."""
    try:
        db = psycopg.connect(readable(url), connect_timeout=CONNECT_TIMEOUT)
    except psycopg.OperationalError as error:
        raise unconnected(error, url) from error
    try:
        with db:
            yield db
    except errors.InsufficientPrivilege as error:
        raise StoreRefused(FORBIDDEN) from error
    except (psycopg.DataError, psycopg.IntegrityError) as error:
        told = str(error).partition("\n")[0]
        raise StoreRefused(f"PostgreSQL does not take what is in the database ({told}); {NOTHING}") from error
    except psycopg.OperationalError as error:
        sentence = next(sentence for kind, sentence in FAULTS if isinstance(error, kind))
        raise StoreUnavailable(f"{sentence}; {NOTHING}") from error


@contextmanager
def _without_references(db: psycopg.Connection[Values]) -> Iterator[None]:
    """Lock the tables, and check what one row says of another only in the end, as tables refer to each other."""
    references = db.execute(
        """SELECT conrelid::regclass::text, quote_ident(conname), pg_get_constraintdef(oid) FROM pg_constraint
           WHERE contype = 'f' AND connamespace = current_schema()::regnamespace"""
    ).fetchall()
    db.execute(f"LOCK TABLE {', '.join(OnPostgres(db).tables())} IN ACCESS EXCLUSIVE MODE".encode())
    for table, name, _text in references:
        db.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}".encode())
    yield
    for table, name, text in references:
        db.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} {text}".encode())


def _listed(found: Iterable[Values]) -> Tables:
    """Return the tables and their columns in the order of names, which is the same on both engines."""
    tables: Tables = {}
    for table, column in sorted(found):
        tables.setdefault(table, []).append(column)
    return tables


def _names(columns: Sequence[str]) -> str:
    return ", ".join(f'"{each}"' for each in columns)
