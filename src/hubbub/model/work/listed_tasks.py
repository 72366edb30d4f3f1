"""Things as long lists show them: with less than their records have, and read with less effort."""

from typing import NamedTuple
from uuid import UUID


class ListedTask(NamedTuple):
    """A task, by the fields of its record that a list of a whole run shows; status and priority as they are stored."""

    id: UUID
    title: str
    status: str
    assignee: str | None
    priority: int
    sender: str
    external_id: str | None
    parent_id: UUID | None
    depth: int
    reason: str | None
    created_at: int
    updated_at: int
