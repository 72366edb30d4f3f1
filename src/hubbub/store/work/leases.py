"""SQL for leases, for the capacities of counted things, and for the commands that need a lease."""

import json
from collections.abc import Mapping, Sequence
from uuid import UUID

from hubbub.model.work.leases import Lease, LeaseRule, LeaseStatus
from hubbub.store.table import Table
from hubbub.store.tx import Tx

_TABLE = Table("leases", Lease)


def lock(tx: Tx, project_id: UUID) -> None:
    """Lock the project's leases until the transaction ends: other requests and releases wait."""
    tx.run(f"SELECT id FROM projects WHERE id = :id {tx.db.for_update}", id=project_id)


insert = _TABLE.insert


def find(tx: Tx, lease_id: UUID) -> Lease | None:
    return _TABLE.find(tx, id=lease_id)


def of_project(tx: Tx, project_id: UUID) -> list[Lease]:
    """List all leases, held or waiting, in their turn."""
    return _TABLE.all(tx, "WHERE project_id = :id ORDER BY priority, number", id=project_id)


def totals(tx: Tx) -> dict[LeaseStatus, int]:
    """Count the leases of all projects by status; statuses without leases are left out."""
    rows = tx.all("SELECT status, count(*) AS leases FROM leases GROUP BY status")
    return {LeaseStatus(row["status"]): row["leases"] for row in rows}


def of_holder(tx: Tx, project_id: UUID, holder: str) -> list[Lease]:
    found = _TABLE.all(tx, "WHERE project_id = :id AND holder = :holder", id=project_id, holder=holder)
    return sorted(found, key=lambda each: each.number)


def grant(tx: Tx, lease_id: UUID, *, fence: int, units: Mapping[str, Sequence[int]]) -> Lease:
    """Grant a lease from now on; it lasts for its own time unless it is renewed."""
    return _TABLE.change(
        tx,
        """SET status = :held, fence = :fence, units = :units, granted_at = :now,
               expires_at = CASE WHEN expires_at > :now + ttl THEN expires_at ELSE :now + ttl END
           WHERE id = :id""",
        id=lease_id,
        held=LeaseStatus.HELD,
        fence=fence,
        units=json.dumps(units),
        now=tx.now,
    )


def renew(tx: Tx, lease_id: UUID) -> Lease | None:
    """Extend a lease by its full time; None if its time was over."""
    return _TABLE.update(
        tx, "SET expires_at = :now + ttl WHERE id = :id AND expires_at > :now", id=lease_id, now=tx.now
    )


def delete(tx: Tx, lease_id: UUID) -> Lease | None:
    """Delete a lease; None if it was gone."""
    return _TABLE.delete(tx, id=lease_id)


def lapsed(tx: Tx, limit: int) -> list[UUID]:
    """List the projects with leases that were not renewed in time."""
    rows = tx.all(
        "SELECT project_id FROM leases WHERE expires_at <= :now ORDER BY expires_at LIMIT :limit",
        now=tx.now,
        limit=limit,
    )
    return sorted({row["project_id"] for row in rows})


def delete_lapsed(tx: Tx, project_id: UUID) -> list[Lease]:
    """Delete the leases that were not renewed in time, in the order of asking."""
    rows = tx.all(
        f"DELETE FROM leases WHERE project_id = :id AND expires_at <= :now RETURNING {_TABLE.selected}",
        id=project_id,
        now=tx.now,
    )
    return sorted(map(_TABLE.record, rows), key=lambda each: each.number)


def capacities(tx: Tx, project_id: UUID) -> dict[str, int]:
    """Return the numbers of the counted things, by name."""
    rows = tx.all(
        "SELECT thing, capacity FROM capacities WHERE project_id = :id ORDER BY thing", id=project_id
    )
    return {row["thing"]: row["capacity"] for row in rows}


def put_capacity(tx: Tx, project_id: UUID, thing: str, capacity: int) -> None:
    tx.run(
        """INSERT INTO capacities (project_id, thing, capacity) VALUES (:project_id, :thing, :capacity)
           ON CONFLICT (project_id, thing) DO UPDATE SET capacity = excluded.capacity""",
        project_id=project_id,
        thing=thing,
        capacity=capacity,
    )


def drop_capacity(tx: Tx, project_id: UUID, thing: str) -> bool:
    """Stop counting the thing; False if it was not counted."""
    return tx.any(
        "DELETE FROM capacities WHERE project_id = :project_id AND thing = :thing RETURNING thing",
        project_id=project_id,
        thing=thing,
    )


def rules(tx: Tx, project_id: UUID) -> list[LeaseRule]:
    """List the rules, by the words of their commands."""
    rows = tx.all(
        "SELECT command, things FROM lease_rules WHERE project_id = :id ORDER BY command", id=project_id
    )
    return [LeaseRule(row["command"], tuple(json.loads(row["things"]))) for row in rows]


def put_rule(tx: Tx, project_id: UUID, rule: LeaseRule) -> None:
    tx.run(
        """INSERT INTO lease_rules (project_id, command, things) VALUES (:project_id, :command, :things)
           ON CONFLICT (project_id, command) DO UPDATE SET things = excluded.things""",
        project_id=project_id,
        command=rule.command,
        things=json.dumps(rule.things),
    )


def drop_rule(tx: Tx, project_id: UUID, command: str) -> bool:
    """Drop the rule of the command; False if there was none."""
    return tx.any(
        "DELETE FROM lease_rules WHERE project_id = :project_id AND command = :command RETURNING command",
        project_id=project_id,
        command=command,
    )
