"""SQL for machines."""

import json
from uuid import UUID

from hubbub.model.machines import Machine
from hubbub.store.tx import Row, Tx

_COLUMNS = (
    "id, project_id, name, machine_id, platform, labels, version, sandbox, first_seen_at, seen_at, expires_at"
)


def _machine(row: Row) -> Machine:
    return Machine(**{**row, "labels": tuple(json.loads(row["labels"]))})


def put(tx: Tx, machine: Machine) -> Machine:
    """Keep what a machine reports; the one of that name, whatever its case, keeps its id and when it was first seen."""
    row = tx.one(
        f"""INSERT INTO machines (id, project_id, name, folded, machine_id, platform, labels, version, sandbox,
                                  first_seen_at, seen_at, expires_at)
            VALUES (:id, :project_id, :name, :folded, :machine_id, :platform, :labels, :version, :sandbox,
                    :first_seen_at, :seen_at, :expires_at)
            ON CONFLICT (project_id, folded) DO UPDATE SET
                name = excluded.name, machine_id = excluded.machine_id, platform = excluded.platform,
                labels = excluded.labels, version = excluded.version, sandbox = excluded.sandbox,
                seen_at = excluded.seen_at, expires_at = excluded.expires_at
            RETURNING {_COLUMNS}""",
        id=machine.id,
        project_id=machine.project_id,
        name=machine.name,
        folded=machine.name.casefold(),
        machine_id=machine.machine_id,
        platform=machine.platform,
        labels=json.dumps(machine.labels, ensure_ascii=False),
        version=machine.version,
        sandbox=machine.sandbox,
        first_seen_at=machine.first_seen_at,
        seen_at=machine.seen_at,
        expires_at=machine.expires_at,
    )
    assert row is not None  # an upsert always returns its row
    return _machine(row)


def find(tx: Tx, project_id: UUID, name: str, *, lock: bool = False) -> Machine | None:
    """The machine of that name, whatever its case; `lock` it for a change."""
    row = tx.one(
        f"""SELECT {_COLUMNS} FROM machines WHERE project_id = :project_id AND folded = :folded
            {tx.db.for_update if lock else ""}""",
        project_id=project_id,
        folded=name.casefold(),
    )
    return _machine(row) if row else None


def find_by_id(tx: Tx, machine: UUID) -> Machine | None:
    row = tx.one(f"SELECT {_COLUMNS} FROM machines WHERE id = :id", id=machine)
    return _machine(row) if row else None


def of_project(tx: Tx, project_id: UUID) -> list[Machine]:
    """The project's machines, by name."""
    rows = tx.all(
        f"SELECT {_COLUMNS} FROM machines WHERE project_id = :project_id ORDER BY folded",
        project_id=project_id,
    )
    return [_machine(row) for row in rows]


def close(tx: Tx, machine: UUID) -> None:
    """Have the machine be offline from now on."""
    tx.run("UPDATE machines SET expires_at = :now WHERE id = :id", id=machine, now=tx.now)
