"""SQL for budgets."""

from uuid import UUID

from hubbub.model.limits.budgets import Budget, BudgetKind, BudgetLevel
from hubbub.store.table import Table
from hubbub.store.tx import Tx

_TABLE = Table("budgets", Budget, key=("id",))
_BEFORE = "ORDER BY kind, label, daily, id"


put = _TABLE.put


def find(tx: Tx, project_id: UUID, budget_id: UUID) -> Budget | None:
    """Return the budget with that id, locked."""
    return _TABLE.one(
        tx,
        f"WHERE project_id = :project_id AND id = :id {tx.db.for_update}",
        project_id=project_id,
        id=budget_id,
    )


def of(tx: Tx, project_id: UUID, kind: BudgetKind, whom: str, *, daily: bool) -> Budget | None:
    """Return the existing budget for the same owner, locked."""
    return _TABLE.one(
        tx,
        f"WHERE project_id = :project_id AND kind = :kind AND whom = :whom AND daily = :daily {tx.db.for_update}",
        project_id=project_id,
        kind=kind,
        whom=whom,
        daily=int(daily),
    )


def of_project(tx: Tx, project_id: UUID, *, lock: bool = False) -> list[Budget]:
    """List all budgets of a project; `lock` them against other counters."""
    order = f"ORDER BY id {tx.db.for_update}" if lock else _BEFORE
    return _TABLE.all(tx, f"WHERE project_id = :project_id {order}", project_id=project_id)


def spent(tx: Tx, project_id: UUID) -> list[Budget]:
    """List the spent budgets; a daily one may be of a past day."""
    return _TABLE.all(
        tx,
        f"WHERE project_id = :project_id AND level = '{BudgetLevel.SPENT}' {_BEFORE}",
        project_id=project_id,
    )


def delete(tx: Tx, budget: Budget) -> None:
    """Delete a budget."""
    tx.run("DELETE FROM budgets WHERE id = :id", id=budget.id)
