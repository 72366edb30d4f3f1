"""`hubbub agents`: the agents of the project."""

from hubbub.client import AgentReply, Hub
from hubbub.terminal import display
from hubbub.terminal.command import command, uses_project

NOBODY = "No agents yet. Connect one: hubbub install CLIENT, or hubbub work NAME --run COMMAND"
TITLES = (
    *("name", "status", "doing", "unread", "last seen", "runtime", "machine"),
    *("last tool", "used", "last output", "printed", "description"),
)


@command(
    "agents",
    short_help="List agents and what they are doing.",
    example="hubbub agents --project shop\nhubbub agents --quiet",
    names="name",
)
@uses_project
def agents(*, hub: Hub, as_json: bool) -> None:
    """List the project's agents, what each is doing, and how much unread mail it has.

    The last tool call and the last line of output are shown apart from the heartbeat, since a program that hangs may
    keep sending heartbeats.
    """
    found: list[AgentReply] = hub.get("/agents")["agents"]
    if as_json:
        display.show_json(found)
    else:
        display.show_table(TITLES, map(_row, found), empty=NOBODY)


def _row(agent: AgentReply) -> tuple[object, ...]:
    now = agent["now"]
    return (
        agent["name"],
        _condition(agent),
        agent["doing"] or _work(agent),
        agent["unread"] or "",
        display.age(agent["seen_at"], now),
        agent["runtime"],
        agent["machine"],
        agent["last_tool"],
        display.age(agent["last_tool_at"], now),
        agent["last_output"],
        display.age(agent["last_output_at"], now),
        agent["description"],
    )


def _condition(agent: AgentReply) -> str:
    """Return the agent's own condition; and its program's status, if it was started from here."""
    placed = agent["placed"]
    return f"{agent['condition']}, {placed['status']}" if placed else agent["condition"]


def _work(agent: AgentReply) -> str:
    work = agent["work"]
    return f"T-{work['number']} {work['title']}" if work else ""
