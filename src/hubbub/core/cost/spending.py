"""Spending by agent, task, run, day or model, over any stretch of time.

Tokens are those that clients reported. Money is an estimate, made for each request. Unreported use is
unmetered, which differs from zero: it has no number.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import partial
from uuid import UUID

from hubbub.model.cost.prices import EPOCH, PRICED, Prices, dollars
from hubbub.model.cost.spending import By, Measure
from hubbub.model.errors import Invalid
from hubbub.model.ids import parse_id
from hubbub.model.records import Project
from hubbub.store.cost import spending as rows
from hubbub.store.tx import Tx

DAY = rows.DAY
LINES = 500  # that are returned, the dearest first; the total is of all
AMONG = 500  # newest tasks that are searched for unmetered ones
POINTS = 1_000  # of a plot along its time


@dataclass(slots=True)
class Line:
    """Use under one name. `cost` is in dollars; None if no price of any of it is known.

    `unpriced` counts the tokens without a price. A line without `tokens` is unmetered: its use was never reported.
    """

    name: str | None
    label: str | None = None
    at: int | None = None
    is_metered: bool = True
    used: dict[Measure, int] = field(default_factory=lambda: dict.fromkeys(PRICED, 0))
    worth: Decimal | None = None
    unpriced: int = 0

    @property
    def tokens(self) -> int:
        return sum(self.used.values())

    @property
    def cost(self) -> float | None:
        return None if self.worth is None else dollars(self.worth)

    def add(self, used: Mapping[Measure, int], worth: Decimal | None) -> None:
        """Add tokens, and their cost if it is known."""
        for measure, amount in used.items():
            self.used[measure] += amount
        if worth is None:
            self.unpriced += sum(used.values())
        else:
            self.worth = (self.worth or Decimal(0)) + worth


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendingQuery:
    """A query of spending: grouped by `by`, from `since` until `until`, for each `step` (milliseconds) or in all.

    `only` narrows it to a task, an agent, ….
    """

    by: By
    since: int
    until: int
    step: int | None = None
    only: Mapping[By, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Report:
    """A report of spending: the dearest lines, first; the total of all; the unmetered agents or tasks."""

    lines: Sequence[Line]
    total: Line
    unmetered: Sequence[Line]


def report(tx: Tx, project: Project, prices: Prices, asked: SpendingQuery) -> Report:
    """Report the project's use. Raises `Invalid` if there would be too many steps."""
    by, since, until, step = asked.by, asked.since, asked.until, asked.step
    if step is not None and (until - since) / step > POINTS:
        raise Invalid(f"step: between since and until there may be at most {POINTS} steps")
    narrowed = {each: _stored(each, value) for each, value in asked.only.items()}
    found = rows.sums(tx, project.id, by, since=since, until=until, step=step, only=narrowed)
    lines: dict[tuple[object, int], Line] = defaultdict(partial(Line, None))
    total = Line(None, is_metered=bool(found))
    for row in found:
        used = {measure: int(row[measure]) for measure in PRICED}
        worth = prices.cost(row["model"], row["day"], used, row["told"] if row["is_told"] else None)
        lines[row["name"], row["moment"]].add(used, worth)
        total.add(used, worth)
    for (name, moment), line in lines.items():
        line.name, line.at = _shown(by, name), moment if step is not None else None
    dearest = sorted(lines.values(), key=lambda line: (-(line.worth or 0), -line.tokens))
    told = sorted(dearest, key=lambda line: line.at or 0) if step is not None else dearest[:LINES]
    missing = _unmetered(tx, project, asked, told) if not asked.only and step is None else []
    return Report(_labelled(tx, by, told), total, _labelled(tx, by, missing))


def _unmetered(tx: Tx, project: Project, asked: SpendingQuery, told: Sequence[Line]) -> Sequence[Line]:
    """List lines without numbers: agents that were there, or tasks begun, without any reported use."""
    known = {line.name for line in told}
    names: Sequence[object] = ()
    if asked.by is By.AGENT:
        names = rows.agents_there(tx, project.id, since=asked.since, until=asked.until)
    elif asked.by is By.TASK:
        names = rows.tasks_begun(tx, project.id, since=asked.since, until=asked.until, among=AMONG)
    return [Line(str(name), is_metered=False) for name in names if str(name) not in known]


def _labelled(tx: Tx, by: By, lines: Sequence[Line]) -> Sequence[Line]:
    """Label the lines of tasks with number and title."""
    if by is By.TASK:
        known = rows.titles(tx, [UUID(line.name) for line in lines if line.name is not None])
        for line in lines:
            if line.name is not None and (task := known.get(UUID(line.name))) is not None:
                line.label = f"T-{task[0]} {task[1]}"
    return lines


def _shown(by: By, name: object) -> str | None:
    if by is By.DAY and isinstance(name, int):
        return _day(name)
    return None if name is None else str(name)


def _stored(by: By, value: str) -> object:
    """Convert a value to that of its column. Raises `Invalid` for a wrong id."""
    if by in (By.TASK, By.RUN):
        if (found := parse_id(value)) is None:
            raise Invalid(f"{by}: must be an id")
        return found
    return value


def _day(number: int) -> str:
    return date.fromordinal(EPOCH + number).isoformat()
