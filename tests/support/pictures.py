"""Pictures of a project from the hub."""

import json
from typing import Any
from uuid import UUID

from hubbub.core.snapshots.full_snapshot import SnapshotText
from hubbub.store.tx import Tx


def picture(tx: Tx, project_id: UUID) -> dict[str, Any]:
    """All cards of the project, by noun and key, in the form that they go over the line."""
    found: dict[str, Any] = json.loads(b"".join(SnapshotText(tx, project_id)))
    return found
