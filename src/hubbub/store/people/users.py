"""SQL for people and their invitations."""

from uuid import UUID

from hubbub.model.people.accounts import Invitation, User
from hubbub.model.people.rights import Role
from hubbub.store.table import Table
from hubbub.store.tx import Tx

NAMED = 12  # characters of an invitation's hash by which people name it

_TABLE = Table("users", User)
_OPEN = "used_at IS NULL AND expires_at > :now"


def insert(tx: Tx, user: User) -> User | None:
    """Add the person; None if the name is taken."""
    is_new = tx.any(f"{_TABLE.insertion} ON CONFLICT (name) DO NOTHING RETURNING id", **_TABLE.row(user))
    return user if is_new else None


def find(tx: Tx, user_id: UUID) -> User | None:
    return _TABLE.find(tx, id=user_id)


def find_by_name(tx: Tx, name: str) -> User | None:
    """Return the person of that name, unless they were removed."""
    return _TABLE.one(tx, "WHERE name = :name AND removed_at IS NULL", name=name)


def remove(tx: Tx, user_id: UUID) -> None:
    """Let the person be gone, with their password."""
    tx.run("UPDATE users SET removed_at = :now, password = NULL WHERE id = :id", id=user_id, now=tx.now)


def set_password(tx: Tx, user_id: UUID, password_hash: str) -> None:
    tx.run("UPDATE users SET password = :password WHERE id = :id", id=user_id, password=password_hash)


def everyone(tx: Tx) -> list[User]:
    return _TABLE.all(tx, "WHERE removed_at IS NULL ORDER BY created_at, id")


def is_empty(tx: Tx) -> bool:
    return tx.one("SELECT 1 AS one FROM users LIMIT 1") is None


def insert_invite(tx: Tx, code_hash: str, project_id: UUID, role: Role, expires_at: int) -> None:
    tx.run(
        """INSERT INTO invites (hash, project_id, role, created_at, expires_at)
           VALUES (:hash, :project_id, :role, :now, :expires_at)""",
        hash=code_hash,
        project_id=project_id,
        role=role,
        now=tx.now,
        expires_at=expires_at,
    )


def find_invite(tx: Tx, code_hash: str) -> UUID | None:
    """Return the project of an invitation, or None if the code is unknown, used or expired."""
    return tx.value(
        f"SELECT project_id FROM invites WHERE hash = :hash AND {_OPEN}",
        hash=code_hash,
        now=tx.now,
    )


def use_invite(tx: Tx, code_hash: str) -> tuple[UUID, Role] | None:
    """Use up an invitation; return its project and role, or None if the code is unknown, used or expired."""
    row = tx.one(
        f"UPDATE invites SET used_at = :now WHERE hash = :hash AND {_OPEN} RETURNING project_id, role",
        hash=code_hash,
        now=tx.now,
    )
    return (row["project_id"], Role(row["role"])) if row else None


def invitations(tx: Tx, project_id: UUID) -> list[Invitation]:
    """List a project's invitations that can still be followed, oldest first."""
    rows = tx.all(
        f"""SELECT hash, role, created_at, expires_at FROM invites
            WHERE project_id = :project_id AND {_OPEN} ORDER BY created_at, hash""",
        project_id=project_id,
        now=tx.now,
    )
    return [
        Invitation(
            id=str(row["hash"])[:NAMED],
            role=Role(row["role"]),
            created_at=row["created_at"],
            expires_at=row["expires_at"],
        )
        for row in rows
    ]


def drop_invitation(tx: Tx, project_id: UUID, invitation: str) -> bool:
    """Drop the open invitation of the project that begins so; tell whether there was one."""
    return tx.any(
        f"""DELETE FROM invites WHERE project_id = :project_id AND substr(hash, 1, {NAMED}) = :id AND {_OPEN}
            RETURNING hash""",
        project_id=project_id,
        id=invitation,
        now=tx.now,
    )
