"""SQL for the API keys of projects."""

from uuid import UUID

from hubbub.model.keys import ApiKey
from hubbub.store.tx import Tx


def put(tx: Tx, key: ApiKey) -> None:
    """Keep the project's key, in the place of the one that it had."""
    tx.run(
        """INSERT INTO api_keys (project_id, secret, set_by, set_at) VALUES (:project_id, :secret, :set_by, :set_at)
           ON CONFLICT (project_id) DO UPDATE SET
               secret = excluded.secret, set_by = excluded.set_by, set_at = excluded.set_at""",
        project_id=key.project_id,
        secret=key.secret,
        set_by=key.set_by,
        set_at=key.set_at,
    )


def find(tx: Tx, project_id: UUID) -> ApiKey | None:
    row = tx.one(
        "SELECT project_id, secret, set_by, set_at FROM api_keys WHERE project_id = :id", id=project_id
    )
    return ApiKey(**row) if row else None


def remove(tx: Tx, project_id: UUID) -> bool:
    """Forget the project's key; False if it had none."""
    row = tx.one("DELETE FROM api_keys WHERE project_id = :id RETURNING project_id", id=project_id)
    return row is not None
