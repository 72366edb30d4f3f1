"""SQL for messages and for their deliveries: the inboxes."""

import json
from collections.abc import Callable, Sequence
from uuid import UUID

from hubbub.model import ids
from hubbub.model.lifecycle import Status
from hubbub.model.records import CHILD, Delivery, Letter, LetterKind, Message, Run, Task
from hubbub.model.timestamps import PARTS
from hubbub.store import sequence_numbers, status_counters
from hubbub.store.mail import wakes
from hubbub.store.table import Table
from hubbub.store.tx import Row, T, Tx

_MESSAGES, _DELIVERIES = Table("messages", Message, alias="m"), Table("deliveries", Delivery, alias="d")
_message, _delivery = _MESSAGES.record, _DELIVERIES.record
_MESSAGE, _DELIVERY = _MESSAGES.selected, _DELIVERIES.selected
_WAITING = ", ".join(f"d.{name} AS delivery_{name}" for name in _DELIVERIES.columns)
_AFTER = f" AND m.created_at * 1000 + m.number % {PARTS} + 1 > :after"
_AS_THEY_ARE = (
    "number",
    "sender",
    "author",
    "context",
    "edited_by",
    "task_id",
    "in_reply_to",
)  # columns of a letter
_CONVERSATION = """said (id) AS (
    SELECT id FROM (
        SELECT id FROM messages WHERE project_id = :project_id AND id = :root
        UNION SELECT id FROM messages WHERE project_id = :project_id AND in_reply_to = :root
        UNION SELECT id FROM messages WHERE project_id = :project_id AND thread = :name
    ) AS first
    UNION SELECT a.id FROM messages a JOIN said ON a.in_reply_to = said.id)"""
_PENDING = "acked_at IS NULL AND withdrawn_at IS NULL"

insert = _MESSAGES.insert


def find(tx: Tx, message_id: UUID) -> Message | None:
    return _MESSAGES.find(tx, id=message_id)


def find_by_number(tx: Tx, project_id: UUID, number: int) -> Message | None:
    return _MESSAGES.find(tx, project_id=project_id, number=number)


def history(
    tx: Tx,
    project_id: UUID,
    *,
    before: int | None = None,
    sender: str | None = None,
    party: str | None = None,
    after: int | None = None,
    limit: int,
) -> list[Message]:
    """List the project's messages, newest first.

    Before a number; by one `sender`; from or to one `party`; after an `exact` moment.
    """
    narrowed = " AND m.sender = :sender" if sender is not None else ""
    narrowed += " AND (m.sender = :party OR m.recipient = :party)" if party is not None else ""
    narrowed += _AFTER if after is not None else ""
    return _MESSAGES.all(
        tx,
        f"WHERE m.project_id = :project_id AND m.number < :before{narrowed} ORDER BY m.number DESC LIMIT :limit",
        project_id=project_id,
        before=before or sequence_numbers.LAST,
        sender=sender,
        party=party,
        after=after,
        limit=limit,
    )


def thread(tx: Tx, subject_id: UUID, limit: int = 200) -> list[Message]:
    """List the messages that answer one task or message, oldest first."""
    return _MESSAGES.all(
        tx, "WHERE in_reply_to = :id ORDER BY number LIMIT :limit", id=subject_id, limit=limit
    )


def about(tx: Tx, task: Task, limit: int = 200) -> list[Message]:
    """List the newest messages that answer a task, or are in a conversation with its id, oldest first."""
    return _MESSAGES.all(
        tx,
        f"""WHERE in_reply_to = :id AND project_id = :project_id
            UNION SELECT {_MESSAGE} FROM messages m WHERE project_id = :project_id AND thread = :name
            ORDER BY number DESC LIMIT :limit""",
        id=task.id,
        project_id=task.project_id,
        name=str(task.id),
        limit=limit,
    )[::-1]


def conversation(
    tx: Tx, project_id: UUID, *, root: UUID | None, name: str, before: int | None = None, limit: int
) -> list[Message]:
    """List the newest messages of a conversation, oldest first; `before` is the number to go on from.

    It consists of its `root` message, or of the answers to its root task; of the messages under its
    `name`; and of all answers to these.
    """
    rows = tx.all(
        f"""WITH RECURSIVE {_CONVERSATION}
            SELECT {_MESSAGE} FROM messages m JOIN said ON said.id = m.id
            WHERE m.number < :before ORDER BY m.number DESC LIMIT :limit""",
        project_id=project_id,
        root=root,
        name=name,
        before=before or sequence_numbers.LAST,
        limit=limit,
    )
    return [_message(row) for row in reversed(rows)]


def first_said(tx: Tx, project_id: UUID, *, root: UUID | None, name: str) -> Message:
    """Return the first message of a conversation that has any."""
    row = tx.one(
        f"""WITH RECURSIVE {_CONVERSATION}
            SELECT {_MESSAGE} FROM messages m JOIN said ON said.id = m.id ORDER BY m.number LIMIT 1""",
        project_id=project_id,
        root=root,
        name=name,
    )
    assert row is not None
    return _message(row)


def size(tx: Tx, project_id: UUID, *, root: UUID | None, name: str) -> tuple[int, int, int]:
    """Return the number of messages in a conversation, the number of the last, and the time of the first."""
    row = tx.one(
        f"""WITH RECURSIVE {_CONVERSATION}
            SELECT count(*) AS messages, COALESCE(max(m.number), 0) AS last, min(m.created_at) AS began
            FROM messages m JOIN said ON said.id = m.id""",
        project_id=project_id,
        root=root,
        name=name,
    )
    assert row is not None  # an aggregate has one row
    return int(row["messages"]), int(row["last"]), int(row["began"] or 0)


def parties(tx: Tx, project_id: UUID, *, root: UUID | None, name: str) -> list[Row]:
    """List the parties of a conversation: receivers, with their inboxes' counts, and senders.

    They count what is unread, unacknowledged, and waits for a person. A person has their own name as far as it is
    known, and the inbox of all people.
    """
    # A CROSS JOIN, as SQLite would otherwise read all deliveries of the hub.
    return list(
        tx.all(
            f"""WITH RECURSIVE {_CONVERSATION}
                SELECT COALESCE(m.addressee, d.recipient) AS name, d.recipient AS inbox,
                       sum(CASE WHEN d.seen_at IS NULL THEN 1 ELSE 0 END) AS unread,
                       sum(CASE WHEN d.acked_at IS NULL THEN 1 ELSE 0 END) AS unacked,
                       sum(CASE WHEN d.acked_at IS NULL THEN d.for_people ELSE 0 END) AS for_people
                FROM said CROSS JOIN messages m CROSS JOIN deliveries d
                WHERE m.id = said.id AND d.message_id = said.id AND d.withdrawn_at IS NULL GROUP BY 1, 2
                UNION ALL
                SELECT DISTINCT COALESCE(m.author, m.sender), m.sender, 0, 0, 0
                FROM messages m JOIN said ON said.id = m.id
                ORDER BY 1""",
            project_id=project_id,
            root=root,
            name=name,
        )
    )


def of_run(tx: Tx, run: Run) -> list[Message]:
    """List all messages of a run, in order."""
    return _MESSAGES.all(tx, "WHERE m.run_id = :run_id ORDER BY m.number", run_id=run.id)


def number_in_run(tx: Tx, run: Run) -> int:
    return tx.count("FROM messages WHERE run_id = :run_id", run_id=run.id)


def mail(tx: Tx, run: Run, name: str, *, after: int = 0) -> list[Message]:
    """List the messages of a run to `name`, or by others to everyone, after the number `after`, in order."""
    return [_message(row) for row in _mail(tx.all, _MESSAGE, run, name, after=after)]


def mail_numbers(tx: Tx, run: Run, name: str, *, after: int = 0) -> list[int]:
    """List the number of each message of a `mail`."""
    return [number for (number,) in _mail(tx.tuples, "m.number", run, name, after=after)]


def unseen_mail(tx: Tx, run: Run, name: str, *, after: int = 0) -> list[UUID]:
    """List the unread inbox rows of `name` for a `mail`."""
    if not status_counters.unread(tx, run.project_id, name):
        return []
    join = "JOIN deliveries d ON d.message_id = m.id AND d.recipient = :name AND d.seen_at IS NULL"
    return [row["id"] for row in _mail(tx.all, "d.id, m.number", run, name, after=after, join=join)]


def _mail(
    ask: Callable[..., Sequence[T]], wanted: str, run: Run, name: str, *, after: int, join: str = ""
) -> Sequence[T]:
    """Select the `wanted` columns of a mail, with the number: without it SQLite sorts them in a temporary table."""
    return ask(
        f"""SELECT {wanted}
            FROM (SELECT * FROM messages WHERE run_id = :run_id AND recipient = :name AND number > :after
            UNION ALL
                  SELECT * FROM messages
                  WHERE run_id = :run_id AND recipient IS NULL AND number > :after AND sender <> :name) m
            {join} ORDER BY m.number""",
        run_id=run.id,
        name=name,
        after=after,
    )


def last_in_thread(tx: Tx, project_id: UUID, thread: str, sender: str) -> Message | None:
    """Return `sender`'s last message in the conversation of that name."""
    return _MESSAGES.one(
        tx,
        "WHERE m.project_id = :project_id AND m.thread = :thread AND m.sender = :sender ORDER BY m.number DESC LIMIT 1",
        project_id=project_id,
        thread=thread,
        sender=sender,
    )


def last_answer(tx: Tx, task_id: UUID, sender: str, *, until: int, but: str) -> Message | None:
    """Return `sender`'s last answer to a task by then; reports of the end of a task, or a part, are none.

    Nor is the notice of a task in review without words of its holder, which is `but`.
    """
    return _MESSAGES.one(
        tx,
        """WHERE m.in_reply_to = :id AND m.sender = :sender AND m.created_at <= :until
             AND (m.outcome IS NULL OR (m.outcome = :in_review AND m.body <> :but))
           ORDER BY m.number DESC LIMIT 1""",
        id=task_id,
        sender=sender,
        until=until,
        in_review=Status.IN_REVIEW,
        but=but,
    )


def deliver(tx: Tx, delivery: Delivery) -> Delivery:
    """Put a row into an inbox."""
    _DELIVERIES.insert(tx, delivery)
    if delivery.acked_at is None and delivery.withdrawn_at is None:
        _count(tx, delivery.project_id, delivery.recipient, pending=1, unread=int(delivery.seen_at is None))
    return delivery


def find_delivery(tx: Tx, delivery_id: UUID) -> Delivery | None:
    return _DELIVERIES.find(tx, id=delivery_id)


def next_id(tx: Tx) -> UUID:
    """Return the id of a new inbox row: greater than those of all rows that were there when the call was made.

    The ids of one hub rise by themselves; other hubs, whose clocks may be ahead, make greater ones.
    """
    if tx.db.is_shared and not (tx.tally.follows or tx.before.follows):
        follow_last(tx)
        tx.tally.follows = True
    return ids.new_id()


def follow_last(tx: Tx) -> None:
    """Have all further ids of this process follow those of the inbox rows, whatever its clock says."""
    row = tx.one("SELECT id FROM deliveries ORDER BY id DESC LIMIT 1")
    if row is not None:
        ids.continue_after(row["id"])


def deliveries_of_all(tx: Tx, messages: Sequence[Message]) -> dict[UUID, list[Delivery]]:
    """Return every inbox row of several messages, by the messages' ids."""
    named = {f"id{number}": message.id for number, message in enumerate(messages)}
    rows = tx.all(
        f"""SELECT {_DELIVERY} FROM deliveries d
            WHERE d.message_id IN ({", ".join(f":{name}" for name in named)}) ORDER BY d.id""",
        **named,
    ) if named else []  # fmt: skip
    found: dict[UUID, list[Delivery]] = {message.id: [] for message in messages}
    for row in rows:
        found[row["message_id"]].append(_delivery(row))
    return found


def inbox(tx: Tx, project_id: UUID, recipient: str, limit: int) -> list[Letter]:
    """Return the recipient's pending letters: most urgent first, then in order of arrival."""
    rows = tx.all(
        f"""SELECT {_DELIVERY}, m.kind, m.in_reply_to, m.outcome, m.metadata,
                   COALESCE(m.number, t.number) AS number,
                   COALESCE(m.sender, t.sender) AS sender, COALESCE(m.author, t.author) AS author,
                   m.body, t.title, t.description, t.context, t.edited_by
            FROM deliveries d
            LEFT JOIN messages m ON m.id = d.message_id
            LEFT JOIN tasks t ON t.id = d.task_id
            WHERE d.project_id = :project_id AND d.recipient = :recipient
              AND d.acked_at IS NULL AND d.withdrawn_at IS NULL
            ORDER BY d.priority, d.id LIMIT :limit""",
        project_id=project_id,
        recipient=recipient,
        limit=limit,
    )
    return [_letter(row) for row in rows]


def for_people(tx: Tx, project_id: UUID) -> list[tuple[Message, Delivery]]:
    """List the messages that wait for people, in order of arrival."""
    rows = tx.all(
        f"""SELECT {_MESSAGE}, {_WAITING} FROM deliveries d JOIN messages m ON m.id = d.message_id
            WHERE d.project_id = :project_id AND d.for_people = 1 AND d.acked_at IS NULL
              AND d.withdrawn_at IS NULL ORDER BY d.id""",
        project_id=project_id,
    )
    return [
        (_message(row), _delivery({name: row[f"delivery_{name}"] for name in _DELIVERIES.columns}))
        for row in rows
    ]


def _letter(row: Row) -> Letter:
    is_task = row["task_id"] is not None
    return Letter(
        delivery=_delivery(row),
        **{name: row[name] for name in _AS_THEY_ARE},
        kind=LetterKind.TASK if is_task else LetterKind(row["kind"]),
        title=row["title"] or "",
        body=row["description"] if is_task else row["body"],
        outcome=Status(row["outcome"]) if row["outcome"] else None,
        child=json.loads(row["metadata"]).get(CHILD) if row["outcome"] and row["metadata"] else None,
    )


def last_told(tx: Tx, project_id: UUID, recipient: str) -> Delivery | None:
    """Return the newest row of an inbox that its receiver was told of."""
    return _DELIVERIES.one(
        tx,
        """WHERE d.project_id = :project_id AND d.recipient = :recipient
             AND (d.notified_at IS NOT NULL OR d.seen_at IS NOT NULL)
           ORDER BY d.id DESC LIMIT 1""",
        project_id=project_id,
        recipient=recipient,
    )


def ack(tx: Tx, delivery_id: UUID) -> bool:
    """Acknowledge a pending row; False if it was not pending."""
    row = _end(tx, delivery_id, "acked_at = :now, dead_at = NULL")
    if row is None:
        return False
    if row["seen_at"] is None:
        tx.run("UPDATE deliveries SET seen_at = :now WHERE id = :id", id=delivery_id, now=tx.now)
    if row["wake_id"] is not None:
        wakes.answer(tx, [row["wake_id"]])
    return True


def withdraw(tx: Tx, delivery_id: UUID) -> bool:
    """Withdraw a pending row from its inbox; False if it was not pending."""
    return _end(tx, delivery_id, "withdrawn_at = :now") is not None


def _end(tx: Tx, delivery_id: UUID, change: str) -> Row | None:
    """End a pending row by a change; return its other columns."""
    row = tx.one(
        f"""UPDATE deliveries SET {change} WHERE id = :id AND {_PENDING}
            RETURNING project_id, recipient, seen_at, wake_id""",
        id=delivery_id,
        now=tx.now,
    )
    if row is not None:
        _count(tx, row["project_id"], row["recipient"], pending=-1, unread=-int(row["seen_at"] is None))
    return row


def mark_seen(tx: Tx, delivery_ids: Sequence[UUID]) -> None:
    """Mark rows as read for the first time: they are alive again, and the wakes that pointed at them are answered."""
    answered = set()
    for delivery_id in delivery_ids:
        row = tx.one(
            """UPDATE deliveries SET seen_at = :now, dead_at = NULL WHERE id = :id AND seen_at IS NULL
               RETURNING project_id, recipient, acked_at, withdrawn_at, wake_id""",
            id=delivery_id,
            now=tx.now,
        )
        if row is None:
            continue
        if row["acked_at"] is None and row["withdrawn_at"] is None:
            _count(tx, row["project_id"], row["recipient"], unread=-1)
        if row["wake_id"] is not None:
            answered.add(row["wake_id"])
    wakes.answer(tx, sorted(answered))


def _count(tx: Tx, project_id: UUID, recipient: str, *, pending: int = 0, unread: int) -> None:
    tx.tally.pending[project_id, recipient] += pending
    tx.tally.unread[project_id, recipient] += unread


def mark_notified(tx: Tx, delivery_ids: Sequence[UUID]) -> None:
    """Mark rows as notified: a follower of the inbox was told of them for the first time."""
    for delivery_id in delivery_ids:
        tx.run(
            "UPDATE deliveries SET notified_at = :now WHERE id = :id AND notified_at IS NULL",
            id=delivery_id,
            now=tx.now,
        )
