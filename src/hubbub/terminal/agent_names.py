"""Completion of agents' names in a shell: those that the hub knows, and none when it is away."""

from contextlib import closing
from typing import Any

import click
from click.shell_completion import CompletionItem

from hubbub import settings
from hubbub.client import AgentReply, HubRefused, HubUnreachable
from hubbub.model.agents.agent_names import HARMLESS
from hubbub.model.errors import Invalid
from hubbub.terminal import display
from hubbub.terminal.command import Choice, in_project

ASKED = ("url", "token", "project")  # by `chooses_hub`, here as far as they are typed or in the environment

ABOUT = 60  # columns


def agents(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the names with this beginning that are harmless in a shell, each with the agent's work."""
    try:
        return [
            CompletionItem(each["name"], help=_about(each))
            for each in _known(ctx.params)
            if each["name"].startswith(incomplete) and HARMLESS.fullmatch(each["name"])  # bash runs the line
        ]
    except (HubRefused, HubUnreachable, Invalid, click.UsageError):
        return []  # an error message would disturb the line being typed


def _known(given: dict[str, Any]) -> list[AgentReply]:
    folder = settings.read(data=given.get("data")).data
    choice = Choice(folder, *(given.get(name) or None for name in ASKED))
    with closing(choice.connect()) as hub:
        found: list[AgentReply] = in_project(hub).get("/agents")["agents"]
    return found


def _about(agent: AgentReply) -> str:
    return display.fit(display.clean(agent["doing"] or agent["condition"]), ABOUT)
