"""SQL for agents' to-do lists."""

import json
from dataclasses import asdict
from uuid import UUID

from hubbub.model.work.todos import TodoItem, TodoList
from hubbub.store.tx import Tx


def put(tx: Tx, todo: TodoList) -> None:
    """Store the agent's list in place of the old one."""
    tx.run(
        """INSERT INTO todo_lists (project_id, agent, items, updated_at)
           VALUES (:project_id, :agent, :items, :updated_at)
           ON CONFLICT (project_id, agent) DO UPDATE SET items = excluded.items, updated_at = excluded.updated_at""",
        project_id=todo.project_id,
        agent=todo.agent,
        items=json.dumps([asdict(item) for item in todo.items], ensure_ascii=False),
        updated_at=todo.updated_at,
    )


def find(tx: Tx, project_id: UUID, agent: str) -> TodoList | None:
    row = tx.one(
        "SELECT project_id, agent, items, updated_at FROM todo_lists WHERE project_id = :project_id AND agent = :agent",
        project_id=project_id,
        agent=agent,
    )
    if row is None:
        return None
    return TodoList(**{**row, "items": tuple(TodoItem(**item) for item in json.loads(row["items"]))})
