"""`hubbub token`: tokens of programs."""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import click

from hubbub.cli import Group
from hubbub.cli.people.users import ROLES
from hubbub.client import Hub, segment
from hubbub.terminal import display, questions, short_ids
from hubbub.terminal.agent_names import agents
from hubbub.terminal.command import command, uses_hub, uses_project
from hubbub.terminal.durations import YEAR, Duration

Token = dict[str, Any]


@click.group("token", cls=Group, short_help="Create, list and revoke tokens.")
def token() -> None:
    """Create, list and revoke tokens."""


@command(
    "create",
    example="hubbub token create --project default --agent coder-1 --expires 30d\nhubbub token create --user ada",
)
@click.option(
    "--agent", metavar="NAME", shell_complete=agents, help="The only agent that it may act as. [default: any]"
)
@click.option("--role", type=ROLES, help="Role in the project. [default: member]")
@click.option(
    "--expires", type=Duration("30d", between=(1, YEAR)), metavar="30d", help="When it ends. [default: never]"
)
@click.option(
    "--rate",
    type=click.IntRange(1, 1_000_000),
    metavar="N",
    help="Calls per second. [default: the hub's limit]",
)
@click.option("--label", metavar="TEXT", help="Note in lists, to tell it from others.")
@click.option(
    "--user", metavar="NAME", help="Another token of this person instead: you, or anybody as the hub's owner."
)
@uses_project
def create(
    *,
    hub: Hub,
    agent: str | None,
    role: str | None,
    expires: float | None,
    rate: int | None,
    label: str | None,
    user: str | None,
    as_json: bool,
) -> None:
    """Create a token of the project, or of the person NAME, and print it."""
    if user is not None and (agent or role or rate):
        raise click.UsageError("a person's token (--user) has no --agent, --role or --rate of its own")
    given = {"user": user} if user else {"agent": agent, "role": role or "member", "rate": rate}
    made = hub.post("/tokens", {**given, "label": label, "expires_seconds": expires})
    if as_json:
        display.show_json(made)
    else:
        display.show(made["secret"])
        display.advise(_about(hub, made["token"], user))
        url = made.get("hub", hub.url)  # a hub of an earlier version does not say it
        display.advise(f"Shown only now. For a program: export HUBBUB_URL={url} HUBBUB_TOKEN=…")
        display.advise(f"For a client of MCP: {url}/mcp with the header  Authorization: Bearer …")


def _about(hub: Hub, made: dict[str, Any], user: str | None) -> str:
    """Say in one line for whom a token is, and until when."""
    ends = f"ends {display.moment(made['expires_at'])}" if made["expires_at"] else "never ends"
    if user is not None:
        return f"A token of {user}, with all their rights; it {ends}."
    agent = f"the agent {made['agent']}" if made["agent"] else "any agent"
    return f"A token for {agent}, {made['role']} of {hub.project or 'its project'}; it {ends}."


@command("list", example="hubbub token list\nhubbub token list --all", names="id")
@click.option(
    "--all", "is_all", is_flag=True, help="At a terminal, list also ended ones, with everything about each."
)
@uses_hub
def list_(*, hub: Hub, is_all: bool, as_json: bool) -> None:
    """List your own tokens and those of your projects. Their secrets are not kept.

    A terminal shows those that still work, by the beginning of their ids; programs and --all get everything.
    """
    found = _known(hub)
    if as_json:
        display.show_json(found)
    elif is_all or not sys.stdout.isatty():
        titles = (
            "id",
            "for",
            "project",
            "role",
            "made by",
            "created",
            "expires",
            "revoked",
            "calls a second",
            "label",
        )
        display.show_table(titles, map(_row, found))
    else:
        _show_working(found)


def _show_working(found: Sequence[Token]) -> None:
    """Show people the tokens that still work."""
    now = datetime.now(UTC).timestamp() * 1000
    working = [each for each in found if not each["revoked_at"] and not 0 < (each["expires_at"] or 0) <= now]
    length = short_ids.shortest([each["id"] for each in found])
    rows = [
        (row[0][:length], *row[1:4], row[9], *row[5:7], "this one" if each.get("current") else None)
        for each, row in zip(working, map(_row, working), strict=True)
    ]
    display.show_table(("id", "for", "project", "role", "label", "created", "expires", "used here"), rows)
    if ended := len(found) - len(working):
        display.advise(f"{ended} that ended: hubbub token list --all")


def _row(each: Token) -> tuple[Any, ...]:
    is_a_persons = each["project_id"] is None
    return (
        each["id"],
        each["agent"] or (each["user"] if is_a_persons else "any agent"),
        each["project"] or "all of theirs",
        each["role"],
        None if is_a_persons else each["user"],
        display.brief(each["created_at"]),
        display.brief(each["expires_at"]),
        display.brief(each["revoked_at"]),
        each["rate"],
        each["label"],
    )


@command("revoke", example="hubbub token revoke 0199a7c4")
@click.argument("token_id", metavar="ID")
@click.option("--yes", "is_sure", is_flag=True, help="Do not ask, even if it is the token that you use now.")
@uses_hub
def revoke(*, hub: Hub, token_id: str, is_sure: bool, as_json: bool) -> None:
    """Revoke the token ID at once. The beginning of an id is enough."""
    known = _known(hub)
    whole = short_ids.whole(token_id, [known])
    before = next((each for each in known if each["id"] == whole), None)
    if before is not None and before.get("current") and not is_sure:
        _require_yes()
    revoked = hub.delete(f"/tokens/{segment('token', whole)}")["token"]
    ended = before["revoked_at"] if before is not None else None
    done = f"revoked {whole}" if ended is None else f"{whole} was already revoked {display.since(ended)}"
    display.show_result(revoked, done, as_json=as_json)


def _require_yes() -> None:
    """Have the person agree to lose the token in use. Raises `click.UsageError` where nobody can be asked."""
    about = "this is the token that you use now: afterwards no command works with it"
    if not sys.stdin.isatty():
        raise click.UsageError(f"{about}; if you want that, add --yes")
    questions.require_yes(f"{about[0].upper()}{about[1:]}. Revoke it?")


def _known(hub: Hub) -> Sequence[Token]:
    found: Sequence[Token] = hub.get("/tokens")["tokens"]
    return found


token.add_command(create)
token.add_command(list_)
token.add_command(revoke)
