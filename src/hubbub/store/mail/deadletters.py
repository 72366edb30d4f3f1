"""SQL for letters that were never read."""

from dataclasses import dataclass
from uuid import UUID

from hubbub.model.fleet.nodes import NODE_PREFIX
from hubbub.model.people.rights import HUB
from hubbub.store.tx import Row, Tx


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """A dead inbox row, and its content."""

    id: UUID
    project_id: UUID
    recipient: str
    sender: str
    message_id: UUID | None
    task_id: UUID | None
    number: int  # of the message or task
    title: str | None  # of the task
    stored_at: int
    dead_at: int
    expired: bool  # the task expired; else its receiver was never there
    author: str | None  # the person, if one sent it

    @property
    def ref(self) -> str:
        """Return the letter's reference: M-9 is a message and T-4 a task."""
        return f"T-{self.number}" if self.task_id is not None else f"M-{self.number}"

    @property
    def is_of_hub(self) -> bool:
        """Tell whether the hub itself sent it, of its own accord; it sends no tasks."""
        return self.sender == HUB and self.task_id is None and self.author is None


_LETTER = """SELECT d.id, d.project_id, d.recipient, COALESCE(m.sender, t.sender) AS sender, d.message_id, d.task_id,
    COALESCE(m.number, t.number) AS number, t.title, COALESCE(m.author, t.author) AS author, d.stored_at, d.dead_at,
    d.withdrawn_at
    FROM deliveries d LEFT JOIN messages m ON m.id = d.message_id LEFT JOIN tasks t ON t.id = d.task_id"""
_SENDERS = "COALESCE(m.sender, t.sender), COALESCE(m.author, t.author)"  # a person also by their own name
_UNREAD = "acked_at IS NULL AND withdrawn_at IS NULL AND seen_at IS NULL AND dead_at IS NULL"

# Agents that were there since: by a heartbeat, a tool call, or a waker's request.
_NEVER_THERE = """
    NOT EXISTS (SELECT 1 FROM agents a JOIN presences p ON p.id = a.presence_id
                WHERE a.project_id = d.project_id AND a.name = d.recipient AND p.seen_at >= d.stored_at)
    AND NOT EXISTS (SELECT 1 FROM evidence e
                    WHERE e.project_id = d.project_id AND e.agent = d.recipient AND e.last_tool_at >= d.stored_at)
    AND NOT EXISTS (SELECT 1 FROM wakers w
                    WHERE w.project_id = d.project_id AND w.agent = d.recipient AND w.asked_at >= d.stored_at)"""
_FOR_AGENTS = """d.for_people = 0 AND d.recipient <> :hub AND d.recipient NOT LIKE :machines
    AND NOT EXISTS (SELECT 1 FROM users u JOIN members b ON b.user_id = u.id
                    WHERE u.name = d.recipient AND b.project_id = d.project_id)"""


def _letter(row: Row) -> DeadLetter:
    values = {name: value for name, value in row.items() if name != "withdrawn_at"}
    return DeadLetter(**values, expired=row["withdrawn_at"] is not None)


_DUE = f"{_UNREAD} AND d.stored_at < :before AND {_FOR_AGENTS} AND {_NEVER_THERE}"
_OTHERS = {"hub": HUB, "machines": f"{NODE_PREFIX}%"}  # names that are not agents


def due(tx: Tx, *, before: int, limit: int) -> list[UUID]:
    """List unread rows from before that moment whose receivers were never there since; oldest first."""
    # A CROSS JOIN, so that SQLite starts from each project's pending rows instead of all rows ever.
    return tx.column(
        f"""SELECT d.id FROM projects p CROSS JOIN deliveries d WHERE d.project_id = p.id AND {_DUE}
            ORDER BY d.id LIMIT :limit""",
        before=before,
        limit=limit,
        **_OTHERS,
    )


def is_due(tx: Tx, delivery_id: UUID, *, before: int) -> bool:
    """Tell whether the row with that id is among the `due` ones."""
    return tx.any(
        f"SELECT d.id FROM deliveries d WHERE d.id = :id AND {_DUE}", id=delivery_id, before=before, **_OTHERS
    )


def unread_of(tx: Tx, project_id: UUID, recipient: str) -> list[UUID]:
    """List the unread rows of one inbox, oldest first."""
    return tx.column(
        f"""SELECT d.id FROM deliveries d
            WHERE d.project_id = :project_id AND d.recipient = :recipient AND {_UNREAD} ORDER BY d.id""",
        project_id=project_id,
        recipient=recipient,
    )


def bury(tx: Tx, delivery_id: UUID) -> DeadLetter | None:
    """Mark a row as dead; None if it was read meanwhile, or marked already."""
    row = tx.one(
        f"UPDATE deliveries AS d SET dead_at = :now WHERE d.id = :id AND {_UNREAD} RETURNING id",
        id=delivery_id,
        now=tx.now,
    )
    return find(tx, delivery_id) if row else None


def bury_expired(tx: Tx, delivery_id: UUID) -> DeadLetter | None:
    """Mark a row as dead that was withdrawn because its task expired."""
    row = tx.one(
        """UPDATE deliveries SET dead_at = :now
           WHERE id = :id AND seen_at IS NULL AND dead_at IS NULL AND withdrawn_at IS NOT NULL RETURNING id""",
        id=delivery_id,
        now=tx.now,
    )
    return find(tx, delivery_id) if row else None


def find(tx: Tx, delivery_id: UUID) -> DeadLetter | None:
    row = tx.one(f"{_LETTER} WHERE d.id = :id AND d.dead_at IS NOT NULL", id=delivery_id)
    return _letter(row) if row else None


def of_project(
    tx: Tx,
    project_id: UUID,
    *,
    sender: str | None = None,
    recipient: str | None = None,
    before: UUID | None = None,
    limit: int,
) -> list[DeadLetter]:
    """List the project's dead letters, newest first; of one sender, to one receiver, or older than one, if given."""
    narrowed = f" AND :sender IN ({_SENDERS})" if sender is not None else ""
    narrowed += " AND d.recipient = :recipient" if recipient is not None else ""
    narrowed += " AND d.id < :before" if before is not None else ""
    rows = tx.all(
        f"""{_LETTER} WHERE d.project_id = :project_id AND d.dead_at IS NOT NULL{narrowed}
            ORDER BY d.id DESC LIMIT :limit""",
        project_id=project_id,
        sender=sender,
        recipient=recipient,
        before=before,
        limit=limit,
    )
    return [_letter(row) for row in rows]
