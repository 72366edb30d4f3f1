"""SQL for the API keys of projects."""

from uuid import UUID

from hubbub.model.fleet.api_keys import ApiKey
from hubbub.store.table import Table
from hubbub.store.tx import Tx

_TABLE = Table("api_keys", ApiKey)
_PUT = _TABLE.putting("project_id")


def put(tx: Tx, key: ApiKey) -> None:
    """Store the project's key in place of the old one."""
    tx.run(_PUT, **_TABLE.row(key))


def find(tx: Tx, project_id: UUID) -> ApiKey | None:
    row = tx.one(f"SELECT {_TABLE.selected} FROM api_keys WHERE project_id = :id", id=project_id)
    return _TABLE.record(row) if row else None


def remove(tx: Tx, project_id: UUID) -> bool:
    """Delete the project's key; False if it had none."""
    row = tx.one("DELETE FROM api_keys WHERE project_id = :id RETURNING project_id", id=project_id)
    return row is not None
