"""The journal: a machine's memory of its orders, on disk, so that none is done twice.

An order's id is written durably before it begins; its result before it is sent, and kept until the hub has said that it
is safe. An order that was begun and has not ended when a process starts was cut off with the last process: nobody
knows how far it came.

Ids are UUIDs of version 7, which sort in the order of creation. The greatest are remembered, and the horizon is the
greatest forgotten one: an id that is not greater was here, or comes too late. No clock matters.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import cast
from uuid import UUID

import apsw

from hubbub.processes import durable_files

FILE = "orders.db"
FLOOD = 10  # times the usual number
LOG_LIMIT = 4 * 1024 * 1024  # bytes of the write-ahead log that stay allocated

SETTINGS = (
    "PRAGMA locking_mode = EXCLUSIVE",
    "PRAGMA auto_vacuum = FULL",
    "PRAGMA journal_mode = WAL",
    f"PRAGMA journal_size_limit = {LOG_LIMIT}",
    "PRAGMA secure_delete = FAST",
)
UNKEPT = "standing < 2"  # an index is used only if a query has its very words
# `told` is the message with the outcome; it is deleted once the hub has said that it is safe.
TABLES = (
    """CREATE TABLE IF NOT EXISTS orders
       (id BLOB PRIMARY KEY, standing INTEGER NOT NULL, told TEXT, size INTEGER NOT NULL DEFAULT 0) STRICT""",
    "CREATE INDEX IF NOT EXISTS orders_told ON orders (id, size) WHERE told IS NOT NULL",
    f"CREATE INDEX IF NOT EXISTS orders_unkept ON orders (standing, id) WHERE {UNKEPT}",
    "CREATE TABLE IF NOT EXISTS horizon (id BLOB PRIMARY KEY) STRICT",
)


class CallStanding(IntEnum):
    """The standing of an incoming order."""

    NEW = -1  # unknown: it is recorded now, and may begin
    BEGUN = 0
    ENDED = 1
    PAST = 2  # the hub has its outcome; or it is too old to tell


class JournalFailed(Exception):
    """The journal cannot be opened, read or written, so nothing may be begun. The message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalLimits:
    """The capacity of a journal."""

    remembered: int = 10_000  # ids
    kept: int = 1_000  # outcomes that the hub has not confirmed
    characters: int = 100 * 1024 * 1024  # of these


class Journal:
    """One machine's journal, open in one process at a time. Every call is a commit, and blocks until it is made.

    Every method but `close` raises `JournalFailed`.
    """

    def __init__(self, file: Path, limits: JournalLimits | None = None) -> None:
        self._limits = limits or JournalLimits()
        with _faults():
            durable_files.make_folder(file.parent, 0o700)
            os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
            self._db = apsw.Connection(str(file))
            try:
                for statement in (*SETTINGS, *TABLES):
                    self._db.execute(statement).fetchall()
                # The number of remembered orders: counting them for each order takes longer than the rest.
                (self._count,) = cast(tuple[int], self._db.execute("SELECT count(*) FROM orders").fetchone())
            except BaseException:
                self._db.close()  # it has the file to itself while it is open
                raise

    def close(self) -> None:
        self._db.close()

    def begin(self, orders: Sequence[UUID]) -> list[CallStanding]:
        """Record orders; the `NEW` ones may begin. Their beginning is on the disk when this returns."""
        with self._transaction(synchronous="FULL"):
            found = [self._begin(each.bytes) for each in orders]
            count = self._count + found.count(CallStanding.NEW)
            count -= self._forget(count - self._limits.remembered)
        self._count = count
        return found

    def end(self, order: UUID, told: str) -> None:
        """Store the result of an order that was begun, as the message to send.

        If that is too much, the oldest results make way: then it is only known that those orders have ended.
        """
        with self._transaction():
            self._db.execute(
                "UPDATE orders SET standing = ?, told = ?, size = ? WHERE id = ? AND standing = ?",
                (CallStanding.ENDED, told, len(told), order.bytes, CallStanding.BEGUN),
            )
            self._make_room()

    def keep(self, order: UUID) -> None:
        """Note that the hub has the result of the order, if it has ended, and drop it here."""
        with self._transaction():
            self._db.execute(
                "UPDATE orders SET standing = ?, told = NULL WHERE id = ? AND standing = ?",
                (CallStanding.PAST, order.bytes, CallStanding.ENDED),
            )

    def find(self, order: UUID) -> tuple[CallStanding, str | None]:
        """Return the standing of an order, and its result as the message to send, if that is stored."""
        with _faults():
            row = self._db.execute(
                "SELECT standing, told FROM orders WHERE id = ?", (order.bytes,)
            ).fetchone()
        return (CallStanding.PAST, None) if row is None else (CallStanding(row[0]), row[1])

    def of_standing(self, standing: CallStanding) -> list[UUID]:
        """Return the orders of a standing, begun or ended but not yet the hub's; the oldest first."""
        with _faults():
            rows = self._db.execute(
                f"SELECT id FROM orders WHERE {UNKEPT} AND standing = ? ORDER BY id", (standing,)
            )
            return [UUID(bytes=row[0]) for row in rows]

    def _begin(self, order: bytes) -> CallStanding:
        known = self._db.execute("SELECT standing FROM orders WHERE id = ?", (order,)).fetchone()
        if known is not None:
            return CallStanding(known[0])
        if self._db.execute("SELECT 1 FROM horizon WHERE id >= ?", (order,)).fetchone():
            return CallStanding.PAST
        self._db.execute("INSERT INTO orders (id, standing) VALUES (?, ?)", (order, CallStanding.BEGUN))
        return CallStanding.NEW

    def _forget(self, surplus: int) -> int:
        """Forget that many of the oldest orders, if allowed; the horizon rises with them.

        Orders newer than one under way stay, unless they are far too many: else the ids of a hub whose clock ran ahead
        would raise the horizon beyond all later ones once the clock is set right. Returns how many were forgotten.
        """
        if surplus <= 0:
            return 0
        oldest = self._db.execute(
            f"""SELECT id FROM orders WHERE standing <> :begun AND (:is_flooded OR id < coalesce(
                   (SELECT min(id) FROM orders WHERE {UNKEPT} AND standing = :begun),
                   x'ffffffffffffffffffffffffffffffff'))
               ORDER BY id LIMIT :surplus""",
            {
                "begun": CallStanding.BEGUN,
                "is_flooded": surplus > self._limits.remembered * FLOOD,
                "surplus": surplus,
            },
        ).fetchall()
        for (order,) in oldest:
            self._db.execute("DELETE FROM orders WHERE id = ?", (order,))
            self._db.execute("DELETE FROM horizon WHERE id < ?", (order,))
            self._db.execute(
                "INSERT INTO horizon SELECT ? WHERE NOT EXISTS (SELECT 1 FROM horizon)", (order,)
            )
        return len(oldest)

    def _make_room(self) -> None:
        rows = self._db.execute("SELECT id, size FROM orders WHERE told IS NOT NULL ORDER BY id")
        kept = cast(list[tuple[bytes, int]], rows.fetchall())
        count, characters = len(kept), sum(size for _, size in kept)
        for order, size in kept[:-1]:
            if count <= self._limits.kept and characters <= self._limits.characters:
                return
            self._db.execute("UPDATE orders SET told = NULL WHERE id = ?", (order,))
            count, characters = count - 1, characters - size

    @contextmanager
    def _transaction(self, *, synchronous: str = "NORMAL") -> Iterator[None]:
        with _faults():
            self._db.execute(f"PRAGMA synchronous = {synchronous}").fetchall()
            with self._db:
                yield


@contextmanager
def _faults() -> Iterator[None]:
    """Turn errors of the disk into sentences for people."""
    try:
        yield
    except apsw.BusyError:
        raise JournalFailed(
            "the journal of orders is in use: another process is this machine already"
        ) from None
    except (apsw.Error, OSError) as error:
        raise JournalFailed(f"the journal of orders cannot be used: {error}") from None
