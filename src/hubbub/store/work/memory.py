"""SQL for memories: documents of parts. The project's own memory has the agent '', a name that no agent has."""

from collections.abc import Sequence
from uuid import UUID

from hubbub.model.work.memory import MemoryDocument, MemoryPart, MemoryVersion
from hubbub.store.tx import Row, Tx

_COLUMNS = "project_id, agent, version, updated_at"
_DOCUMENT = "project_id = :project_id AND agent = :agent"


def _edition(row: Row) -> MemoryVersion:
    return MemoryVersion(**{**row, "agent": row["agent"] or None})


def advance(tx: Tx, project_id: UUID, agent: str | None) -> int:
    """Raise the version of a memory, from 1 for a new one, and return it; other writers wait for the commit."""
    row = tx.one(
        """INSERT INTO memories (project_id, agent, version, updated_at) VALUES (:project_id, :agent, 1, :now)
           ON CONFLICT (project_id, agent) DO UPDATE SET version = memories.version + 1, updated_at = :now
           RETURNING version""",
        project_id=project_id,
        agent=agent or "",
        now=tx.now,
    )
    assert row is not None  # an upsert always returns a row
    return int(row["version"])


def find(tx: Tx, project_id: UUID, agent: str | None) -> MemoryDocument | None:
    row = tx.one(
        f"SELECT {_COLUMNS} FROM memories WHERE {_DOCUMENT}", project_id=project_id, agent=agent or ""
    )
    if row is None:
        return None
    parts = tx.all(
        f"SELECT key, content FROM memory_parts WHERE {_DOCUMENT} ORDER BY position",
        project_id=project_id,
        agent=agent or "",
    )
    return MemoryDocument(
        **{**row, "agent": agent}, parts=tuple(MemoryPart(each["key"], each["content"]) for each in parts)
    )


def of_project(tx: Tx, project_id: UUID) -> list[MemoryVersion]:
    """List the memories: the project's own first, then by agent."""
    rows = tx.all(
        f"SELECT {_COLUMNS} FROM memories WHERE project_id = :project_id ORDER BY agent",
        project_id=project_id,
    )
    return [_edition(row) for row in rows]


def put(tx: Tx, project_id: UUID, agent: str | None, key: str, content: str) -> None:
    """Set the content of a section, or add the section at the end."""
    row = tx.one(
        f"UPDATE memory_parts SET content = :content WHERE {_DOCUMENT} AND key = :key RETURNING position",
        project_id=project_id,
        agent=agent or "",
        key=key,
        content=content,
    )
    if row is None:
        add(tx, project_id, agent, MemoryPart(key, content))


def add(tx: Tx, project_id: UUID, agent: str | None, part: MemoryPart) -> None:
    """Add a part at the end."""
    tx.run(
        f"""INSERT INTO memory_parts (project_id, agent, position, key, content)
            SELECT :project_id, :agent, COALESCE(MAX(position) + 1, 0), :key, :content
            FROM memory_parts WHERE {_DOCUMENT}""",
        project_id=project_id,
        agent=agent or "",
        key=part.key,
        content=part.content,
    )


def replace(tx: Tx, project_id: UUID, agent: str | None, parts: Sequence[MemoryPart]) -> None:
    """Replace all parts."""
    tx.run(f"DELETE FROM memory_parts WHERE {_DOCUMENT}", project_id=project_id, agent=agent or "")
    for position, part in enumerate(parts):
        tx.run(
            """INSERT INTO memory_parts (project_id, agent, position, key, content)
               VALUES (:project_id, :agent, :position, :key, :content)""",
            project_id=project_id,
            agent=agent or "",
            position=position,
            key=part.key,
            content=part.content,
        )
