"""SQL for links to look at one machine."""

from uuid import UUID

from hubbub.model.machines import Share
from hubbub.store.tx import Row, Tx

_COLUMNS = (
    "s.id, s.project_id, s.machine AS machine_id, m.name AS machine, s.hash, s.created_by, s.created_at, s.expires_at, "
    "s.revoked_at"
)
_FROM = "FROM shares s JOIN machines m ON m.id = s.machine"


def _share(row: Row) -> Share:
    return Share(**row)


def insert(tx: Tx, share: Share) -> None:
    tx.run(
        """INSERT INTO shares (id, project_id, machine, hash, created_by, created_at, expires_at, revoked_at)
           VALUES (:id, :project_id, :machine, :hash, :created_by, :created_at, :expires_at, NULL)""",
        id=share.id,
        project_id=share.project_id,
        machine=share.machine_id,
        hash=share.hash,
        created_by=share.created_by,
        created_at=share.created_at,
        expires_at=share.expires_at,
    )


def find(tx: Tx, share_id: UUID) -> Share | None:
    row = tx.one(f"SELECT {_COLUMNS} {_FROM} WHERE s.id = :id", id=share_id)
    return _share(row) if row else None


def find_good(tx: Tx, secret_hash: str) -> Share | None:
    """The link of that secret, if it leads anywhere just now."""
    row = tx.one(
        f"SELECT {_COLUMNS} {_FROM} WHERE s.hash = :hash AND s.revoked_at IS NULL AND s.expires_at > :now",
        hash=secret_hash,
        now=tx.now,
    )
    return _share(row) if row else None


def of_project(tx: Tx, project_id: UUID) -> list[Share]:
    """The project's links that lead somewhere, oldest first."""
    rows = tx.all(
        f"""SELECT {_COLUMNS} {_FROM}
            WHERE s.project_id = :project_id AND s.revoked_at IS NULL AND s.expires_at > :now ORDER BY s.id""",
        project_id=project_id,
        now=tx.now,
    )
    return [_share(row) for row in rows]


def revoke(tx: Tx, share_id: UUID) -> bool:
    """Take a link back; False if it was."""
    row = tx.one(
        "UPDATE shares SET revoked_at = :now WHERE id = :id AND revoked_at IS NULL RETURNING id",
        id=share_id,
        now=tx.now,
    )
    return row is not None


def forget_machine(tx: Tx, machine: UUID) -> None:
    """Drop all links to look at that machine."""
    tx.run("DELETE FROM shares WHERE machine = :machine", machine=machine)
