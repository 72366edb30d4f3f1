"""SQL for webhooks."""

from collections.abc import Sequence
from uuid import UUID

from hubbub.model.log.webhooks import Webhook
from hubbub.model.records import Project
from hubbub.store.log.activity import Position
from hubbub.store.table import Table
from hubbub.store.tx import Tx

_TABLE = Table("webhooks", Webhook)

insert = _TABLE.insert


def find(tx: Tx, webhook_id: UUID, *, lock: bool = False) -> Webhook | None:
    """Return the webhook with that id, also a removed one; `lock` it for a change."""
    return _TABLE.one(tx, f"WHERE id = :id {tx.db.for_update if lock else ''}", id=webhook_id)


def of_project(tx: Tx, project: Project) -> list[Webhook]:
    """List the project's webhooks that have not been removed, oldest first."""
    return _TABLE.all(
        tx, "WHERE project_id = :project_id AND removed_at IS NULL ORDER BY id", project_id=project.id
    )


def behind(tx: Tx, room: int) -> Sequence[UUID]:
    """List the webhooks with unread activities and fewer than `room` parcels under way."""
    return tx.column(
        f"""SELECT w.id FROM webhooks w
            WHERE w.removed_at IS NULL
              AND EXISTS (SELECT 1 FROM activity
                          WHERE project_id = w.project_id AND {tx.db.placed(">", "w.after_tx", "w.after_seq")}
                            AND {tx.db.settled})
              AND (SELECT count(*) FROM outbox WHERE webhook_id = w.id AND outcome IS NULL) < :room""",
        room=room,
    )


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
