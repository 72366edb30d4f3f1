"""SQL for links to look at one machine."""

from uuid import UUID

from hubbub.model.fleet.nodes import ShareLink
from hubbub.model.records import Project
from hubbub.store.table import Table
from hubbub.store.tx import Tx

_TABLE = Table(
    "shares",
    ShareLink,
    alias="s",
    joined={"machine_id": "s.machine", "machine": "m.name"},
    join="JOIN machines m ON m.id = s.machine",
)
_INSERT = _TABLE.inserting(["machine"])


def insert(tx: Tx, share: ShareLink) -> None:
    tx.run(_INSERT, **{**_TABLE.row(share), "machine": share.machine_id})


def find(tx: Tx, share_id: UUID) -> ShareLink | None:
    return _TABLE.one(tx, "WHERE s.id = :id", id=share_id)


def find_good(tx: Tx, secret_hash: str) -> ShareLink | None:
    """Return the link with that secret, if it is valid now."""
    return _TABLE.one(
        tx,
        "WHERE s.hash = :hash AND s.revoked_at IS NULL AND s.expires_at > :now",
        hash=secret_hash,
        now=tx.now,
    )


def of_project(tx: Tx, project: Project) -> list[ShareLink]:
    """List the project's valid links, oldest first."""
    return _TABLE.all(
        tx,
        "WHERE s.project_id = :project_id AND s.revoked_at IS NULL AND s.expires_at > :now ORDER BY s.id",
        project_id=project.id,
        now=tx.now,
    )


def revoke(tx: Tx, share_id: UUID) -> bool:
    """Revoke a link; False if it was revoked already."""
    return tx.any(
        "UPDATE shares SET revoked_at = :now WHERE id = :id AND revoked_at IS NULL RETURNING id",
        id=share_id,
        now=tx.now,
    )


def forget_machine(tx: Tx, machine: UUID) -> None:
    """Delete all links to look at that machine."""
    tx.run("DELETE FROM shares WHERE machine = :machine", machine=machine)
