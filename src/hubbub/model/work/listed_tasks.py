"""Records in a short form for long lists, with fewer fields and less effort to read."""

from typing import NamedTuple
from uuid import UUID


class ListedTask(NamedTuple):
    """A task with the fields that a list of a whole run shows; status and priority as stored."""

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
