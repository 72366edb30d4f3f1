"""`hubbub budget`: limits of use for an agent, a task, a token or the project."""

from typing import Any

import click

from hubbub.cli import Group
from hubbub.client import Hub, segment
from hubbub.model.limits.budgets import BudgetKind, BudgetUnit, shown
from hubbub.terminal import display, short_ids
from hubbub.terminal.command import command, uses_project

TITLES = ("budget", "used", "of", "status", "id")
KINDS = ", ".join(each.value for each in BudgetKind)


@click.group("budget", cls=Group, short_help="Limit tokens or money, and list their use.")
def budget() -> None:
    """Limit how much an agent, a task, a token or the whole project may use, in tokens or in money."""


@command("list", example="hubbub budget list", names="id")
@uses_project
def list_(*, hub: Hub, as_json: bool) -> None:
    """List budgets and how much of each is used."""
    found = hub.get("/budgets")["budgets"]
    if as_json:
        display.show_json(found)
    else:
        display.show_table(TITLES, map(_row, found))


@command(
    "set",
    example="hubbub budget set project --usd 20 --daily\n"
    "hubbub budget set agent:coder-1 --tokens 2000000\nhubbub budget set task:14 --usd 5",
)
@click.argument("whose", metavar="WHOSE")
@click.option("--usd", type=click.FloatRange(min=0, min_open=True), help="Limit in US dollars, by estimate.")
@click.option("--tokens", type=click.IntRange(min=1), help="Limit in tokens.")
@click.option("--daily", is_flag=True, help="Renew the budget each day, in UTC.")
@uses_project
def set_(*, hub: Hub, whose: str, usd: float | None, tokens: int | None, daily: bool, as_json: bool) -> None:
    """Set, raise or lower the budget of WHOSE: project, agent:NAME, task:NUMBER or token:ID."""
    kind, _, whom = whose.partition(":")
    if kind not in set(BudgetKind):
        raise click.UsageError(f"{whose}: a budget is of {KINDS}, such as agent:coder-1")
    if (usd is None) is (tokens is None):
        raise click.UsageError("say how much: --usd 5, or --tokens 200000")
    asked = {"kind": kind, "whom": whom, "daily": daily, "usd": usd, "tokens": tokens}
    _tell(
        hub.put("/budgets", {name: each for name, each in asked.items() if each is not None}), as_json=as_json
    )


@command("remove", example="hubbub budget remove 01970000")
@click.argument("budget_id", metavar="ID")
@uses_project
def remove(*, hub: Hub, budget_id: str, as_json: bool) -> None:
    """Remove the budget ID, as `list` shows it. The beginning of an id is enough."""
    known = short_ids.whole(budget_id, [hub.get("/budgets")["budgets"]])
    found = hub.delete(f"/budgets/{segment('budget', known)}")
    display.show_result(found, f"{_name(found['budget'])} has no budget any more", as_json=as_json)


budget.add_command(list_)
budget.add_command(set_)
budget.add_command(remove)


def _tell(found: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        display.show_json(found)
        return
    name, used, most, status, _ = _row(found["budget"])
    display.show(f"{name}: {used or 'nothing'} used of {most}" + (f"; {status}" if status else ""))


def _row(of: dict[str, Any]) -> tuple[str, ...]:
    unit = BudgetUnit(of["unit"])
    return (
        _name(of),
        shown(of["used"], unit) if of["metered"] else "",
        shown(of["amount"], unit),
        _status(of),
        of["id"],
    )


def _name(of: dict[str, Any]) -> str:
    name = of["kind"] if of["kind"] == BudgetKind.PROJECT else f"{of['kind']} {of['label']}"
    return f"{name}, daily" if of["daily"] else name


def _status(of: dict[str, Any]) -> str:
    if not of["metered"]:
        return "unmetered: no program reports its use, so this stops nothing"
    level = {"enough": "", "low": "nearly spent", "spent": "spent"}[of["now_level"]]
    unseen = f"{of['unpriced']:,} tokens without a price are not counted" if of["unpriced"] else ""
    return "; ".join(each for each in (level, unseen) if each)
