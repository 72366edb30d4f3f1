"""One connection to SQLite, and explanations of its errors."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from errno import EDQUOT, ENOSPC
from functools import lru_cache
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any
from uuid import UUID

import apsw

from hubbub.model.errors import StoreUnavailable
from hubbub.model.timestamps import milliseconds
from hubbub.store.tx import Operation, Row, T, Tx, perform

STATEMENTS = 512  # prepared statements of a connection: more than the program has
TUPLES = 8  # that take as long as a row with names
UNBOUNDED = sys.maxsize // TUPLES
STEPS = 1000  # of SQLite's virtual machine, between two checks of their number
LOOKS = 200  # until the limit: some 10 ms, if most of the steps read rows

# Faults of the engine, as people should read them. Every other error of SQLite is a bug, and is shown as it is.
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


InOrder = Callable[[Mapping[str, object]], tuple[object, ...]]  # the values of a statement in their order


class TooLong(BaseException):
    """A call takes more of an event loop than allowed: it has to begin anew where it may take its time."""


class SQLiteConnection:
    """`Connection` on SQLite: ids are 16 bytes there, rows are dicts here.

    On an event loop it is `bound`: exceeding the bounds raises `TooLong`, or `apsw.InterruptError`.
    """

    is_shared = False
    transaction_number = "0"  # there is one writer, so `seq` alone is the order
    settled = (
        "tx = 0 AND seq > 0"  # all are; it tells SQLite that `seq`, the key of the table, is their order
    )
    for_update = ""
    for_delete = ""
    for_reference = ""
    skip_locked = ""
    hub_has_ended = "1 = 1"  # there is one hub at a time

    def __init__(self, file: Path, busy_timeout: timedelta) -> None:
        self.db = apsw.Connection(str(file), statementcachesize=STATEMENTS)
        self.db.convert_binding = _bind
        self.db.set_busy_timeout(milliseconds(busy_timeout))
        for quotes in (apsw.SQLITE_DBCONFIG_DQS_DML, apsw.SQLITE_DBCONFIG_DQS_DDL):
            self.db.config(quotes, 0)  # "text" is a column, never a string
        # Otherwise a statement whose plan may depend on a value is prepared anew for each value, such as each time.
        self.db.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        self._names: dict[str, list[str]] = {}  # columns of each statement
        self._orders: dict[str, InOrder] = {}
        self._cursor = self.db.cursor()  # of one statement after the other: making one takes a while
        self._unfinished: set[apsw.Cursor] = set()  # of rows that are read one after the other
        self.release()

    def bound(self, statements: int, rows: int) -> None:
        """Limit the next statements: their number, the total of their rows, and SQLite's own work."""
        self._statements, self._rows, self._looks = statements, rows, LOOKS
        self.db.set_progress_handler(self._has_looked_enough, STEPS)

    def release(self) -> None:
        """Lift the limits."""
        self._statements = self._rows = UNBOUNDED
        self.db.set_progress_handler(None)

    def command(self, sql: str) -> None:
        """Run a statement that begins or ends a transaction, or a part of one."""
        self._cursor.execute(sql)

    def perform(self, operation: Operation[T], tx: Tx) -> T:
        """Run `operation`, and end all reading that it has begun.

        A broken-off operation may live on in its error. A statement of it that has more rows would keep the connection
        at the state that it saw, and later reads would see that.
        """
        try:
            return perform(operation, tx)
        finally:
            while self._unfinished:
                self._unfinished.pop().close(force=True)

    def _has_looked_enough(self) -> bool:
        self._looks -= 1
        return self._looks < 0

    def placed(self, sign: str, tx: str = ":tx", seq: str = ":seq") -> str:
        """Compare column by column: for a row comparison SQLite reads all rows with the same `tx`, the whole log."""
        return f"tx = {tx} AND seq {sign} {seq}"

    def query(self, sql: str, values: Mapping[str, object]) -> Sequence[Row]:
        found = self._found(sql, values)
        if not found:
            return []
        names = self._names[sql]
        return [_row(names, values) for values in found]

    def tuples(self, sql: str, values: Mapping[str, object]) -> Sequence[tuple[Any, ...]]:
        return self._found(sql, values, for_one=TUPLES)

    def _found(
        self, sql: str, values: Mapping[str, object], *, for_one: int = 1
    ) -> Sequence[tuple[Any, ...]]:
        """Return the rows of a statement, of which so many count as one."""
        self._statements -= 1
        if self._statements < 0:
            raise TooLong
        order = self._orders.get(sql)
        cursor = self._first(sql, values) if order is None else self._cursor.execute(sql, order(values))
        first = cursor.fetchone()
        if first is None:
            return []
        self._names_of(sql, cursor)
        found = [first, *islice(cursor, self._rows * for_one)]
        self._rows -= -(-len(found) // for_one)
        if self._rows < 0:
            cursor.close(force=True)
            self._cursor = self.db.cursor()
            raise TooLong
        return found

    def _first(self, sql: str, values: Mapping[str, object]) -> apsw.Cursor:
        """Run a statement for the first time, and note the order of its values: by name they take twice as long."""

        def note(cursor: apsw.Cursor, _sql: str, _values: object) -> bool:
            self._orders[sql] = _in_order([name or "" for name in cursor.bindings_names])
            return True

        self._cursor.exec_trace = note
        try:
            return self._cursor.execute(sql, values)
        finally:
            self._cursor.exec_trace = None

    def each(self, sql: str, values: Mapping[str, object]) -> Iterator[Row]:
        cursor = self.db.execute(sql, values)
        self._unfinished.add(cursor)
        for row in cursor:
            self._rows -= 1
            if self._rows < 0:
                raise TooLong
            yield _row(self._names_of(sql, cursor), row)
        self._unfinished.discard(cursor)

    def _names_of(self, sql: str, cursor: apsw.Cursor) -> Sequence[str]:
        """Return the column names of a statement whose `cursor` is at a row."""
        names = self._names.get(sql)
        if names is None:
            names = self._names[sql] = [column[0] for column in cursor.get_description()]
        return names

    def tell(self, sql: str, values: Mapping[str, object]) -> None:
        self.query(sql, values)


def _in_order(names: Sequence[str]) -> InOrder:
    """Return the function that takes the values of these names."""
    if len(names) > 1:
        return itemgetter(*names)
    return lambda values: tuple([values[name] for name in names])


def _bind(_cursor: object, _number: int, value: object) -> bytes:
    if isinstance(value, UUID):
        return value.int.to_bytes(16)  # its `bytes`, in half the time
    raise TypeError(f"a {type(value).__name__} cannot be stored")


@lru_cache(maxsize=4096)  # making one takes a while, and most rows refer to the same project and run
def _uuid(value: bytes) -> UUID:
    return UUID(bytes=value)


def _row(names: Sequence[str], values: Sequence[Any]) -> Row:
    pairs = zip(names, values, strict=True)
    return {name: _uuid(value) if type(value) is bytes else value for name, value in pairs}


def explained(error: BaseException, consequence: str) -> BaseException:
    """Return the error for the caller: a fault of the engine explained in one sentence, any other as it is."""
    if (told := _fault(error)) is not None:
        fault = StoreUnavailable(f"{told}; {consequence}")
        fault.__cause__ = error
        return fault
    return error


def _fault(error: BaseException) -> str | None:
    if isinstance(error, OSError):
        return FAULTS[apsw.FullError if error.errno in (ENOSPC, EDQUOT) else apsw.IOError]
    return FAULTS.get(type(error)) if isinstance(error, apsw.Error) else None


@contextmanager
def explaining(consequence: str) -> Iterator[None]:
    try:
        yield
    except (apsw.Error, OSError) as error:
        fault = explained(error, consequence)
        raise fault from fault.__cause__
