"""To-do lists, which agents replace as their work goes on."""

from collections.abc import Sequence
from uuid import UUID

from hubbub.model.errors import Invalid
from hubbub.model.work.todos import ITEM_LENGTH, MOST_ITEMS, TodoItem, TodoList
from hubbub.store.tx import Tx
from hubbub.store.work import todos as rows

# These need no rule of their own, so they are the store's functions.
of_agent = rows.find


def write(tx: Tx, project_id: UUID, agent: str, items: Sequence[TodoItem]) -> TodoList:
    """Replace the agent's list. Records `todo.written`. Raises `Invalid` for too many, too long or empty ones."""
    if len(items) > MOST_ITEMS:
        raise Invalid(f"a list has at most {MOST_ITEMS} items")
    for item in items:
        if not item.text.strip() or len(item.text) > ITEM_LENGTH or "\0" in item.text:
            raise Invalid(f"an item is a text of 1 to {ITEM_LENGTH} characters, without NUL")
    todo = TodoList(project_id=project_id, agent=agent, items=tuple(items), updated_at=tx.now)
    rows.put(tx, todo)
    done = sum(item.done for item in items)
    tx.record(
        "todo.written",
        project_id=project_id,
        actor=agent,
        agent=agent,
        detail={"items": len(items), "done": done},
    )
    return todo
