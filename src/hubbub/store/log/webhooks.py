"""SQL for webhooks."""

from collections.abc import Sequence
from uuid import UUID

from hubbub.model.log.webhooks import Webhook
from hubbub.model.records import Project
from hubbub.store.log.activity import Position
from hubbub.store.table import Table
from hubbub.store.tx import Tx

_TABLE = Table("webhooks", Webhook)
_COLUMNS = _TABLE.selected
_webhook = _TABLE.record


def insert(tx: Tx, webhook: Webhook) -> None:
    tx.run(_TABLE.insertion, **_TABLE.row(webhook))


def find(tx: Tx, webhook_id: UUID, *, lock: bool = False) -> Webhook | None:
    """Return the webhook with that id, also a removed one; `lock` it for a change."""
    row = tx.one(
        f"SELECT {_COLUMNS} FROM webhooks WHERE id = :id {tx.db.for_update if lock else ''}", id=webhook_id
    )
    return _webhook(row) if row else None


def of_project(tx: Tx, project: Project) -> list[Webhook]:
    """List the project's webhooks that have not been removed, oldest first."""
    rows = tx.all(
        f"""SELECT {_COLUMNS} FROM webhooks WHERE project_id = :project_id AND removed_at IS NULL
            ORDER BY id""",
        project_id=project.id,
    )
    return [_webhook(row) for row in rows]


def behind(tx: Tx, room: int) -> Sequence[UUID]:
    """List the webhooks with unread activities and fewer than `room` parcels under way."""
    rows = tx.all(
        f"""SELECT w.id FROM webhooks w
            WHERE w.removed_at IS NULL
              AND EXISTS (SELECT 1 FROM activity
                          WHERE project_id = w.project_id AND {tx.db.placed(">", "w.after_tx", "w.after_seq")}
                            AND {tx.db.settled})
              AND (SELECT count(*) FROM outbox WHERE webhook_id = w.id AND outcome IS NULL) < :room""",
        room=room,
    )
    return [row["id"] for row in rows]


def move_on(tx: Tx, webhook_id: UUID, to: Position) -> None:
    """Store the place up to which the webhook's activities are in the outbox."""
    tx.run(
        "UPDATE webhooks SET after_tx = :tx, after_seq = :seq WHERE id = :id",
        id=webhook_id,
        tx=to.tx,
        seq=to.seq,
    )


def remove(tx: Tx, webhook_id: UUID) -> None:
    """Mark a webhook as removed; delete its secret, and its address, which may contain another."""
    tx.run(
        "UPDATE webhooks SET removed_at = :now, url = '', secret = '' WHERE id = :id",
        id=webhook_id,
        now=tx.now,
    )
