"""SQL that tells whether anything is overdue."""

from hubbub.store.fleet import approvals
from hubbub.store.people import tokens
from hubbub.store.tx import Row, Tx
from hubbub.store.work import tasks

_DUE = f"""EXISTS (SELECT 1 FROM tasks WHERE {tasks.LAPSING} AND expires_at <= :now)
               OR EXISTS (SELECT 1 FROM presences WHERE ended_at IS NULL AND expires_at <= :now)
               OR EXISTS (SELECT 1 FROM claims WHERE expires_at <= :now)
               OR EXISTS (SELECT 1 FROM leases WHERE expires_at <= :now)
               OR EXISTS (SELECT 1 FROM accounts WHERE paused_until <= :now)
               OR EXISTS (SELECT 1 FROM approvals WHERE ended_at IS NULL AND expires_at <= :now)
               OR EXISTS (SELECT 1 FROM machines WHERE online = 1 AND expires_at <= :now)
               OR EXISTS (SELECT 1 FROM approvals WHERE {approvals.FORSAKEN}) AS due"""
_ANY = f"SELECT {_DUE}"
_HOLDER_AND_DUE = tokens.standing_sql(_DUE)


def is_any(tx: Tx, gone: int) -> bool:
    """Tell whether anything is overdue: a task, approval, claim, lease, presence or machine whose time has run out.

    A question whose machine has been gone since `gone` or longer is overdue, too. Every call asks this first.
    """
    row = tx.one(_ANY, now=tx.now, gone=gone)
    return bool(row and row["due"])


def standing_for(tx: Tx, token_hash: str, gone: int) -> Row | None:
    """Return the holder of a token as `tokens.standing_for`, and whether anything is `due`."""
    return tx.one(_HOLDER_AND_DUE, hash=token_hash, now=tx.now, gone=gone)
