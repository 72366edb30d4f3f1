"""`hubbub work`: any program becomes an agent with one command."""

import os
import shlex
import signal
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import click

from hubbub.client import Hub, HubRefused, HubUnreachable
from hubbub.clients import signed_in
from hubbub.model.errors import Unauthorized, UnknownAgent
from hubbub.model.limits.known_programs import program_of
from hubbub.terminal import display
from hubbub.terminal.agent_names import agents
from hubbub.terminal.command import Choice, chooses_hub, command
from hubbub.terminal.credentials import act
from hubbub.terminal.durations import Seconds
from hubbub.worker.agent_worker import Worker
from hubbub.worker.name_lease import NameLease
from hubbub.worker.result_spool import ResultSpool

GRACE = timedelta(seconds=60)  # for running tasks when the worker is told to stop
ENDED = b"\0"  # among the signals' numbers, the end of the worker itself


def some_command(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    """Require a command line with a command in it, if one is given."""
    if value is not None and not value.strip():
        raise click.BadParameter("a command is needed, such as ./review.sh")
    return value


@command(
    "work",
    short_help="Turn any program into an agent.",
    example="hubbub work coder-1 --run 'claude -p'\nhubbub work counter -- wc -w\n"
    "hubbub work reviewer=./review.sh tester='make test'",
)
@click.argument("given", metavar="NAME[=COMMAND]...", nargs=-1, required=True, shell_complete=agents)
@click.option(
    "--run", "shell_command", metavar="COMMAND", callback=some_command, help="Command to run for each task."
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="How many tasks to run at a time.",
)
@click.option(
    "--timeout", type=Seconds(above_zero=True), metavar="S", help="Longest time for a task, in seconds."
)
@click.option(
    "--resume",
    metavar="COMMAND",
    help="Command that continues after a usage limit. [default: COMMAND again]",
)
@click.option("--account", metavar="NAME", help="Account whose usage limit it shares. [default: as found]")
@click.option("--show-output", is_flag=True, help="Show what COMMAND prints, line by line.")
@chooses_hub
def work(
    *,
    given: tuple[str, ...],
    shell_command: str | None,
    concurrency: int,
    timeout: float | None,
    resume: str | None,
    account: str | None,
    show_output: bool,
    choice: Choice,
    as_json: bool,
) -> None:
    """Be the agent NAME: run COMMAND for each of its tasks, until you press Ctrl-C.

    Each further NAME=COMMAND is another agent.

    The words of COMMAND may also stand after the NAME and `--`.

    The task's text is on COMMAND's standard input; HUBBUB_TASK_ID, _NUMBER, _TITLE, _SENDER, _PRIORITY, _CONTEXT and
    _ATTEMPT are in its environment, with HUBBUB_AGENT, HUBBUB_PROJECT, HUBBUB_URL and HUBBUB_TOKEN to use the hub. What
    it prints is the reply; an exit code other than 0 fails the task. When a usage limit stops claude, codex, gemini or
    opencode in it, or any program if you name its --account, all agents of the account pause, and it continues after
    that; HUBBUB_CONVERSATION names the conversation to continue. A first signal lets running tasks end, a second stops
    them.
    """
    choice = choice.signed_in()
    _run_until_signals(
        [
            _worker(
                choice,
                name,
                each,
                concurrency=concurrency,
                timeout=timedelta(seconds=timeout) if timeout else None,
                resume=resume,
                account=account,
                shows_output=show_output,
                as_json=as_json,
            )
            for name, each in _commands(given, shell_command).items()
        ],
        choice,
    )


def _commands(given: tuple[str, ...], shell_command: str | None) -> dict[str, str]:
    """Return the command of each agent. Raises `click.UsageError` for an agent without one, or with two."""
    if shell_command is not None and len(given) > 1:
        raise click.UsageError("--run is for one NAME; for several agents write NAME=COMMAND for each")
    if shell_command is not None:
        pairs = [(given[0], shell_command)]
    elif len(given) > 1 and "=" not in given[0] + given[1]:  # the words of a program, as after `--`
        pairs = [(given[0], shlex.join(given[1:]))]
    else:
        pairs = [(name, each) for name, _, each in (pair.partition("=") for pair in given)]
    commands: dict[str, str] = {}
    for name, each in pairs:
        if not each.strip():
            shown = display.clean(name)
            raise click.UsageError(
                f"{shown} needs a command: hubbub work {shown} --run COMMAND, or {shown}=COMMAND"
            )
        if name in commands:
            raise click.UsageError(f"{display.clean(name)} has two commands; an agent has one")
        commands[name] = each
    return commands


def _worker(
    choice: Choice, name: str, shell_command: str, *, account: str | None, as_json: bool, **how: Any
) -> Worker:
    """Return the worker of one agent; `how` it works is the worker's to know."""
    hub = act(choice, agent=name)
    hub.project = hub.project or hub.get("/me")["projects"][0]["slug"]
    say = partial(_say, name, as_json=as_json)
    program = program_of(shell_command)
    return Worker(
        hub,
        NameLease(hub, name, runtime="work", workdir=str(Path.cwd()), say=say),
        ResultSpool.of(choice.data, choice.url or "", hub.project or "", name),
        command=shell_command,
        environment={**os.environ, **_facts(hub, name)},
        say=say,
        account=account or _account(program),
        program=program,
        **how,
    )


def _run(worker: Worker, choice: Choice) -> None:
    """Run a worker until it has left."""
    try:
        worker.run(GRACE)
    except HubRefused as refusal:
        name = worker.seat.name
        if refusal.code == Unauthorized.code and _was_removed(choice, worker.hub.project, name):
            raise click.ClickException(f"{display.clean(name)} was removed from the project") from None
        raise


def _was_removed(choice: Choice, project: str | None, name: str) -> bool:
    """Tell whether the project has no such agent any more, as far as the chosen token still opens it."""
    try:
        with closing(choice.connect()) as hub:
            hub.project = project
            hub.agent(name)
    except (HubRefused, HubUnreachable) as error:
        return isinstance(error, HubRefused) and error.code == UnknownAgent.code
    return False


def _run_until_signals(workers: Sequence[Worker], choice: Choice) -> None:
    """Run each worker in a thread; wait here for the signals, where no lock that they need can be held.

    They leave together: if one may not be its agent, somebody has to look.
    """
    signals, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, lambda _signal, _frame: None)
    with ThreadPoolExecutor(len(workers)) as pool:
        running = [pool.submit(_run, worker, choice) for worker in workers]
        for future in running:
            future.add_done_callback(lambda _: os.write(wake, ENDED))
        left = len(running)
        while left:
            is_end = os.read(signals, 1) == ENDED
            left -= is_end
            for worker in workers:
                if not is_end and worker.leaving.is_set():
                    worker.abandon()
                worker.seat.interrupted.set()
                worker.leave()
    for future in running:
        future.result()


def _account(program: str | None) -> str | None:
    """Return the account that the command's program is signed in to, by a fingerprint."""
    return signed_in.account(program, Path.home(), os.environ) if program is not None else None


def _facts(hub: Hub, name: str) -> dict[str, str]:
    """Return the variables by which the command uses the hub itself, as this agent."""
    return {
        "HUBBUB_URL": hub.url,
        "HUBBUB_TOKEN": hub.token,
        "HUBBUB_PROJECT": hub.project or "",
        "HUBBUB_AGENT": name,
    }


def _say(name: str, sentence: str, *, as_json: bool) -> None:
    """Report an event: a sentence on standard error, or with `--json` an object on standard output."""
    if as_json:
        display.show_json({"agent": name, "event": sentence})
    else:
        line = display.clean(f"{name}: {sentence}", lines=True)
        click.echo(line, err=True)  # in one write, so that two agents do not share a line
