"""SQL for people and their invitations."""

from uuid import UUID

from hubbub.model.people.accounts import User
from hubbub.model.people.rights import Role
from hubbub.store.table import Table
from hubbub.store.tx import Tx

_TABLE = Table("users", User)


def insert(tx: Tx, user: User) -> User | None:
    """Add the person; None if the name is taken."""
    is_new = tx.any(f"{_TABLE.insertion} ON CONFLICT (name) DO NOTHING RETURNING id", **_TABLE.row(user))
    return user if is_new else None


def find(tx: Tx, user_id: UUID) -> User | None:
    return _TABLE.find(tx, id=user_id)


def find_by_name(tx: Tx, name: str) -> User | None:
    return _TABLE.find(tx, name=name)


def set_password(tx: Tx, user_id: UUID, password_hash: str) -> None:
    tx.run("UPDATE users SET password = :password WHERE id = :id", id=user_id, password=password_hash)


def everyone(tx: Tx) -> list[User]:
    return _TABLE.all(tx, "ORDER BY created_at, id")


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
        "SELECT project_id FROM invites WHERE hash = :hash AND used_at IS NULL AND expires_at > :now",
        hash=code_hash,
        now=tx.now,
    )


def use_invite(tx: Tx, code_hash: str) -> tuple[UUID, Role] | None:
    """Use up an invitation; return its project and role, or None if the code is unknown, used or expired."""
    row = tx.one(
        """UPDATE invites SET used_at = :now
           WHERE hash = :hash AND used_at IS NULL AND expires_at > :now RETURNING project_id, role""",
        hash=code_hash,
        now=tx.now,
    )
    return (row["project_id"], Role(row["role"])) if row else None
