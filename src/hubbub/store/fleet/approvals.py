"""SQL for approvals."""

from uuid import UUID

from hubbub.model.fleet.approvals import ENDED, STEPS, Approval, ApprovalStatus, ApprovalStep
from hubbub.store.table import Table
from hubbub.store.tx import Tx

_TABLE = Table("approvals", Approval)

# Its machine has been gone since `:gone` or longer, or was removed.
FORSAKEN = f"""status = '{ApprovalStatus.PENDING}' AND machine IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM machines WHERE machines.id = approvals.machine AND (online = 1 OR machines.expires_at > :gone))"""

_UNANSWERED = f"status = '{ApprovalStatus.EXPIRED}' AND answered_at IS NULL"
_MISSED = f"""{_UNANSWERED} AND NOT EXISTS (
    SELECT 1 FROM approvals again WHERE again.project_id = approvals.project_id AND again.digest = approvals.digest
      AND again.created_at > approvals.created_at)"""

insert = _TABLE.insert


def find(tx: Tx, approval_id: UUID, *, lock: bool = False) -> Approval | None:
    """Return the approval with that id; `lock` it for a change."""
    return _TABLE.one(tx, f"WHERE id = :id {tx.db.for_update if lock else ''}", id=approval_id)


def search(tx: Tx, project_id: UUID, *, status: ApprovalStatus | None, limit: int) -> list[Approval]:
    """List the project's approvals, or those of one status, oldest first: the newest `limit` of them."""
    narrowed = "AND status = :status" if status is not None else ""
    return _TABLE.all(
        tx,
        f"WHERE project_id = :project_id {narrowed} ORDER BY created_at DESC, id DESC LIMIT :limit",
        project_id=project_id,
        status=status,
        limit=limit,
    )[::-1]


def missed(tx: Tx, project_id: UUID, limit: int) -> list[Approval]:
    """List the latest questions that expired unanswered and were not asked again since, oldest first."""
    return _TABLE.all(
        tx,
        f"WHERE project_id = :project_id AND {_MISSED} ORDER BY created_at DESC, id DESC LIMIT :limit",
        project_id=project_id,
        limit=limit,
    )[::-1]


def is_missed(tx: Tx, approval: Approval) -> bool:
    """Tell whether the question expired unanswered, and was not asked again since."""
    return tx.any(f"SELECT id FROM approvals WHERE id = :id AND {_MISSED}", id=approval.id)


def missed_before(tx: Tx, asked: Approval) -> list[UUID]:
    """List the earlier questions about the same call that expired unanswered."""
    return tx.column(
        f"""SELECT id FROM approvals WHERE project_id = :project_id AND digest = :digest AND created_at < :asked_at
            AND {_UNANSWERED}""",
        project_id=asked.project_id,
        digest=asked.digest,
        asked_at=asked.created_at,
    )


def before(tx: Tx, asked: Approval, limit: int) -> list[Approval]:
    """List the last questions of the same caller before that one, newest first."""
    return _TABLE.all(
        tx,
        """WHERE project_id = :project_id AND who = :who AND id <> :id AND created_at <= :asked_at
           ORDER BY created_at DESC, id DESC LIMIT :limit""",
        project_id=asked.project_id,
        who=asked.who,
        id=asked.id,
        asked_at=asked.created_at,
        limit=limit,
    )


def number_pending(tx: Tx, project_id: UUID, token_id: UUID | None) -> int:
    """Count the waiting questions of one token's calls; None: of the hub's own."""
    return tx.count(
        """FROM approvals
           WHERE project_id = :project_id AND status = :pending
             AND COALESCE(token_id, :nobody) = COALESCE(:token_id, :nobody)""",
        project_id=project_id,
        pending=ApprovalStatus.PENDING,
        token_id=token_id,
        nobody=UUID(int=0),
    )


def move(
    tx: Tx,
    approval: Approval,
    step: ApprovalStep,
    *,
    expires_at: int | None = None,
    by: str | None = None,
    signature: str | None = None,
) -> Approval | None:
    """Apply `step` if the status allows it now, else return None.

    `by` gave the answer, perhaps with their `signature`; `expires_at` is the end of the new status, if it
    has one.
    """
    allowed_from, to = STEPS[step]
    return _TABLE.update(
        tx,
        f"""SET status = :to, expires_at = :expires_at, ended_at = :ended_at,
                answered_by = COALESCE(:by, answered_by), signature = COALESCE(:signature, signature),
                answered_at = CASE WHEN :by IS NULL THEN answered_at ELSE :now END
            WHERE id = :id AND status IN ({", ".join(f"'{status}'" for status in sorted(allowed_from))})""",
        id=approval.id,
        to=to,
        expires_at=expires_at or approval.expires_at,
        ended_at=tx.now if to in ENDED else None,
        by=by,
        signature=signature,
        now=tx.now,
    )


def receive(tx: Tx, approval_id: UUID, receipt: str) -> Approval:
    """Replace the valid receipt, given by its hash."""
    return _TABLE.change(tx, "SET receipt = :receipt WHERE id = :id", id=approval_id, receipt=receipt)


def lapsed(tx: Tx, limit: int) -> list[Approval]:
    """List the open approvals whose time is over, longest first."""
    return _TABLE.all(
        tx,
        f"WHERE ended_at IS NULL AND expires_at <= :now ORDER BY expires_at LIMIT :limit {tx.db.for_update}",
        now=tx.now,
        limit=limit,
    )


def forsaken(tx: Tx, gone: int, limit: int) -> list[Approval]:
    """List the questions of machines gone since `gone`, or for longer, each machine's oldest first."""
    return _TABLE.all(
        tx,
        f"WHERE {FORSAKEN} ORDER BY machine, created_at LIMIT :limit {tx.db.for_update}",
        gone=gone,
        limit=limit,
    )


def unanswered(tx: Tx, machine: UUID) -> list[Approval]:
    """List a machine's questions that wait, or would if it had not been gone; oldest first."""
    return _TABLE.all(
        tx,
        f"""WHERE machine = :machine AND (status = :pending OR (status = :expired AND ended_at < expires_at
              AND answered_by IS NULL)) AND expires_at > :now
            ORDER BY created_at {tx.db.for_update}""",
        machine=machine,
        pending=ApprovalStatus.PENDING,
        expired=ApprovalStatus.EXPIRED,
        now=tx.now,
    )


def of_ended_hubs(tx: Tx, asking: str) -> list[tuple[UUID, str]]:
    """List the waiting questions of ended hubs' own machines; `asking` is the hub that asks."""
    rows = tx.all(
        f"""SELECT id, hub FROM approvals
            WHERE hub IS NOT NULL AND status = 'pending' AND hub <> :asking AND {tx.db.hub_has_ended} ORDER BY id""",
        asking=asking,
    )
    return [(row["id"], row["hub"]) for row in rows]


def of_hub(tx: Tx, hub: str) -> list[UUID]:
    """List the waiting questions of a hub's own machine."""
    return tx.column("SELECT id FROM approvals WHERE hub = :hub AND status = 'pending' ORDER BY id", hub=hub)


def forget(tx: Tx, before: int) -> None:
    """Drop approvals that ended before `before`."""
    tx.run("DELETE FROM approvals WHERE ended_at < :before", before=before)
