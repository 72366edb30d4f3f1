"""`hubbub token`: tokens of programs."""

from typing import Any

import click

from hubbub.cli import Group
from hubbub.cli.people.users import ROLES
from hubbub.client import Hub, segment
from hubbub.terminal import display
from hubbub.terminal.agent_names import agents
from hubbub.terminal.command import command, uses_hub, uses_project
from hubbub.terminal.durations import Duration


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
@click.option("--expires", type=Duration("30d"), metavar="30d", help="When it ends. [default: never]")
@click.option(
    "--rate",
    type=click.IntRange(1, 1_000_000),
    metavar="N",
    help="Calls per second. [default: the hub's limit]",
)
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
    user: str | None,
    as_json: bool,
) -> None:
    """Create a token of the project, or of the person NAME, and print it."""
    if user is not None and (agent or role or rate):
        raise click.UsageError("a person's token (--user) has no --agent, --role or --rate of its own")
    given = {"user": user} if user else {"agent": agent, "role": role or "member", "rate": rate}
    made = hub.post("/tokens", {**given, "expires_seconds": expires})
    if as_json:
        display.show_json(made)
    else:
        display.show(made["secret"])
        display.advise(_about(hub, made["token"], user))
        display.advise(f"Shown only now. For a program: export HUBBUB_URL={hub.url} HUBBUB_TOKEN=…")
        display.advise(f"For a client of MCP: {hub.url}/mcp with the header  Authorization: Bearer …")


def _about(hub: Hub, made: dict[str, Any], user: str | None) -> str:
    """Say in one line for whom a token is, and until when."""
    ends = f"ends {display.moment(made['expires_at'])}" if made["expires_at"] else "never ends"
    if user is not None:
        return f"A token of {user}, with all their rights; it {ends}."
    agent = f"the agent {made['agent']}" if made["agent"] else "any agent"
    return f"A token for {agent}, {made['role']} of {hub.project or 'its project'}; it {ends}."


@command("list", example="hubbub token list")
@uses_hub
def list_(*, hub: Hub, as_json: bool) -> None:
    """List your own tokens and those of your projects. Their secrets are not kept."""
    found = hub.get("/tokens")["tokens"]
    if as_json:
        display.show_json(found)
        return
    rows = [
        (
            each["id"],
            each["agent"] or (each["user"] if each["project_id"] is None else "any agent"),
            each["project"] or "all of theirs",
            each["role"],
            each["user"] if each["project_id"] is not None else None,
            display.brief(each["created_at"]),
            display.brief(each["expires_at"]),
            display.brief(each["revoked_at"]),
            each["rate"],
        )
        for each in found
    ]
    titles = ("id", "for", "project", "role", "made by", "created", "expires", "revoked", "calls a second")
    display.show_table(titles, rows)


@command("revoke", example="hubbub token revoke 0199a7c4-…")
@click.argument("token_id", metavar="ID")
@uses_hub
def revoke(*, hub: Hub, token_id: str, as_json: bool) -> None:
    """Revoke the token ID at once."""
    revoked = hub.delete(f"/tokens/{segment('token', token_id)}")["token"]
    display.show_result(revoked, f"revoked {revoked['id']}", as_json=as_json)


token.add_command(create)
token.add_command(list_)
token.add_command(revoke)
