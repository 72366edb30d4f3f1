"""SQL for completion reports."""

from collections.abc import Sequence
from uuid import UUID

from hubbub.model.records import CompletionReport
from hubbub.store.table import Table
from hubbub.store.tx import Tx

_TABLE = Table("completions", CompletionReport)
_COLUMNS = _TABLE.selected
_completion = _TABLE.record


def insert(tx: Tx, completion: CompletionReport) -> CompletionReport:
    tx.run(_TABLE.insertion, **_TABLE.row(completion))
    return completion


def search(
    tx: Tx, project_ids: Sequence[UUID], *, agent: str | None = None, since: int = 0, limit: int
) -> list[CompletionReport]:
    """List the completion reports of the projects since a moment, newest first."""
    named = "AND agent = :agent" if agent is not None else ""
    found: list[CompletionReport] = []
    for project_id in project_ids:
        rows = tx.all(
            f"""SELECT {_COLUMNS} FROM completions
                WHERE project_id = :project_id {named} AND completed_at >= :since
                ORDER BY completed_at DESC, id DESC LIMIT :limit""",
            project_id=project_id,
            since=since,
            limit=limit,
            **({"agent": agent} if agent is not None else {}),
        )
        found += [_completion(row) for row in rows]
    return sorted(found, key=lambda each: (each.completed_at, each.id), reverse=True)[:limit]
