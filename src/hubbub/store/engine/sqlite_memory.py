"""The writer's connection to SQLite, which remembers the answers to queries about tables that seldom change.

Nearly every call asks which projects its caller may see, whether an agent is known, and by which rules the project
works. This connection alone changes the tables, so an answer holds until one of its statements changes a table that
the query mentions. All answers are forgotten when changes are undone, and when another program has changed the file.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from hubbub.store.engine.sqlite_connection import SQLiteConnection
from hubbub.store.engine.statement_kinds import changed_by, may_have_changed, mentions, only_asks
from hubbub.store.tx import Row

SELDOM = frozenset(
    {
        "accounts", "agents", "approvals", "breaker_rules", "budgets", "contracts", "dependencies", "machine_keys",
        "members", "projects", "proof_rules", "stops",
    }
)  # fmt: skip
REMEMBERED = 10_000  # answers; then all are forgotten
LONGEST = 50  # rows of a remembered answer

Given = tuple[object, ...]  # the values of a statement, in their order
Answers = dict[Given, Sequence[Row]]


class RememberingConnection(SQLiteConnection):
    """A `SQLiteConnection` for the only writer of a database; `begin` its transactions by it."""

    def __init__(self, file: Path, busy_timeout: timedelta) -> None:
        super().__init__(file, busy_timeout)
        # What is remembered of each statement: its answers, if they last; else whether it may change some.
        self._known: dict[str, Answers | bool] = {}
        self._number = 0  # of answers
        self._version: object = None  # of the file; it stays the same while only this connection changes it
        self._often: tuple[str, ...] = ()  # all other tables

    def begin(self) -> None:
        """Begin a transaction that may write; nobody else can from here on."""
        self.command("BEGIN IMMEDIATE")
        version = self._cursor.execute("PRAGMA data_version").fetchall()
        if version != self._version:
            self._version = version
            self.forget()

    def forget(self) -> None:
        """Forget all answers: some may tell of changes that were undone."""
        if self._number:
            self._drop(lambda _asked: True)

    def query(self, sql: str, values: Mapping[str, object]) -> Sequence[Row]:
        known = self._known.get(sql)
        if known is None:
            known = self._learn(sql)
        if known is False:
            return SQLiteConnection.query(self, sql, values)  # `super()` takes longer
        if known is True:
            self._drop(partial(_may_differ_after, sql))
            return SQLiteConnection.query(self, sql, values)
        order = self._orders.get(sql)
        rows = known.get(order(values)) if order is not None else None
        if rows is None:
            rows = SQLiteConnection.query(self, sql, values)
            self._remember(known, self._orders[sql](values), rows)
        return rows

    def tuples(self, sql: str, values: Mapping[str, object]) -> Sequence[tuple[Any, ...]]:
        self._make_way(sql)
        return super().tuples(sql, values)

    def each(self, sql: str, values: Mapping[str, object]) -> Iterator[Row]:
        self._make_way(sql)
        return super().each(sql, values)

    def _remember(self, known: Answers, given: Given, rows: Sequence[Row]) -> None:
        if self._number >= REMEMBERED:
            self.forget()
        if len(rows) <= LONGEST:
            known[given] = rows
            self._number += 1

    def _make_way(self, sql: str) -> None:
        """Drop the answers that a statement may change."""
        known = self._known.get(sql)
        if (self._learn(sql) if known is None else known) is True:
            self._drop(partial(_may_differ_after, sql))

    def _drop(self, which: Callable[[str], bool]) -> None:
        """Drop the answers to these statements."""
        for asked, known in self._known.items():
            if isinstance(known, dict) and which(asked):
                self._number -= len(known)
                known.clear()

    def _learn(self, sql: str) -> Answers | bool:
        """Find out, once, what a statement means for what is remembered."""
        if not self._often:
            tables = self.db.execute("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")
            self._often = tuple(name for (name,) in tables if name not in SELDOM)
        found: Answers | bool = False
        if not only_asks(sql):
            found = not changed_by(sql) or not SELDOM.isdisjoint(changed_by(sql))
        elif self._lasts(sql):
            found = {}
        self._known[sql] = found
        return found

    def _lasts(self, sql: str) -> bool:
        """Tell whether a query's answer is likely to last: it is about tables that seldom change, and not the time."""
        is_often = ":now" in sql or any(mentions(sql, each) for each in self._often)
        return not is_often and any(mentions(sql, each) for each in SELDOM)


def _may_differ_after(sql: str, asked: str) -> bool:
    """Tell whether a statement may change the answer to another."""
    return not changed_by(sql) or may_have_changed(sql, asked)
