"""One connection to SQLite, and what may befall it in words."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any
from uuid import UUID

import apsw
import apsw.bestpractice

from hubbub.model.errors import StoreUnavailable
from hubbub.model.moments import milliseconds
from hubbub.store.tx import Row

STATEMENTS = 512  # kept prepared a connection: more than the program has
UNBOUNDED = sys.maxsize

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


class TooLong(BaseException):
    """A call takes more statements than it was allowed: it is to begin anew where it may take its time."""


class SQLiteConnection:
    """`Connection` on SQLite: ids are 16 bytes there, rows are dicts here.

    `allowance` is how many statements more are carried out before `TooLong` is raised.
    """

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
        self.allowance = UNBOUNDED

    def placed(self, sign: str, tx: str = ":tx", seq: str = ":seq") -> str:
        """By both at once SQLite would go through all that has the same `tx`, which is the whole log."""
        return f"tx = {tx} AND seq {sign} {seq}"

    def query(self, sql: str, values: Mapping[str, object]) -> Sequence[Row]:
        self.allowance -= 1
        if self.allowance < 0:
            raise TooLong
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


def explained(error: BaseException, consequence: str) -> BaseException:
    """The error as its caller should see it: a fault of the engine as one sentence, anything else as it is."""
    if isinstance(error, apsw.Error) and type(error) in FAULTS:
        fault = StoreUnavailable(f"{FAULTS[type(error)]}; {consequence}")
        fault.__cause__ = error
        return fault
    return error


@contextmanager
def explaining(consequence: str) -> Iterator[None]:
    try:
        yield
    except apsw.Error as error:
        fault = explained(error, consequence)
        raise fault from fault.__cause__
