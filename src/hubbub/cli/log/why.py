"""`hubbub why`: explanations."""

import click

from hubbub.client import Hub, WhyReply, quoted
from hubbub.terminal import display, short_ids
from hubbub.terminal.agent_names import agents
from hubbub.terminal.command import command, uses_project
from hubbub.terminal.wrong_words import OneOf

KINDS = OneOf(["task", "agent", "machine", "thing", "file"])


@command(
    "why",
    short_help="Explain why a task waits, an agent is silent or a file is taken.",
    example="hubbub why 12\nhubbub why coder-1\nhubbub why src/parser.py\nhubbub why port:8000",
)
@click.argument("ref", metavar="TASK|AGENT|FILE|THING", shell_complete=agents)
@click.option("--kind", type=KINDS, help="Kind of the name. [default: the first of these that exists]")
@uses_project
def why(*, hub: Hub, ref: str, kind: str | None, as_json: bool) -> None:
    """Explain in one paragraph why a task, an agent, a machine, a file or a thing is as it is, and what changes it."""
    named = short_ids.task(hub, ref) if kind in (None, "task") else ref
    found: WhyReply = hub.get(f"/why/{quoted(named)}", kind=kind)
    display.show_result(found, display.in_own_zone(found["sentence"]), lines=False, as_json=as_json)
