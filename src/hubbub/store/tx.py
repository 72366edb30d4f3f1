"""The store's contract: a transaction as operations see it, and an engine as the edges see it.

Operations are plain functions over a `Tx`. SQL is one text for both engines, with `:name` parameters. Values are
None, int, float, str and UUID; a UUID is 16 bytes in SQLite and `uuid` in PostgreSQL, and a UUID again when read.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, Protocol, TypeVar
from uuid import UUID

from hubbub.model.json_text import compact
from hubbub.model.log.projection import Patch
from hubbub.model.people.rights import Actor

Row = Mapping[str, Any]
T = TypeVar("T")
Operation = Callable[["Tx"], T]
Clock = Callable[[], int]  # the time, in Unix milliseconds
Counts = defaultdict[tuple[UUID, str], int]
Left = tuple[
    Callable[["Tx", list[Any]], None], Any
]  # work that is done for many things at once, and one of these
_none = partial(defaultdict[tuple[UUID, str], int], int)  # a `Counter` takes ten times as long to make


@lru_cache
def _recording(transaction_number: str) -> str:
    return f"""INSERT INTO activity (tx, project_id, at, kind, actor, agent, task_id, message_id, detail, patch)
               VALUES ({transaction_number}, :project_id, :at, :kind, :actor, :agent, :task_id, :message_id,
                       :detail, :patch)"""


def from_engine(value: Any) -> Any:
    """Return a value of `tuples` as rows have it."""
    return UUID(bytes=value) if type(value) is bytes else value


def unix_ms() -> int:
    """Return this machine's time; tests give the engines another clock."""
    return time.time_ns() // 1_000_000


class WroteInRead(RuntimeError):
    """An operation ran as a read, and tried to write: a bug."""

    def __init__(self) -> None:
        super().__init__("an operation that was run as a read tried to write")


class MustWrite(Exception):
    """An operation that ran as a read has to write: it is to be run again, as a write."""


class Connection(Protocol):
    """The part of a database connection that operations need, common to both engines.

    The fragments are the only SQL in which the engines differ: the number of the writing transaction; the condition
    under which no earlier activity can still appear; the lock of a row before a change; the option to skip rows that
    another transaction has locked; the condition under which the hub in the column `hub` has ended, never used about
    the asking hub itself; and the comparison of places in the log.
    """

    is_shared: bool  # by several hubs
    transaction_number: str
    settled: str
    for_update: str  # transactions that only refer to the row go on
    for_delete: str  # transactions that refer to it wait, and find it gone
    for_reference: str
    skip_locked: str
    hub_has_ended: str

    def placed(self, sign: str, tx: str = ":tx", seq: str = ":seq") -> str:
        """Return the condition that a row of the log comes before (<, <=) or after (>) a place in it."""

    def query(self, sql: str, values: Mapping[str, object]) -> Sequence[Row]: ...

    def tuples(self, sql: str, values: Mapping[str, object]) -> Sequence[tuple[Any, ...]]:
        """Query rows as the engine has them, the fastest way to many: a UUID is 16 bytes in SQLite."""

    def each(self, sql: str, values: Mapping[str, object]) -> Iterator[Row]:
        """Query rows one by one, if there are too many to hold at once; other queries may run meanwhile."""

    def tell(self, sql: str, values: Mapping[str, object]) -> None:
        """Run a statement without rows: it may be done, and fail, as late as the end of the call."""


@dataclass(slots=True)
class CounterChanges:
    """Changes of the writers' counters; summed, and stored last before the commit (`store/status_counters.py`).

    Besides, the work that calls leave for the end of their transaction.
    """

    tasks: Counts = field(default_factory=_none)  # by project and status
    pending: Counts = field(default_factory=_none)  # rows of inboxes, by project and recipient
    unread: Counts = field(default_factory=_none)  # those among them that are unread
    numbers: Counts = field(default_factory=_none)  # increments of counters (`store/sequence_numbers.py`)
    last: dict[tuple[UUID, str], int] = field(default_factory=dict)  # their present values
    settled: int | None = None  # the time as of which everything overdue was ended
    follows: bool = False  # new ids are greater than those of all inbox rows
    left: list[Left] = field(default_factory=list)  # work for the end of the transaction
    caught_up: bool = False  # all work was done that calls before had left

    def add(self, other: CounterChanges) -> None:
        self.left = [*([] if other.caught_up else self.left), *other.left]
        self.last.update(other.last)
        self.settled = other.settled or self.settled
        self.follows = other.follows or self.follows
        for own, more in (
            (self.tasks, other.tasks),
            (self.pending, other.pending),
            (self.unread, other.unread),
            (self.numbers, other.numbers),
        ):
            for key, change in more.items():
                own[key] += change


_NOTHING = CounterChanges()  # never changed, as `before` is only read


@dataclass(slots=True)
class Tx:
    """One transaction: a connection, the caller, and the time."""

    db: Connection
    actor: Actor
    now: int  # Unix milliseconds, read once, so that a transaction has one time
    is_read: bool = False  # run as a read: an operation that has to write raises `MustWrite`
    tally: CounterChanges = field(default_factory=CounterChanges)
    before: CounterChanges = field(
        default_factory=lambda: _NOTHING
    )  # of the calls that are committed together with this one
    recorded: int = 0  # activities written; on commit, followers of the log are woken
    stored: int = 0  # characters of the texts passed to the store: about their size there
    speaker: tuple[UUID, str] | None = None  # the project, and the agent as which the caller acts, once known
    door: str = ""  # the caller's tool set; empty for the hub's own REST
    locked: set[tuple[UUID, str]] = field(default_factory=set)  # names of agents (`store/agents.lock`)

    def run(self, sql: str, **values: object) -> None:
        self.stored += sum([len(value) for value in values.values() if type(value) is str])
        self.db.tell(sql, values)

    def one(self, sql: str, **values: object) -> Row | None:
        rows = self.db.query(sql, values)
        return rows[0] if rows else None

    def all(self, sql: str, **values: object) -> Sequence[Row]:
        return self.db.query(sql, values)

    def any(self, sql: str, **values: object) -> bool:
        """Tell whether a statement returns a row."""
        return bool(self.db.query(sql, values))

    def value(self, sql: str, **values: object) -> Any | None:
        """Return the first column of the first row; None if there is no row."""
        rows = self.db.query(sql, values)
        return next(iter(rows[0].values())) if rows else None

    def column(self, sql: str, **values: object) -> list[Any]:
        """Return the first column of all rows."""
        return [next(iter(row.values())) for row in self.db.query(sql, values)]

    def count(self, rest: str, **values: object) -> int:
        """Count the rows that a query finds; `rest` is its text from FROM on."""
        return int(self.value(f"SELECT count(*) AS number {rest}", **values) or 0)

    def tuples(self, sql: str, **values: object) -> Sequence[tuple[Any, ...]]:
        return self.db.tuples(sql, values)

    def each(self, sql: str, **values: object) -> Iterator[Row]:
        return self.db.each(sql, values)

    def leave(self, work: Callable[[Tx, list[T]], None], thing: T) -> None:
        """Have `work` done last before the commit, for all things that the calls of the transaction left for it.

        For what no answer tells: many things at once cost less. `work` may run in any of the calls, by `catch_up`.
        """
        self.tally.left.append((work, thing))

    def catch_up(self) -> bool:
        """Do now the work that this call and those before it have left; False if there is none."""
        left = [*([] if self.tally.caught_up else self.before.left), *self.tally.left]
        if not left:
            return False
        self.tally.left, self.tally.caught_up = [], True
        for work in dict.fromkeys(work for work, _thing in left):
            work(self, [thing for its, thing in left if its is work])
        return True

    def record(
        self,
        kind: str,
        *,
        project_id: UUID | None,
        actor: str | None = None,
        agent: str | None = None,
        task_id: UUID | None = None,
        message_id: UUID | None = None,
        detail: Mapping[str, object] | None = None,
        patch: Patch | None = None,
    ) -> None:
        """Write one line of the activity log; it becomes visible only if the transaction commits.

        `patch` is the change of the project's picture (`model/log/projection.py`); without it the picture is unchanged.
        """
        self.recorded += 1
        self.run(
            _recording(self.db.transaction_number),
            project_id=project_id,
            at=self.now,
            kind=kind,
            actor=actor or self.actor.label,
            agent=agent,
            task_id=task_id,
            message_id=message_id,
            detail=compact(detail or {}),
            patch=compact(patch) if patch is not None else None,
        )


def perform(operation: Operation[T], tx: Tx) -> T:
    """Run `operation`; turn a stray StopIteration into an error that a future can carry to the caller."""
    try:
        return operation(tx)
    except StopIteration as error:
        raise RuntimeError("an operation raised StopIteration") from error


class Store(Protocol):
    """An engine. Every method may be called from any thread; the awaitable ones need a running event loop.

    An operation that raises is undone, and its error reaches only its own caller. An error of the engine itself (disk
    full, connection gone) is `StoreUnavailable`; its sentence says that nothing of the call was kept or, when a
    server is lost at the moment of the commit, that nobody knows. A write is durable before it is answered. An
    operation must have no effects outside its transaction: an engine may run it again from the start.
    """

    def write(self, actor: Actor, operation: Operation[T], *, short: bool = False) -> Awaitable[T]:
        """Run `operation` in a transaction that may write.

        A `short` one may be run on the event loop at once; it begins anew elsewhere if it turns out to take long.
        """

    def read(self, actor: Actor, operation: Operation[T], *, long: bool = False) -> Awaitable[T]:
        """Run `operation` against one consistent snapshot; `long` for scans and exports that take a while."""

    def write_now(self, actor: Actor, operation: Operation[T]) -> T:
        """Run a `write` for callers without an event loop; blocks."""

    def read_now(self, actor: Actor, operation: Operation[T]) -> T:
        """Run a `read` for callers without an event loop; blocks."""

    def on_activity(self, wake: Callable[[], None]) -> None:
        """Register `wake`, called from any thread soon after activities were committed here or by another hub."""

    def be_seen(self, hub: str) -> None:
        """Show the other hubs of this store that the hub of that name is present, for as long as it runs."""

    def tell_hubs(self, news: str) -> None:
        """Send the other hubs of this store `news`, in ASCII, which is not stored: soon, or not at all."""

    def on_news(self, hear: Callable[[str], None]) -> None:
        """Register `hear`, called from any thread with the news of other hubs."""

    def close(self) -> None:
        """Finish the work under way and release the database."""
