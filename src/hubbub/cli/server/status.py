"""`hubbub status`, which is also `hubbub` alone on a terminal: the state of affairs, and the next step."""

import sys
from collections.abc import Sequence
from typing import Any

from hubbub.cli.mail.messages import inboxes_of
from hubbub.cli.people.open_dashboard import link
from hubbub.client import AgentReply, Hub, HubRefused
from hubbub.model.records import LetterKind
from hubbub.terminal import display
from hubbub.terminal.attention import TITLES, about, remedy
from hubbub.terminal.command import command, uses_project

MOST = 5  # agents and needs that are named; the others are counted
COLUMN = 11
MOST_LETTERS = 500


@command(
    "status",
    short_help="Show the hub, who is online, and what needs you.",
    example="hubbub status\nhubbub status --json",
)
@uses_project
def status(*, hub: Hub, as_json: bool) -> None:
    """Show the hub, who is online, what needs you, the dashboard, and the next step.

    `hubbub` alone does the same on a terminal. There the address of the dashboard signs you in: once, within ten
    minutes.
    """
    me = hub.get("/me")
    agents: list[AgentReply] = hub.get("/agents")["agents"]
    needs: list[dict[str, Any]] = hub.get("/needs")["needs"]
    facts: dict[str, Any] = {
        "url": hub.url,
        "version": hub.health().get("version"),
        "project": hub.project,
        "user": me["user"],
        "agent": me["agent"],
        "online": [each["name"] for each in agents if each["live"]],
        "offline": [each["name"] for each in agents if not each["live"]],
        "needs": needs,
        "replies": _replies(hub),
        "next": _next_step(agents, needs),
    }
    if as_json:
        display.show_json(facts)
        return
    where = f", project {hub.project}" if hub.project else ""
    _line("hub", f"{hub.url}, version {facts['version']}{where}")
    _line("you", _who(me))
    _line("online", _online(agents))
    _show_needs(needs)
    if facts["replies"]:
        count = "1 reply" if facts["replies"] == 1 else f"{facts['replies']} replies"
        _line("inbox", f"{count}: hubbub inbox")
    _line("dashboard", _dashboard(hub))
    _line("next", facts["next"])


def _who(me: dict[str, Any]) -> str:
    """Say as whom the commands act."""
    if me["agent"] or not me["user"]:
        return f"the agent {me['agent']}" if me["agent"] else "any agent of the project"
    return f"{me['user']}, owner of the hub" if me["owns_hub"] else me["user"]


def _replies(hub: Hub) -> int:
    """Count the replies that wait in the caller's inboxes; none if it may not read them."""
    try:
        letters = [letter for name in inboxes_of(hub, None) for letter in hub.inbox(name, limit=MOST_LETTERS)]
    except HubRefused:
        return 0
    return sum(each["kind"] == LetterKind.REPLY for each in letters)


def _line(title: str, text: str) -> None:
    display.show(f"{title:{COLUMN}}{text}", lines=False)


def _online(agents: Sequence[AgentReply]) -> str:
    """Name the first present agents with their work; count the absent ones."""
    there = [each for each in agents if each["live"]]
    away = len(agents) - len(there)
    if not agents:
        return "no agents yet"
    named = ", ".join(f"{each['name']} ({_at(each)})" for each in there[:MOST]) or "nobody"
    more = f" and {len(there) - MOST} more" if len(there) > MOST else ""
    return f"{named}{more}" + (f"; {away} offline" if away else "")


def _at(agent: AgentReply) -> str:
    work = agent["work"]
    return f"{agent['condition']}, T-{work['number']}" if work else agent["condition"]


def _show_needs(needs: Sequence[dict[str, Any]]) -> None:
    if not needs:
        _line("needs you", "nothing")
        return
    for index, need in enumerate(needs[:MOST]):
        text = " ".join(f"{TITLES.get(need['kind'], need['kind'])}: {about(need)}".split())
        _line("needs you" if index == 0 else "", display.fit_screen(display.clean(text), COLUMN))
        _line("", f"  {remedy(need)}")
    if len(needs) > MOST:
        _line("", f"and {len(needs) - MOST} more: hubbub watch")


def _dashboard(hub: Hub) -> str:
    """Return the address of the dashboard: on a terminal one that signs a person in."""
    if not sys.stdout.isatty():
        return hub.url
    try:
        return link(hub)["url"]
    except HubRefused:  # an agent's token, which cannot sign in
        return hub.url


def _next_step(agents: Sequence[AgentReply], needs: Sequence[dict[str, Any]]) -> str:
    """Return the command that is most likely wanted now."""
    if needs:
        return remedy(needs[0])
    if not agents:
        return "hubbub install CLIENT, or hubbub work NAME --run COMMAND"
    if not any(each["live"] for each in agents):
        return f"start {agents[0]['name']}, or see why it is offline: hubbub why {agents[0]['name']}"
    return "hubbub task add TEXT, or hubbub send NAME TEXT"
