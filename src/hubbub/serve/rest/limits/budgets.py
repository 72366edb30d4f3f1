"""Budgets: limits of use; and whether an agent may use its next tool, for the hook of its client."""

from typing import Annotated
from uuid import UUID

from fastapi import Request
from pydantic import Field, model_validator

from hubbub.core.actions import next_tool
from hubbub.core.limits import budgets
from hubbub.core.limits.budgets import BudgetTerms
from hubbub.core.log.idempotency import Reply
from hubbub.core.people import access
from hubbub.core.work import tasks
from hubbub.model.cost.spending import MICRO
from hubbub.model.fields import REST, Seen
from hubbub.model.limits.budgets import LARGEST, Budget, BudgetKind, BudgetLevel, BudgetUnit
from hubbub.model.people.rights import Right
from hubbub.serve.rest.base.call import Call
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import Body, Line, Model, Name, Shape, tells
from hubbub.store.tx import Tx

router = Router("budgets")


@tells(Budget)
class BudgetShape(Shape):
    metered: Annotated[
        bool, Seen(REST, "true if any use was reported; if not, nobody is stopped", after="used")
    ]
    now_level: Annotated[BudgetLevel, Seen(REST, "the level now, on a new day too", after="level_at")]


class OneBudget(Model):
    budget: BudgetShape


class Budgets(Model):
    budgets: list[BudgetShape]


class PutBudget(Body):
    kind: BudgetKind
    whom: Line = Field(
        "", description="the agent's name, a task's id or number, a token's id; empty: the project"
    )
    daily: bool = Field(default=False, description="each day anew, in UTC")
    usd: float | None = Field(
        None, gt=0, le=LARGEST / MICRO, allow_inf_nan=False, description="in US dollars, an estimate"
    )
    tokens: int | None = Field(None, gt=0, le=LARGEST, strict=True, description="instead: in tokens")

    @model_validator(mode="after")
    def _has_one_amount(self) -> "PutBudget":
        if (self.usd is None) is (self.tokens is None):
            raise ValueError("a budget is in `usd` or in `tokens`")
        if (self.kind is BudgetKind.PROJECT) is not (self.whom == ""):
            raise ValueError("`whom` says whose budget it is; a project's budget has no `whom`")
        return self

    def asked(self, tx: Tx, project_id: UUID) -> BudgetTerms:
        whom = self.whom
        if self.kind is BudgetKind.TASK:
            whom = str(tasks.find(tx, [project_id], whom).id)
        if self.tokens is not None:
            return BudgetTerms(
                kind=self.kind, whom=whom, daily=self.daily, unit=BudgetUnit.TOKENS, amount=self.tokens
            )
        amount = max(1, round((self.usd or 0) * MICRO))
        return BudgetTerms(kind=self.kind, whom=whom, daily=self.daily, unit=BudgetUnit.USD, amount=amount)


class ToolQuestion(Body):
    agent: Name | None = Field(None, description="who asks, where the token is not bound to an agent")

    repeats: int | None = Field(None, ge=1, le=2**31, description="how often the same call came in a row")


class ToolVerdict(Model):
    sentence: str | None = Field(description="why no tool is to be used, and what to do instead; null: go on")


@router.get("/budgets")
async def list_budgets(call: Call) -> Budgets:
    """List the budgets of the project, with the use of each."""

    def look(tx: Tx) -> Budgets:
        project = call.enter(tx, Right.READ)
        return Budgets(budgets=[_shape(tx, each) for each in budgets.of_project(tx, project.id)])

    return await call.read(look)


@router.put("/budgets", response_model=OneBudget)
async def put_budget(request: Request, call: Call, body: PutBudget) -> Reply:
    """Set a budget, or raise or lower the existing one for the same owner."""
    prices = request.app.state.prices

    def put(tx: Tx) -> OneBudget:
        project = call.enter(tx, Right.MANAGE)
        made = budgets.put(tx, project, prices, body.asked(tx, project.id))
        return OneBudget(budget=_shape(tx, made))

    return await call.create(put)


@router.delete("/budgets/{budget_id}")
async def remove_budget(call: Call, budget_id: str) -> OneBudget:
    """Remove a budget; it limits nothing any more."""

    def remove(tx: Tx) -> OneBudget:
        project = call.enter(tx, Right.MANAGE)
        return OneBudget(budget=_shape(tx, budgets.remove(tx, project, budget_id)))

    return await call.write(remove)


@router.post("/tools/judge")
async def judge_tool(call: Call, body: ToolQuestion) -> ToolVerdict:
    """Say whether an agent may use its next tool, for hooks. Writes only if that makes it one call too many."""

    def judge(tx: Tx) -> str | None:
        project = call.enter(tx, Right.READ if body.repeats is None else Right.WRITE)
        return next_tool.denial(tx, project, access.spoken_name(tx, body.agent), body.repeats)

    return ToolVerdict(sentence=await call.read(judge))


def _shape(tx: Tx, budget: Budget) -> BudgetShape:
    return BudgetShape.of(budget, metered=budget.is_metered, now_level=budget.level_of(tx.now))
