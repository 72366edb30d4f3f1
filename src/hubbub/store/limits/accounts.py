"""SQL for accounts, for the agents that share one, and for the clocks that stand still during a pause."""

from uuid import UUID

from hubbub.model.limits.accounts import WITHOUT_END, Account
from hubbub.store.table import Table
from hubbub.store.tx import Tx

# Until when an account, a joined row `c`, is paused, or was.
HELD_UNTIL = (
    f"CASE WHEN c.paused_at IS NULL THEN c.resumed_at ELSE COALESCE(c.paused_until, {WITHOUT_END}) END"
)

_TABLE = Table("accounts", Account)
_COLUMNS = _TABLE.selected
_account = _TABLE.record


def put(tx: Tx, account: Account) -> Account:
    tx.run(_TABLE.putting("project_id", "name"), **_TABLE.row(account))
    return account


def find(tx: Tx, project_id: UUID, name: str) -> Account | None:
    row = tx.one(
        f"SELECT {_COLUMNS} FROM accounts WHERE project_id = :project_id AND name = :name",
        project_id=project_id,
        name=name,
    )
    return _account(row) if row else None


def of_project(tx: Tx, project_id: UUID) -> list[Account]:
    rows = tx.all(
        f"SELECT {_COLUMNS} FROM accounts WHERE project_id = :id ORDER BY name",
        id=project_id,
    )
    return [_account(row) for row in rows]


def lock(tx: Tx, project_id: UUID) -> None:
    """Lock the accounts of a project until the transaction ends: whether all are paused depends on each of them."""
    tx.all(
        f"SELECT name FROM accounts WHERE project_id = :id ORDER BY name {tx.db.for_update}", id=project_id
    )


def goes_on(tx: Tx, project_id: UUID) -> bool:
    """Tell whether anybody goes on: an account that agents share is not paused, or an agent is there without one."""
    row = tx.one(
        """SELECT 1 AS found FROM agents a
           LEFT JOIN accounts c ON c.project_id = a.project_id AND c.name = a.account
           LEFT JOIN presences p ON p.id = a.presence_id AND p.ended_at IS NULL
           WHERE a.project_id = :id AND c.paused_at IS NULL AND (c.name IS NOT NULL OR p.id IS NOT NULL) LIMIT 1""",
        id=project_id,
    )
    return row is not None


def of_agent(tx: Tx, project_id: UUID, agent: str) -> Account | None:
    """Return the account that an agent shares; None if none is known."""
    row = tx.one(
        f"""SELECT {_COLUMNS} FROM accounts WHERE project_id = :project_id AND name =
                (SELECT account FROM agents WHERE project_id = :project_id AND name = :agent)""",
        project_id=project_id,
        agent=agent,
    )
    return _account(row) if row else None


def delete(tx: Tx, project_id: UUID, name: str) -> bool:
    """Delete an account; False if there is none."""
    row = tx.one(
        "DELETE FROM accounts WHERE project_id = :project_id AND name = :name RETURNING name",
        project_id=project_id,
        name=name,
    )
    return row is not None


def agents(tx: Tx, project_id: UUID, name: str) -> list[str]:
    """List the names of the agents that share an account, sorted."""
    rows = tx.all(
        "SELECT name FROM agents WHERE project_id = :project_id AND account = :account ORDER BY name",
        project_id=project_id,
        account=name,
    )
    return [row["name"] for row in rows]


def assign(tx: Tx, project_id: UUID, agent: str, name: str | None) -> None:
    """Let an agent share an account, and no other; None: no account."""
    tx.run(
        "UPDATE agents SET account = :account WHERE project_id = :project_id AND name = :agent",
        project_id=project_id,
        agent=agent,
        account=name,
    )


def over(tx: Tx, limit: int) -> list[Account]:
    """List the accounts whose pause is over, the longest over first."""
    rows = tx.all(
        f"""SELECT {_COLUMNS} FROM accounts WHERE paused_until <= :now
            ORDER BY paused_until LIMIT :limit""",
        now=tx.now,
        limit=limit,
    )
    return [_account(row) for row in rows]


def shift(tx: Tx, project_id: UUID, agent: str, by: int) -> None:
    """Shift the ends of an agent's claims and tool leases by so many milliseconds."""
    for table, holder, narrowed in (("claims", "agent", ""), ("leases", "holder", "AND by_tool = 1")):
        tx.run(
            f"""UPDATE {table} SET expires_at = expires_at + :shift
                WHERE project_id = :project_id AND {holder} = :agent AND expires_at > :now {narrowed}""",
            project_id=project_id,
            agent=agent,
            shift=by,
            now=tx.now,
        )
