"""Long-term memory of agents: one document of the project, and one of each agent.

A writer takes the next version of a document first, and others wait for that: simultaneous changes come one after
the other, and none is lost.
"""

from collections.abc import Sequence
from uuid import UUID

from hubbub.model.errors import Conflict
from hubbub.model.work.memory import MemoryDocument, MemoryPart, appended, require_key, require_parts
from hubbub.store.tx import Tx
from hubbub.store.work import memory

# These need no rule of their own, so they are the store's functions.
read = memory.find
documents = memory.of_project


def write(
    tx: Tx, project_id: UUID, agent: str | None, key: str, content: str, *, by: str | None = None
) -> None:
    """Set the content of the section `key`; a new one comes last. Records `memory.updated`.

    `by` is the writer, if that is not the agent itself. Raises `Invalid` for a wrong key.
    """
    require_key(key)
    version = memory.advance(tx, project_id, agent)
    memory.put(tx, project_id, agent, key, content)
    _record(tx, project_id, agent, version=version, key=key, by=by)


def append(tx: Tx, project_id: UUID, agent: str | None, content: str, *, by: str | None = None) -> None:
    """Add `content` at the end, below a rule and the date. Records `memory.updated`."""
    version = memory.advance(tx, project_id, agent)
    memory.add(tx, project_id, agent, appended(content, tx.now))
    _record(tx, project_id, agent, version=version, by=by)


def replace(
    tx: Tx,
    project_id: UUID,
    agent: str | None,
    parts: Sequence[MemoryPart],
    *,
    version: int | None,
    by: str | None = None,
) -> MemoryDocument:
    """Replace the whole memory by `parts`, if it is still at `version`. Records `memory.updated`.

    0 is the version of an unwritten memory; None means any. Raises `Conflict` if the memory has changed since,
    `Invalid` for keys that are wrong, or not all different.
    """
    require_parts(parts)
    advanced = memory.advance(tx, project_id, agent)
    if version not in (None, advanced - 1):
        raise Conflict(f"the memory is at version {advanced - 1}, not {version}; read it and try again")
    memory.replace(tx, project_id, agent, parts)
    _record(tx, project_id, agent, version=advanced, by=by)
    return MemoryDocument(
        project_id=project_id, agent=agent, version=advanced, updated_at=tx.now, parts=tuple(parts)
    )


def _record(
    tx: Tx, project_id: UUID, agent: str | None, *, version: int, key: str | None = None, by: str | None
) -> None:
    tx.record(
        "memory.updated",
        project_id=project_id,
        actor=by or agent,
        agent=agent,
        detail={"version": version, "key": key},
    )
