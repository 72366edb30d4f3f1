"""A connection to PostgreSQL for operations: statements without results are sent along with the next query.

Each statement is prepared once a connection, and sent without waiting for the one before; only a query waits for its
rows. This uses psycopg's binding of libpq, without its cursors, which cost three times the processor time of
the wire protocol.
"""

import re
import select
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID
from zlib import crc32

import psycopg
from psycopg import pq
from psycopg.adapt import Transformer
from psycopg.errors import error_from_result
from psycopg.pq.abc import PGresult

from hubbub.store.engine.notify import HUB_HAS_ENDED
from hubbub.store.engine.statement_kinds import changed_by, may_have_changed, mentions, only_asks
from hubbub.store.tx import Row

PREPARED = 1000  # statements of a connection: more than the program has, except those built at run time

FETCHED = 500  # rows at once, of those that are read one by one

READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"

BOOL, INT8, FLOAT8, UUID_OID, ANY = 16, 20, 701, 2950, 0  # `ANY` is the server's type for a text
OKAY = {pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK}
ABORTED, SYNC = pq.ExecStatus.PIPELINE_ABORTED, pq.ExecStatus.PIPELINE_SYNC

_TOKENS = re.compile(
    r"""'(?:[^']|'')*'      # a text
      | --[^\n]*            # a comment
      | ::                  # a cast
      | :(?P<name>[a-z_]\w*)""",
    re.VERBOSE,
)


@lru_cache(maxsize=1024)
def spell(sql: str) -> tuple[bytes, tuple[str, ...]]:
    """Rewrite the statement with numbers for its `:name` parameters, and list their names; texts and casts stay."""
    names: list[str] = []

    def token(match: re.Match[str]) -> str:
        name = match["name"]
        if name is None:
            return match[0]
        if name not in names:
            names.append(name)
        return f"${names.index(name) + 1}"

    return _TOKENS.sub(token, sql).encode(), tuple(names)


Key = tuple[str, tuple[int, ...]]  # a statement, and the types of its parameters
Given = tuple[tuple[str, object], ...]  # the parameters of a statement


_Value = tuple[int, pq.Format, bytes | None]  # a parameter in wire format: its type, format and bytes
_NULL: _Value = (ANY, pq.Format.TEXT, None)


def _text(value: str) -> _Value:
    if "\0" in value:
        raise psycopg.DataError("PostgreSQL text fields cannot contain NUL (0x00) bytes")
    return ANY, pq.Format.TEXT, value.encode()


# By type; a member of an enumeration is stored as its value.
_FORMS: Mapping[type, Callable[[Any], _Value]] = {
    type(None): lambda _value: _NULL,
    str: _text,
    UUID: lambda value: (UUID_OID, pq.Format.BINARY, value.bytes),
    bool: lambda value: (BOOL, pq.Format.TEXT, b"t" if value else b"f"),
    int: lambda value: (INT8, pq.Format.TEXT, b"%d" % value),
    float: lambda value: (FLOAT8, pq.Format.TEXT, repr(value).encode()),
}


def _value(value: object) -> _Value:
    form = _FORMS.get(type(value)) or next(
        (form for kind, form in _FORMS.items() if isinstance(value, kind)), None
    )
    if form is None:
        raise TypeError(f"a {type(value).__name__} cannot be stored")
    return form(value)


class Db(psycopg.Connection[tuple[object, ...]]):
    """A connection of psycopg that knows its prepared statements."""

    def __init__(self, pgconn: pq.abc.PGconn) -> None:
        super().__init__(pgconn)
        self.prepared: OrderedDict[Key, bytes] = OrderedDict()
        self.counted = 0


class PostgresSQL:
    """The fragments of SQL in which PostgreSQL differs."""

    is_shared = True
    transaction_number = "pg_current_xact_id()::text::bigint"
    settled = "tx < pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
    for_update = "FOR NO KEY UPDATE"  # keys never change, so transactions that refer to the row go on
    for_delete = "FOR UPDATE"
    for_reference = "FOR KEY SHARE"
    skip_locked = "SKIP LOCKED"
    hub_has_ended = HUB_HAS_ENDED

    def placed(self, sign: str, tx: str = ":tx", seq: str = ":seq") -> str:
        """Compare row by row, as an index does."""
        return f"(tx, seq) {sign} ({tx}, {seq})"


class Unasked(BaseException):
    """A call begins with a new query: the calls behind it can send theirs too (`store/engine/rehearsal.py`)."""


class Owed(NamedTuple):
    """A pending answer of the server."""

    preparing: Key | None = None  # the statement, if the answer is about its preparation
    hear: Callable[[PGresult], None] | None = None  # takes its rows


class PostgresConnection(PostgresSQL):
    """`Connection` on PostgreSQL, from `begin` to `commit` or `undo`."""

    def __init__(self, db: Db) -> None:
        self._db, self._pg = db, db.pgconn
        self._owed: deque[Owed] = deque()
        self._rows = Transformer(db)
        self._poll = select.poll()
        self._told = 0  # finished statements, of those that nobody waited for
        self._is_opening = False
        # To the queries that calls began with; None for a pending answer.
        self._answers: dict[str, dict[Given, Sequence[Row] | None]] = {}
        self._changed: set[str] = set()  # tables, by this transaction
        self.steps_back = False  # a call that begins with a new query raises `Unasked`

    def begin(self, how: str) -> None:
        """Begin a transaction, `READ` or `WRITE`."""
        self._poll.register(self._pg.socket, select.POLLIN)
        self._pg.enter_pipeline_mode()
        self.tell(how, {})

    def open_call(self) -> int:
        """Begin a call among others, and return the number of statements that come before its first.

        Until it changes or locks something it gets the answers that earlier calls of this transaction got to the same
        queries: it was already waiting when the transaction began, so it could have asked then.
        """
        self.tell("SAVEPOINT call", {})
        self._is_opening = True
        return self._told + len(self._owed)

    def has_done(self, number: int) -> bool:
        """Tell whether that many of the statements that nobody waited for are known to be done."""
        return self._told >= number

    def query(self, sql: str, values: Mapping[str, object]) -> Sequence[Row]:
        if self._is_opening and only_asks(sql):
            known, given = self._answers.setdefault(sql, {}), tuple(values.items())
            if (rows := known.get(given)) is None:
                if self.steps_back and self.lasts(sql):
                    raise Unasked
                rows = known[given] = self._asked(sql, values)
            return rows
        self._go_beyond(sql)
        return self._asked(sql, values)

    def tuples(self, sql: str, values: Mapping[str, object]) -> Sequence[tuple[Any, ...]]:
        return [tuple(row.values()) for row in self.query(sql, values)]

    def lasts(self, sql: str) -> bool:
        """Tell whether the answer to a query is likely to hold for the whole turn: its tables are unchanged so far."""
        return not any(mentions(sql, table) for table in self._changed)

    def known(self, sql: str, values: Mapping[str, object]) -> Sequence[Row] | None:
        """Return the answer to a query that calls begin with, if it is known."""
        known = self._answers.get(sql)
        return known.get(tuple(values.items())) if known is not None else None

    def ask(self, sql: str, values: Mapping[str, object]) -> None:
        """Send a query that calls begin with, unless it was sent; `settle` waits for its answer."""
        known, given = self._answers.setdefault(sql, {}), tuple(values.items())
        if given in known:
            return
        self._send(sql, values)
        known[given] = None

        def hear(result: PGresult) -> None:
            known[given] = self._loaded(result)

        self._owed.append(Owed(hear=hear))

    def _go_beyond(self, sql: str) -> None:
        """Drop the answers that a statement may have changed; a call that changes or locks something asks anew."""
        if not only_asks(sql):
            self._is_opening = False
            self._changed |= changed_by(sql)
            for asked, known in self._answers.items():
                if may_have_changed(sql, asked):
                    known.clear()

    def _asked(self, sql: str, values: Mapping[str, object]) -> Sequence[Row]:
        self._send(sql, values)
        self.settle()
        return self._loaded(self._answer())

    def _loaded(self, result: PGresult) -> Sequence[Row]:
        if not result.nfields:
            return []
        names = [(result.fname(place) or b"").decode() for place in range(result.nfields)]
        self._rows.set_pgresult(result)
        return self._rows.load_rows(0, result.ntuples, lambda row: dict(zip(names, row, strict=True)))

    def each(self, sql: str, values: Mapping[str, object]) -> Iterator[Row]:
        cursor = f"each_{crc32(sql.encode()):x}"
        self.tell(f"DECLARE {cursor} NO SCROLL CURSOR FOR {sql}", values)
        while rows := self.query(f"FETCH {FETCHED} FROM {cursor}", {}):
            yield from rows
        self.tell(f"CLOSE {cursor}", {})

    def tell(self, sql: str, values: Mapping[str, object]) -> None:
        self._go_beyond(sql)
        self._send(sql, values)
        self._owed.append(Owed())

    def settle(self) -> None:
        """Wait until all statements are done. Raises the first failure."""
        self._pg.send_flush_request()
        self._hand_over()
        while self._owed:
            result = self._answer()
            if (hear := self._owed.popleft().hear) is not None:
                hear(result)
            self._told += 1

    def recover(self) -> None:
        """Skip the answers after a failure; the transaction can only be undone from here."""
        for owed in self._owed:
            if owed.preparing is not None:
                self._db.prepared.pop(owed.preparing, None)
        self._owed.clear()
        self._pg.pipeline_sync()
        self._hand_over()
        while (result := self._result()) is None or result.status != SYNC:
            if self._pg.status != pq.ConnStatus.OK:
                raise psycopg.OperationalError("the connection is lost")

    def commit(self) -> None:
        """Commit, and leave the connection as it was. Raises if the commit failed, or nobody knows."""
        self.tell("COMMIT", {})
        try:
            self.settle()
        finally:
            self._leave()

    def undo(self) -> None:
        """Undo the transaction, if the connection still exists, and leave the connection as it was."""
        with suppress(psycopg.OperationalError):
            self.recover()
            self.tell("ROLLBACK", {})
            self.settle()
            self._leave()

    def _leave(self) -> None:
        if self._pg.status == pq.ConnStatus.OK:
            self.recover()
            self._pg.exit_pipeline_mode()

    def _send(self, sql: str, values: Mapping[str, object]) -> None:
        statement, names = spell(sql)
        oids, formats, data = (
            zip(*[_value(values[name]) for name in names], strict=True) if names else ((), (), ())
        )
        key = (sql, oids)
        name = self._db.prepared.get(key)
        if name is None:
            name = self._prepare(key, statement)
        else:
            self._db.prepared.move_to_end(key)
        self._pg.send_query_prepared(name, data, formats)

    def _prepare(self, key: Key, statement: bytes) -> bytes:
        prepared = self._db.prepared
        self._db.counted += 1
        name = b"h%d" % self._db.counted
        self._pg.send_prepare(name, statement, key[1])
        self._owed.append(Owed(key))
        prepared[key] = name
        if len(prepared) > PREPARED:
            _, old = prepared.popitem(last=False)
            self._pg.send_query_params(b"DEALLOCATE " + old, None)
            self._owed.append(Owed())
        return name

    def _hand_over(self) -> None:
        """Send all statements to the server. Read its answers meanwhile: only then does it read on."""
        if self._pg.flush():
            self._poll.modify(self._pg.socket, select.POLLIN | select.POLLOUT)
            while self._pg.flush():
                if any(event & ~select.POLLOUT for _socket, event in self._poll.poll()):
                    self._pg.consume_input()
            self._poll.modify(self._pg.socket, select.POLLIN)

    def _answer(self) -> PGresult:
        """Return the answer to the oldest statement without one."""
        result = self._result()
        if result is None:
            raise psycopg.OperationalError("the connection is lost")
        while self._result() is not None:
            pass
        if result.status in OKAY:
            return result
        raise error_from_result(result)

    def _result(self) -> PGresult | None:
        while self._pg.is_busy():
            self._poll.poll()
            self._pg.consume_input()
        return self._pg.get_result()
