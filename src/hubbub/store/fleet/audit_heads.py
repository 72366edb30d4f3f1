"""SQL for the heads of the machines' audit logs."""

from uuid import UUID

from hubbub.model.fleet.nodes import AuditHead
from hubbub.store.table import Table
from hubbub.store.tx import Tx

_TABLE = Table("audit_heads", AuditHead, joined={"is_broken": "broken"})
_INSERT = f"{_TABLE.inserting(['broken'])} ON CONFLICT (project_id, node, seq, hash) DO NOTHING RETURNING seq"


def insert(tx: Tx, head: AuditHead) -> bool:
    """Store a head; False if it is there already."""
    return tx.any(_INSERT, broken=int(head.is_broken), **_TABLE.row(head))


def at(tx: Tx, project_id: UUID, node: str, seq: int) -> list[AuditHead]:
    """Return the reports on that line of the machine's log."""
    return _TABLE.all(
        tx,
        "WHERE project_id = :project_id AND node = :node AND seq = :seq",
        project_id=project_id,
        node=node,
        seq=seq,
    )


def farthest(tx: Tx, project_id: UUID, node: str, *, before: int) -> AuditHead | None:
    """Return the head of the machine's log before that moment; None if none is known."""
    return _TABLE.one(
        tx,
        """WHERE project_id = :project_id AND node = :node AND broken = 0 AND kept_at < :before
           ORDER BY seq DESC LIMIT 1""",
        project_id=project_id,
        node=node,
        before=before,
    )


def is_any_before(tx: Tx, project_id: UUID, node: str, *, since: int, number: int) -> bool:
    """Tell whether at least so many heads of the log were stored since that moment."""
    return tx.any(
        """SELECT 1 AS one FROM audit_heads WHERE project_id = :project_id AND node = :node AND kept_at > :since
           ORDER BY kept_at LIMIT 1 OFFSET :skipped""",
        project_id=project_id,
        node=node,
        since=since,
        skipped=number - 1,
    )


def names(tx: Tx, project_id: UUID) -> list[str]:
    """List the machines of the project with a known head."""
    rows = tx.all(
        "SELECT DISTINCT node FROM audit_heads WHERE project_id = :project_id", project_id=project_id
    )
    return sorted(row["node"] for row in rows)


def of_project(tx: Tx, project_id: UUID, *, node: str | None, limit: int) -> list[AuditHead]:
    """List the heads of the project's machines, or of one, each machine's latest line first; at most `limit` in all."""
    narrowed = "AND node = :node" if node is not None else ""
    return _TABLE.all(
        tx,
        f"WHERE project_id = :project_id {narrowed} ORDER BY node DESC, seq DESC, hash DESC LIMIT :limit",
        project_id=project_id,
        node=node,
        limit=limit,
    )


def forget(tx: Tx, before: int) -> None:
    """Drop heads stored before `before`."""
    tx.run("DELETE FROM audit_heads WHERE kept_at < :before", before=before)
