"""PostgreSQL under the same stories: operations run on the server; promises are checked in a copy of its tables.

The promises are written for SQLite, so the tables are copied into SQLite after every write. A step takes a hundred
times as long as in memory, and few stories are played here.
"""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, TypeVar
from uuid import UUID

import apsw
import psycopg
from psycopg import sql

from hubbub.model.errors import StoreUnavailable
from hubbub.model.people.rights import Actor
from hubbub.store.engine.pending_calls import PendingCall
from hubbub.store.engine.postgres import Postgres
from hubbub.store.tx import Clock, Operation, Tx
from simulate.store import Fate, template

T = TypeVar("T")
NEVER = 3600.0  # seconds between notifications: there is no other hub


class _Turn(Iterator[PendingCall]):
    """Calls that are committed together."""

    def __init__(self, calls: list[PendingCall]) -> None:
        self._calls = deque(calls)

    def __next__(self) -> PendingCall:
        if not self._calls:
            raise StopIteration
        return self._calls.popleft()

    def ahead(self) -> list[PendingCall]:
        return [*self._calls]


class Server:
    """A database on a server, used by this process alone."""

    def __init__(self, url: str) -> None:
        self.fate = Fate.NONE
        self.clock: Clock = lambda: 0
        self._store = Postgres.open(url, clock=lambda: self.clock(), notify_every=NEVER)  # noqa: PLW0108  # it changes
        self._db = psycopg.connect(url, autocommit=True)
        self._db.execute(
            "SET session_replication_role = replica"
        )  # so that tables can be emptied in any order
        self._copy = apsw.Connection(":memory:")
        self._copy.deserialize("main", template())
        self._copy.execute("PRAGMA foreign_keys = 0")
        self._columns = {table: self._columns_of(table) for table in self._tables()}
        self._is_old, self._turns = True, 0

    def close(self) -> None:
        self._store.close()
        self._db.close()

    def turn(self, calls: list[PendingCall]) -> bool:
        self._is_old = True
        self._turns += 1
        if self.fate in (Fate.REFUSED, Fate.FULL, Fate.KILLED):
            for call in calls:
                call.operation = _refused(call.operation)
        self._store._together(_Turn(calls))
        return True

    def read(self, actor: Actor, operation: Operation[T]) -> T:
        return self._store.read_now(actor, operation)

    def rows(self, statement: str, /, **values: object) -> list[tuple[Any, ...]]:
        if self._is_old:
            self._renew()
        return list(self._copy.execute(statement, values))

    def written(self) -> int:
        return self._turns

    def empty(self) -> None:
        names = sql.SQL(", ").join(map(sql.Identifier, self._columns))
        self._db.execute(sql.SQL("TRUNCATE {} RESTART IDENTITY CASCADE").format(names))
        self._is_old = True

    def _tables(self) -> list[str]:
        named = self._copy.execute(
            """SELECT name FROM sqlite_schema
               WHERE type = 'table' AND name NOT IN ('migrations', 'sqlite_sequence')"""
        )
        return [str(name) for (name,) in named]

    def _columns_of(self, table: str) -> list[str]:
        return [str(row[0]) for row in self._copy.execute(f"SELECT name FROM pragma_table_info('{table}')")]

    def _renew(self) -> None:
        """Copy all tables."""
        with self._copy:
            for table, columns in self._columns.items():
                asked = sql.SQL("SELECT {} FROM {}").format(
                    sql.SQL(", ").join(map(sql.Identifier, columns)), sql.Identifier(table)
                )
                found = self._db.execute(asked).fetchall()
                self._copy.execute(f"DELETE FROM {table}")
                if found:
                    marks = ", ".join("?" * len(columns))
                    self._copy.executemany(
                        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})",
                        [tuple(map(_plain, row)) for row in found],
                    )
        self._is_old = False


def _refused(operation: Operation[T]) -> Callable[[Tx], T]:
    """Wrap the operation so that its commit fails."""

    def run(tx: Tx) -> T:
        operation(tx)
        raise StoreUnavailable("the server was lost; nothing of this call was kept")

    return run


def _plain(value: Any) -> Any:
    return value.bytes if isinstance(value, UUID) else value
