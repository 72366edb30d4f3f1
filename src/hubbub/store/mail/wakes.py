"""SQL for waking agents: the present wakers, the wakes, and the letters that they pointed at."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from hubbub.model.mail.wakes import Wake, WakeEnding, Waker, WakeResult
from hubbub.store.table import Table
from hubbub.store.tx import Tx

_WAKERS = Table("wakers", Waker, key=("project_id", "agent", "instance", "method"))
_WAKES = Table("wakes", Wake)
_UNREAD = """project_id = :project_id AND recipient = :agent
    AND acked_at IS NULL AND withdrawn_at IS NULL AND seen_at IS NULL"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PointedLetters:
    """Unread letters of an inbox that one wake pointed at, or that none has pointed at yet."""

    wake_id: UUID | None
    letters: int
    first_at: int  # arrival of the first of them


def lock_agent(tx: Tx, project_id: UUID, agent: str) -> None:
    """Lock the agent's waking against other transactions until this one ends; does nothing in a read."""
    if not tx.is_read and tx.db.for_update:
        tx.run(
            f"SELECT name FROM agents WHERE project_id = :project_id AND name = :name {tx.db.for_update}",
            project_id=project_id,
            name=agent,
        )


put_waker = _WAKERS.put


def wakers(tx: Tx, project_id: UUID, agent: str) -> list[Waker]:
    """List all recent wakers of the agent, present or not; oldest first."""
    return _WAKERS.all(
        tx,
        "WHERE project_id = :project_id AND agent = :agent ORDER BY since, instance, method",
        project_id=project_id,
        agent=agent,
    )


def drop_wakers(tx: Tx, project_id: UUID, agent: str, instance: str) -> bool:
    """Forget the wakers of one instance; False if there were none."""
    rows = tx.all(
        """DELETE FROM wakers WHERE project_id = :project_id AND agent = :agent AND instance = :instance
           RETURNING method""",
        project_id=project_id,
        agent=agent,
        instance=instance,
    )
    return bool(rows)


def drop_waker(tx: Tx, waker: Waker, asked_at: int) -> None:
    """Forget a waker, unless it has asked again since."""
    tx.run(
        """DELETE FROM wakers WHERE project_id = :project_id AND agent = :agent AND instance = :instance
           AND method = :method AND asked_at = :asked_at""",
        project_id=waker.project_id,
        agent=waker.agent,
        instance=waker.instance,
        method=waker.method,
        asked_at=asked_at,
    )


insert = _WAKES.insert


def hand_out(tx: Tx, wake: Wake) -> Wake:
    """Store the taker of a wake that waited for one."""
    changing = ("text", "unread", "taken_at", "instance", "client", "method")
    tx.run(
        f"UPDATE wakes SET {', '.join(f'{name} = :{name}' for name in changing)} WHERE id = :id",
        id=wake.id,
        **{name: getattr(wake, name) for name in changing},
    )
    return wake


def tell_of(tx: Tx, wake_id: UUID, result: WakeResult, said: str | None, took_ms: int | None) -> Wake | None:
    """Store the result of a wake; None if it is known already."""
    return _WAKES.update(
        tx,
        "SET told_at = :now, result = :result, said = :said, took_ms = :took_ms WHERE id = :id AND result IS NULL",
        id=wake_id,
        now=tx.now,
        result=result,
        said=said,
        took_ms=took_ms,
    )


def end(tx: Tx, wake_id: UUID, ending: WakeEnding) -> Wake | None:
    """End a wake; None if it has ended."""
    return _WAKES.update(
        tx,
        "SET ended_at = :now, ending = :ending WHERE id = :id AND ended_at IS NULL",
        id=wake_id,
        now=tx.now,
        ending=ending,
    )


def find(tx: Tx, wake_id: UUID) -> Wake | None:
    return _WAKES.find(tx, id=wake_id)


def some(tx: Tx, wake_ids: Iterable[UUID]) -> dict[UUID, Wake]:
    """Return those of the wakes that still exist, by their ids."""
    found = (find(tx, wake_id) for wake_id in wake_ids)  # hardly ever more than one
    return {wake.id: wake for wake in found if wake is not None}


def open_of(tx: Tx, project_id: UUID, agent: str) -> Wake | None:
    """Return the agent's wake that has not ended."""
    return _WAKES.one(
        tx,
        "WHERE project_id = :project_id AND agent = :agent AND ended_at IS NULL",
        project_id=project_id,
        agent=agent,
    )


def last_of(tx: Tx, project_id: UUID, agent: str) -> Wake | None:
    """Return the agent's newest wake that a waker took."""
    return _WAKES.one(
        tx,
        "WHERE project_id = :project_id AND agent = :agent AND taken_at IS NOT NULL ORDER BY id DESC LIMIT 1",
        project_id=project_id,
        agent=agent,
    )


def answer(tx: Tx, wake_ids: Iterable[UUID]) -> None:
    """End those of these wakes that have not ended: their agent looked into its inbox."""
    for wake_id in wake_ids:
        tx.run(
            """UPDATE wakes SET answered_at = :now, ended_at = :now, ending = :ending
               WHERE id = :id AND ended_at IS NULL""",
            id=wake_id,
            now=tx.now,
            ending=WakeEnding.ANSWERED,
        )


def unread(tx: Tx, project_id: UUID, agent: str) -> list[PointedLetters]:
    """List the agent's unread letters, by the wake that pointed at them."""
    rows = tx.all(
        f"""SELECT wake_id, count(*) AS letters, min(stored_at) AS first_at FROM deliveries
            WHERE {_UNREAD} GROUP BY wake_id""",
        project_id=project_id,
        agent=agent,
    )
    return [
        PointedLetters(wake_id=row["wake_id"], letters=row["letters"], first_at=row["first_at"])
        for row in rows
    ]


def refs(tx: Tx, project_id: UUID, agent: str, limit: int) -> list[str]:
    """List the references of the agent's first unread letters: M-9 is a message and T-4 a task."""
    rows = tx.all(
        f"""SELECT m.number AS message, t.number AS task
            FROM (SELECT id, priority, task_id, message_id FROM deliveries WHERE {_UNREAD}
                  ORDER BY priority, id LIMIT :limit) d
            LEFT JOIN messages m ON m.id = d.message_id LEFT JOIN tasks t ON t.id = d.task_id
            ORDER BY d.priority, d.id""",
        project_id=project_id,
        agent=agent,
        limit=limit,
    )
    return [f"T-{row['task']}" if row["task"] is not None else f"M-{row['message']}" for row in rows]


def point(tx: Tx, wake: Wake, stale: Sequence[UUID]) -> None:
    """Note that the wake points at the agent's unread letters, except where one that is not `stale` already does."""
    named = {f"stale{number}": wake_id for number, wake_id in enumerate(stale)}
    again = f" OR wake_id IN ({', '.join(f':{name}' for name in named)})" if named else ""
    tx.run(
        f"UPDATE deliveries SET wake_id = :wake_id WHERE {_UNREAD} AND (wake_id IS NULL{again})",
        wake_id=wake.id,
        project_id=wake.project_id,
        agent=wake.agent,
        **named,
    )


def unpoint(tx: Tx, project_id: UUID, agent: str) -> None:
    """Note that no wake points at the agent's unread letters."""
    tx.run(
        f"UPDATE deliveries SET wake_id = NULL WHERE {_UNREAD} AND wake_id IS NOT NULL",
        project_id=project_id,
        agent=agent,
    )


def mark_notified(tx: Tx, wake: Wake) -> None:
    """Note that the receiver was told of the unread letters that the wake points at."""
    tx.run(
        f"UPDATE deliveries SET notified_at = :now WHERE {_UNREAD} AND wake_id = :wake_id AND notified_at IS NULL",
        now=tx.now,
        project_id=wake.project_id,
        agent=wake.agent,
        wake_id=wake.id,
    )


def forget(tx: Tx, *, before: int) -> None:
    """Delete wakes that ended, and wakers that left, before that moment."""
    tx.run("DELETE FROM wakes WHERE ended_at < :before", before=before)
    tx.run("DELETE FROM wakers WHERE expires_at < :before", before=before)
