"""Budgets: limits of use for an agent, a task, a token or a whole project, in tokens or money, in all or a day.

At four fifths the agent and people are warned; when it is spent, the agent's next tool is denied.
"""

from dataclasses import dataclass
from enum import StrEnum, auto
from typing import Annotated
from uuid import UUID

from hubbub.model.cost.spending import MICRO
from hubbub.model.fields import CARD, REST, Seen
from hubbub.model.timestamps import utc_time

DAY = 86_400_000
WARNS_AT = 80  # percent
MOST = 200  # budgets of a project
LARGEST = 10**15


class BudgetKind(StrEnum):
    """The kind of thing whose use is limited."""

    PROJECT = auto()
    AGENT = auto()
    TASK = auto()
    TOKEN = auto()  # all programs that show that token


class BudgetUnit(StrEnum):
    TOKENS = auto()
    USD = auto()


class BudgetLevel(StrEnum):
    """The part of a budget that is left."""

    ENOUGH = auto()
    LOW = auto()
    SPENT = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    id: Annotated[UUID, Seen(REST | CARD)]
    project_id: UUID
    kind: Annotated[BudgetKind, Seen(REST | CARD, "the kind of thing whose use it limits")]
    whom: Annotated[
        str, Seen(REST | CARD, "the agent's name, or the id of the task or token; empty: the project")
    ]
    label: Annotated[str, Seen(REST | CARD, "that thing, as people call it")]
    daily: Annotated[bool, Seen(REST | CARD, "true if it begins anew each day, in UTC")]
    unit: Annotated[BudgetUnit, Seen(REST | CARD)]
    amount: Annotated[int, Seen(REST | CARD, "in tokens, or in millionths of a dollar")]
    level: Annotated[BudgetLevel, Seen(REST | CARD, "the level since `level_at`")] = BudgetLevel.ENOUGH
    level_at: Annotated[int, Seen(REST | CARD, "the time when it reached that level")]
    since: Annotated[int, Seen(REST, "use from then on counts")]
    used: Annotated[int, Seen(REST, "the known use; today's, if it is daily")] = 0
    used_on: int = 0  # the day of `used`, counted from 1970, for a daily budget
    unpriced: Annotated[int, Seen(REST, "tokens without a price, which a budget in money cannot count")] = 0
    heard_at: Annotated[
        int | None,
        Seen(REST, "the time of the last report of use; null: never, so it is unmetered, which is not 0"),
    ] = None

    @property
    def title(self) -> str:
        """Return the budget's name in sentences."""
        whose = {
            BudgetKind.PROJECT: "of the project",
            BudgetKind.AGENT: f"of the agent {self.label}",
            BudgetKind.TASK: f"of the task {self.label}",
            BudgetKind.TOKEN: f"of the token {self.label}",
        }
        return f"the budget {whose[self.kind]}" + (" for today" if self.daily else "")

    @property
    def state(self) -> str:
        """Return the amount used, and the whole, as people read them."""
        return f"{shown(self.used, self.unit)} of {shown(self.amount, self.unit)}"

    @property
    def is_metered(self) -> bool:
        """Tell whether any use was ever reported. If not, the budget stops nobody; unknown use is not zero."""
        return self.heard_at is not None

    @property
    def ends_at(self) -> int | None:
        """Return when the level ends: at the end of its day, or None if it lasts until somebody raises the budget."""
        return (self.level_at // DAY + 1) * DAY if self.daily else None

    def level_of(self, now: int) -> BudgetLevel:
        """Return the level at a moment. A new day begins with enough."""
        ends_at = self.ends_at
        return BudgetLevel.ENOUGH if ends_at is not None and now >= ends_at else self.level

    def reached(self) -> BudgetLevel:
        """Return the level that follows from the use."""
        if self.used >= self.amount:
            return BudgetLevel.SPENT
        return BudgetLevel.LOW if self.used * 100 >= self.amount * WARNS_AT else BudgetLevel.ENOUGH


def shown(amount: int, unit: BudgetUnit) -> str:
    """Return an amount as people read it."""
    return f"${amount / MICRO:,.2f}" if unit is BudgetUnit.USD else f"{amount:,} tokens"


def refusal(budget: Budget) -> str:
    """Return the sentence that says which budget is spent, and when it begins anew."""
    ends_at = budget.ends_at
    anew = f"; it begins anew at {utc_time(ends_at)}" if ends_at is not None else ""
    return f"{budget.title} is spent ({budget.state}{anew})"


ADVICE = (
    "Finish with what there is: say with the hub's tools, which go on working, what is done and what is left."
    " If you need more, send a message to `hub`: a person reads it and can raise the budget."
)
