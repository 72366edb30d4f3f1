"""SQL for connections, that is MCP transport sessions, and for the facts stored with them."""

from dataclasses import asdict
from uuid import UUID

from hubbub.model.agents.connections import Connection
from hubbub.store.tx import Tx


def insert(tx: Tx, connection: Connection) -> None:
    """Store a new connection."""
    tx.run(
        """INSERT INTO connections (id, token_id, dialect, revision, asks, used_at)
           VALUES (:id, :token_id, :dialect, :revision, :asks, :now)""",
        **{**asdict(connection), "asks": int(connection.asks)},
        now=tx.now,
    )


def use(tx: Tx, connection_id: str) -> Connection | None:
    """Record a use of the connection and return it; None if there is none (any more)."""
    row = tx.one(
        "UPDATE connections SET used_at = :now WHERE id = :id RETURNING id, token_id, dialect, revision, asks",
        id=connection_id,
        now=tx.now,
    )
    return Connection(**{**row, "asks": bool(row["asks"])}) if row else None


def end(tx: Tx, connection_id: str) -> None:
    """Delete the connection, with everything stored with it."""
    tx.run("DELETE FROM connections WHERE id = :id", id=connection_id)


def remember(tx: Tx, connection_id: str, memory: str) -> None:
    """Store the facts of a connection that later calls of its dialect's tools need."""
    tx.run("UPDATE connections SET memory = :memory WHERE id = :id", id=connection_id, memory=memory)


def recall(tx: Tx, connection_id: str) -> str | None:
    """Return the facts kept with the connection."""
    return tx.value("SELECT memory FROM connections WHERE id = :id", id=connection_id)


def has_twin(tx: Tx, connection_id: str, since: int, *, is_bound: bool) -> bool:
    """Tell whether its token has another connection of the dialect, with the same facts, that was used since then.

    Of a token that `is_bound` to an agent, any other counts.
    """
    return tx.any(
        """SELECT 1 FROM connections c JOIN connections o ON o.dialect = c.dialect AND o.id <> c.id
           WHERE c.id = :id AND o.used_at >= :since AND o.token_id = c.token_id
             AND (:is_bound = 1 OR o.memory = c.memory)""",
        id=connection_id,
        is_bound=int(is_bound),
        since=since,
    )


def count_stream(tx: Tx, connection_id: str) -> int:
    """Count one more stream of the connection, and return the number so far."""
    row = tx.one(
        "UPDATE connections SET streams = streams + 1 WHERE id = :id RETURNING streams", id=connection_id
    )
    return row["streams"] if row else 0


def follow(tx: Tx, connection_id: str, address: str) -> None:
    """Subscribe the connection to a resource."""
    tx.run(
        """INSERT INTO followed (connection, address) SELECT id, :address FROM connections WHERE id = :id
           ON CONFLICT (connection, address) DO NOTHING""",
        id=connection_id,
        address=address,
    )


def unfollow(tx: Tx, connection_id: str, address: str) -> None:
    """Unsubscribe the connection from a resource."""
    tx.run(
        "DELETE FROM followed WHERE connection = :id AND address = :address",
        id=connection_id,
        address=address,
    )


def followed(tx: Tx, connection_id: str) -> list[str]:
    """List the addresses of the resources that the connection is subscribed to."""
    return tx.column("SELECT address FROM followed WHERE connection = :id ORDER BY address", id=connection_id)


def ask(tx: Tx, connection_id: str, question: str) -> None:
    """Store a question to the person at the client."""
    tx.run(
        "INSERT INTO questions (id, connection) SELECT :question, id FROM connections WHERE id = :id",
        id=connection_id,
        question=question,
    )


def answer(tx: Tx, connection_id: str, question: str, said: str) -> None:
    """Store the answer to a question, if it was asked there; the first one counts."""
    tx.run(
        "UPDATE questions SET answer = :said WHERE id = :question AND connection = :id AND answer IS NULL",
        id=connection_id,
        question=question,
        said=said,
    )


def answered(tx: Tx, question: str) -> str | None:
    """Return the answer to a question; None if there is none yet."""
    return tx.value("SELECT answer FROM questions WHERE id = :question", question=question)


def close_question(tx: Tx, question: str) -> None:
    """Delete a question."""
    tx.run("DELETE FROM questions WHERE id = :question", question=question)


def choose(tx: Tx, token_id: UUID, choice: str) -> None:
    """Store the project that a token has chosen."""
    tx.run(
        """INSERT INTO choices (token_id, choice, chosen_at) VALUES (:token_id, :choice, :now)
           ON CONFLICT (token_id) DO UPDATE SET choice = excluded.choice, chosen_at = excluded.chosen_at""",
        token_id=token_id,
        choice=choice,
        now=tx.now,
    )


def chosen(tx: Tx, token_id: UUID) -> str | None:
    """Return the last choice of the token."""
    return tx.value("SELECT choice FROM choices WHERE token_id = :token_id", token_id=token_id)


def forget(tx: Tx, unused_since: int, chosen_before: int) -> None:
    """Delete the connections unused since then, and old choices."""
    tx.run("DELETE FROM connections WHERE used_at < :since", since=unused_since)
    tx.run("DELETE FROM choices WHERE chosen_at < :before", before=chosen_before)
