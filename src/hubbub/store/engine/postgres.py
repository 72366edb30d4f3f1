"""PostgreSQL: writers that commit waiting calls together, and a pool of connections, for hubs that share one database.

Operations are the same plain functions. One writer takes the calls that gathered during the last commit, runs each in a
savepoint, and commits once for all, as on SQLite: otherwise a transaction would hold a project's counter until the disk
has the commit, with all other senders queued behind it. Another writer takes over the waiting calls while the first is
busy with a long call. A call that meets a lock of another transaction is put aside, and waits for it alone.

Operations may deadlock here: they are then run again from the start, with a new `Tx`, which is safe because an
operation has no effects outside its transaction.
"""

import asyncio
import random
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import psycopg
from psycopg import errors
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from hubbub.model.errors import StoreRefused, StoreUnavailable
from hubbub.model.people.rights import SYSTEM, Actor
from hubbub.store import migrate, status_counters
from hubbub.store.engine.connection_faults import readable, unconnected
from hubbub.store.engine.notify import CONNECT_TIMEOUT, NOTIFY_EVERY, Notifier
from hubbub.store.engine.pending_calls import PendingCall, Turn, answer
from hubbub.store.engine.postgres_connection import READ, WRITE, Db, PostgresConnection, Unasked
from hubbub.store.engine.rehearsal import rehearse
from hubbub.store.engine.writer_pool import WriterPool
from hubbub.store.tx import Clock, CounterChanges, Operation, Tx, WroteInRead, perform, unix_ms

T = TypeVar("T")

WORKERS = 16  # threads and connections: more would only queue inside the server
WRITERS = 4  # connections, at most, for calls that are committed together
BATCH = (
    64  # calls in one commit, at most: the server is slow with more savepoints, and others wait for its locks
)
TRIES = 6  # of an operation that meets another or loses its connection, before it fails
STEP_BACK = 0.01  # seconds, doubled with every try
CLOSING = 1.5  # seconds for pending calls, and then for the pool's own threads to end
PATIENCE = 5.0  # seconds to wait for a connection
LIMITS = """
    SET statement_timeout = '60s';
    SET lock_timeout = '10s';
    SET idle_in_transaction_session_timeout = '60s'
"""  # the tail of the log waits for every transaction that has begun, so none may hang
SHORTLY = "SET LOCAL lock_timeout = '5ms'"  # for calls that others wait behind

FORBIDDEN = "the database is empty, and its user may make no tables in it; grant CREATE on its schema"
COLLISIONS = (errors.DeadlockDetected, errors.SerializationFailure)
# The server stops who has waited too long for a lock, and sometimes has forgotten why when it says so.
STOPPED = (errors.LockNotAvailable, errors.QueryCanceled)

# Faults of the engine, as people should read them; the first match counts. Other errors are bugs and shown as such.
FAULTS: tuple[tuple[type[psycopg.Error], str], ...] = (
    (errors.DiskFull, "the disk of the database server is full"),
    (errors.LockNotAvailable, "the database is locked by another program"),
    (errors.QueryCanceled, "the database took too long"),
    (errors.TransactionRollback, "too many callers changed the same thing at once"),
    (PoolClosed, "the hub is closing"),
    (PoolTimeout, "the database server cannot be reached, or all connections to it are in use"),
    (psycopg.OperationalError, "the connection to the database server was lost"),
)


class _LeftUndone(Exception):
    """The work that calls left failed: they begin anew, and each does its own."""


class Postgres:
    """The engine for more than one hub: `Store` over a database of this version."""

    def __init__(self, url: str, *, clock: Clock, notify_every: float) -> None:
        self._clock = clock
        self._pool = ConnectionPool[Db](
            url,
            connection_class=Db,
            min_size=1,
            max_size=WORKERS + WRITERS,
            timeout=PATIENCE,
            open=True,
            num_workers=1,
            name="hubbub",
            configure=_configure,
            kwargs={"client_encoding": "utf8"},
        )
        self._threads = ThreadPoolExecutor(WORKERS, thread_name_prefix="hubbub-store")
        self._turns = WriterPool(self._together, WRITERS, BATCH)
        self._wakeups = Notifier(url, notify_every)

    @classmethod
    def open(cls, url: str, *, clock: Clock = unix_ms, notify_every: float = NOTIFY_EVERY) -> "Postgres":
        """Open the store at `url` (postgresql://…); create its tables if the database is empty.

        `notify_every` is the least number of seconds between two notifications of other hubs. Raises `StoreRefused` if
        the database is not at this version of the program, `StoreUnavailable` if it cannot be reached.
        """
        try:
            with psycopg.connect(readable(url), connect_timeout=CONNECT_TIMEOUT) as db:
                migrate.prepare_postgres(db)
        except psycopg.OperationalError as error:
            raise unconnected(error, url) from error
        except (errors.InsufficientPrivilege, errors.InvalidSchemaName) as error:
            raise StoreRefused(FORBIDDEN) from error
        return cls(url, clock=clock, notify_every=notify_every)

    @staticmethod
    def migrate(url: str) -> int:
        """Migrate the database at `url` to this version and return its number; hubs may go on serving meanwhile.

        Raises `StoreRefused` if the database is newer than the program, `StoreUnavailable` if it cannot be reached.
        """
        try:
            with psycopg.connect(readable(url), connect_timeout=CONNECT_TIMEOUT) as db:
                return migrate.migrate_postgres(db)
        except psycopg.OperationalError as error:
            raise unconnected(error, url) from error

    def write(
        self,
        actor: Actor,
        operation: Operation[T],
        *,
        short: bool = False,  # a server is asked in any case
    ) -> Awaitable[T]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._turns.add(PendingCall(actor, operation, future, loop))
        return future

    def read(self, actor: Actor, operation: Operation[T], *, long: bool = False) -> Awaitable[T]:
        try:
            return asyncio.get_running_loop().run_in_executor(self._threads, self.read_now, actor, operation)
        except RuntimeError as error:
            if self._pool.closed:
                raise StoreUnavailable("the hub is closing") from error
            raise

    def write_now(self, actor: Actor, operation: Operation[T]) -> T:
        future: Future[T] = Future()
        self._turns.add(PendingCall(actor, operation, future, None))
        return future.result()

    def read_now(self, actor: Actor, operation: Operation[T]) -> T:
        return self._patiently(self._read, actor, operation)

    def on_activity(self, wake: Callable[[], None]) -> None:
        self._wakeups.add(wake)

    def be_seen(self, hub: str) -> None:
        self._wakeups.hold(hub)

    def tell_hubs(self, news: str) -> None:
        self._wakeups.pass_on(news)

    def on_news(self, hear: Callable[[str], None]) -> None:
        self._wakeups.add_hearer(hear)

    def close(self) -> None:
        finishing = threading.Thread(target=self._finish, name="hubbub-closing")
        finishing.start()
        finishing.join(CLOSING)
        self._pool.close(timeout=CLOSING)  # so that nobody waits for a dead server
        finishing.join()
        self._wakeups.close()

    def _finish(self) -> None:
        self._turns.close()
        self._threads.shutdown()

    def _together(self, turn: Turn) -> None:
        """Run the calls as one transaction and answer them; calls that failed because of others run again alone."""
        taken: list[PendingCall] = []
        aside: list[PendingCall] = []
        try:
            aside = self._tried_twice(turn, taken)
        except (StoreUnavailable, PoolTimeout, PoolClosed) as error:  # of the commit, or of the server
            taken += turn
            for call in taken:
                call.error = _explained(error)
        except psycopg.Error:  # the second run shows whose fault it is
            aside = [*taken]
        finally:  # also after a failure, or without activities: the tail may have waited for its end
            self._wakeups.tell()
        answer([call for call in taken if call not in aside])
        for call in aside:
            self._threads.submit(self._aside, call)

    def _tried_twice(self, turn: Turn, taken: list[PendingCall]) -> list[PendingCall]:
        """Commit the calls that can be done at once, and return the others. Raises if nothing was kept.

        A statement sent without waiting may fail when another transaction interferes; then all begin anew, one by one.
        """
        try:
            return self._commit(_noted(turn, taken), turn.ahead)
        except (PoolTimeout, PoolClosed):
            raise
        except (psycopg.Error, _LeftUndone):
            taken += turn
            return self._commit(taken)

    def _commit(
        self, calls: Iterable[PendingCall], ahead: Callable[[], Sequence[PendingCall]] | None = None
    ) -> list[PendingCall]:
        """Run the calls and commit them once; return those that could not be done at once.

        If two of them begin with different queries, those that are `ahead` are rehearsed, so that all wait together.
        Without `ahead` the server has done each call before the next begins.
        """
        total, now, waits = CounterChanges(), self._clock(), ahead is None
        aside: list[PendingCall] = []
        with self._transaction(WRITE) as connection:
            connection.tell(SHORTLY, {})
            for call in calls:
                try:
                    tx = Tx(connection, call.actor, now, before=total)
                    is_done = self._run(call, tx, connection, waits=waits)
                except Unasked:
                    connection.steps_back = False
                    if ahead is not None and (others := ahead()):
                        rehearse(connection, [call, *others], now, total)
                    ahead = None
                    tx = Tx(connection, call.actor, now, before=total)
                    is_done = self._run(call, tx, connection, waits=waits)
                connection.steps_back = ahead is not None
                if not is_done:
                    aside.append(call)
                elif call.error is None:
                    total.add(tx.tally)
            if total.left:
                total.add(_caught_up(Tx(connection, SYSTEM, now, before=total)))
            status_counters.flush(connection, total)
        return aside

    def _run(self, call: PendingCall, tx: Tx, connection: PostgresConnection, *, waits: bool) -> bool:
        """Run one call among others; if it raises, only that call is undone. False if it has to be run alone.

        Raises the failure of an earlier call, and `Unasked`.
        """
        call.error, is_done = None, True
        earlier = connection.open_call()
        try:
            with call.in_hand:
                call.has_begun = True
                call.result = perform(call.operation, tx)
                if waits:
                    tx.catch_up()
            if waits:
                connection.settle()
        except Unasked:
            call.has_begun = False
            connection.tell("RELEASE call", {})
            raise
        except BaseException as error:  # any error belongs to its caller
            if not isinstance(error, psycopg.Error):
                connection.settle()
            if not connection.has_done(earlier):
                raise
            connection.recover()  # raises if the connection is gone, and with it the whole transaction
            connection.tell("ROLLBACK TO call", {})
            is_done = not isinstance(error, (*COLLISIONS, *STOPPED))
            call.error = _explained(error) if isinstance(error, psycopg.OperationalError) else error
        connection.tell("RELEASE call", {})
        return is_done

    def _aside(self, call: PendingCall) -> None:
        """Run a call in a transaction of its own, as often and as long as needed."""
        call.error = None
        try:
            call.result = self._patiently(self._write, call.actor, call.operation)
        except BaseException as error:  # noqa: BLE001  # it is its caller's
            call.error = error
        finally:
            self._wakeups.tell()
        answer([call])

    def _patiently(
        self, once: Callable[[Actor, Operation[T]], T], actor: Actor, operation: Operation[T]
    ) -> T:
        """Run the operation, again if that may help, and explain its failure otherwise."""
        tries = 0
        while True:
            tries += 1
            try:
                return once(actor, operation)
            except errors.ReadOnlySqlTransaction as error:
                raise WroteInRead from error
            except psycopg.OperationalError as error:
                if tries == TRIES:
                    raise _explained(error) from error
                if isinstance(error, COLLISIONS):
                    _step_back(tries)
                elif _is_lost(error):
                    self._pool.check()  # if one connection is gone, all may be
                else:
                    raise _explained(error) from error

    def _write(self, actor: Actor, operation: Operation[T]) -> T:
        with self._transaction(WRITE) as connection:
            tx = Tx(connection, actor, self._clock())
            result = perform(operation, tx)
            tx.catch_up()
            status_counters.flush(connection, tx.tally)
            return result

    def _read(self, actor: Actor, operation: Operation[T]) -> T:
        with self._transaction(READ) as connection:
            return perform(operation, Tx(connection, actor, self._clock(), is_read=True))

    @contextmanager
    def _transaction(self, how: str) -> Iterator[PostgresConnection]:
        """Open a transaction, committed at the end, or undone if the block raises."""
        with self._pool.connection() as db:
            connection = PostgresConnection(db)
            try:
                connection.begin(how)
                yield connection
                connection.settle()
            except BaseException:
                connection.undo()
                raise
            _commit(db, connection)


def _noted(turn: Iterator[PendingCall], taken: list[PendingCall]) -> Iterator[PendingCall]:
    """Yield the calls of a turn, each noted as it is taken."""
    for call in turn:
        taken.append(call)
        yield call


def _caught_up(tx: Tx) -> CounterChanges:
    """Do the work that calls left, and return what it changed. Raises `_LeftUndone` if it fails by itself."""
    try:
        tx.catch_up()
    except psycopg.Error:
        raise
    except Exception as error:
        raise _LeftUndone from error
    return tx.tally


def _configure(db: Db) -> None:
    db.execute(LIMITS)
    db.commit()


def _commit(db: Db, connection: PostgresConnection) -> None:
    """Commit; if the connection is lost at that moment, nobody knows whether the server did."""
    try:
        connection.commit()
    except psycopg.OperationalError as error:
        if not db.broken:
            raise
        raise StoreUnavailable(
            "the connection to the database server was lost during the commit; look whether this call was kept"
        ) from error


def _step_back(tries: int) -> None:
    """Let the other transaction pass: an immediate retry would take the row again before the other has woken up."""
    time.sleep(STEP_BACK * 2**tries * random.uniform(0.5, 1))  # noqa: S311  # nothing secret


def _is_lost(error: psycopg.OperationalError) -> bool:
    """Tell whether the connection is gone, so that another may do; the server says so, or gives no code."""
    gone = isinstance(error, (errors.AdminShutdown, errors.CrashShutdown)) or error.sqlstate is None
    return gone and not isinstance(error, (PoolTimeout, PoolClosed))


def _explained(error: psycopg.OperationalError | StoreUnavailable) -> StoreUnavailable:
    if isinstance(error, StoreUnavailable):
        return StoreUnavailable(str(error))  # each caller gets its own
    sentence = next(sentence for kind, sentence in FAULTS if isinstance(error, kind))
    return StoreUnavailable(f"{sentence}; nothing of this call was kept")
