"""SQLite: one connection that writes (`sqlite_writer`), and one that reads for each thread."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent import futures
from datetime import timedelta
from pathlib import Path
from typing import TypeVar
from weakref import WeakSet

import apsw

from hubbub.model.errors import StoreUnavailable
from hubbub.model.people.rights import Actor
from hubbub.processes import durable_files
from hubbub.store import backup, migrate
from hubbub.store.engine import database_address
from hubbub.store.engine.folder_lock import FolderLock
from hubbub.store.engine.listeners import Listeners
from hubbub.store.engine.pending_calls import PendingCall
from hubbub.store.engine.single_hub import SingleHub
from hubbub.store.engine.sqlite_connection import SQLiteConnection, TooLong, explained, explaining
from hubbub.store.engine.sqlite_writer import Writer
from hubbub.store.tx import Clock, Operation, Tx, WroteInRead, unix_ms

T = TypeVar("T")

DATABASE = "hubbub.db"
READERS = 2  # threads for reads known to take long, and as many for those that turned out to
STATEMENTS, ROWS = 300, 300  # limits on an event loop: some 5 ms


class SQLite(SingleHub):
    """The embedded engine: `Store` over one file in one folder, held by one hub at a time."""

    def __init__(self, file: Path, lock: FolderLock, busy_timeout: timedelta, clock: Clock) -> None:
        self._file, self._lock, self._busy_timeout, self._clock = file, lock, busy_timeout, clock
        self._listeners = Listeners()
        self._readers: WeakSet[SQLiteConnection] = WeakSet()
        self._here = threading.local()
        self._long, self._longer = [
            futures.ThreadPoolExecutor(READERS, thread_name_prefix=name)
            for name in ("hubbub-reader", "hubbub-late-reader")
        ]
        self._is_closed = False
        self._writer = Writer(file, busy_timeout, clock, self._listeners.wake)

    @classmethod
    def open(
        cls,
        folder: Path,
        *,
        url: str | None = None,
        busy_timeout: timedelta = timedelta(seconds=5),
        clock: Clock = unix_ms,
    ) -> "SQLite":
        """Open the store of `folder`; create it if it is new, or migrate it if it is older (after a backup).

        `url` is the hub's address, for the refusal of a second hub. `busy_timeout` is how long a write waits for
        another program that has locked the database. Raises `StoreRefused` if another hub holds the folder, the
        hub's data is elsewhere, or the database is not of this version, `StoreUnavailable` if it cannot be read or
        written.
        """
        file = folder / DATABASE
        try:
            durable_files.make_folder(folder, 0o700)
            lock = FolderLock.take(folder, url=url)
        except OSError as error:
            raise StoreUnavailable(f"the data folder cannot be used: {error.strerror}") from error
        try:
            with explaining("nothing was changed"):
                database_address.require_none(folder)
                file.touch(mode=0o600)
                _prepare(file, folder, busy_timeout)
                return cls(file, lock, busy_timeout, clock)
        except BaseException:
            lock.release()
            raise

    def write(self, actor: Actor, operation: Operation[T], *, short: bool = False) -> Awaitable[T]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._writer.add(PendingCall(actor, operation, future, loop, is_short=short))
        return future

    def write_now(self, actor: Actor, operation: Operation[T]) -> T:
        future: futures.Future[T] = futures.Future()
        self._writer.add(PendingCall(actor, operation, future, None))
        return future.result()

    async def read(self, actor: Actor, operation: Operation[T], *, long: bool = False) -> T:
        """Read on the event loop: an indexed read takes some 20 µs, a fifth of the cost of asking another thread.

        A read that takes longer begins anew in a thread, apart from those known to be long.
        """
        if not long:
            try:
                return self._read(actor, operation, on_loop=True)
            except (TooLong, apsw.InterruptError):
                pass
        readers = self._long if long else self._longer
        return await asyncio.get_running_loop().run_in_executor(readers, self._read, actor, operation)

    def read_now(self, actor: Actor, operation: Operation[T]) -> T:
        return self._read(actor, operation)

    def _read(self, actor: Actor, operation: Operation[T], *, on_loop: bool = False) -> T:
        if self._is_closed:
            raise StoreUnavailable("the hub is closing")
        try:
            return self._read_by(self._reader(), actor, operation, on_loop=on_loop)
        except (apsw.Error, OSError) as error:  # as `explaining`, which costs a read a tenth
            fault = explained(error, "nothing was read")
            raise fault from fault.__cause__

    def _read_by(
        self, connection: SQLiteConnection, actor: Actor, operation: Operation[T], *, on_loop: bool
    ) -> T:
        if on_loop:
            connection.bound(STATEMENTS, ROWS)
        else:
            connection.release()
        connection.command("BEGIN")
        try:
            return connection.perform(operation, Tx(connection, actor, self._clock(), is_read=True))
        except apsw.ReadOnlyError as error:
            raise WroteInRead from error
        finally:
            if connection.db.in_transaction:
                connection.command("ROLLBACK")

    def on_activity(self, wake: Callable[[], None]) -> None:
        self._listeners.add(wake)

    def backup(self, target: Path) -> None:
        """Write a consistent copy to the new file `target`; see `backup.copy`. Blocks; other reads and writes go on."""
        with explaining("no backup was made"):
            db = SQLiteConnection(self._file, self._busy_timeout).db
            try:
                backup.copy(db, target)
            finally:
                db.close()

    def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        self._writer.close()
        self._long.shutdown()
        self._longer.shutdown()
        for reader in list(self._readers):
            reader.db.close()
        self._lock.release()

    def _reader(self) -> SQLiteConnection:
        connection: SQLiteConnection | None = getattr(self._here, "connection", None)
        if connection is None:
            connection = self._here.connection = SQLiteConnection(self._file, self._busy_timeout)
            connection.db.wal_autocheckpoint(0)
            connection.db.pragma("query_only", True)
            self._readers.add(connection)
        return connection


def _prepare(file: Path, folder: Path, busy_timeout: timedelta) -> None:
    """Migrate the file to the program's version before anyone serves from it."""
    connection = SQLiteConnection(file, busy_timeout)
    try:
        migrate.migrate_sqlite(connection.db, folder)
    finally:
        connection.db.close()
