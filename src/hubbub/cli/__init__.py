"""The command line. Each command is loaded when it runs, so that `--help` answers at once."""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import click

from hubbub.model.programs import extras


class CommandEntry(NamedTuple):
    """A command's place, and its line in the list of commands."""

    module: str
    about: str
    attribute: str | None = None  # of the module, where the command's name can be none


class Group(click.Group):
    """A group that suggests the likely meaning of a wrong word: a misplaced option, or another command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as unknown:
            if (option := unknown.option_name) not in COMMON:
                raise
            usage = f"{ctx.command_path} COMMAND {option} …"
            raise click.UsageError(f"{option} comes after the command: {usage}", ctx) from None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        word = args[0]
        is_unknown = not word.startswith("-") and self.get_command(ctx, word) is None
        if is_unknown and not ctx.resilient_parsing:
            from hubbub.terminal import wrong_words

            known, elsewhere = self.list_commands(ctx), ELSEWHERE if ctx.parent is None else {}
            hint = wrong_words.did_you_mean(word, known, elsewhere)
            if not hint:
                hint = (
                    f" See: {ctx.command_path} --help"
                    if ctx.parent is None
                    else f" Known: {', '.join(known)}."
                )
            raise click.UsageError(f"No such command {word!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)


@contextmanager
def _in_one_sentence() -> Iterator[None]:
    """Have wrong usage told in one sentence, without the lines that click puts before it."""
    try:
        yield
    except click.exceptions.NoArgsIsHelpError:
        raise
    except click.UsageError as error:
        from hubbub.terminal import wrong_words

        raise click.UsageError(wrong_words.sentence(error)) from None


class LazyGroup(Group):
    """A group whose commands are loaded on demand; each is an attribute of its module, mostly of the same name."""

    def __init__(self, *args: Any, entries: dict[str, CommandEntry], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.entries = entries

    def make_context(self, *args: Any, **more: Any) -> click.Context:
        with _in_one_sentence():
            return super().make_context(*args, **more)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take the words of the command line; none, at a terminal, ask how things stand."""
        if not args and not ctx.resilient_parsing and sys.stdout and sys.stdout.isatty():
            args = [ALONE]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        with _in_one_sentence():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = self.entries.get(cmd_name)
        if entry is None:
            return None
        try:
            with extras.required():
                module = importlib.import_module(entry.module)
        except extras.NotInstalled as error:
            raise click.ClickException(str(error)) from None
        command: click.Command = getattr(module, entry.attribute or cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, self.entries))  # so that the groups line up
        for title, entries in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), entry.about) for name, entry in entries.items()])


COMMON = frozenset({"--url", "--token", "--project", "--data"})  # options of commands, and not of groups

ALONE = "status"  # the command that `hubbub` is on a terminal, without any word

# What other programs call it, and what it is called here.
ELSEWHERE = {
    "login": "open",
    "dashboard": "open",
    "check": "doctor",
    "list": "tasks",
    "info": "status",
    "config": "doctor",
    "start": "up",
    "stop": "down",
    "run": "serve",
    "ps": "agents",
    "logs": "log",
    "message": "send",
    "mail": "inbox",
    "lock": "with",
    "flock": "with",
    "leases": "lease",
}

SECTIONS = {
    "Every day": {
        "status": CommandEntry(
            "hubbub.cli.server.status", "Show the hub, who is online, and what needs you."
        ),
        "agents": CommandEntry("hubbub.cli.agents.agent_list", "Who is here, and what they do."),
        "tasks": CommandEntry("hubbub.cli.work.tasks", "List tasks, newest first."),
        "task": CommandEntry("hubbub.cli.work.tasks", "Add, show, answer, complete or steer a task."),
        "send": CommandEntry("hubbub.cli.mail.messages", "Send a message, or a task."),
        "inbox": CommandEntry("hubbub.cli.mail.messages", "What waits for an agent."),
        "wait": CommandEntry("hubbub.cli.mail.messages", "Wait until something comes for an agent."),
        "approve": CommandEntry(
            "hubbub.cli.fleet.approvals", "Let a call go on, or list what waits for a person's answer."
        ),
        "deny": CommandEntry(
            "hubbub.cli.fleet.approvals", "Say no to a call that waits for a person's answer."
        ),
        "log": CommandEntry("hubbub.cli.log.activity_log", "What happened, and what happens."),
        "watch": CommandEntry("hubbub.cli.log.watch", "The dashboard in a terminal."),
        "why": CommandEntry(
            "hubbub.cli.log.why", "Why a task waits, an agent is silent, a file or a port is taken."
        ),
        "open": CommandEntry("hubbub.cli.people.open_dashboard", "Show the dashboard.", "open_"),
    },
    "Agents and clients": {
        "install": CommandEntry(
            "hubbub.cli.clients.install", "Make a client of this machine an agent of the hub."
        ),
        "work": CommandEntry("hubbub.cli.agents.work", "Turn any program into an agent."),
        "chat": CommandEntry("hubbub.cli.agents.chat", "Talk with the agent of this machine."),
        "agent": CommandEntry("hubbub.cli.agents.managed_agents", "Start, stop, follow and remove agents."),
        "mcp": CommandEntry("hubbub.cli.clients.mcp", "An MCP server on stdio, bridged to the hub."),
        "ring": CommandEntry("hubbub.cli.mail.ring", "Wake the idle clients of this machine."),
        "trust": CommandEntry("hubbub.cli.clients.trust_hooks", "Let the hooks of a project run."),
    },
    "Things, proof and cost": {
        "with": CommandEntry(
            "hubbub.cli.leases.with_command",
            "Run a command while it holds a port, a database, a processor.",
            "with_",
        ),
        "lease": CommandEntry(
            "hubbub.cli.leases.lease", "Who holds what, how many there are of it, which commands need it."
        ),
        "proof": CommandEntry(
            "hubbub.cli.work.proof", "What was seen of the work on a task, beside what is said."
        ),
        "cost": CommandEntry("hubbub.cli.cost", "What was used, in tokens and in money."),
        "budget": CommandEntry("hubbub.cli.budget", "Say how much may be used, in tokens or in money."),
        "breaker": CommandEntry(
            "hubbub.cli.agents.breaker", "See which agents go round in circles, and let them go on."
        ),
        "account": CommandEntry(
            "hubbub.cli.fleet.accounts", "Say which agents share an account, and see which are paused."
        ),
        "pause": CommandEntry(
            "hubbub.cli.fleet.accounts", "Have the agents of an account begin nothing for a while."
        ),
        "resume": CommandEntry("hubbub.cli.fleet.accounts", "Let the agents of a paused account go on."),
    },
    "People and projects": {
        "project": CommandEntry("hubbub.cli.people.projects", "Create, list, archive and divide projects."),
        "user": CommandEntry(
            "hubbub.cli.people.users", "Create, list and invite people, give them passwords."
        ),
        "token": CommandEntry("hubbub.cli.people.tokens", "Create, list and revoke tokens."),
        "webhook": CommandEntry("hubbub.cli.log.webhooks", "Tell other programs what happens."),
    },
    "Machines": {
        "node": CommandEntry("hubbub.cli.fleet.nodes", "Let agents use this machine, and see to the others."),
        "gate": CommandEntry("hubbub.cli.fleet.gate_check", "See what this machine's gate would say."),
        "audit": CommandEntry("hubbub.cli.fleet.audit", "Check this machine's audit log."),
    },
    "The hub": {
        "up": CommandEntry("hubbub.cli.server.background", "Start the hub in the background."),
        "down": CommandEntry("hubbub.cli.server.background", "Stop the hub that runs in the background."),
        "serve": CommandEntry("hubbub.cli.server.serve", "Run the hub until a signal."),
        "install-service": CommandEntry(
            "hubbub.cli.server.install_service", "Have the system keep the hub running.", "install_service"
        ),
        "doctor": CommandEntry("hubbub.cli.server.doctor", "Check that all is well, and say what to do."),
        "backup": CommandEntry("hubbub.cli.server.backup", "Copy the hub's database while it runs."),
        "restore": CommandEntry("hubbub.cli.server.backup", "Put a backup in the place of the database."),
        "migrate": CommandEntry("hubbub.cli.server.migrate", "Bring the database to this version."),
        "import": CommandEntry(
            "hubbub.cli.clients.import_folder", "Bring in what was kept elsewhere.", "imports"
        ),
    },
    "This program": {
        "help": CommandEntry("hubbub.cli.server.help_version", "Show the help of a command.", "help_"),
        "version": CommandEntry("hubbub.cli.server.help_version", "Show what this is and what it runs on."),
        "completion": CommandEntry(
            "hubbub.cli.server.shell_completion", "The script that completes commands in your shell."
        ),
    },
}
ENTRIES = {name: entry for entries in SECTIONS.values() for name, entry in entries.items()}


def _wants_json(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    """Keep the flag for `_version`, which is evaluated after it."""
    ctx.meta[__name__] = value


def _version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    as_json: bool = ctx.meta[__name__]
    if value:
        from hubbub.terminal import versions

        versions.show(as_json=as_json)
        ctx.exit()
    if as_json and not ctx.resilient_parsing:
        raise click.UsageError("--json comes after the command: hubbub COMMAND --json", ctx)


@click.command(
    cls=LazyGroup,
    entries=ENTRIES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 hub unreachable, 4 nothing came in time (wait).",
)
@click.option(
    "--json",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    help="With --version: as JSON.",
    callback=_wants_json,
)
@click.option(
    "--version", is_flag=True, expose_value=False, help="What this is and what it runs on.", callback=_version
)
def hubbub() -> None:
    """One hub where agents of every kind meet: inboxes, tasks, presence, and a log of what happened."""
