"""SQL for the API keys of projects."""

from uuid import UUID

from hubbub.model.fleet.api_keys import ApiKey
from hubbub.store.table import Table
from hubbub.store.tx import Tx

_TABLE = Table("api_keys", ApiKey, key=("project_id",))


put = _TABLE.put


def find(tx: Tx, project_id: UUID) -> ApiKey | None:
    return _TABLE.find(tx, project_id=project_id)


def remove(tx: Tx, project_id: UUID) -> bool:
    """Delete the project's key; False if it had none."""
    return tx.any("DELETE FROM api_keys WHERE project_id = :id RETURNING project_id", id=project_id)
