"""SQL for accounts, for the agents that share one, and for the clocks that stand still during a pause."""

from uuid import UUID

from hubbub.model.limits.accounts import WITHOUT_END, Account
from hubbub.store.table import Table
from hubbub.store.tx import Tx

# Until when an account, a joined row `c`, is paused, or was.
HELD_UNTIL = (
    f"CASE WHEN c.paused_at IS NULL THEN c.resumed_at ELSE COALESCE(c.paused_until, {WITHOUT_END}) END"
)

_TABLE = Table("accounts", Account, key=("project_id", "name"))


put = _TABLE.put


def find(tx: Tx, project_id: UUID, name: str) -> Account | None:
    return _TABLE.find(tx, project_id=project_id, name=name)


def of_project(tx: Tx, project_id: UUID) -> list[Account]:
    return _TABLE.all(tx, "WHERE project_id = :id ORDER BY name", id=project_id)


def lock(tx: Tx, project_id: UUID) -> None:
    """Lock the accounts of a project until the transaction ends: whether all are paused depends on each of them."""
    tx.all(
        f"SELECT name FROM accounts WHERE project_id = :id ORDER BY name {tx.db.for_update}", id=project_id
    )


def goes_on(tx: Tx, project_id: UUID) -> bool:
    """Tell whether anybody goes on: an account that agents share is not paused, or an agent is there without one."""
    return tx.any(
        """SELECT 1 AS found FROM agents a
           LEFT JOIN accounts c ON c.project_id = a.project_id AND c.name = a.account
           LEFT JOIN presences p ON p.id = a.presence_id AND p.ended_at IS NULL
           WHERE a.project_id = :id AND c.paused_at IS NULL AND (c.name IS NOT NULL OR p.id IS NOT NULL) LIMIT 1""",
        id=project_id,
    )


def of_agent(tx: Tx, project_id: UUID, agent: str) -> Account | None:
    """Return the account that an agent shares; None if none is known."""
    return _TABLE.one(
        tx,
        """WHERE project_id = :project_id AND name =
           (SELECT account FROM agents WHERE project_id = :project_id AND name = :agent)""",
        project_id=project_id,
        agent=agent,
    )


def delete(tx: Tx, project_id: UUID, name: str) -> bool:
    """Delete an account; False if there is none."""
    return _TABLE.delete(tx, project_id=project_id, name=name) is not None


def agents(tx: Tx, project_id: UUID, name: str) -> list[str]:
    """List the names of the agents that share an account, sorted."""
    return tx.column(
        "SELECT name FROM agents WHERE project_id = :project_id AND account = :account ORDER BY name",
        project_id=project_id,
        account=name,
    )


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
    return _TABLE.all(
        tx, "WHERE paused_until <= :now ORDER BY paused_until LIMIT :limit", now=tx.now, limit=limit
    )


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
