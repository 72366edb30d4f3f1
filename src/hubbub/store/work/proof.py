"""SQL for proof: the demands of projects and tasks, and the hooks' sightings."""

import json
from collections.abc import Collection
from uuid import UUID

from hubbub.model.lifecycle import Status
from hubbub.model.records import Task
from hubbub.model.work.proof import Contract, ProofRules, Sighting, Unproven
from hubbub.store.table import Table
from hubbub.store.tx import Tx
from hubbub.store.work import tasks

_CONTRACTS = Table("contracts", Contract, key=("task_id",))
_SIGHTINGS = Table("sightings", Sighting)


def rules(tx: Tx, project_id: UUID) -> ProofRules | None:
    row = tx.one(
        "SELECT done_when, tests, test_files, unproven FROM proof_rules WHERE project_id = :id", id=project_id
    )
    if row is None:
        return None
    return ProofRules(
        done_when=tuple(json.loads(row["done_when"])),
        tests=row["tests"],
        test_files=tuple(json.loads(row["test_files"])),
        unproven=Unproven(row["unproven"]),
    )


def put_rules(tx: Tx, project_id: UUID, new: ProofRules) -> None:
    tx.run(
        """INSERT INTO proof_rules (project_id, done_when, tests, test_files, unproven)
           VALUES (:project_id, :done_when, :tests, :test_files, :unproven)
           ON CONFLICT (project_id) DO UPDATE SET done_when = excluded.done_when, tests = excluded.tests,
               test_files = excluded.test_files, unproven = excluded.unproven""",
        project_id=project_id,
        done_when=json.dumps(new.done_when),
        tests=new.tests,
        test_files=json.dumps(new.test_files),
        unproven=new.unproven,
    )


def contract(tx: Tx, task_id: UUID) -> Contract | None:
    return _CONTRACTS.find(tx, task_id=task_id)


put_contract = _CONTRACTS.put


def under_way(tx: Tx, project_id: UUID, agent: str, statuses: Collection[Status]) -> list[Task]:
    """Return the agent's tasks in one of the statuses, without a lock."""
    rows = tx.all(
        f"""SELECT id FROM tasks WHERE project_id = :project_id AND assignee = :agent
            AND status IN ({", ".join(f"'{each}'" for each in sorted(statuses))})""",
        project_id=project_id,
        agent=agent,
    )
    return [task for row in rows if (task := tasks.find(tx, row["id"])) is not None]


insert = _SIGHTINGS.insert


def seen(tx: Tx, project_id: UUID, agent: str, *, since: int, until: int, limit: int) -> list[Sighting]:
    """List the sightings of an agent in that time, oldest first; at most `limit`, the newest."""
    return _SIGHTINGS.all(
        tx,
        """WHERE project_id = :project_id AND agent = :agent AND at >= :since AND at <= :until
           ORDER BY at DESC, id DESC LIMIT :limit""",
        project_id=project_id,
        agent=agent,
        since=since,
        until=until,
        limit=limit,
    )[::-1]


def forget(tx: Tx, before: int) -> None:
    """Delete sightings from before then."""
    tx.run("DELETE FROM sightings WHERE at < :before", before=before)
