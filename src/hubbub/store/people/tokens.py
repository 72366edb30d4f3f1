"""SQL for tokens, which are kept as their hashes only."""

from collections.abc import Sequence
from uuid import UUID

from hubbub.model.people.accounts import Token
from hubbub.store.table import Table
from hubbub.store.tx import Row, Tx

_TABLE = Table("tokens", Token, alias="t")
_COLUMNS = _TABLE.selected
_token = _TABLE.record
_STANDS = """SELECT t.id, t.user_id, t.project_id, t.role, t.agent, t.expires_at, t.rate, t.lent_from, t.chain,
                    u.name AS user_name, u.owns_hub FROM tokens t LEFT JOIN users u ON u.id = t.user_id"""
_GOOD = "t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > :now)"


def insert(tx: Tx, token: Token) -> Token:
    tx.run(_TABLE.insertion, **_TABLE.row(token))
    return token


def find_valid(tx: Tx, token_hash: str) -> Token | None:
    """The token of that hash, unless it is revoked or has expired."""
    row = tx.one(
        f"SELECT {_COLUMNS} FROM tokens t WHERE t.hash = :hash AND {_GOOD}",
        hash=token_hash,
        now=tx.now,
    )
    return _token(row) if row else None


def standing_for(tx: Tx, token_hash: str) -> Row | None:
    """For whom the token of that hash stands, unless it is revoked or has expired."""
    return tx.one(f"{_STANDS} WHERE t.hash = :hash AND {_GOOD}", hash=token_hash, now=tx.now)


def standing_for_id(tx: Tx, token_id: UUID) -> Row | None:
    """As `standing_for`, for the token of that id."""
    return tx.one(f"{_STANDS} WHERE t.id = :id AND {_GOOD}", id=token_id, now=tx.now)


def is_valid(tx: Tx, token_id: UUID) -> bool:
    """Whether the token is there, not revoked and not expired."""
    token = find(tx, token_id)
    return token is not None and token.revoked_at is None and (token.expires_at or tx.now + 1) > tx.now


def of_projects(tx: Tx, project_ids: Sequence[UUID]) -> list[Token]:
    """The agents' tokens of the projects, oldest first: of those that were lent, what is still good."""
    found: list[Token] = []
    for project_id in project_ids:
        rows = tx.all(
            f"""SELECT {_COLUMNS} FROM tokens t
                WHERE t.project_id = :id AND (t.lent_from IS NULL OR {_GOOD}) ORDER BY t.id""",
            id=project_id,
            now=tx.now,
        )
        found += [_token(row) for row in rows]
    return found


def of_people(tx: Tx) -> list[Token]:
    """The tokens of persons, oldest first, without those that logins stand on."""
    rows = tx.all(
        f"""SELECT {_COLUMNS} FROM tokens t
            WHERE t.project_id IS NULL AND NOT EXISTS (SELECT 1 FROM logins l WHERE l.id = t.id) ORDER BY t.id"""
    )
    return [_token(row) for row in rows]


def find(tx: Tx, token_id: UUID) -> Token | None:
    row = tx.one(f"SELECT {_COLUMNS} FROM tokens t WHERE t.id = :id", id=token_id)
    return _token(row) if row else None


def revoke(tx: Tx, token_id: UUID) -> bool:
    """Mark the token as revoked; False if it was already, or never was."""
    row = tx.one(
        "UPDATE tokens SET revoked_at = :now WHERE id = :id AND revoked_at IS NULL RETURNING id",
        id=token_id,
        now=tx.now,
    )
    return row is not None


def lent_from(tx: Tx, token_id: UUID) -> list[Token]:
    """Return what was lent from a token, and is still good."""
    rows = tx.all(
        f"SELECT {_COLUMNS} FROM tokens t WHERE t.lent_from = :id AND {_GOOD}", id=token_id, now=tx.now
    )
    return [_token(row) for row in rows]


def lent_for(tx: Tx, purpose: UUID) -> list[Token]:
    """Return what was lent for an order or a task, and is still good."""
    rows = tx.all(
        f"SELECT {_COLUMNS} FROM tokens t WHERE t.lent_for = :id AND {_GOOD}", id=purpose, now=tx.now
    )
    return [_token(row) for row in rows]


def lent_to(tx: Tx, project_id: UUID, user_id: UUID) -> list[Token]:
    """Return what was lent in a project for a person's orders, and is still good."""
    rows = tx.all(
        f"""SELECT {_COLUMNS} FROM tokens t
            WHERE t.project_id = :project_id AND t.user_id = :user_id AND t.lent_from IS NOT NULL AND {_GOOD}""",
        project_id=project_id,
        user_id=user_id,
        now=tx.now,
    )
    return [_token(row) for row in rows]


def forget_lent(tx: Tx, before: int) -> None:
    """Drop what was lent and whose time was over before `before`."""
    tx.run("DELETE FROM tokens WHERE lent_from IS NOT NULL AND expires_at < :before", before=before)
