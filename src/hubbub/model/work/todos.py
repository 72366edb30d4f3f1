"""To-do lists of agents."""

from dataclasses import dataclass
from uuid import UUID

MOST_ITEMS = 200
ITEM_LENGTH = 2_000  # characters


@dataclass(frozen=True, slots=True)
class TodoItem:
    """One thing to do."""

    text: str
    done: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TodoList:
    """The latest to-do list of an agent."""

    project_id: UUID
    agent: str
    items: tuple[TodoItem, ...]
    updated_at: int
