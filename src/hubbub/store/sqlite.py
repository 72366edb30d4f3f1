"""SQLite: one writer thread that commits together what waits, and one reading connection a thread.

A commit has to reach the disk before it is answered, and that takes longer than the operation itself. So there is one
writer: it takes the calls that gathered during the last commit, runs each in a savepoint, and commits once for
all. Nobody waits on purpose; the more callers, the larger the batches. Only the writer checkpoints: two connections
that do it at once are what older SQLites lose data by.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent import futures
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar
from uuid import UUID
from weakref import WeakSet

import apsw
import apsw.bestpractice

from hubbub.model.errors import StoreUnavailable
from hubbub.model.moments import milliseconds
from hubbub.model.rights import Actor
from hubbub.store import backup, migrate, tally
from hubbub.store.alone import Alone
from hubbub.store.calls import Call, answer
from hubbub.store.listeners import Listeners
from hubbub.store.lock import FolderLock
from hubbub.store.tx import Clock, Operation, Row, Tally, Tx, WroteInRead, perform, unix_ms

T = TypeVar("T")

DATABASE = "hubbub.db"
BATCH = 256  # calls in one commit, at most: so many are lost together when it fails
CHECKPOINT_AT = 1000  # pages of 4 KiB in the write-ahead log from which on it is moved into the database
WAL_LIMIT = 64 * 1024 * 1024  # bytes; a write-ahead log that has grown beyond it is cut
CACHE = 16 * 1024  # KiB of pages that the writer keeps
LONG_READERS = 2
STATEMENTS = 512  # kept prepared a connection: more than the program has

# What may befall the engine, as people should read it. Every other error of SQLite is a bug, and is shown as it is.
FAULTS: dict[type[apsw.Error], str] = {
    apsw.FullError: "the disk is full",
    apsw.BusyError: "the database is locked by another program",
    apsw.LockedError: "the database is locked by another program",
    apsw.IOError: "the disk could not be read or written",
    apsw.CantOpenError: "the database file cannot be opened",
    apsw.ReadOnlyError: "the database file may not be written",
    apsw.NoMemError: "the machine is out of memory",
    apsw.CorruptError: "the database file is damaged",
    apsw.NotADBError: "the database file is not a database",
}


class SQLiteConnection:
    """`Connection` on SQLite: ids are 16 bytes there, rows are dicts here."""

    transaction_number = "0"  # there is one writer, so `seq` alone is the order
    settled = "1 = 1"
    for_update = ""
    for_delete = ""
    for_reference = ""
    skip_locked = ""
    hub_has_ended = "1 = 1"  # there is one at a time

    def __init__(self, file: Path, busy_timeout: timedelta) -> None:
        self.db = apsw.Connection(str(file), statementcachesize=STATEMENTS)
        self.db.convert_binding = _bind
        self.db.set_busy_timeout(milliseconds(busy_timeout))
        apsw.bestpractice.connection_dqs(self.db)  # "text" is a column, never a text
        # Else a statement whose plan might depend on a value is prepared anew for each value, as for each moment.
        self.db.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        self._names: dict[str, list[str]] = {}  # of the columns of each statement

    def query(self, sql: str, values: Mapping[str, object]) -> Sequence[Row]:
        cursor = self.db.execute(sql, values)
        first = cursor.fetchone()
        if first is None:
            return []
        names = self._names.get(sql)
        if names is None:
            names = self._names[sql] = [column[0] for column in cursor.get_description()]
        return [_row(names, values) for values in (first, *cursor)]

    def each(self, sql: str, values: Mapping[str, object]) -> Iterator[Row]:
        cursor = self.db.execute(sql, values)
        for row in cursor:
            yield _row([column[0] for column in cursor.get_description()], row)

    def tell(self, sql: str, values: Mapping[str, object]) -> None:
        self.query(sql, values)


def _bind(_cursor: object, _number: int, value: object) -> bytes:
    if isinstance(value, UUID):
        return value.bytes
    raise TypeError(f"a {type(value).__name__} cannot be stored")


@lru_cache(maxsize=4096)  # making one takes a while, and most rows speak of the same project and run
def _uuid(value: bytes) -> UUID:
    return UUID(bytes=value)


def _row(names: Sequence[str], values: Sequence[Any]) -> Row:
    pairs = zip(names, values, strict=True)
    return {name: _uuid(value) if type(value) is bytes else value for name, value in pairs}


class SQLite(Alone):
    """The embedded engine: `Store` over one file in one folder, held by one hub at a time."""

    def __init__(self, file: Path, lock: FolderLock, busy_timeout: timedelta, clock: Clock) -> None:
        self._file, self._lock, self._busy_timeout, self._clock = file, lock, busy_timeout, clock
        self._waiting: SimpleQueue[Call | None] = SimpleQueue()
        self._gate = threading.Lock()  # between asking whether it is open and getting in
        self._closed = False
        self._listeners = Listeners()
        self._readers: WeakSet[SQLiteConnection] = WeakSet()
        self._here = threading.local()
        self._pool = futures.ThreadPoolExecutor(LONG_READERS, thread_name_prefix="hubbub-reader")
        self._wal_pages = 0
        self._writer = _open_writer(file, busy_timeout)
        self._writer.db.set_wal_hook(self._note_wal)
        self._thread = threading.Thread(target=self._serve, name="hubbub-writer", daemon=True)
        self._thread.start()

    @classmethod
    def open(
        cls,
        folder: Path,
        *,
        url: str | None = None,
        busy_timeout: timedelta = timedelta(seconds=5),
        clock: Clock = unix_ms,
    ) -> "SQLite":
        """The store of `folder`, made if it is new, brought to this version if it is older (after a backup).

        `url` is where the hub will answer, for the sentence a second hub is refused with. `busy_timeout` is how long
        a write waits for another program that has locked the database. Raises `StoreRefused` when another hub holds
        the folder or the database is not of this version, `StoreUnavailable` when it cannot be read or written.
        """
        file = folder / DATABASE
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = FolderLock.take(folder, url=url)
            file.touch(mode=0o600)
        except OSError as error:
            raise StoreUnavailable(f"the data folder cannot be used: {error.strerror}") from error
        try:
            with _explaining("nothing was changed"):
                _prepare(file, folder, busy_timeout)
                return cls(file, lock, busy_timeout, clock)
        except BaseException:
            lock.release()
            raise

    def write(self, actor: Actor, operation: Operation[T]) -> Awaitable[T]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._enqueue(Call(actor, operation, future, loop))
        return future

    def write_now(self, actor: Actor, operation: Operation[T]) -> T:
        future: futures.Future[T] = futures.Future()
        self._enqueue(Call(actor, operation, future, None))
        return future.result()

    async def read(self, actor: Actor, operation: Operation[T], *, long: bool = False) -> T:
        """An indexed read takes some 20 µs, a fifth of what it takes to ask another thread: so it is done here."""
        if not long:
            return self.read_now(actor, operation)
        return await asyncio.get_running_loop().run_in_executor(self._pool, self.read_now, actor, operation)

    def read_now(self, actor: Actor, operation: Operation[T]) -> T:
        if self._closed:
            raise StoreUnavailable("the hub is closing")
        connection = self._reader()
        with _explaining("nothing was read"):
            connection.db.execute("BEGIN")
            try:
                return perform(operation, Tx(connection, actor, self._clock(), is_read=True))
            except apsw.ReadOnlyError as error:
                raise WroteInRead from error
            finally:
                if connection.db.in_transaction:
                    connection.db.execute("ROLLBACK")

    def on_activity(self, wake: Callable[[], None]) -> None:
        self._listeners.add(wake)

    def backup(self, target: Path) -> None:
        """Write a consistent copy to the new file `target`; see `backup.copy`. Blocks; others read and write on."""
        with _explaining("no backup was made"):
            db = SQLiteConnection(self._file, self._busy_timeout).db
            try:
                backup.copy(db, target)
            finally:
                db.close()

    def close(self) -> None:
        with self._gate:
            if self._closed:
                return
            self._closed = True
            self._waiting.put(None)
        self._thread.join()
        self._pool.shutdown()
        for reader in list(self._readers):
            reader.db.close()
        self._writer.db.close()
        self._lock.release()

    def _reader(self) -> SQLiteConnection:
        connection: SQLiteConnection | None = getattr(self._here, "connection", None)
        if connection is None:
            connection = self._here.connection = SQLiteConnection(self._file, self._busy_timeout)
            connection.db.wal_autocheckpoint(0)
            connection.db.pragma("query_only", True)
            self._readers.add(connection)
        return connection

    def _enqueue(self, call: Call) -> None:
        with self._gate:
            if self._closed:
                raise StoreUnavailable("the hub is closing; nothing of this call was kept")
            self._waiting.put(call)

    def _serve(self) -> None:
        """The writer thread: batch after batch, until the store is closed and everyone has an answer."""
        while batch := self._next_batch():
            try:
                recorded = self._commit(batch)
            except BaseException as error:  # noqa: BLE001  # it belongs to each caller of the transaction
                self._undo()
                recorded = False
                for call in batch:
                    call.error = _explained(error, "nothing of this call was kept")
            answer(batch)
            if recorded:
                self._listeners.wake()
            self._checkpoint()

    def _next_batch(self) -> list[Call]:
        """Return what waits now, in order; blocks until there is something. Empty when the store was closed."""
        batch: list[Call] = []
        while not batch or (len(batch) < BATCH and not self._waiting.empty()):
            call = self._waiting.get()
            if call is None:
                self._waiting.put(None)  # found again after this batch, which may be empty
                break
            if not call.is_abandoned:
                batch.append(call)
        return batch

    def _commit(self, batch: Sequence[Call]) -> bool:
        """Run the batch as one transaction; true if it wrote activities. Raises when nothing of it was kept."""
        db = self._writer.db
        total = Tally()
        recorded = 0
        db.execute("BEGIN IMMEDIATE")
        for call in batch:
            tx = Tx(self._writer, call.actor, self._clock(), before=total)
            if len(batch) == 1:  # what undoes it undoes the transaction
                call.result = perform(call.operation, tx)
            else:
                self._run(call, tx)
            if call.error is None:
                total.add(tx.tally)
                recorded += tx.recorded
        tally.flush(self._writer, total)
        db.execute("COMMIT")
        return recorded > 0

    def _run(self, call: Call, tx: Tx) -> None:
        """Run one call among others; if it raises, it alone is undone.

        Raises when SQLite gave up the whole transaction, as it may when the disk is full.
        """
        db = self._writer.db
        db.execute("SAVEPOINT call")
        try:
            call.result = perform(call.operation, tx)
        except BaseException as error:  # whatever it is, it is its caller's
            if not db.in_transaction:
                raise
            db.execute("ROLLBACK TO call")
            call.error = _explained(error, "nothing of this call was kept")
        db.execute("RELEASE call")

    def _undo(self) -> None:
        with suppress(apsw.Error):  # if it cannot even undo, the next BEGIN says so to its callers
            if self._writer.db.in_transaction:
                self._writer.db.execute("ROLLBACK")

    def _note_wal(self, _db: object, _name: str, pages: int) -> int:
        self._wal_pages = pages
        return apsw.SQLITE_OK

    def _checkpoint(self) -> None:
        """Move what the write-ahead log holds into the database; callers have had their answer by now.

        A log that has grown large is cut as well, unless a reader still needs it. Nothing waits here, and a
        checkpoint that fails loses nothing: the next commit brings the next try.
        """
        if self._wal_pages < CHECKPOINT_AT:
            return
        is_large = self._wal_pages * 4096 > WAL_LIMIT
        mode = apsw.SQLITE_CHECKPOINT_TRUNCATE if is_large else apsw.SQLITE_CHECKPOINT_PASSIVE
        self._writer.db.set_busy_timeout(0)
        with suppress(apsw.Error):
            self._writer.db.wal_checkpoint(mode=mode)
        self._writer.db.set_busy_timeout(milliseconds(self._busy_timeout))


def _prepare(file: Path, folder: Path, busy_timeout: timedelta) -> None:
    """Bring the file to the program's version, before anyone serves from it."""
    connection = SQLiteConnection(file, busy_timeout)
    try:
        migrate.migrate_sqlite(connection.db, folder)
    finally:
        connection.db.close()


def _open_writer(file: Path, busy_timeout: timedelta) -> SQLiteConnection:
    writer = SQLiteConnection(file, busy_timeout)
    for name, value in (
        ("journal_mode", "WAL"),
        ("synchronous", "FULL"),  # what was answered survives a power cut
        ("fullfsync", "ON"),  # also on macOS, where fsync alone does not reach the disk
        ("journal_size_limit", WAL_LIMIT),
        ("temp_store", "MEMORY"),  # in files, what savepoints keep for an undo would cost a third of the time
        ("cache_size", -CACHE),
        ("foreign_keys", "ON"),
    ):
        writer.db.pragma(name, value)
    return writer


def _explained(error: BaseException, consequence: str) -> BaseException:
    """The error as its caller should see it: a fault of the engine as one sentence, anything else as it is."""
    if isinstance(error, apsw.Error) and type(error) in FAULTS:
        fault = StoreUnavailable(f"{FAULTS[type(error)]}; {consequence}")
        fault.__cause__ = error
        return fault
    return error


@contextmanager
def _explaining(consequence: str) -> Iterator[None]:
    try:
        yield
    except apsw.Error as error:
        explained = _explained(error, consequence)
        raise explained from explained.__cause__
