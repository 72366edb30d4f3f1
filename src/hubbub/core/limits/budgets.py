"""Budgets: people limit use; reported use is counted against the limit, and those who reach it stop.

The meter counts anyway, so nothing is added up when a tool asks: only a spent budget is looked for.
Money is counted at the price of the moment. Use that nobody reports is not counted, and a budget says so.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from uuid import UUID

from hubbub.core.agents import agents
from hubbub.core.mail import messages
from hubbub.core.snapshots import cards
from hubbub.model.cost.prices import PRICED, Prices
from hubbub.model.cost.spending import SLICE, By, Measure
from hubbub.model.errors import BudgetSpent, Conflict, Invalid, NotFound, existing
from hubbub.model.ids import new_id, parse_id
from hubbub.model.limits.budgets import (
    ADVICE,
    DAY,
    LARGEST,
    MOST,
    Budget,
    BudgetKind,
    BudgetLevel,
    BudgetUnit,
    refusal,
)
from hubbub.model.people.rights import HUB
from hubbub.model.records import Project
from hubbub.store.cost import spending
from hubbub.store.limits import budgets as rows
from hubbub.store.people import tokens
from hubbub.store.tx import Tx
from hubbub.store.work import tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """Tokens of one model that somebody has used, as the meter has just counted them."""

    at: int
    agent: str | None
    task_id: UUID | None
    model: str
    used: Mapping[Measure, int]  # with `TOLD`, where the client reports the cost


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetTerms:
    """A budget as people request it. `whom` is an agent's name, or the id of a task or token."""

    kind: BudgetKind
    whom: str = ""
    daily: bool = False
    unit: BudgetUnit
    amount: int


def of_project(tx: Tx, project_id: UUID) -> list[Budget]:
    """List all budgets of a project, each with its use (today's use if it is daily)."""
    return [_today(tx, each) for each in rows.of_project(tx, project_id)]


def put(tx: Tx, project: Project, prices: Prices, asked: BudgetTerms) -> Budget:
    """Set a budget, or raise or lower the existing one for the same owner. Records `budget.put`.

    A new budget counts a task from its beginning and a day from its start; any other counts from now on. Raises
    `Invalid` for an unknown owner, and `Conflict` if the project has too many.
    """
    if not 0 < asked.amount <= LARGEST:
        raise Invalid("amount: must be more than 0, and at most 1,000,000,000 dollars")
    whom, label = _whom(tx, project, asked)
    known = rows.of(tx, project.id, asked.kind, whom, daily=asked.daily)
    if known is None and len(rows.of_project(tx, project.id)) >= MOST:
        raise Conflict(f"a project has at most {MOST} budgets; remove one first")
    if known is not None and known.unit is asked.unit:
        budget = replace(_today(tx, known), amount=asked.amount, label=label)
    else:
        began = Budget(
            id=known.id if known is not None else new_id(),
            project_id=project.id,
            kind=asked.kind,
            whom=whom,
            label=label,
            daily=asked.daily,
            unit=asked.unit,
            amount=asked.amount,
            level_at=tx.now,
            since=known.since if known is not None else _since(tx, asked),
            used_on=tx.now // DAY,
        )
        budget = _with_past(tx, began, prices)
    budget = _levelled(tx, budget)
    _record(tx, "put", rows.put(tx, budget), by=tx.actor.label)
    if budget.level is not BudgetLevel.ENOUGH:
        _tell(tx, budget, ())
    return budget


def remove(tx: Tx, project: Project, ref: str) -> Budget:
    """Remove a budget; it limits nothing from now on. Records `budget.removed`. Raises `NotFound`."""
    budget_id = parse_id(ref)
    budget = existing(rows.find(tx, project.id, budget_id) if budget_id is not None else None, "budget", ref)
    rows.delete(tx, budget)
    _record(tx, "removed", budget, by=tx.actor.label, is_gone=True)
    return budget


def charge(tx: Tx, project: Project, prices: Prices, uses: Sequence[Use]) -> None:
    """Add new use to every budget that covers it.

    Records `budget.low` or `budget.spent` once when a budget reaches that level, and tells its agents. Records
    `budget.renewed` when a new day begins for a budget.
    """
    for before in rows.of_project(tx, project.id, lock=True):
        if before.kind is BudgetKind.TOKEN and not _is_of_caller(tx, before):
            continue
        budget = _today(tx, before)
        own = [each for each in uses if _concerns(budget, each)]
        for each in own:
            budget = _counted(budget, prices, each)
        if not own:
            continue
        levelled = rows.put(tx, _levelled(tx, replace(budget, heard_at=tx.now)))
        if levelled.level is before.level and levelled.level_at == before.level_at:
            continue
        what = levelled.level if levelled.level is not BudgetLevel.ENOUGH else "renewed"
        _record(tx, what, levelled, by=HUB)
        if levelled.level is not BudgetLevel.ENOUGH:
            _tell(tx, levelled, {each.agent for each in own if each.agent is not None})


def stopping(tx: Tx, project_id: UUID, agent: str, task_id: UUID | None = None) -> Budget | None:
    """Return the spent budget that stops an agent now, or that keeps it from beginning `task_id`; None for none.

    A token's budget concerns any caller that shows the token, or another one of the same person if it is a person's.
    """
    found = [each for each in rows.spent(tx, project_id) if each.level_of(tx.now) is BudgetLevel.SPENT]
    if not found:
        return None
    at = {str(task_id)} if task_id is not None else _at_work(tx, project_id, agent)
    return next((each for each in found if _stops(tx, each, agent, at)), None)


def require_left(tx: Tx, project_id: UUID, agent: str, task_id: UUID | None = None) -> None:
    """Raise `BudgetSpent` if a spent budget keeps the agent from beginning anything, or this task."""
    budget = stopping(tx, project_id, agent, task_id)
    if budget is not None:
        raise BudgetSpent(f"{refusal(budget)}; nothing more can begin on it until a person raises it")


def denial(tx: Tx, project_id: UUID, agent: str) -> str | None:
    """Return why an agent may use no other tool, in words for its model; None if it may."""
    budget = stopping(tx, project_id, agent)
    return None if budget is None else f"hubbub: {refusal(budget)}. {ADVICE}"


def _stops(tx: Tx, budget: Budget, agent: str, at: Collection[str]) -> bool:
    match budget.kind:
        case BudgetKind.PROJECT:
            return True
        case BudgetKind.AGENT:
            return budget.whom == agent
        case BudgetKind.TASK:
            return budget.whom in at
        case BudgetKind.TOKEN:
            return _is_of_caller(tx, budget)


def _is_of_caller(tx: Tx, budget: Budget) -> bool:
    """Tell whether a token's budget concerns the caller's token.

    It is that token, or was lent from it; or the budget's is a person's, for whom the caller's was made: programs
    exchange a person's token for one of a project.
    """
    caller = tx.actor
    if budget.whom in (str(caller.token_id), str(caller.lent_from)):
        return True
    token = tokens.find(tx, UUID(budget.whom)) if caller.user_id is not None else None
    return token is not None and token.project_id is None and token.user_id == caller.user_id


def _at_work(tx: Tx, project_id: UUID, agent: str) -> set[str]:
    row = spending.task_at(tx, project_id, agent, tx.now)
    return {str(row["id"])} if row is not None else set()


def _concerns(budget: Budget, use: Use) -> bool:
    if use.at < budget.since or (budget.daily and use.at // DAY != budget.used_on):
        return False
    match budget.kind:
        case BudgetKind.PROJECT:
            return True
        case BudgetKind.AGENT:
            return budget.whom == use.agent
        case BudgetKind.TASK:
            return budget.whom == str(use.task_id)
        case BudgetKind.TOKEN:
            return True  # the caller's, as was looked up once for all use


def _counted(budget: Budget, prices: Prices, use: Use) -> Budget:
    used = {each: use.used.get(each, 0) for each in PRICED}
    tokens = sum(used.values())
    if budget.unit is BudgetUnit.TOKENS:
        return replace(budget, used=budget.used + tokens)
    worth = prices.cost(use.model, use.at // DAY, used, use.used.get(Measure.TOLD))
    if worth is None:
        return replace(budget, unpriced=budget.unpriced + tokens)
    return replace(budget, used=budget.used + int(worth.to_integral_value()))


def _with_past(tx: Tx, budget: Budget, prices: Prices) -> Budget:
    """Return a new budget with the earlier use that it counts."""
    only: dict[By, object] = {}
    if budget.kind is BudgetKind.TASK:
        only = {By.TASK: UUID(budget.whom)}
    elif budget.kind is BudgetKind.AGENT:
        only = {By.AGENT: budget.whom}
    is_new = not budget.daily and budget.kind is not BudgetKind.TASK
    if (
        is_new or budget.kind is BudgetKind.TOKEN
    ):  # spending does not record the token by which it was reported
        return budget
    used, unpriced, heard = Decimal(0), 0, False
    since = budget.used_on * DAY if budget.daily else budget.since
    for row in spending.sums(tx, budget.project_id, By.MODEL, since=since, until=tx.now + 1, only=only):
        told = {each: int(row[each]) for each in PRICED}
        tokens, heard = sum(told.values()), True
        worth = prices.cost(row["model"], row["day"], told, row["told"] if row["is_told"] else None)
        if budget.unit is BudgetUnit.TOKENS:
            used += tokens
        elif worth is None:
            unpriced += tokens
        else:
            used += worth
    heard_at = tx.now if heard else None
    return replace(budget, used=int(used.to_integral_value()), unpriced=unpriced, heard_at=heard_at)


def _since(tx: Tx, asked: BudgetTerms) -> int:
    if asked.kind is BudgetKind.TASK:
        return 0
    return tx.now // DAY * DAY if asked.daily else tx.now // SLICE * SLICE  # spending is added up by slices


def _today(tx: Tx, budget: Budget) -> Budget:
    """Return the budget with no use if it is daily and its use is of another day."""
    if not budget.daily or budget.used_on == tx.now // DAY:
        return budget
    return replace(budget, used=0, unpriced=0, used_on=tx.now // DAY)


def _levelled(tx: Tx, budget: Budget) -> Budget:
    """Return the budget with the level that follows from its use, reached now if the level changed."""
    level = budget.reached()
    is_old = budget.ends_at is not None and tx.now >= budget.ends_at and level is not BudgetLevel.ENOUGH
    return budget if level is budget.level and not is_old else replace(budget, level=level, level_at=tx.now)


def _whom(tx: Tx, project: Project, asked: BudgetTerms) -> tuple[str, str]:
    """Return the owner of a budget as it is stored, and as people name it. Raises `NotFound`."""
    match asked.kind:
        case BudgetKind.PROJECT:
            return "", project.slug
        case BudgetKind.AGENT:
            agents.meet(tx, project.id, asked.whom)
            return asked.whom, asked.whom
        case BudgetKind.TASK:
            return _task(tx, project, asked.whom)
        case BudgetKind.TOKEN:
            return _token(tx, project, asked.whom)


def _task(tx: Tx, project: Project, ref: str) -> tuple[str, str]:
    task_id = parse_id(ref)
    task = tasks.find(tx, task_id) if task_id is not None else None
    if task is None or task.project_id != project.id:
        raise NotFound("task", ref)
    return str(task.id), f"T-{task.number}"


def _token(tx: Tx, project: Project, ref: str) -> tuple[str, str]:
    token_id = parse_id(ref)
    token = tokens.find(tx, token_id) if token_id is not None else None
    if token is None or token.project_id not in (None, project.id):
        raise NotFound("token", ref)
    return str(token.id), str(token.id)[-8:]


def _tell(tx: Tx, budget: Budget, using: Collection[str]) -> None:
    """Send mail to the agents that a budget concerns: its own agent, else all that use it."""
    names = set(using)
    if budget.kind is BudgetKind.AGENT:
        names = {budget.whom}
    elif budget.kind is BudgetKind.TASK:
        task = tasks.find(tx, UUID(budget.whom))
        names = {task.assignee} if task is not None and task.assignee is not None else set()
    if budget.level is BudgetLevel.SPENT:
        text = f"{refusal(budget)}. {ADVICE}"
    else:
        text = f"{budget.title} is nearly spent ({budget.state}). Come to an end with it, or ask a person for more."
    for name in sorted(names):
        messages.send(
            tx, budget.project_id, sender=HUB, to=name, body=text[:1].upper() + text[1:], awaited=True
        )


def _record(tx: Tx, what: str, budget: Budget, *, by: str, is_gone: bool = False) -> None:
    task_id = UUID(budget.whom) if budget.kind is BudgetKind.TASK else None
    tx.record(
        f"budget.{what}",
        project_id=budget.project_id,
        actor=by,
        agent=budget.whom if budget.kind is BudgetKind.AGENT else None,
        task_id=task_id,
        detail={
            "budget": budget.title,
            "state": budget.state,
            "kind": budget.kind,
            "amount": budget.amount,
            "unit": budget.unit,
        },
        patch={"budgets": {str(budget.id): None if is_gone else cards.budget(budget)}},
    )
