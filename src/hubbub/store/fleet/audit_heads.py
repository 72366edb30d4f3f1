"""SQL for the heads of the machines' audit logs."""

from uuid import UUID

from hubbub.model.fleet.nodes import AuditHead
from hubbub.store.tx import Row, Tx

_COLUMNS = "project_id, node, seq, hash, broken AS is_broken, kept_at"


def _head(row: Row) -> AuditHead:
    return AuditHead(**{**row, "is_broken": bool(row["is_broken"])})


def insert(tx: Tx, head: AuditHead) -> bool:
    """Store a head; False if it is there already."""
    row = tx.one(
        """INSERT INTO audit_heads (project_id, node, seq, hash, broken, kept_at)
           VALUES (:project_id, :node, :seq, :hash, :broken, :kept_at)
           ON CONFLICT (project_id, node, seq, hash) DO NOTHING RETURNING seq""",
        project_id=head.project_id,
        node=head.node,
        seq=head.seq,
        hash=head.hash,
        broken=int(head.is_broken),
        kept_at=head.kept_at,
    )
    return row is not None


def at(tx: Tx, project_id: UUID, node: str, seq: int) -> list[AuditHead]:
    """Return the reports on that line of the machine's log."""
    rows = tx.all(
        f"SELECT {_COLUMNS} FROM audit_heads WHERE project_id = :project_id AND node = :node AND seq = :seq",
        project_id=project_id,
        node=node,
        seq=seq,
    )
    return [_head(row) for row in rows]


def farthest(tx: Tx, project_id: UUID, node: str, *, before: int) -> AuditHead | None:
    """Return the head of the machine's log before that moment; None if none is known."""
    row = tx.one(
        f"""SELECT {_COLUMNS} FROM audit_heads
           WHERE project_id = :project_id AND node = :node AND broken = 0 AND kept_at < :before
           ORDER BY seq DESC LIMIT 1""",
        project_id=project_id,
        node=node,
        before=before,
    )
    return _head(row) if row else None


def is_any_before(tx: Tx, project_id: UUID, node: str, *, since: int, number: int) -> bool:
    """Tell whether at least so many heads of the log were stored since that moment."""
    row = tx.one(
        """SELECT 1 AS one FROM audit_heads WHERE project_id = :project_id AND node = :node AND kept_at > :since
           ORDER BY kept_at LIMIT 1 OFFSET :skipped""",
        project_id=project_id,
        node=node,
        since=since,
        skipped=number - 1,
    )
    return row is not None


def names(tx: Tx, project_id: UUID) -> list[str]:
    """List the machines of the project with a known head."""
    rows = tx.all(
        "SELECT DISTINCT node FROM audit_heads WHERE project_id = :project_id", project_id=project_id
    )
    return sorted(row["node"] for row in rows)


def of_project(tx: Tx, project_id: UUID, *, node: str | None, limit: int) -> list[AuditHead]:
    """List the heads of the project's machines, or of one, each machine's latest line first; at most `limit` in all."""
    narrowed = "AND node = :node" if node is not None else ""
    rows = tx.all(
        f"""SELECT {_COLUMNS} FROM audit_heads WHERE project_id = :project_id {narrowed}
            ORDER BY node DESC, seq DESC, hash DESC LIMIT :limit""",
        project_id=project_id,
        node=node,
        limit=limit,
    )
    return [_head(row) for row in rows]


def forget(tx: Tx, before: int) -> None:
    """Drop heads stored before `before`."""
    tx.run("DELETE FROM audit_heads WHERE kept_at < :before", before=before)
