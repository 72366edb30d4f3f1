"""The API key of a project: set, shown masked, cleared; used only by the hub's own machine."""

from hubbub.core.people import access
from hubbub.model.fleet.api_keys import ApiKey, require_key
from hubbub.model.people.rights import Right
from hubbub.model.records import Project
from hubbub.store.fleet import api_keys as rows
from hubbub.store.tx import Tx


def put(tx: Tx, project: Project, secret: str) -> ApiKey:
    """Replace the project's key. Records `key.set`, without the key.

    Any member may; on a machine, its gate asks a person first. Raises `Forbidden` to viewers, and `Invalid` for a text
    that cannot be a key.
    """
    access.enter(tx, str(project.id), Right.WRITE)
    key = ApiKey(project_id=project.id, secret=require_key(secret), set_by=tx.actor.label, set_at=tx.now)
    rows.put(tx, key)
    tx.record("key.set", project_id=project.id)
    return key


def find(tx: Tx, project: Project) -> ApiKey | None:
    """Return the project's key, to be shown masked; None if it has none. Raises `Forbidden` to viewers."""
    access.enter(tx, str(project.id), Right.WRITE)
    return rows.find(tx, project.id)


def clear(tx: Tx, project: Project) -> bool:
    """Clear the project's key; False if it had none. Records `key.cleared`. Raises `Forbidden` as `put` does."""
    access.enter(tx, str(project.id), Right.WRITE)
    if not rows.remove(tx, project.id):
        return False
    tx.record("key.cleared", project_id=project.id)
    return True


def use(tx: Tx, project: Project) -> str | None:
    """Return the key itself, to the hub's own machine only; None if there is none. Raises `Forbidden` to others."""
    access.require_hub_owner(tx)
    key = rows.find(tx, project.id)
    return key.secret if key else None
