"""`hubbub cost`: the agents' use, and its cost."""

from datetime import UTC, datetime
from typing import Any

import click

from hubbub.client import Hub
from hubbub.model.cost.spending import By
from hubbub.terminal import display, short_ids
from hubbub.terminal.command import command, uses_project
from hubbub.terminal.durations import Moment
from hubbub.terminal.wrong_words import OneOf

DAY = 86_400_000
TITLES = ("name", "estimate", "input", "output", "cache read", "cache written", "without a price")
UNMETERED = "unmetered"
NOBODY = "(nobody in particular)"
BY = OneOf([each.value for each in By])


@command(
    "cost",
    short_help="Show tokens used and estimated cost.",
    example="hubbub cost\nhubbub cost --by task --since 2026-04-12\nhubbub cost --by day --agent coder-1",
)
@click.option("--by", type=BY, default=By.AGENT.value, show_default=True, help="Group the use by this.")
@click.option(
    "--days", type=click.IntRange(1, 3660), default=30, show_default=True, help="How many days to count."
)
@click.option(
    "--since",
    type=Moment(),
    metavar="TIME",
    help="Count from this time on, such as 2026-04-12 or 2h, instead.",
)
@click.option("--until", type=Moment(), metavar="TIME", help="Count up to this time.")
@click.option("--agent", metavar="NAME", help="Count only this agent.")
@click.option("--task", metavar="ID", help="Count only this task.")
@click.option("--model", metavar="NAME", help="Count only this model.")
@uses_project
def cost(
    *,
    hub: Hub,
    by: str,
    days: int,
    since: int | None,
    until: int | None,
    agent: str | None,
    task: str | None,
    model: str | None,
    as_json: bool,
) -> None:
    """Show the tokens that agents used, and an estimate of their cost in US dollars.

    Agents that report no usage are listed as unmetered.
    """
    if since is None and task is None:
        now = until if until is not None else int(datetime.now(UTC).timestamp() * 1000)
        since = now - days * DAY
    task = hub.task(short_ids.task(hub, task))["id"] if task is not None else None
    found: dict[str, Any] = hub.get(
        "/cost", by=by, since=since, until=until, agent=agent, task=task, model=model
    )
    if as_json:
        display.show_json(found)
        return
    display.show_table(TITLES, map(_row, [*found["lines"], *found["unmetered"], _total(found["total"])]))


def _total(line: dict[str, Any]) -> dict[str, Any]:
    return {**line, "name": "total"}


def _row(line: dict[str, Any]) -> tuple[object, ...]:
    name = line["label"] or line["name"] or NOBODY
    if line["unmetered"]:
        return (name, UNMETERED, "", "", "", "", "")
    return (
        name,
        money(line["usd"]),
        *(f"{line[each]:,}" for each in ("input", "output", "cache_read", "cache_written")),
        f"{line['unpriced']:,}" if line["unpriced"] else "",
    )


def money(dollars: float | None) -> str:
    """Format money for people: in cents, and smaller amounts more exactly."""
    if dollars is None:
        return "no price"
    return f"${dollars:,.2f}" if dollars >= 0.01 or dollars == 0 else f"${dollars:.4f}"
