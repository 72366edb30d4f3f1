"""SQL for budgets."""

from uuid import UUID

from hubbub.model.limits.budgets import Budget, BudgetKind, BudgetLevel
from hubbub.store.table import Table
from hubbub.store.tx import Tx

_TABLE = Table("budgets", Budget)
_COLUMNS = _TABLE.selected
_budget = _TABLE.record
_BEFORE = "ORDER BY kind, label, daily, id"


def put(tx: Tx, budget: Budget) -> Budget:
    """Store a budget in its present state."""
    tx.run(_TABLE.putting("id"), **_TABLE.row(budget))
    return budget


def find(tx: Tx, project_id: UUID, budget_id: UUID) -> Budget | None:
    """Return the budget with that id, locked."""
    row = tx.one(
        f"""SELECT {_COLUMNS} FROM budgets WHERE project_id = :project_id AND id = :id {tx.db.for_update}""",
        project_id=project_id,
        id=budget_id,
    )
    return _budget(row) if row else None


def of(tx: Tx, project_id: UUID, kind: BudgetKind, whom: str, *, daily: bool) -> Budget | None:
    """Return the existing budget for the same owner, locked."""
    row = tx.one(
        f"""SELECT {_COLUMNS} FROM budgets
            WHERE project_id = :project_id AND kind = :kind AND whom = :whom AND daily = :daily
            {tx.db.for_update}""",
        project_id=project_id,
        kind=kind,
        whom=whom,
        daily=int(daily),
    )
    return _budget(row) if row else None


def of_project(tx: Tx, project_id: UUID, *, lock: bool = False) -> list[Budget]:
    """List all budgets of a project; `lock` them against other counters."""
    order = f"ORDER BY id {tx.db.for_update}" if lock else _BEFORE
    rows = tx.all(
        f"SELECT {_COLUMNS} FROM budgets WHERE project_id = :project_id {order}", project_id=project_id
    )
    return [_budget(row) for row in rows]


def spent(tx: Tx, project_id: UUID) -> list[Budget]:
    """List the spent budgets; a daily one may be of a past day."""
    rows = tx.all(
        f"""SELECT {_COLUMNS} FROM budgets
            WHERE project_id = :project_id AND level = '{BudgetLevel.SPENT}' {_BEFORE}""",
        project_id=project_id,
    )
    return [_budget(row) for row in rows]


def delete(tx: Tx, budget: Budget) -> None:
    """Delete a budget."""
    tx.run("DELETE FROM budgets WHERE id = :id", id=budget.id)
