"""The real store, in memory and in one thread, with a fate that fails commits and kills processes.

The database outlives the hub's processes, which open it one after the other. When a process dies, its uncommitted work
is lost.
"""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from enum import StrEnum, auto
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol, TypeVar

import apsw

from hubbub.model.errors import StoreUnavailable
from hubbub.model.people.rights import Actor
from hubbub.store.engine.pending_calls import PendingCall
from hubbub.store.engine.single_hub import SingleHub
from hubbub.store.engine.sqlite import DATABASE, SQLite
from hubbub.store.engine.sqlite_writer import WriteBatch, Writer
from hubbub.store.tx import Clock, Operation, Tx, WroteInRead, perform

T = TypeVar("T")


class Fate(StrEnum):
    """The fate of the next commit, and of the call that waits for it."""

    NONE = auto()
    REFUSED = auto()  # the disk is full; the hub lives on
    FULL = auto()  # the disk is full for each commit until the step is over
    KILLED = auto()  # the hub dies before the commit
    UNHEARD = auto()  # the hub dies after the commit, before it answers


class Disk(Protocol):
    """A database that outlives its processes."""

    fate: Fate
    clock: Clock

    def turn(self, calls: list[PendingCall]) -> bool:
        """Run calls in one transaction, commit it and answer them all; tell whether there are new activities."""

    def read(self, actor: Actor, operation: Operation[T]) -> T:
        """Return the result of an operation that only reads."""

    def rows(self, sql: str, /, **values: object) -> list[tuple[Any, ...]]:
        """Return the rows of a statement, read outside all transactions."""

    def written(self) -> int:
        """Return a number that every write raises."""

    def empty(self) -> None:
        """Restore the state of a new database."""


class _Writer(Writer):
    """The writer of the SQLite store, without its thread."""

    def _serve(self) -> None:
        """Start no thread."""


class Memory:
    """SQLite in memory."""

    def __init__(self) -> None:
        self.fate, self._commits = Fate.NONE, 0  # the fate of this turn, and its commits so far
        self.clock: Clock = lambda: 0
        self._writer = _Writer(Path(":memory:"), timedelta(0), lambda: self.clock(), lambda: None)  # noqa: PLW0108  # each run has another clock
        self._db = self._writer._db
        self._db.deserialize("main", template())
        named = self._db.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'migrations' AND sql IS NOT NULL"
        )
        self._tables = [str(name) for (name,) in named]
        self._db.set_commit_hook(self._refuses)

    def turn(self, calls: list[PendingCall]) -> bool:
        self._commits = 0
        return self._writer._is_committed(WriteBatch(calls))

    def read(self, actor: Actor, operation: Operation[T]) -> T:
        self._db.execute("BEGIN")
        try:
            return perform(operation, Tx(self._writer._connection, actor, self.clock(), is_read=True))
        finally:
            # Without `PRAGMA query_only`: each change of it makes SQLite prepare all statements anew.
            has_written = self._db.txn_state("main") == apsw.SQLITE_TXN_WRITE
            self._db.execute("ROLLBACK")
            if has_written:
                raise WroteInRead

    def rows(self, sql: str, /, **values: object) -> list[tuple[Any, ...]]:
        return list(self._db.execute(sql, values))

    def written(self) -> int:
        return self._db.total_changes()

    def empty(self) -> None:
        looks = " UNION ALL ".join(
            f"SELECT '{each}' WHERE EXISTS (SELECT 1 FROM {each})" for each in self._tables
        )
        written = [name for (name,) in self._db.execute(looks)]
        self._db.execute("PRAGMA foreign_keys = 0")
        for name in written:
            self._db.execute(f"DELETE FROM {name}")
        self._db.execute("PRAGMA foreign_keys = 1")
        self._writer._connection.forget()  # what it remembers of the story before

    def _refuses(self) -> bool:
        self._commits += 1
        if self.fate in (Fate.REFUSED, Fate.FULL, Fate.KILLED) or (
            self.fate is Fate.UNHEARD and self._commits > 1
        ):
            raise apsw.FullError("the disk is full")
        return False


@cache
def template() -> bytes:
    """Return a new database of this version."""
    with TemporaryDirectory(prefix="hubbub-simulate-") as folder:
        SQLite.open(Path(folder)).close()
        file = Path(folder, DATABASE)
        db = apsw.Connection(str(file))
        db.pragma("journal_mode", "DELETE")  # a database in memory has no log beside it
        db.close()
        return file.read_bytes()


class Process(SingleHub):
    """`Store` for one process of the hub. Calls within one turn of the loop are committed together."""

    def __init__(self, disk: Disk) -> None:
        self.disk = disk
        self.died = asyncio.Event()
        self._waiting: list[PendingCall] = []
        self._wakes: list[Callable[[], None]] = []

    async def write(self, actor: Actor, operation: Operation[T], *, short: bool = False) -> T:
        self._live()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._waiting.append(PendingCall(actor, operation, future, loop, is_short=short))
        if len(self._waiting) == 1:
            loop.call_soon(self._turn)
        outcome = await future
        self._live()
        return outcome

    async def read(self, actor: Actor, operation: Operation[T], *, long: bool = False) -> T:
        return self.read_now(actor, operation)

    def write_now(self, actor: Actor, operation: Operation[T]) -> T:
        raise NotImplementedError("a process of the hub that is simulated has an event loop")

    def read_now(self, actor: Actor, operation: Operation[T]) -> T:
        self._live()
        return self.disk.read(actor, operation)

    def on_activity(self, wake: Callable[[], None]) -> None:
        self._wakes.append(wake)

    def close(self) -> None:
        """Die: do nothing more, and answer nobody."""
        self.died.set()

    def _live(self) -> None:
        if self.died.is_set():
            raise StoreUnavailable("the process is no more")

    def _turn(self) -> None:
        calls, self._waiting = [each for each in self._waiting if not each.is_abandoned], []
        if self.died.is_set() or not calls:
            return
        fate = self.disk.fate
        is_news = self.disk.turn(calls)
        if fate is not Fate.FULL:
            self.disk.fate = Fate.NONE
        if fate in (Fate.KILLED, Fate.UNHEARD):
            self.died.set()
        elif is_news:
            for wake in self._wakes:
                wake()
