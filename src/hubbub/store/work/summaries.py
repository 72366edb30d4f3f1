"""SQL for the summaries of runs."""

from uuid import UUID

from hubbub.model.work.memory import RunSummary
from hubbub.store.table import Table
from hubbub.store.tx import Tx

_TABLE = Table("summaries", RunSummary)


def put(tx: Tx, project_id: UUID, run: str, agent: str, text: str) -> RunSummary:
    """Store the summary of a run in place of the old one; its version rises."""
    row = tx.one(
        f"""INSERT INTO summaries ({_TABLE.selected}) VALUES (:project_id, :run, :agent, :text, 1, :now, :now)
            ON CONFLICT (project_id, run) DO UPDATE SET agent = excluded.agent, text = excluded.text,
                version = summaries.version + 1, updated_at = excluded.updated_at
            RETURNING {_TABLE.selected}""",
        project_id=project_id,
        run=run,
        agent=agent,
        text=text,
        now=tx.now,
    )
    assert row is not None  # an upsert always returns a row
    return _TABLE.record(row)


def find(tx: Tx, project_id: UUID, run: str) -> RunSummary | None:
    return _TABLE.find(tx, project_id=project_id, run=run)


def of_project(tx: Tx, project_id: UUID) -> list[tuple[str, int]]:
    """List the runs with a summary, and its version, latest first by their first summary."""
    rows = tx.all(
        "SELECT run, version FROM summaries WHERE project_id = :project_id ORDER BY created_at DESC, run DESC",
        project_id=project_id,
    )
    return [(row["run"], row["version"]) for row in rows]
