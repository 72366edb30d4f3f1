"""SQL for completion reports."""

from collections.abc import Sequence
from uuid import UUID

from hubbub.model.records import CompletionReport
from hubbub.store.table import Table
from hubbub.store.tx import Tx

_TABLE = Table("completions", CompletionReport)

insert = _TABLE.insert


def search(
    tx: Tx, project_ids: Sequence[UUID], *, agent: str | None = None, since: int = 0, limit: int
) -> list[CompletionReport]:
    """List the completion reports of the projects since a moment, newest first."""
    named = "AND agent = :agent" if agent is not None else ""
    found: list[CompletionReport] = []
    for project_id in project_ids:
        found += _TABLE.all(
            tx,
            f"""WHERE project_id = :project_id {named} AND completed_at >= :since
                ORDER BY completed_at DESC, id DESC LIMIT :limit""",
            project_id=project_id,
            since=since,
            limit=limit,
            **({"agent": agent} if agent is not None else {}),
        )
    return sorted(found, key=lambda each: (each.completed_at, each.id), reverse=True)[:limit]
