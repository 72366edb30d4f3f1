"""`hubbub account`, `hubbub pause`, `hubbub resume`: accounts with makers of models, which agents share."""

from typing import Any

import click

from hubbub.cli import Group
from hubbub.client import Hub, segment
from hubbub.model.timestamps import duration_text
from hubbub.terminal import display, pauses
from hubbub.terminal.command import command, uses_project
from hubbub.terminal.durations import Moment


@click.group("account", cls=Group, short_help="Group agents that share a provider account.")
def account() -> None:
    """Group agents that share an account with a model provider, and list which are paused."""


@command("list", example="hubbub account list", names="name")
@uses_project
def list_(*, hub: Hub, as_json: bool) -> None:
    """List accounts, their agents, and until when each is paused."""
    found = hub.get("/accounts")
    if as_json:
        display.show_json(found["accounts"])
        return
    rows = [_row(each, found["now"]) for each in found["accounts"]]
    display.show_table(("account", "status", "limit", "agents"), rows, empty="No accounts.")


@command("set", example="hubbub account set max coder-1 coder-2")
@click.argument("name")
@click.argument("agents", nargs=-1)
@uses_project
def set_(*, hub: Hub, name: str, agents: tuple[str, ...], as_json: bool) -> None:
    """Make AGENTS, and no others, share the account NAME."""
    _tell(hub.put(f"/accounts/{segment('account', name)}", {"agents": agents}), as_json=as_json)


@command("remove", example="hubbub account remove max")
@click.argument("name")
@uses_project
def remove(*, hub: Hub, name: str, as_json: bool) -> None:
    """Remove the account NAME; its agents continue."""
    found = hub.delete(f"/accounts/{segment('account', name)}")
    display.show_result(found["accounts"], f"{name} is no account any more", as_json=as_json)


account.add_command(list_)
account.add_command(set_)
account.add_command(remove)


@command(
    "pause",
    short_help="Pause the agents of an account.",
    example="hubbub pause max --until 2026-04-12T18:30+02:00\nhubbub pause max --until 2h\nhubbub pause max",
)
@click.argument("name", metavar="ACCOUNT")
@click.option(
    "--until",
    type=Moment(ahead=True),
    metavar="TIME",
    help="When they resume, such as 2026-04-12T18:30+02:00, or in how long, such as 2h.",
)
@uses_project
def pause(*, hub: Hub, name: str, until: int | None, as_json: bool) -> None:
    """Pause the agents of ACCOUNT on all machines, until TIME or `hubbub resume`."""
    _tell(hub.post(f"/accounts/{segment('account', name)}/pause", {"until": until}), as_json=as_json)


@command("resume", short_help="Resume the agents of a paused account.", example="hubbub resume max")
@click.argument("name", metavar="ACCOUNT")
@uses_project
def resume(*, hub: Hub, name: str, as_json: bool) -> None:
    """Resume the agents of ACCOUNT now."""
    _tell(hub.post(f"/accounts/{segment('account', name)}/resume"), as_json=as_json)


def _tell(found: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        display.show_json(found)
        return
    name, agents = found["account"]["name"], ", ".join(found["agents"]) or "nobody"
    display.show(f"{name}: {pauses.status(found['account'])}; shared by {agents}")


def _row(each: dict[str, Any], now: int) -> tuple[str, ...]:
    of = each["account"]
    left = f", in {duration_text(of['paused_until'] - now)}" if of["paused_until"] is not None else ""
    return of["name"], f"{pauses.status(of)}{left}", of["limit_kind"] or "", " ".join(each["agents"])
