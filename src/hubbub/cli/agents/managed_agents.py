"""`hubbub agent`: agents that run on machines."""

import shlex
import sys
from contextlib import closing, suppress
from typing import Any

import click

from hubbub import settings
from hubbub.cli import Group
from hubbub.cli.agents.work import some_command
from hubbub.cli.fleet.approval_prompt import with_prompts
from hubbub.cli.fleet.approvals import Approval
from hubbub.client import Hub, quoted, segment
from hubbub.clients import install_record
from hubbub.clients.install.client_installer import USER
from hubbub.clients.install.known_clients import CLIENTS
from hubbub.model.fleet.managed_agents import MOST_LINES, MOST_TASKS
from hubbub.terminal import display, questions
from hubbub.terminal.agent_names import agents
from hubbub.terminal.command import command, uses_project

START = "agent_start"  # the order to its machine
PATIENCE = 3_700.0  # seconds: its machine may ask people first, for an hour at most


@click.group("agent", cls=Group, short_help="Start, stop, follow, change, rename and remove agents.")
def agent() -> None:
    """Start, stop, follow, change, rename and remove agents.

    An agent started on a machine is restarted when it dies, and when the machine starts.
    """


@command("start", example="hubbub agent start coder-1 --node build-1 --run 'claude -p'")
@click.argument("name")
@click.option("--node", metavar="N", required=True, help="Machine to run on.")
@click.option(
    "--run",
    "run",
    metavar="COMMAND",
    required=True,
    callback=some_command,
    help="Command to run for each task.",
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, MOST_TASKS),
    default=1,
    show_default=True,
    help="How many tasks to run at a time.",
)
@click.option(
    "--folder", metavar="DIR", help="Folder to work in. [default: where agents work on that machine]"
)
@uses_project
def start(*, hub: Hub, name: str, as_json: bool, **facts: object) -> None:
    """Start the agent NAME on a machine, as `hubbub work` does.

    That machine's gate decides whether COMMAND may run there. If it asks for approval, answer right here at a terminal,
    or with `hubbub approve`.
    """

    def order() -> dict[str, Any]:
        reply = hub.post(f"/agents/{segment('agent', name)}/start", facts, patience=PATIENCE)
        placed: dict[str, Any] = reply["placement"]
        return placed

    def is_about_it(approval: Approval) -> bool:
        return bool(approval["tool"] == START and approval["arguments"].get("agent") == name)

    _show(order() if as_json else with_prompts(hub, order, is_about_it), as_json=as_json)


@command("stop", example="hubbub agent stop coder-1")
@click.argument("name", shell_complete=agents)
@uses_project
def stop(*, hub: Hub, name: str, as_json: bool) -> None:
    """Stop the agent NAME on its machine. Its current task gets a few seconds to finish, then is handed back."""
    _show(hub.post(f"/agents/{segment('agent', name)}/stop", patience=120.0)["placement"], as_json=as_json)


@command("logs", example="hubbub agent logs coder-1 --follow")
@click.argument("name", shell_complete=agents)
@click.option("-f", "--follow", is_flag=True, help="Keep following until the agent ends.")
@click.option(
    "--lines",
    type=click.IntRange(0, MOST_LINES),
    default=200,
    show_default=True,
    help="How many lines of the past to show.",
)
@uses_project
def logs(*, hub: Hub, name: str, follow: bool, lines: int, as_json: bool) -> None:
    """Show the output of the agent NAME and its program, oldest first."""
    path = f"/agents/{segment('agent', name)}/logs"
    if not follow:
        for line in hub.get(path, lines=lines)["lines"]:
            _show_line(line, as_json=as_json)
        return
    with suppress(KeyboardInterrupt), closing(hub.frames(path, lines=lines, follow="true")) as frames:
        for frame in frames:
            if "text" in frame.data:
                _show_line(frame.data, as_json=as_json)
            else:
                click.echo(display.clean(str(frame.data["message"])), err=True)


@command("remove", example="hubbub agent remove coder-1")
@click.argument("name", shell_complete=agents)
@click.option("--yes", "is_sure", is_flag=True, help="Remove it even while it is online, without a question.")
@uses_project
def remove(*, hub: Hub, name: str, is_sure: bool, as_json: bool) -> None:
    """Remove the agent NAME from the project.

    Its tokens are revoked, its unfinished tasks return to the open queue, and senders are told of what it never read.
    """
    known = hub.agent(name)
    if not is_sure and known["live"] and not _agreed(name):
        raise click.ClickException(f"{display.clean(name)} is online; stop it first, or remove it with --yes")
    removed = hub.delete(f"/agents/{quoted(name)}")
    display.show_result(removed, f"removed {removed['removed']}", as_json=as_json)
    _tell_of_client(known["name"], known["runtime"])


def _tell_of_client(name: str, runtime: str | None) -> None:
    """Say that an installed client still believes to be the agent: on this machine, or where the hub saw one."""
    here = [each for each in install_record.read(settings.read().config) if each.agent == name]
    for each in here:
        scope = f" --scope {each.scope}" if each.scope != USER else ""
        where = f" in {each.folder}" if each.folder else ""
        click.echo(
            f"its client has no valid token any more; take it out{where} with: "
            f"hubbub install {each.client}{scope} --uninstall, or give it a new one without --uninstall",
            err=True,
        )
    if not here and runtime in CLIENTS:
        click.echo(
            f"its client has no valid token any more; on its machine take it out with: "
            f"hubbub install {runtime} --uninstall",
            err=True,
        )


def _agreed(name: str) -> bool:
    """Ask a person at the terminal whether to remove an agent that is online; a program does not agree."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    return questions.agreed(f"{display.clean(name)} is online. Remove it?")


@command(
    "change",
    example="hubbub agent change coder-1 --description 'Reviews the parser'\nhubbub agent change coder-1 --area api",
)
@click.argument("name", shell_complete=agents)
@click.option("--description", metavar="TEXT", help="Text about what it is for; an empty one clears it.")
@click.option("--area", metavar="A", help="Area of the project it works in now; an empty text means none.")
@uses_project
def change(*, hub: Hub, name: str, as_json: bool, **changes: str | None) -> None:
    """Change what the agent NAME is for, and the area it works in while it is online."""
    wanted = {key: value for key, value in changes.items() if value is not None}
    if not wanted:
        raise click.UsageError("say what to change: --description, --area or both")
    changed = hub.patch(f"/agents/{quoted(name)}", wanted)["agent"]
    told = [f"{key}: {changed[key] or 'none'}" for key in wanted]
    display.show_result(changed, "\n".join([f"changed {name}", *told]), as_json=as_json)


@command("rename", example="hubbub agent rename codre-1 coder-1")
@click.argument("old", shell_complete=agents)
@click.argument("new")
@uses_project
def rename(*, hub: Hub, old: str, new: str, as_json: bool) -> None:
    """Rename the agent OLD, which is not running, to NEW.

    Its tokens, open tasks, unread messages, memory and limits move to NEW. Ended tasks and the log keep OLD.
    """
    done = hub.post(f"/agents/{segment('agent', old)}/rename", {"to": new})
    if as_json:
        display.show_json(done)
        return
    display.show(f"renamed {done['renamed']} to {done['to']}")
    where = ", ".join(map(display.clean, done["machines"])) or "each machine that has installed it"
    click.echo(f"next, on {where}: hubbub install CLIENT --as {shlex.quote(done['to'])}", err=True)


def _show(placed: dict[str, Any], *, as_json: bool) -> None:
    display.show_result(
        placed,
        f"{placed['agent']} {placed['status']} on {placed['node']}: {placed['command']}",
        as_json=as_json,
    )


def _show_line(line: dict[str, Any], *, as_json: bool) -> None:
    display.show_result(line, f"{display.brief(line['at'])} {line['text']}", lines=False, as_json=as_json)


agent.add_command(start)
agent.add_command(stop)
agent.add_command(logs)
agent.add_command(change)
agent.add_command(rename)
agent.add_command(remove)
