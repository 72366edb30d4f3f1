"""Rehearsals: the calls of a turn send their first queries together.

Each wait for the server takes longer than a query. So the calls of a turn are run ahead, each until it needs an unknown
answer, or changes or locks something; then all of their queries are sent at once, and with the answers the calls are
run a little further. Only the answers are kept, and the counters that the calls will need, locked by one statement.
Afterwards each call is run from the start, in its turn and its savepoint, and repeats queries about changed tables.
"""

import time
from collections.abc import Mapping, Sequence
from typing import NoReturn

from hubbub.store import sequence_numbers
from hubbub.store.engine.pending_calls import PendingCall
from hubbub.store.engine.postgres_connection import PostgresConnection, PostgresSQL
from hubbub.store.engine.statement_kinds import only_asks
from hubbub.store.sequence_numbers import Counter
from hubbub.store.tx import CounterChanges, Row, Tx, perform

ROUNDS = 8  # waits, at most: later queries are sent one by one
LONG = 0.002  # seconds of processor time: a call that takes more is not run ahead again


class _Unknown(BaseException):
    """The call needs an answer that is not known yet."""


class _Acts(BaseException):
    """The call is about to change or lock something."""


def rehearse(
    connection: PostgresConnection, calls: Sequence[PendingCall], now: int, total: CounterChanges
) -> None:
    """Run calls ahead; keep the answers to their queries, and lock the counters that they will need."""
    stage = _Stage(connection)
    for _ in range(ROUNDS):
        calls = [each for each in calls if _asks(each, Tx(stage, each.actor, now, before=total))]
        if not calls:
            break
        connection.settle()
    total.last |= sequence_numbers.lock_free(connection, stage.counters - total.last.keys())


def _asks(call: PendingCall, tx: Tx) -> bool:
    """Run a call ahead, unless another writer runs it; tell whether it waits for an answer."""
    if not call.in_hand.acquire(blocking=False):
        return False
    begun = time.thread_time()
    try:
        if not call.has_begun:
            perform(call.operation, tx)
    except _Unknown:
        return time.thread_time() - begun < LONG
    except BaseException:  # noqa: BLE001  # the real run raises it again
        return False
    finally:
        call.in_hand.release()
    return False


class _Stage(PostgresSQL):
    """`Connection` for calls that are run ahead: it gives known answers, and sends the other queries."""

    def __init__(self, connection: PostgresConnection) -> None:
        self._connection = connection
        self.counters: set[Counter] = set()

    def query(self, sql: str, values: Mapping[str, object]) -> Sequence[Row]:
        if not only_asks(sql):
            if sql == sequence_numbers.RAISE:
                self.counters.add(sequence_numbers.raised_by(values))
            raise _Acts
        rows = self._connection.known(sql, values)
        if rows is None:
            if not self._connection.lasts(sql):
                raise _Acts  # the calls before it change the answer
            self._connection.ask(sql, values)
            raise _Unknown
        return rows

    def tuples(self, sql: str, values: Mapping[str, object]) -> NoReturn:
        raise _Acts

    def each(self, sql: str, values: Mapping[str, object]) -> NoReturn:
        raise _Acts

    def tell(self, sql: str, values: Mapping[str, object]) -> NoReturn:
        raise _Acts
