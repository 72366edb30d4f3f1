"""`hubbub chat`: a chat with the agent of this machine, at the terminal or by one prompt on standard input."""

import sys
from pathlib import Path

import click

from hubbub import settings
from hubbub.bridge.hub_locator import HubLocator
from hubbub.chat import console
from hubbub.chat.agent_chat import AgentChat, open_chat
from hubbub.daemons.hub_starter import ensure_hub
from hubbub.node import runtimes
from hubbub.node.policy import node_policy
from hubbub.node.policy.node_policy import Runtime
from hubbub.node.runtimes.conversation import RuntimeFailed
from hubbub.terminal import display
from hubbub.terminal.command import Choice, chooses_hub, command
from hubbub.terminal.credentials import act


@command(
    "chat",
    short_help="Talk to this machine's own agent.",
    example="hubbub chat\necho 'What is in this folder?' | hubbub chat",
)
@chooses_hub
def chat(*, choice: Choice, as_json: bool) -> None:
    """Talk to this machine's own agent: the one under [runtime] in node.toml.

    It has the tools of `hubbub mcp cmdop` behind the same gate, and works in the current folder. At a terminal, you
    answer the gate's questions right there. Without one, standard input is one prompt, the answer goes to standard
    output, and approvals wait as for any agent. Starts a hub if none is running and no --url is given.
    """
    is_attended = sys.stdin.isatty() and sys.stdout.isatty()
    if is_attended and as_json:
        raise click.UsageError("--json needs the prompt on standard input")
    prompt = "" if is_attended else _prompt()
    runtime = _runtime()
    choice = choice.signed_in()
    if choice.url is None:
        ensure_hub(choice.data)
    present = HubLocator(choice, act(choice))
    with open_chat(present.hub, choice.data, runtime, is_attended=is_attended) as other:
        if is_attended:
            console.talk(other, runtime)
        else:
            _answer(other, prompt, as_json=as_json)


def _prompt() -> str:
    try:
        prompt = sys.stdin.buffer.read().decode().strip()
    except UnicodeDecodeError:
        raise click.UsageError("standard input must be UTF-8 text") from None
    if not prompt:
        raise click.UsageError("no prompt: write one on standard input, or start hubbub chat at a terminal")
    return prompt


def _runtime() -> Runtime:
    """Return the agent of this machine. Raises `click.ClickException` if there is none."""
    rules = node_policy.load(settings.read().config / node_policy.FILE, Path.cwd())
    if rules.fault is not None:
        raise click.ClickException(display.clean(rules.fault))
    if rules.runtime is None:
        raise click.ClickException(runtimes.NONE)
    return rules.runtime


def _answer(other: AgentChat, prompt: str, *, as_json: bool) -> None:
    """Print the answer to one prompt. Raises `click.ClickException` if there is none."""
    turn = other.say(prompt)
    try:
        answer = turn.answer()
    except RuntimeFailed as failed:
        raise click.ClickException(display.clean(str(failed))) from None
    if as_json:
        calls = [{"name": c.name, "arguments": c.arguments, "ok": c.ok} for c in answer.tool_calls]
        display.show_json({"text": answer.text, "tool_calls": calls})
    else:
        display.show(answer.text)
