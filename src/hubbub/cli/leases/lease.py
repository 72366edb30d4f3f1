"""`hubbub lease`: holders of things, their number, and the commands that need leases."""

from typing import Any

import click

from hubbub.cli import Group
from hubbub.client import Hub, quoted, segment
from hubbub.model.timestamps import duration_text
from hubbub.terminal import display, short_ids
from hubbub.terminal.command import command, uses_project


@click.group("lease", cls=Group, short_help="Show who uses such things now, and release them.")
def lease() -> None:
    """List and release leases, count things, and set which commands need a lease."""


@command("list", example="hubbub lease list\nhubbub lease list gpu", names="id")
@click.argument("thing", required=False)
@uses_project
def list_(*, hub: Hub, thing: str | None, as_json: bool) -> None:
    """List leases and waiting requests, in turn; with THING, only for that."""
    answer = hub.get("/leases", thing=thing)
    if as_json:
        display.show_json(answer["leases"])
        return
    rows = [
        (
            each["id"],
            " ".join(each["things"]),
            each["status"],
            each["holder"],
            each["host"] or "",
            duration_text(answer["now"] - (each["granted_at"] or each["asked_at"])),
            each["purpose"] or "",
        )
        for each in sorted(answer["leases"], key=lambda each: each["status"])
    ]
    titles = ("id", "things", "status", "holder", "on", "for", "purpose")
    display.show_table(titles, rows, empty="No leases.")


@command("release", example="hubbub lease release 019c2f3e")
@click.argument("lease_id", metavar="ID")
@click.option("--agent", metavar="NAME", help="Agent that holds it, if the token is not bound to one.")
@uses_project
def release(*, hub: Hub, lease_id: str, agent: str | None, as_json: bool) -> None:
    """Release the lease ID, or its beginning, and end its command. Another's lease takes a manager of the project."""
    known = short_ids.whole(lease_id, [hub.get("/leases")["leases"]])
    done = hub.delete(f"/leases/{segment('lease', known)}", agent=agent)["lease"]
    display.show_result(done, f"{' '.join(done['things'])} is free of {done['holder']}", as_json=as_json)


@command("capacity", example="hubbub lease capacity gpu 4\nhubbub lease capacity", names="thing")
@click.argument("thing", required=False)
@click.argument("number", required=False, type=click.IntRange(1, 1000))
@click.option("--drop", is_flag=True, help="Stop counting THING: there is one of it.")
@uses_project
def capacity(*, hub: Hub, thing: str | None, number: int | None, drop: bool, as_json: bool) -> None:
    """Set how many of THING there are. Without arguments, list what is counted."""
    if (thing is None) == (drop or number is not None) or (drop and number is not None):
        raise click.UsageError("say THING and NUMBER, or THING and --drop, or nothing")
    if thing is None:
        found = hub.get("/leases/capacities")["capacities"]
    elif drop:
        found = hub.delete(f"/leases/capacities/{quoted(thing)}")["capacities"]
    else:
        found = [hub.put(f"/leases/capacities/{quoted(thing)}", {"capacity": number})["capacity"]]
    display.show_list(found, {"thing": "thing", "capacity": "capacity"}, as_json=as_json)


@command(
    "rule",
    example="hubbub lease rule 'docker compose up' port:5432\n"
    "hubbub lease rule 'docker compose up' --drop\nhubbub lease rule",
    names="command",
)
@click.argument("words", metavar="COMMAND", required=False)
@click.argument("things", nargs=-1, metavar="THING...")
@click.option("--drop", is_flag=True, help="Let COMMAND run without a lease.")
@uses_project
def rule(*, hub: Hub, words: str | None, things: tuple[str, ...], drop: bool, as_json: bool) -> None:
    """Let agents run COMMAND only while they hold the THINGs; hooks enforce it. Without arguments, list the rules."""
    if (words is None) == (drop or bool(things)) or (drop and things):
        raise click.UsageError("say COMMAND and the THINGs, or COMMAND and --drop, or nothing")
    found: list[dict[str, Any]]
    if words is None:
        found = hub.get("/leases/rules")["rules"]
    elif drop:
        found = hub.delete("/leases/rules", command=words)["rules"]
    else:
        found = [hub.put("/leases/rules", {"command": words, "things": things})["rule"]]
    columns: display.Columns = {"command": "command", "things": lambda each: " ".join(each["things"])}
    display.show_list(found, columns, as_json=as_json)


for each in (list_, release, capacity, rule):
    lease.add_command(each)
