"""SQL for logins, which stand on tokens, and for sign-in links; only hashes of secrets are stored."""

from uuid import UUID

from hubbub.model.people.logins import Login
from hubbub.store.tx import Row, Tx

_SELECT = """SELECT l.id, l.user_id, t.created_at, l.seen_at, t.expires_at, l.browser
             FROM logins l JOIN tokens t ON t.id = l.id"""


def _login(row: Row) -> Login:
    return Login(**row)


def insert_link(tx: Tx, link_hash: str, user_id: UUID, expires_at: int) -> None:
    tx.run(
        """INSERT INTO login_links (hash, user_id, created_at, expires_at, used_at)
           VALUES (:hash, :user_id, :now, :expires_at, NULL)""",
        hash=link_hash,
        user_id=user_id,
        now=tx.now,
        expires_at=expires_at,
    )


def use_link(tx: Tx, link_hash: str) -> UUID | None:
    """Use up a link and return its person; None if it was used before, has expired, or never existed."""
    return tx.value(
        """UPDATE login_links SET used_at = :now
           WHERE hash = :hash AND used_at IS NULL AND expires_at > :now RETURNING user_id""",
        hash=link_hash,
        now=tx.now,
    )


def drop_links(tx: Tx, user_id: UUID) -> None:
    """Drop the unused links of a person."""
    tx.run("DELETE FROM login_links WHERE user_id = :user_id AND used_at IS NULL", user_id=user_id)


def forget_links(tx: Tx, before: int) -> None:
    """Delete links that expired before `before`, used or not."""
    tx.run("DELETE FROM login_links WHERE expires_at < :before", before=before)


def insert(tx: Tx, token_id: UUID, user_id: UUID, browser: str | None) -> None:
    """Mark a new token as that of a login."""
    tx.run(
        "INSERT INTO logins (id, user_id, seen_at, browser) VALUES (:id, :user_id, :now, :browser)",
        id=token_id,
        user_id=user_id,
        now=tx.now,
        browser=browser,
    )


def find(tx: Tx, login_id: UUID) -> Login | None:
    """Return the login with that id, whether it has ended or not."""
    row = tx.one(f"{_SELECT} WHERE l.id = :id", id=login_id)
    return _login(row) if row else None


def of_user(tx: Tx, user_id: UUID) -> list[Login]:
    """List the person's logins that have not ended, oldest first."""
    rows = tx.all(
        f"""{_SELECT} WHERE l.user_id = :user_id AND t.revoked_at IS NULL AND t.expires_at > :now ORDER BY l.id""",
        user_id=user_id,
        now=tx.now,
    )
    return [_login(row) for row in rows]


def touch(tx: Tx, login_id: UUID, expires_at: int) -> None:
    """Store a use of the login, and its new end."""
    tx.run("UPDATE logins SET seen_at = :now WHERE id = :id", id=login_id, now=tx.now)
    tx.run("UPDATE tokens SET expires_at = :expires_at WHERE id = :id", id=login_id, expires_at=expires_at)
