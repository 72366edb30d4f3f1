"""SQL for claims: files that agents hold because they edit them, and the last editors of files.

The entries of claims are stored among the declared ones (`store/agents/scopes.py`), where others look. A claim's number
is its position there, far behind those of declared entries.
"""

import json
from collections.abc import Iterable, Sequence
from uuid import UUID

from hubbub.model.agents.file_claims import Claim
from hubbub.model.agents.scopes import place_of
from hubbub.store.agents.agents import stamp
from hubbub.store.agents.scopes import CLAIMED_FROM
from hubbub.store.table import Table
from hubbub.store.tx import Tx

_TABLE = Table("claims", Claim)
_INSERT = _TABLE.inserting(["project_id", "number"])


def of_presence(tx: Tx, presence_id: UUID) -> list[Claim]:
    """Return the claims of the presence, oldest first."""
    return _TABLE.all(
        tx, "WHERE presence_id = :id AND expires_at > :now ORDER BY number", id=presence_id, now=tx.now
    )


def of_project(tx: Tx, project_id: UUID, agent: str | None = None) -> list[Claim]:
    """List the claims in the project, by agent, oldest first; only those of `agent`, if it is given."""
    return _TABLE.all(
        tx,
        f"""WHERE project_id = :project_id AND expires_at > :now {"AND agent = :agent" if agent else ""}
            ORDER BY agent, number""",
        project_id=project_id,
        now=tx.now,
        **{"agent": agent} if agent else {},
    )


def add(tx: Tx, project_id: UUID, claim: Claim) -> None:
    """Store a claim, with its entry where others look."""
    row = tx.one("SELECT max(number) AS last FROM claims WHERE presence_id = :id", id=claim.presence_id)
    number = CLAIMED_FROM if row is None or row["last"] is None else int(row["last"]) + 1
    tx.run(_INSERT, project_id=project_id, number=number, **_TABLE.row(claim))
    tx.run(
        """INSERT INTO scope_entries (presence_id, position, project_id, place, entry)
           VALUES (:presence_id, :number, :project_id, :place, :entry)""",
        presence_id=claim.presence_id,
        number=number,
        project_id=project_id,
        place=place_of(claim.entry),
        entry=claim.entry,
    )


def renew(
    tx: Tx, presence_id: UUID, entries: Iterable[str], *, instance: str | None = None, expires_at: int
) -> None:
    """Extend the presence's claims on these entries, which were just edited, by that instance if one is given."""
    for entry in entries:
        tx.run(
            """UPDATE claims SET edited_at = :now, expires_at = :expires_at,
                   instance = COALESCE(:instance, instance)
               WHERE presence_id = :id AND entry = :entry""",
            id=presence_id,
            entry=entry,
            now=tx.now,
            instance=instance,
            expires_at=expires_at,
        )


def drop(tx: Tx, presence_id: UUID, entries: Iterable[str]) -> None:
    """Drop the claims on these entries."""
    for entry in entries:
        row = tx.one(
            "DELETE FROM claims WHERE presence_id = :id AND entry = :entry RETURNING number",
            id=presence_id,
            entry=entry,
        )
        if row is not None:
            tx.run(
                "DELETE FROM scope_entries WHERE presence_id = :id AND position = :number",
                id=presence_id,
                number=row["number"],
            )


def drop_all(tx: Tx, presence_id: UUID) -> None:
    """Delete all claims of the presence; the caller withdraws their entries."""
    tx.run("DELETE FROM claims WHERE presence_id = :id", id=presence_id)


def show(tx: Tx, presence_id: UUID) -> None:
    """Store the present claims with the presence, where they are seen."""
    held = [claim.entry for claim in of_presence(tx, presence_id)]
    tx.run(
        "UPDATE presences SET claimed = :claimed, stamp = :stamp WHERE id = :id",
        id=presence_id,
        stamp=stamp(),
        claimed=json.dumps(held, ensure_ascii=False) if held else None,
    )


def lapsed(tx: Tx, limit: int) -> Sequence[tuple[UUID, str, UUID, str]]:
    """List expired claims: the project, the agent, the presence and the entry of each."""
    rows = tx.all(
        """SELECT project_id, agent, presence_id, entry FROM claims WHERE expires_at <= :now
           ORDER BY expires_at LIMIT :limit""",
        now=tx.now,
        limit=limit,
    )
    return [(row["project_id"], row["agent"], row["presence_id"], row["entry"]) for row in rows]


def home(tx: Tx, project_id: UUID) -> str | None:
    """Return the repository that the project took for its own, because it was the first."""
    return tx.value("SELECT home_repository FROM projects WHERE id = :id", id=project_id)


def settle_home(tx: Tx, project_id: UUID, repository: str) -> None:
    tx.run("UPDATE projects SET home_repository = :home WHERE id = :id", id=project_id, home=repository)


def put_edit(tx: Tx, project_id: UUID, *, file: str, agent: str, digest: str) -> None:
    """Store the last editor of a file, and the file's digest."""
    tx.run(
        """INSERT INTO file_edits (project_id, file, agent, digest, edited_at)
           VALUES (:project_id, :file, :agent, :digest, :now)
           ON CONFLICT (project_id, file) DO UPDATE SET
               agent = excluded.agent, digest = excluded.digest, edited_at = excluded.edited_at""",
        project_id=project_id,
        file=file,
        agent=agent,
        digest=digest,
        now=tx.now,
    )


def last_edit(tx: Tx, project_id: UUID, *, file: str, digest: str) -> tuple[str, int] | None:
    """Return the agent and the time of the edit that made the file what it is, if they are known."""
    row = tx.one(
        "SELECT agent, edited_at FROM file_edits WHERE project_id = :project_id AND file = :file AND digest = :digest",
        project_id=project_id,
        file=file,
        digest=digest,
    )
    return (row["agent"], row["edited_at"]) if row else None


def forget_edits(tx: Tx, *, before: int) -> None:
    tx.run("DELETE FROM file_edits WHERE edited_at < :before", before=before)
