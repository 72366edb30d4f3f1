"""SQL for machines."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from uuid import UUID

from hubbub.model.fleet.calls import NodeInfo
from hubbub.model.fleet.nodes import Load, Machine
from hubbub.store.table import Table
from hubbub.store.tx import Tx

_TABLE = Table("machines", Machine)
_INSERT = f"{_TABLE.inserting(['folded'])} ON CONFLICT (project_id, folded) DO NOTHING RETURNING id"


def insert(tx: Tx, machine: Machine) -> bool:
    """Store a new machine; False if there is one of that name, in any case."""
    return tx.any(_INSERT, folded=machine.name.casefold(), **_TABLE.row(machine))


def update(
    tx: Tx,
    machine: UUID,
    about: NodeInfo,
    *,
    expires_at: int,
    labels: Sequence[str] = (),
    token_id: UUID | None = None,
    runtime: str | None = None,
    hub: str | None = None,
    online: bool = True,
) -> Machine:
    """Store a machine's present report, its key, and the hub that holds its link."""
    return _TABLE.change(
        tx,
        """SET name = :name, machine_id = :machine_id, platform = :platform, labels = :labels, version = :version,
               sandbox = :sandbox, policy_fault = :policy_fault, seen_at = :now, expires_at = :expires_at,
               token_id = :token_id, runtime = :runtime, hub = :hub, online = :online
           WHERE id = :id""",
        id=machine,
        name=about.name,
        machine_id=about.machine_id,
        platform=about.platform,
        labels=json.dumps(labels, ensure_ascii=False),
        version=about.version,
        sandbox=about.sandbox,
        policy_fault=about.policy_fault,
        now=tx.now,
        expires_at=expires_at,
        token_id=token_id,
        runtime=runtime,
        hub=hub,
        online=int(online),
    )


def find(tx: Tx, project_id: UUID, name: str, *, lock: bool = False, alone: bool = False) -> Machine | None:
    """Return the machine with that name, in any case; `lock` it for a change, `alone` against references, too."""
    held = tx.db.for_delete if alone else tx.db.for_update if lock else ""
    return _TABLE.one(
        tx,
        f"WHERE project_id = :project_id AND folded = :folded {held}",
        project_id=project_id,
        folded=name.casefold(),
    )


def refer_to(tx: Tx, machine: UUID) -> bool:
    """Keep the machine from being removed before this transaction ends; False if it has been."""
    return tx.any(f"SELECT id FROM machines WHERE id = :id {tx.db.for_reference}", id=machine)


def find_by_id(tx: Tx, machine: UUID, *, lock: bool = False) -> Machine | None:
    return _TABLE.one(tx, f"WHERE id = :id {tx.db.for_update if lock else ''}", id=machine)


def find_by_key(tx: Tx, token_id: UUID) -> Machine | None:
    """Return the machine with that token as its key."""
    return _TABLE.find(tx, token_id=token_id)


def is_of_hub(tx: Tx, name: str) -> bool:
    """Tell whether a hub runs now on a machine with that name, in any case and any project."""
    return tx.any(
        "SELECT 1 AS one FROM machines WHERE folded = :folded AND token_id IS NULL AND expires_at > :now LIMIT 1",
        folded=name.casefold(),
        now=tx.now,
    )


def of_project(tx: Tx, project_id: UUID) -> list[Machine]:
    """List the project's machines, by name."""
    return _TABLE.all(tx, "WHERE project_id = :project_id ORDER BY folded", project_id=project_id)


def close(tx: Tx, machine: UUID) -> Machine:
    """Set the machine offline from now on."""
    return _TABLE.change(tx, "SET expires_at = :now, online = 0 WHERE id = :id", id=machine, now=tx.now)


def beat(tx: Tx, machine: UUID, expires_at: int) -> Machine | None:
    """Keep the machine online until `expires_at` if a hub holds its link; return it as it was before, else None."""
    before = _TABLE.one(tx, f"WHERE id = :id AND hub IS NOT NULL {tx.db.for_update}", id=machine)
    if before is not None:
        tx.run(
            "UPDATE machines SET seen_at = :now, expires_at = :expires_at, online = 1 WHERE id = :id",
            id=machine,
            now=tx.now,
            expires_at=expires_at,
        )
    return before


def lapsed(tx: Tx, limit: int) -> list[Machine]:
    """List machines that fell silent without a record of it; longest first."""
    return _TABLE.all(
        tx,
        f"WHERE online = 1 AND expires_at <= :now ORDER BY expires_at LIMIT :limit {tx.db.for_update}",
        now=tx.now,
        limit=limit,
    )


def set_policy_fault(tx: Tx, machine: UUID, fault: str | None) -> None:
    """Store why a machine's policy does not load, or that it does again."""
    tx.run("UPDATE machines SET policy_fault = :fault WHERE id = :id", id=machine, fault=fault)


def set_load(tx: Tx, machine: UUID, load: Load) -> None:
    """Store the machine's load."""
    tx.run("UPDATE machines SET load = :load WHERE id = :id", id=machine, load=json.dumps(asdict(load)))


def note_silence(tx: Tx, machine: UUID) -> None:
    """Note that the log reports the machine as gone."""
    tx.run("UPDATE machines SET online = 0 WHERE id = :id", id=machine)


def unlink(tx: Tx, machine: UUID, hub: str) -> Machine | None:
    """Set the machine offline from now on if that hub still holds its link, else return None."""
    return _TABLE.update(
        tx,
        "SET hub = NULL, seen_at = :now, expires_at = :now, online = 0 WHERE id = :id AND hub = :hub",
        id=machine,
        hub=hub,
        now=tx.now,
    )


def of_ended_hubs(tx: Tx, asking: str) -> list[tuple[UUID, str]]:
    """List the machines linked to ended hubs, with these hubs; `asking` is the hub that asks."""
    rows = tx.all(
        f"SELECT id, hub FROM machines WHERE hub IS NOT NULL AND hub <> :asking AND {tx.db.hub_has_ended} ORDER BY id",
        asking=asking,
    )
    return [(row["id"], row["hub"]) for row in rows]


def delete(tx: Tx, machine: UUID) -> None:
    """Delete a machine without any references."""
    tx.run("DELETE FROM machines WHERE id = :id", id=machine)
