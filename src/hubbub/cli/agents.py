"""`hubbub agents`: who is here."""

from hubbub.cli import terminal
from hubbub.cli.command import command, uses_project
from hubbub.client import AgentReply, Hub


@command("agents", short_help="Who is here, and what they do.", example="hubbub agents --project shop")
@uses_project
def agents(*, hub: Hub, as_json: bool) -> None:
    """List the agents that the project knows, with what they do and what waits for them."""
    found: list[AgentReply] = hub.get("/agents")["agents"]
    if as_json:
        terminal.show_json(found)
        return
    rows = [
        (
            each["name"],
            each["condition"],
            each["doing"],
            each["unread"] or "",
            terminal.brief(each["seen_at"]),
            each["runtime"],
            each["hostname"],
        )
        for each in found
    ]
    terminal.show_table(("name", "is", "doing", "unread", "last seen", "runtime", "host"), rows)
