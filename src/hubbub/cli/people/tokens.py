"""`hubbub token`: tokens of programs."""

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


@command("create", example="hubbub token create --project default --agent coder-1 --expires 30d")
@click.option(
    "--agent", metavar="NAME", shell_complete=agents, help="The only agent that it may act as. [default: any]"
)
@click.option("--role", type=ROLES, default="member", show_default=True, help="Role in the project.")
@click.option("--expires", type=Duration("30d"), metavar="30d", help="When it ends. [default: never]")
@click.option(
    "--rate",
    type=click.IntRange(1, 1_000_000),
    metavar="N",
    help="Calls per second. [default: the hub's limit]",
)
@uses_project
def create(
    *, hub: Hub, agent: str | None, role: str, expires: float | None, rate: int | None, as_json: bool
) -> None:
    """Create a token of the project, and print it."""
    wanted = {"agent": agent, "role": role, "expires_seconds": expires, "rate": rate}
    made = hub.post("/tokens", wanted)
    if as_json:
        display.show_json(made)
    else:
        display.show(made["secret"])
        display.advise(f"Shown only now. For a program: export HUBBUB_URL={hub.url} HUBBUB_TOKEN=…")
        display.advise(f"For a client of MCP: {hub.url}/mcp with the header  Authorization: Bearer …")


@command("list", example="hubbub token list")
@uses_hub
def list_(*, hub: Hub, as_json: bool) -> None:
    """List the tokens of your projects. Their secrets are not kept."""
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
