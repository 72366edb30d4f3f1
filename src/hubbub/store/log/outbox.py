"""SQL for the outbox: one function for each statement, the same text on both engines."""

from collections.abc import Sequence
from uuid import UUID

from hubbub.model.log.outbox_items import DeliveryOutcome, OutboxItem, OutboxItemKind
from hubbub.store import sequence_numbers
from hubbub.store.table import Table
from hubbub.store.tx import Tx

_TABLE = Table("outbox", OutboxItem)

# A parcel of a webhook waits until all earlier ones have ended; other parcels do not wait.
_HAS_ITS_TURN = """NOT EXISTS (SELECT 1 FROM outbox earlier
                               WHERE earlier.webhook_id = outbox.webhook_id AND earlier.outcome IS NULL
                                 AND earlier.seq < outbox.seq)"""


def insert(
    tx: Tx,
    parcel_id: UUID,
    project_id: UUID,
    kind: OutboxItemKind,
    *,
    webhook_id: UUID | None = None,
    activity: int | None = None,
    event: str | None = None,
    issue: str | None = None,
    text: str | None = None,
    task_id: UUID | None = None,
) -> None:
    """Put a parcel after all others, due now."""
    tx.run(
        """INSERT INTO outbox (id, project_id, kind, webhook_id, activity, event, issue, text, task_id, created_at,
                               attempts, next_at, leased_until, doubtful)
           VALUES (:id, :project_id, :kind, :webhook_id, :activity, :event, :issue, :text, :task_id, :now,
                   0, :now, 0, 0)""",
        id=parcel_id,
        project_id=project_id,
        kind=kind,
        webhook_id=webhook_id,
        activity=activity,
        event=event,
        issue=issue,
        text=text,
        task_id=task_id,
        now=tx.now,
    )


def find(tx: Tx, parcel_id: UUID, *, lock: bool = False) -> OutboxItem | None:
    """Return the parcel with that id; `lock` it for a change."""
    return _TABLE.one(tx, f"WHERE id = :id {tx.db.for_update if lock else ''}", id=parcel_id)


def next_at(tx: Tx) -> int | None:
    """Return the time when the next parcel is due, perhaps long ago; None if none waits."""
    return tx.value(
        f"""SELECT min(CASE WHEN leased_until > next_at THEN leased_until ELSE next_at END) AS next_at
            FROM outbox WHERE outcome IS NULL AND {_HAS_ITS_TURN}""",
    )


def due(tx: Tx, limit: int) -> list[OutboxItem]:
    """Return up to `limit` due parcels without an attempt under way, longest due first, locked for the caller."""
    return _TABLE.all(
        tx,
        f"""WHERE outcome IS NULL AND next_at <= :now AND leased_until <= :now AND {_HAS_ITS_TURN}
            ORDER BY next_at LIMIT :limit {tx.db.for_update} {tx.db.skip_locked}""",
        now=tx.now,
        limit=limit,
    )


def lease(tx: Tx, parcel_id: UUID, until: int) -> None:
    """Begin an attempt: the caller has the parcel until `until`, and its result is unknown until then."""
    tx.run(
        """UPDATE outbox SET leased_until = :until, attempts = attempts + 1, doubtful = 1 WHERE id = :id""",
        id=parcel_id,
        until=until,
    )


def postpone(tx: Tx, parcel: OutboxItem, until: int, *, doubtful: bool, reason: str | None) -> bool:
    """End a failed attempt, with another to come at `until`; False if it is no longer the last one."""
    return tx.any(
        """UPDATE outbox SET next_at = :until, leased_until = 0, doubtful = :doubtful, last_error = :reason
           WHERE id = :id AND attempts = :attempts AND outcome IS NULL RETURNING id""",
        id=parcel.id,
        attempts=parcel.attempts,
        until=until,
        doubtful=int(doubtful),
        reason=reason,
    )


def hold_up(tx: Tx, kind: OutboxItemKind, until: int) -> None:
    """Postpone all parcels of the kind to `until`."""
    tx.run(
        "UPDATE outbox SET next_at = :until WHERE outcome IS NULL AND next_at < :until AND kind = :kind",
        kind=kind,
        until=until,
    )


def end(tx: Tx, parcel: OutboxItem, outcome: DeliveryOutcome, *, reason: str | None) -> bool:
    """End a parcel; False if it has ended already, or a later attempt is under way that may still succeed."""
    is_last = "" if outcome is DeliveryOutcome.DELIVERED else "AND attempts = :attempts"
    return tx.any(
        f"""UPDATE outbox SET outcome = :outcome, ended_at = :now, leased_until = 0, doubtful = 0,
                              last_error = COALESCE(:reason, last_error)
            WHERE id = :id AND outcome IS NULL {is_last} RETURNING id""",
        id=parcel.id,
        attempts=parcel.attempts,
        outcome=outcome,
        reason=reason,
        now=tx.now,
    )


def let_go(tx: Tx, parcel: OutboxItem) -> None:
    """End an attempt that nobody will report on: another may begin at once."""
    tx.run(
        "UPDATE outbox SET leased_until = 0 WHERE id = :id AND attempts = :attempts AND outcome IS NULL",
        id=parcel.id,
        attempts=parcel.attempts,
    )


def revive(tx: Tx, parcel_id: UUID) -> None:
    """Make a parcel due now, with its full number of tries, even if it has ended."""
    tx.run(
        "UPDATE outbox SET outcome = NULL, ended_at = NULL, attempts = 0, next_at = :now WHERE id = :id",
        id=parcel_id,
        now=tx.now,
    )


def withdraw(tx: Tx, webhook_id: UUID) -> None:
    """End all pending parcels of a webhook."""
    tx.run(
        """UPDATE outbox SET outcome = :outcome, ended_at = :now, leased_until = 0
           WHERE webhook_id = :webhook_id AND outcome IS NULL""",
        webhook_id=webhook_id,
        outcome=DeliveryOutcome.WITHDRAWN,
        now=tx.now,
    )


def number_open(tx: Tx, webhook_id: UUID) -> int:
    """Count the pending parcels of a webhook."""
    return tx.count("FROM outbox WHERE webhook_id = :id AND outcome IS NULL", id=webhook_id)


def of_project(
    tx: Tx, project_id: UUID, *, outcome: DeliveryOutcome | None = None, before: int | None = None, limit: int
) -> Sequence[OutboxItem]:
    """List the project's parcels, or those with that outcome, newest first; `before` is the `seq` to go on from."""
    narrowed = "AND outcome = :outcome" if outcome is not None else ""
    return _TABLE.all(
        tx,
        f"WHERE project_id = :project_id {narrowed} AND seq < :before ORDER BY seq DESC LIMIT :limit",
        project_id=project_id,
        outcome=outcome,
        before=before or sequence_numbers.LAST,
        limit=limit,
    )


def forget(tx: Tx, before: int, outcome: DeliveryOutcome | None = None) -> None:
    """Delete parcels that ended before `before`, or those of them with that outcome."""
    narrowed = "AND outcome = :outcome" if outcome is not None else ""
    tx.run(
        f"DELETE FROM outbox WHERE ended_at IS NOT NULL AND ended_at < :before {narrowed}",
        before=before,
        outcome=outcome,
    )
