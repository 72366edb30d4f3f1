"""SQL for tokens, stored only as hashes."""

from collections.abc import Sequence
from uuid import UUID

from hubbub.model.people.accounts import Token
from hubbub.store.table import Table
from hubbub.store.tx import Row, Tx

_TABLE = Table("tokens", Token, alias="t")
_HOLDER = """t.id, t.user_id, t.project_id, t.role, t.agent, t.expires_at, t.rate, t.lent_from, t.chain,
             u.name AS user_name, u.owns_hub"""
_FROM = "FROM tokens t LEFT JOIN users u ON u.id = t.user_id"
_GOOD = "t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > :now)"

_STANDS = f"{_GOOD} AND u.removed_at IS NULL"  # also if it was made while its person was being removed


def standing_sql(*beside: str) -> str:
    """Return the statement for the holder of the token with the hash `:hash` at `:now`, with these columns beside."""
    return f"SELECT {', '.join((_HOLDER, *beside))} {_FROM} WHERE t.hash = :hash AND {_STANDS}"


_STANDING = standing_sql()

insert = _TABLE.insert


def find_valid(tx: Tx, token_hash: str) -> Token | None:
    """Return the token with that hash, unless it is revoked or has expired."""
    return _TABLE.one(tx, f"WHERE t.hash = :hash AND {_GOOD}", hash=token_hash, now=tx.now)


def standing_for(tx: Tx, token_hash: str) -> Row | None:
    """Return the holder of the token with that hash, unless it is revoked or has expired."""
    return tx.one(_STANDING, hash=token_hash, now=tx.now)


def standing_for_id(tx: Tx, token_id: UUID) -> Row | None:
    """Return the holder of the token with that id, like `standing_for`."""
    return tx.one(f"SELECT {_HOLDER} {_FROM} WHERE t.id = :id AND {_STANDS}", id=token_id, now=tx.now)


def is_valid(tx: Tx, token_id: UUID) -> bool:
    """Tell whether the token exists, not revoked and not expired."""
    token = find(tx, token_id)
    return token is not None and token.revoked_at is None and (token.expires_at or tx.now + 1) > tx.now


def of_projects(tx: Tx, project_ids: Sequence[UUID]) -> list[Token]:
    """List the agents' tokens of the projects, oldest first; of lent ones, only the valid ones."""
    found: list[Token] = []
    for project_id in project_ids:
        found += _TABLE.all(
            tx,
            f"WHERE t.project_id = :id AND (t.lent_from IS NULL OR {_GOOD}) ORDER BY t.id",
            id=project_id,
            now=tx.now,
        )
    return found


def of_people(tx: Tx) -> list[Token]:
    """List the tokens of people, oldest first, without those that logins stand on."""
    return _TABLE.all(
        tx,
        "WHERE t.project_id IS NULL AND NOT EXISTS (SELECT 1 FROM logins l WHERE l.id = t.id) ORDER BY t.id",
    )


def find(tx: Tx, token_id: UUID) -> Token | None:
    return _TABLE.find(tx, id=token_id)


def revoke(tx: Tx, token_id: UUID) -> bool:
    """Revoke the token; False if it was revoked already, or never existed."""
    return tx.any(
        "UPDATE tokens SET revoked_at = :now WHERE id = :id AND revoked_at IS NULL RETURNING id",
        id=token_id,
        now=tx.now,
    )


def lent_from(tx: Tx, token_id: UUID) -> list[Token]:
    """List the valid loans from a token."""
    return _TABLE.all(tx, f"WHERE t.lent_from = :id AND {_GOOD}", id=token_id, now=tx.now)


def lent_for(tx: Tx, purpose: UUID) -> list[Token]:
    """List the valid loans for an order or a task."""
    return _TABLE.all(tx, f"WHERE t.lent_for = :id AND {_GOOD}", id=purpose, now=tx.now)


def lent_to(tx: Tx, project_id: UUID, user_id: UUID) -> list[Token]:
    """List the valid loans in a project for a person's orders."""
    return _TABLE.all(
        tx,
        f"WHERE t.project_id = :project_id AND t.user_id = :user_id AND t.lent_from IS NOT NULL AND {_GOOD}",
        project_id=project_id,
        user_id=user_id,
        now=tx.now,
    )


def speaks_for(tx: Tx, project_id: UUID, agent: str) -> bool:
    """Tell whether a valid token is bound to the agent."""
    return tx.any(
        f"SELECT 1 AS one FROM tokens t WHERE t.project_id = :project_id AND t.agent = :agent AND {_GOOD} LIMIT 1",
        project_id=project_id,
        agent=agent,
        now=tx.now,
    )


def of_maker(tx: Tx, user_id: UUID) -> list[Token]:
    """List the valid tokens that a person has or made, oldest first."""
    return _TABLE.all(
        tx, f"WHERE t.user_id = :user_id AND {_GOOD} ORDER BY t.id", user_id=user_id, now=tx.now
    )


def forget_lent(tx: Tx, before: int) -> None:
    """Drop loans that ended before `before`."""
    tx.run("DELETE FROM tokens WHERE lent_from IS NOT NULL AND expires_at < :before", before=before)
