"""Connections: MCP transport sessions, which begin at one hub and may go on at any hub of the same store.

All that a later request needs of an earlier one is in the store, so that it may come to any hub, and a hub may be
replaced meanwhile.
"""

from datetime import timedelta
from uuid import UUID

from hubbub.model.timestamps import milliseconds
from hubbub.store.agents import connections as rows
from hubbub.store.tx import MustWrite, Tx

KEEP = timedelta(hours=1)  # after the last noted use
TWIN = timedelta(minutes=10)  # after the last noted use of another one; clients that crash end none
KEEP_CHOICES = timedelta(days=90)

begin = rows.insert
use = rows.use
end = rows.end
count_stream = rows.count_stream
follow = rows.follow
unfollow = rows.unfollow
followed = rows.followed
ask = rows.ask
answer = rows.answer
answered = rows.answered
close_question = rows.close_question
chosen = rows.chosen


def remember(tx: Tx, connection_id: str | None, memory: str) -> None:
    """Store the facts of a connection, if there is one, that later calls of its dialect's tools need.

    Raises `MustWrite` in a read.
    """
    if connection_id is not None:
        _require_write(tx)
        rows.remember(tx, connection_id, memory)


def recall(tx: Tx, connection_id: str | None) -> str | None:
    """Return the facts stored with the connection; None if there are none, or no connection."""
    return rows.recall(tx, connection_id) if connection_id is not None else None


def has_twin(tx: Tx, connection_id: str) -> bool:
    """Tell whether the agent of a connection goes on by another one, as far as can be known."""
    is_bound = tx.actor.agent is not None
    return rows.has_twin(tx, connection_id, tx.now - milliseconds(TWIN), is_bound=is_bound)


def choose(tx: Tx, token_id: UUID, choice: str) -> None:
    """Store the project that a token has chosen. Raises `MustWrite` in a read."""
    _require_write(tx)
    rows.choose(tx, token_id, choice)


def forget(tx: Tx) -> None:
    """Drop connections and choices that were not used for long."""
    rows.forget(tx, tx.now - milliseconds(KEEP), tx.now - milliseconds(KEEP_CHOICES))


def _require_write(tx: Tx) -> None:
    if tx.is_read:
        raise MustWrite
