"""SQL for projects and their members."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any
from uuid import UUID

from hubbub.model.people.rights import Role
from hubbub.model.records import Project
from hubbub.store.table import Table
from hubbub.store.tx import Tx

_TABLE = Table("projects", Project, alias="p")


def insert(tx: Tx, project: Project) -> Project | None:
    """Add the project; None if the slug is taken."""
    row = tx.one(
        """INSERT INTO projects (id, slug, name, conflict_mode, repo_url, heartbeat_interval, heartbeat_ttl,
                                 created_at, number, description)
           VALUES (:id, :slug, :name, :conflict_mode, :repo_url, :heartbeat_interval, :heartbeat_ttl, :created_at,
                   (SELECT COALESCE(max(number), 0) + 1 FROM projects), :description)
           ON CONFLICT (slug) DO NOTHING RETURNING number""",
        id=project.id,
        slug=project.slug,
        name=project.name,
        conflict_mode=project.conflict_mode,
        repo_url=project.repo_url,
        heartbeat_interval=project.heartbeat_interval,
        heartbeat_ttl=project.heartbeat_ttl,
        created_at=project.created_at,
        description=project.description,
    )
    return replace(project, number=row["number"]) if row else None


def update(tx: Tx, project: Project) -> None:
    """Store the changeable fields of a project."""
    tx.run(
        """UPDATE projects SET name = :name, description = :description, conflict_mode = :conflict_mode,
                               repo_url = :repo_url, heartbeat_interval = :interval, heartbeat_ttl = :ttl,
                               archived_at = :archived_at, hand_over_after = :hand_over_after
           WHERE id = :id""",
        id=project.id,
        name=project.name,
        description=project.description,
        conflict_mode=project.conflict_mode,
        repo_url=project.repo_url,
        interval=project.heartbeat_interval,
        ttl=project.heartbeat_ttl,
        archived_at=project.archived_at,
        hand_over_after=project.hand_over_after,
    )


def set_run(tx: Tx, project_id: UUID, run_id: UUID) -> None:
    """Make the run the project's current one."""
    tx.run("UPDATE projects SET run_id = :run_id WHERE id = :id", id=project_id, run_id=run_id)


def find(tx: Tx, project_id: UUID) -> Project | None:
    return _TABLE.find(tx, id=project_id)


def find_by_slug(tx: Tx, slug: str) -> Project | None:
    return _TABLE.find(tx, slug=slug)


def ids(tx: Tx) -> list[UUID]:
    """List the ids of all projects, oldest first."""
    return [row["id"] for row in tx.all("SELECT id FROM projects ORDER BY id")]


def lock(tx: Tx, project_id: UUID) -> None:
    """Lock the project until this transaction ends, for steps that must not interleave."""
    tx.run(f"SELECT id FROM projects WHERE id = :id {tx.db.for_update}", id=project_id)


def of_user(tx: Tx, user_id: UUID) -> list[tuple[Project, Role]]:
    """List the projects of a person, oldest first, with their role in each."""
    rows = tx.all(
        f"""SELECT {_TABLE.selected}, m.role FROM members m JOIN projects p ON p.id = m.project_id
            WHERE m.user_id = :user_id""",
        user_id=user_id,
    )
    return [*_ranked(tuple([(*row.values(),) for row in rows]), tuple(rows[0]) if rows else ())]


def role_of(tx: Tx, project_id: UUID, user_id: UUID) -> Role | None:
    """Return a person's role in a project that is not archived; None without one."""
    row = tx.one(
        """SELECT m.role FROM members m JOIN projects p ON p.id = m.project_id
           WHERE m.user_id = :user_id AND m.project_id = :project_id AND p.archived_at IS NULL""",
        user_id=user_id,
        project_id=project_id,
    )
    return Role(row["role"]) if row else None


@lru_cache(maxsize=1024)  # each call looks up what its caller may see, which has nearly always not changed
def _ranked(rows: tuple[tuple[Any, ...], ...], names: tuple[str, ...]) -> Sequence[tuple[Project, Role]]:
    """Make the projects, with a role in each, of rows with columns of these names."""
    named = [dict(zip(names, row, strict=True)) for row in rows]
    found = [(_TABLE.record(row), Role(row["role"])) for row in named]
    return sorted(found, key=lambda each: (each[0].created_at, each[0].id))  # sorting in SQLite costs 25 µs


def put_member(tx: Tx, project_id: UUID, user_id: UUID, role: Role) -> None:
    """Make the person a member of the project, or give the member another role."""
    tx.run(
        """INSERT INTO members (user_id, project_id, role) VALUES (:user_id, :project_id, :role)
           ON CONFLICT (user_id, project_id) DO UPDATE SET role = excluded.role""",
        user_id=user_id,
        project_id=project_id,
        role=role,
    )


def members(tx: Tx, project: Project, *, lock: bool = False) -> list[tuple[UUID, str, Role]]:
    """List the members of a project: id, name and role, by name; `lock` the project, so that they stay so."""
    if lock:
        tx.run(f"SELECT id FROM projects WHERE id = :id {tx.db.for_update}", id=project.id)
    rows = tx.all(
        """SELECT u.id, u.name, m.role FROM members m JOIN users u ON u.id = m.user_id
           WHERE m.project_id = :project_id ORDER BY u.name""",
        project_id=project.id,
    )
    return [(row["id"], row["name"], Role(row["role"])) for row in rows]


def has_hub_owner(tx: Tx, project_id: UUID) -> bool:
    """Tell whether the owner of the hub is a member of the project."""
    return tx.any(
        """SELECT 1 AS one FROM members m JOIN users u ON u.id = m.user_id
           WHERE m.project_id = :project_id AND u.owns_hub = 1""",
        project_id=project_id,
    )


def remove_member(tx: Tx, project_id: UUID, user_id: UUID) -> None:
    tx.run(
        "DELETE FROM members WHERE project_id = :project_id AND user_id = :user_id",
        project_id=project_id,
        user_id=user_id,
    )
