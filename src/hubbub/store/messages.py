"""SQL for messages and for their deliveries: the inboxes."""

from collections.abc import Sequence
from uuid import UUID

from hubbub.model.lifecycle import Status
from hubbub.model.records import Delivery, Kind, Letter, Message, Priority
from hubbub.store.tx import Row, Tx

_MESSAGE = "id, project_id, number, kind, sender, recipient, body, in_reply_to, outcome, created_at"
_DELIVERY = (
    "id", "project_id", "recipient", "task_id", "message_id", "priority",
    "stored_at", "notified_at", "seen_at", "acked_at", "withdrawn_at",
)  # fmt: skip
_DELIVERY_COLUMNS = ", ".join(f"d.{name}" for name in _DELIVERY)
_DELIVER = f"INSERT INTO deliveries ({', '.join(_DELIVERY)}) VALUES ({', '.join(f':{n}' for n in _DELIVERY)})"
_PENDING = "acked_at IS NULL AND withdrawn_at IS NULL"


def _message(row: Row) -> Message:
    outcome = Status(row["outcome"]) if row["outcome"] else None
    return Message(**{**row, "kind": Kind(row["kind"]), "outcome": outcome})


def _delivery(row: Row) -> Delivery:
    return Delivery(**{**{name: row[name] for name in _DELIVERY}, "priority": Priority(row["priority"])})


def insert(tx: Tx, message: Message) -> Message:
    tx.run(
        f"""INSERT INTO messages ({_MESSAGE})
            VALUES (:id, :project_id, :number, :kind, :sender, :recipient, :body, :in_reply_to, :outcome,
                    :created_at)""",
        id=message.id,
        project_id=message.project_id,
        number=message.number,
        kind=message.kind,
        sender=message.sender,
        recipient=message.recipient,
        body=message.body,
        in_reply_to=message.in_reply_to,
        outcome=message.outcome,
        created_at=message.created_at,
    )
    return message


def find(tx: Tx, message_id: UUID) -> Message | None:
    row = tx.one(f"SELECT {_MESSAGE} FROM messages WHERE id = :id", id=message_id)
    return _message(row) if row else None


def history(tx: Tx, project_id: UUID, *, before: int, limit: int) -> list[Message]:
    """The project's messages with numbers below `before`, newest first."""
    rows = tx.all(
        f"""SELECT {_MESSAGE} FROM messages WHERE project_id = :project_id AND number < :before
            ORDER BY number DESC LIMIT :limit""",
        project_id=project_id,
        before=before,
        limit=limit,
    )
    return [_message(row) for row in rows]


def thread(tx: Tx, subject_id: UUID, limit: int) -> list[Message]:
    """The messages that answer one task or message, oldest first."""
    rows = tx.all(
        f"SELECT {_MESSAGE} FROM messages WHERE in_reply_to = :id ORDER BY number LIMIT :limit",
        id=subject_id,
        limit=limit,
    )
    return [_message(row) for row in rows]


def deliver(tx: Tx, delivery: Delivery) -> Delivery:
    """Put a row into an inbox."""
    tx.run(
        _DELIVER,
        **{**{name: getattr(delivery, name) for name in _DELIVERY}, "priority": int(delivery.priority)},
    )
    return delivery


def find_delivery(tx: Tx, delivery_id: UUID) -> Delivery | None:
    row = tx.one(f"SELECT {_DELIVERY_COLUMNS} FROM deliveries d WHERE d.id = :id", id=delivery_id)
    return _delivery(row) if row else None


def deliveries_of(tx: Tx, message_id: UUID) -> list[Delivery]:
    """Every inbox row of a message, and how far each got."""
    rows = tx.all(
        f"SELECT {_DELIVERY_COLUMNS} FROM deliveries d WHERE d.message_id = :id ORDER BY d.id", id=message_id
    )
    return [_delivery(row) for row in rows]


def inbox(tx: Tx, project_id: UUID, recipient: str, limit: int) -> list[Letter]:
    """What is pending for the recipient: most urgent first, then in order of arrival."""
    rows = tx.all(
        f"""SELECT {_DELIVERY_COLUMNS}, m.kind, m.in_reply_to, m.outcome,
                   COALESCE(m.sender, t.sender) AS sender, m.body, t.title, t.description, t.context
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


def _letter(row: Row) -> Letter:
    is_task = row["task_id"] is not None
    return Letter(
        delivery=_delivery(row),
        kind=Kind.TASK if is_task else Kind(row["kind"]),
        sender=row["sender"],
        title=row["title"] or "",
        body=row["description"] if is_task else row["body"],
        context=row["context"],
        task_id=row["task_id"],
        in_reply_to=row["in_reply_to"],
        outcome=Status(row["outcome"]) if row["outcome"] else None,
    )


def pending(tx: Tx, project_id: UUID, recipient: str) -> int:
    """How many rows of the recipient's inbox are neither acknowledged nor withdrawn."""
    row = tx.one(
        f"""SELECT count(*) AS pending FROM deliveries
            WHERE project_id = :project_id AND recipient = :recipient AND {_PENDING}""",
        project_id=project_id,
        recipient=recipient,
    )
    return int(row["pending"]) if row else 0


def ack(tx: Tx, delivery_id: UUID) -> bool:
    """Acknowledge a pending row; False if it was not pending."""
    row = tx.one(
        f"""UPDATE deliveries SET acked_at = :now, seen_at = COALESCE(seen_at, :now)
            WHERE id = :id AND {_PENDING} RETURNING id""",
        id=delivery_id,
        now=tx.now,
    )
    return row is not None


def withdraw(tx: Tx, delivery_id: UUID) -> bool:
    """Take a pending row out of its inbox; False if it was not pending."""
    row = tx.one(
        f"UPDATE deliveries SET withdrawn_at = :now WHERE id = :id AND {_PENDING} RETURNING id",
        id=delivery_id,
        now=tx.now,
    )
    return row is not None


def mark_seen(tx: Tx, delivery_ids: Sequence[UUID]) -> None:
    """Note when the rows were first read."""
    for delivery_id in delivery_ids:
        tx.run(
            "UPDATE deliveries SET seen_at = :now WHERE id = :id AND seen_at IS NULL",
            id=delivery_id,
            now=tx.now,
        )


def mark_notified(tx: Tx, delivery_ids: Sequence[UUID]) -> None:
    """Note when somebody who follows the inbox was first told of the rows."""
    for delivery_id in delivery_ids:
        tx.run(
            "UPDATE deliveries SET notified_at = :now WHERE id = :id AND notified_at IS NULL",
            id=delivery_id,
            now=tx.now,
        )
