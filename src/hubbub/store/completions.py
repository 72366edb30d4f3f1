"""SQL for completions."""

from collections.abc import Sequence
from uuid import UUID

from hubbub.model.records import Completion
from hubbub.store.tx import Tx

_COLUMNS = (
    "id", "project_id", "agent", "task", "task_id", "result", "artifacts", "score", "duration_minutes", "completed_at",
)  # fmt: skip
_SELECT = ", ".join(_COLUMNS)


def insert(tx: Tx, completion: Completion) -> Completion:
    tx.run(
        f"INSERT INTO completions ({_SELECT}) VALUES ({', '.join(f':{name}' for name in _COLUMNS)})",
        **{name: getattr(completion, name) for name in _COLUMNS},
    )
    return completion


def search(
    tx: Tx, project_ids: Sequence[UUID], *, agent: str | None = None, since: int = 0, limit: int
) -> list[Completion]:
    """Completions of the projects since a moment, newest first."""
    named = "AND agent = :agent" if agent is not None else ""
    found: list[Completion] = []
    for project_id in project_ids:
        rows = tx.all(
            f"""SELECT {_SELECT} FROM completions
                WHERE project_id = :project_id {named} AND completed_at >= :since
                ORDER BY completed_at DESC, id DESC LIMIT :limit""",
            project_id=project_id,
            since=since,
            limit=limit,
            **({"agent": agent} if agent is not None else {}),
        )
        found += [Completion(**row) for row in rows]
    return sorted(found, key=lambda each: (each.completed_at, each.id), reverse=True)[:limit]
