"""`hubbub breaker`: limits of repetition, and the agents that were stopped by them."""

from typing import Any

import click

from hubbub.cli import Group
from hubbub.client import Hub, segment
from hubbub.model.limits.breakers import LARGEST, RULES
from hubbub.terminal import display, short_ids
from hubbub.terminal.command import command, uses_project

RULE = click.Choice(RULES)


@click.group(
    "breaker", cls=Group, short_help="Show agents stopped for going in circles, and let them continue."
)
def breaker() -> None:
    """List agents that were stopped in a loop, let them continue, and set the rules."""


@command("list", example="hubbub breaker list", names="id")
@uses_project
def list_(*, hub: Hub, as_json: bool) -> None:
    """List stopped agents and why."""
    columns: display.Columns = {
        "agents": lambda each: " ".join(each["agents"]),
        "rule": "kind",
        "reason": "reason",
        "id": "id",
    }
    display.show_list(hub.get("/breakers/stops")["stops"], columns, as_json=as_json)


@command("lift", example="hubbub breaker lift 01970000")
@click.argument("stop_id", metavar="ID")
@uses_project
def lift(*, hub: Hub, stop_id: str, as_json: bool) -> None:
    """Let the agents of the stop ID continue. The beginning of an id is enough."""
    known = short_ids.whole(stop_id, [hub.get("/breakers/stops")["stops"]])
    found = hub.post(f"/breakers/stops/{segment('stop', known)}/lift")
    display.show_result(found, f"{' and '.join(found['stop']['agents'])} may go on", as_json=as_json)


@command(
    "rule", example="hubbub breaker rule\nhubbub breaker rule answering 20\nhubbub breaker rule repeating 0"
)
@click.argument("name", type=RULE, required=False)
@click.argument("often", type=click.IntRange(0, LARGEST), required=False)
@uses_project
def rule(*, hub: Hub, name: str | None, often: int | None, as_json: bool) -> None:
    """Set how often the rule NAME lets something happen; 0 turns it off. Without NAME, list the rules."""
    if (name is None) is not (often is None):
        raise click.UsageError("name a rule and its limit: hubbub breaker rule answering 20")
    found: dict[str, Any] = hub.get("/breakers") if name is None else hub.put("/breakers", {name: often})
    if as_json:
        display.show_json(found)
    else:
        display.show_table(("rule", "most"), ((each, found["rules"][each] or "never") for each in RULES))


breaker.add_command(list_)
breaker.add_command(lift)
breaker.add_command(rule)
