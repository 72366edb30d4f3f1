"""The one connection to SQLite that writes, and the calls that wait for it.

A commit has to reach the disk before it is answered, and that takes longer than an operation. So calls take turns:
those that gathered during the last commit are run one after the other, and committed once for all. No call waits on
purpose; the more callers, the larger the turns. Only the writer checkpoints: older SQLites lose data if two connections
do it at once.

A call that raises is undone alone. Most of those have written nothing yet, so that there is nothing to undo. After one
that has, its turn begins anew with a savepoint for each call, which would cost all calls the copies of their pages.

The writer is a thread, which alone waits for the disk. But two busy threads pass the interpreter's lock
to and fro at each statement, which costs as much as the statements. So calls marked `short` are run by the event loop
that they come from, and only committed by the thread. They never block a loop: a call that takes longer than promised
is undone, and begins anew in the thread.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from queue import SimpleQueue

import apsw

from hubbub.model.errors import StoreUnavailable
from hubbub.model.people.rights import SYSTEM
from hubbub.model.timestamps import milliseconds
from hubbub.store import status_counters
from hubbub.store.engine.pending_calls import PendingCall, answer
from hubbub.store.engine.sqlite_connection import TooLong, explained
from hubbub.store.engine.sqlite_memory import RememberingConnection
from hubbub.store.tx import Clock, CounterChanges, Tx

BATCH = 256  # calls in one commit, at most: all are lost together when it fails
ON_LOOP = 32  # of them that an event loop runs at once: some 8 ms
STATEMENTS, ROWS = 800, 2000  # limits of these
CHECKPOINT_AT = 1000  # pages of 4 KiB in the write-ahead log from which it is moved into the database
WAL_LIMIT = 64 * 1024 * 1024  # bytes; a larger write-ahead log is truncated
PRAGMAS = {
    "journal_mode": "WAL",
    "synchronous": "FULL",  # answered calls survive a power cut
    "fullfsync": "ON",  # also on macOS, where fsync alone does not reach the disk
    "journal_size_limit": WAL_LIMIT,
    "temp_store": "MEMORY",  # files of savepoints would cost a third of the time
    "cache_size": -16 * 1024,  # KiB
    "foreign_keys": "ON",
}
KEPT_NOTHING = "nothing of this call was kept"
LOOK = "look whether this call was kept"
UNSYNCED = (apsw.SQLITE_IOERR_FSYNC, apsw.SQLITE_IOERR_DIR_FSYNC)


class _Entangled(Exception):
    """A call failed after it and others before it had written: only savepoints can undo it alone."""


@dataclass(slots=True)
class WriteBatch:
    """Calls that are committed together; some have yet to be run."""

    calls: list[PendingCall]
    to_run: deque[PendingCall] = field(init=False)
    total: CounterChanges = field(init=False)  # of the calls run so far
    recorded: int = field(init=False)
    has_begun: bool = field(init=False)
    is_counted: bool = field(init=False)  # what its calls count is stored
    is_careful: bool = False  # each call has a savepoint
    now: int | None = None  # the time of all calls, if a loop runs them
    changed: int = 0  # rows by the connection before it has begun

    def __post_init__(self) -> None:
        self.begin_anew()

    def begin_anew(self) -> None:
        self.to_run, self.total, self.recorded = deque(self.calls), CounterChanges(), 0
        self.has_begun = self.is_counted = False


class Writer:
    """Runs calls, and calls `wake` when activities were committed."""

    def __init__(self, file: Path, busy_timeout: timedelta, clock: Clock, wake: Callable[[], None]) -> None:
        """Open the database. `busy_timeout` is how long to wait for another program that has locked it."""
        self._connection = RememberingConnection(file, busy_timeout)
        self._db, self._clock, self._wake = self._connection.db, clock, wake
        try:
            for name, value in PRAGMAS.items():
                self._db.pragma(name, value)
        except BaseException:
            self._db.close()
            raise
        self._busy_timeout = milliseconds(busy_timeout)
        self._gate = threading.Lock()  # guards the next five
        self._waiting: deque[PendingCall] = deque()
        self._turns: SimpleQueue[WriteBatch | None] = SimpleQueue()  # for the thread to finish; None stops it
        self._is_busy = False  # a turn is under way, or due
        self._due: asyncio.AbstractEventLoop | None = None  # where a turn is due, and has not begun
        self._is_closed = False
        self._wal_pages = 0
        self._db.set_wal_hook(self._note_wal)
        self._thread = threading.Thread(target=self._serve, name="hubbub-writer", daemon=True)
        self._thread.start()

    @property
    def line(self) -> int:
        """Return the number of calls that wait for their turn."""
        return len(self._waiting)

    def add(self, call: PendingCall) -> None:
        """Queue the call. Raises `StoreUnavailable` once closed."""
        with self._gate:
            if self._is_closed:
                raise StoreUnavailable(f"the hub is closing; {KEPT_NOTHING}")
            self._waiting.append(call)
            if not self._is_busy:
                self._is_busy = True
                self._call_next(here=call.loop)
            elif not call.is_short or call.loop is not self._due:
                self._take_from_loop()

    def close(self) -> None:
        """Finish the waiting calls, and release the database."""
        with self._gate:
            if self._is_closed:
                return
            self._is_closed = True
            self._take_from_loop()
            if not self._is_busy:
                self._turns.put(None)
        self._thread.join()
        self._db.close()

    def _call_next(self, here: asyncio.AbstractEventLoop | None = None) -> None:
        """Start a turn on the loop or the thread of the first waiting call. Needs the gate.

        A loop that runs `here`, in this thread, need not be woken.
        """
        first = self._waiting[0]
        if first.is_short and first.loop is not None and not self._is_closed:
            call_soon = first.loop.call_soon if first.loop is here else first.loop.call_soon_threadsafe
            with suppress(RuntimeError):  # the loop is closed
                call_soon(self._on_loop, first.loop)
                self._due = first.loop
                return
        self._turns.put(WriteBatch([]))

    def _take_from_loop(self) -> None:
        """Let the thread begin the turn that is due on a loop, which may never run again. Needs the gate."""
        if self._due is not None:
            self._due = None
            self._turns.put(WriteBatch([]))

    def _taken(self, most: int, loop: asyncio.AbstractEventLoop | None = None) -> list[PendingCall]:
        """Take the next calls out of the queue: for a `loop`, its short ones. Needs the gate."""
        taken: list[PendingCall] = []
        while self._waiting and len(taken) < most:
            if loop is not None and not (self._waiting[0].is_short and self._waiting[0].loop is loop):
                break
            call = self._waiting.popleft()
            if not call.is_abandoned:
                taken.append(call)
        return taken

    def _on_loop(self, loop: asyncio.AbstractEventLoop) -> None:
        """Run short calls, on the loop that they come from, and leave the rest of the turn to the thread."""
        with self._gate:
            if self._due is not loop:  # the thread was faster
                return
            self._due = None
            turn = WriteBatch(self._taken(ON_LOOP, loop))
        if turn.calls:
            self._run_bounded(turn)
        self._turns.put(turn)

    def _run_bounded(self, turn: WriteBatch) -> None:
        """Run the calls that fit into the loop's limits; leave waiting, and failures of the turn, to the thread."""
        turn.now = self._clock()  # so only the first looks for what is overdue
        self._connection.bound(STATEMENTS, ROWS)
        self._db.set_busy_timeout(0)
        try:
            self._run(turn)
        except TooLong:
            pass
        except Exception:  # noqa: BLE001  # the thread meets it again, and tells the callers
            self._undo()
            turn.begin_anew()
        finally:
            turn.now = None
            self._connection.release()
            self._db.set_busy_timeout(self._busy_timeout)

    def _serve(self) -> None:
        """Run the thread: turn after turn, until the store is closed and every call is answered."""
        while (turn := self._turns.get()) is not None:
            if not turn.calls:
                with self._gate:
                    turn = WriteBatch(self._taken(BATCH))
            if self._is_committed(turn):
                self._wake()
            self._checkpoint()
            with self._gate:
                if self._waiting:
                    self._call_next()
                else:
                    self._is_busy = False
                    if self._is_closed:
                        self._turns.put(None)

    def _is_committed(self, turn: WriteBatch) -> bool:
        """Finish a turn and answer every call in it; True if it wrote activities."""
        try:
            self._run(turn)
            if turn.has_begun:
                self._connection.command("COMMIT")
        except BaseException as error:  # noqa: BLE001  # it belongs to each caller of the transaction
            self._undo()
            turn.recorded = 0
            for call in turn.calls:
                call.error = explained(error, LOOK if _is_unknown(error) else KEPT_NOTHING)
        answer(turn.calls)
        return turn.recorded > 0

    def _run(self, turn: WriteBatch) -> None:
        """Run the remaining calls of a turn, in its transaction, the work that they leave, and their counting.

        Raises `TooLong` if that takes longer than allowed, and if SQLite gave up the transaction.
        """
        while turn.to_run:
            if not turn.has_begun:
                self._connection.begin()
                turn.has_begun, turn.changed = True, self._db.total_changes()
            call = turn.to_run[0]
            tx = Tx(self._connection, call.actor, turn.now or self._clock(), before=turn.total)
            try:
                self._run_one(turn, call, tx)
            except _Entangled:
                self._begin_carefully(turn)
                continue
            turn.to_run.popleft()
            if call.error is None:
                turn.total.add(tx.tally)
                turn.recorded += tx.recorded
        if turn.total.left:
            self._do_what_is_left(turn)
        if turn.has_begun and not turn.is_counted:
            self._count(turn)

    def _begin_carefully(self, turn: WriteBatch) -> None:
        """Undo a turn that is to begin anew, so that each of its calls can be undone alone."""
        self._undo()
        turn.begin_anew()
        turn.is_careful = True

    def _do_what_is_left(self, turn: WriteBatch) -> None:
        """Do the work that the calls of a turn leave; if it fails, they begin anew, and each does its own."""
        tx = Tx(self._connection, SYSTEM, self._clock(), before=turn.total)
        try:
            self._connection.perform(Tx.catch_up, tx)
        except (TooLong, apsw.InterruptError):
            self._undo()
            turn.begin_anew()
            raise TooLong from None
        except Exception:
            if not self._db.in_transaction:
                raise
            self._begin_carefully(turn)
            self._run(turn)
        else:
            turn.total.add(tx.tally)
            turn.recorded += tx.recorded

    def _count(self, turn: WriteBatch) -> None:
        """Store the counts of a turn; if that takes too long for a loop, the turn begins anew."""
        try:
            status_counters.flush(self._connection, turn.total)
        except (TooLong, apsw.InterruptError):
            self._undo()
            turn.begin_anew()
            raise TooLong from None
        turn.is_counted = True

    def _run_one(self, turn: WriteBatch, call: PendingCall, tx: Tx) -> None:
        """Run one call among others; if it raises, only that call is undone.

        Raises `_Entangled` where that needs savepoints, and `TooLong` if it was undone to begin anew.
        """
        if turn.is_careful:
            self._connection.command("SAVEPOINT call")
        changed = self._db.total_changes()
        call.error = None  # of an earlier try
        try:
            call.result = self._connection.perform(call.operation, tx)
            if turn.is_careful:
                self._connection.perform(Tx.catch_up, tx)
        except BaseException as error:  # any error belongs to its caller
            if not self._db.in_transaction:  # SQLite gave it up, as it may when the disk is full
                raise
            is_too_long = isinstance(error, TooLong | apsw.InterruptError)
            if self._db.total_changes() != changed:
                self._undo_one(turn, changed, with_all=is_too_long)
            if is_too_long:
                if turn.is_careful:
                    self._connection.command("RELEASE call")
                raise TooLong from None
            call.error = explained(error, KEPT_NOTHING)
        if turn.is_careful:
            self._connection.command("RELEASE call")

    def _undo_one(self, turn: WriteBatch, changed: int, *, with_all: bool) -> None:
        """Undo the present call of a turn, before which the connection had changed so many rows."""
        if turn.is_careful:
            self._connection.command("ROLLBACK TO call")
            self._connection.forget()
        elif with_all:
            self._undo()
            turn.begin_anew()
        elif changed == turn.changed:  # none before it has written
            self._undo()
            turn.has_begun = False
        else:
            raise _Entangled

    def _undo(self) -> None:
        self._connection.forget()
        with suppress(apsw.Error):  # if it cannot even undo, the next BEGIN tells its callers
            if self._db.in_transaction:
                self._connection.command("ROLLBACK")

    def _note_wal(self, _db: object, _name: str, pages: int) -> int:
        self._wal_pages = pages
        return apsw.SQLITE_OK

    def _checkpoint(self) -> None:
        """Move the write-ahead log into the database; callers have had their answers by now.

        A large log is also truncated, unless a reader still needs it. Nothing waits here, and a failed checkpoint loses
        nothing: the next commit tries again.
        """
        if self._wal_pages < CHECKPOINT_AT:
            return
        is_large = self._wal_pages * 4096 > WAL_LIMIT
        mode = apsw.SQLITE_CHECKPOINT_TRUNCATE if is_large else apsw.SQLITE_CHECKPOINT_PASSIVE
        self._db.set_busy_timeout(0)
        with suppress(apsw.Error):
            self._db.wal_checkpoint(mode=mode)
        self._db.set_busy_timeout(self._busy_timeout)


def _is_unknown(error: BaseException) -> bool:
    """Tell whether the disk wrote a commit without confirming it: a hub that starts now may find it."""
    return isinstance(error, apsw.IOError) and getattr(error, "extendedresult", None) in UNSYNCED
