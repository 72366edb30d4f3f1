"""PostgreSQL: a pool of connections and a pool of threads, for hubs that share one database.

Operations are the same plain functions. They may meet here: two that wait for each other (a deadlock) are begun again
from the start, with a new `Tx`, which is safe because an operation does nothing outside its transaction.
"""

import asyncio
import random
import re
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TypeVar

import psycopg
from psycopg import IsolationLevel, errors
from psycopg.rows import DictRow, dict_row
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from hubbub.model.errors import StoreRefused, StoreUnavailable
from hubbub.model.rights import Actor
from hubbub.store import migrate, tally
from hubbub.store.tx import Clock, Operation, Row, Tx, WroteInRead, perform, unix_ms
from hubbub.store.wakeups import CONNECT_TIMEOUT, HUB_HAS_ENDED, NOTIFY_EVERY, Wakeups

T = TypeVar("T")
Db = psycopg.Connection[DictRow]

WORKERS = 16  # threads, and connections: more only queue inside the server
TRIES = 6  # at an operation that meets another or loses its connection, before its caller hears of it
STEP_BACK = 0.01  # seconds, doubled with every try
CLOSING = 1.5  # seconds for what waits to be done, and then for the pool's own threads to end
PATIENCE = 5.0  # seconds to wait for a connection
LIMITS = """
    SET statement_timeout = '60s';
    SET lock_timeout = '10s';
    SET idle_in_transaction_session_timeout = '60s'
"""  # the tail of the log waits for every transaction that has begun, so none may hang

UNREACHABLE = "the database server cannot be reached, or does not let the hub in"
FORBIDDEN = "the database is empty, and its user may make no tables in it; grant CREATE on its schema"
COLLISIONS = (errors.DeadlockDetected, errors.SerializationFailure)

# What may befall the engine, as people should read it; the first that fits. Other errors are bugs and shown as such.
FAULTS: tuple[tuple[type[psycopg.Error], str], ...] = (
    (errors.DiskFull, "the disk of the database server is full"),
    (errors.LockNotAvailable, "the database is locked by another program"),
    (errors.QueryCanceled, "the database took too long"),
    (errors.TransactionRollback, "too many callers changed the same thing at once"),
    (PoolClosed, "the hub is closing"),
    (PoolTimeout, "the database server cannot be reached, or all connections to it are in use"),
    (psycopg.OperationalError, "the connection to the database server was lost"),
)

_TOKENS = re.compile(
    r"""'(?:[^']|'')*'      # a text
      | --[^\n]*            # a comment
      | ::                  # a cast
      | :(?P<name>[a-z_]\w*)
      | %""",
    re.VERBOSE,
)


@lru_cache(maxsize=1024)
def spell(sql: str) -> bytes:
    """The statement with its `:name` parameters as psycopg wants them; texts, casts and % stay what they are."""

    def token(match: re.Match[str]) -> str:
        name = match["name"]
        return f"%({name})s" if name else match[0].replace("%", "%%")

    return _TOKENS.sub(token, sql).encode()


class PostgresConnection:
    """`Connection` on PostgreSQL."""

    transaction_number = "pg_current_xact_id()::text::bigint"
    settled = "tx < pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
    for_update = "FOR NO KEY UPDATE"  # keys never change: who only refers to the row need not wait
    for_delete = "FOR UPDATE"
    for_reference = "FOR KEY SHARE"
    skip_locked = "SKIP LOCKED"
    hub_has_ended = HUB_HAS_ENDED

    def __init__(self, db: Db) -> None:
        self._db = db

    def query(self, sql: str, values: Mapping[str, object]) -> Sequence[Row]:
        cursor = self._db.execute(spell(sql), values)
        return cursor.fetchall() if cursor.description else []


class Postgres:
    """The engine for more than one hub: `Store` over a database of this version."""

    def __init__(self, url: str, *, clock: Clock, notify_every: float) -> None:
        self._clock = clock
        self._pool = ConnectionPool[Db](
            url,
            min_size=1,
            max_size=WORKERS,
            timeout=PATIENCE,
            open=True,
            num_workers=1,
            name="hubbub",
            configure=_configure,
            kwargs={"row_factory": dict_row, "client_encoding": "utf8"},
        )
        self._threads = ThreadPoolExecutor(WORKERS, thread_name_prefix="hubbub-store")
        self._wakeups = Wakeups(url, notify_every)

    @classmethod
    def open(cls, url: str, *, clock: Clock = unix_ms, notify_every: float = NOTIFY_EVERY) -> "Postgres":
        """The store at `url` (postgresql://…), whose tables are made if the database is empty.

        `notify_every` is how many seconds lie between two notifications of other hubs, at least. Raises
        `StoreRefused` if the database is not at this version of the program, `StoreUnavailable` if it cannot
        be reached.
        """
        try:
            with psycopg.connect(url, connect_timeout=CONNECT_TIMEOUT) as db:
                migrate.prepare_postgres(db)
        except psycopg.OperationalError as error:
            raise StoreUnavailable(UNREACHABLE) from error
        except (errors.InsufficientPrivilege, errors.InvalidSchemaName) as error:
            raise StoreRefused(FORBIDDEN) from error
        return cls(url, clock=clock, notify_every=notify_every)

    @staticmethod
    def migrate(url: str) -> int:
        """Bring the database at `url` to this version and return its number; hubs may go on serving meanwhile.

        Raises `StoreRefused` if the database is newer than the program, `StoreUnavailable` if it cannot be reached.
        """
        try:
            with psycopg.connect(url, connect_timeout=CONNECT_TIMEOUT) as db:
                return migrate.migrate_postgres(db)
        except psycopg.OperationalError as error:
            raise StoreUnavailable(UNREACHABLE) from error

    def write(self, actor: Actor, operation: Operation[T]) -> Awaitable[T]:
        return self._in_thread(self.write_now, actor, operation)

    def read(self, actor: Actor, operation: Operation[T], *, long: bool = False) -> Awaitable[T]:
        return self._in_thread(self.read_now, actor, operation)

    def write_now(self, actor: Actor, operation: Operation[T]) -> T:
        try:
            return self._patiently(self._write, actor, operation)
        finally:  # also after one that recorded nothing or failed: the tail may have waited for its end
            self._wakeups.tell()

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
        finishing = threading.Thread(target=self._threads.shutdown, name="hubbub-closing")
        finishing.start()
        finishing.join(CLOSING)
        self._pool.close(timeout=CLOSING)  # so that nobody waits on for a server that is gone
        finishing.join()
        self._wakeups.close()

    def _in_thread(
        self, run: Callable[[Actor, Operation[T]], T], actor: Actor, operation: Operation[T]
    ) -> Awaitable[T]:
        try:
            return asyncio.get_running_loop().run_in_executor(self._threads, run, actor, operation)
        except RuntimeError as error:
            if self._pool.closed:
                raise StoreUnavailable("the hub is closing; nothing of this call was kept") from error
            raise

    def _patiently(
        self, once: Callable[[Actor, Operation[T]], T], actor: Actor, operation: Operation[T]
    ) -> T:
        """Run the operation, again where that may help, and explain why where it does not."""
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
                    self._pool.check()  # where one connection is gone, all may be
                else:
                    raise _explained(error) from error

    def _write(self, actor: Actor, operation: Operation[T]) -> T:
        with self._pool.connection() as db:
            db.isolation_level, db.read_only = IsolationLevel.READ_COMMITTED, False
            tx = Tx(PostgresConnection(db), actor, self._clock())
            result = perform(operation, tx)
            tally.flush(tx.db, tx.tally)
            _commit(db)
            return result

    def _read(self, actor: Actor, operation: Operation[T]) -> T:
        with self._pool.connection() as db:
            db.isolation_level, db.read_only = IsolationLevel.REPEATABLE_READ, True
            tx = Tx(PostgresConnection(db), actor, self._clock(), is_read=True)
            return perform(operation, tx)


def _configure(db: Db) -> None:
    db.execute(LIMITS)
    db.commit()


def _commit(db: Db) -> None:
    """Commit; a connection that is lost just now leaves open whether the server did."""
    try:
        db.commit()
    except psycopg.OperationalError as error:
        if not db.broken:
            raise
        raise StoreUnavailable(
            "the connection to the database server was lost during the commit; look whether this call was kept"
        ) from error


def _step_back(tries: int) -> None:
    """Let the other one pass: who comes back at once takes the row again before the other has woken up."""
    time.sleep(STEP_BACK * 2**tries * random.uniform(0.5, 1))  # noqa: S311  # nothing secret


def _is_lost(error: psycopg.OperationalError) -> bool:
    """Whether the connection is gone, so that another one may do; the server says why, or there is no code at all."""
    gone = isinstance(error, (errors.AdminShutdown, errors.CrashShutdown)) or error.sqlstate is None
    return gone and not isinstance(error, (PoolTimeout, PoolClosed))


def _explained(error: psycopg.OperationalError) -> StoreUnavailable:
    sentence = next(sentence for kind, sentence in FAULTS if isinstance(error, kind))
    return StoreUnavailable(f"{sentence}; nothing of this call was kept")
