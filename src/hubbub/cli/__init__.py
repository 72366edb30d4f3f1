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
    attribute: str | None = None  # of the module, if it cannot have the command's name


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

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with whole sentences, on several lines where one is too narrow."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, each.get_short_help_str(WHOLE)) for name, each in commands if each is not None]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show the first examples of its commands, if it has no other last words."""
        if self.epilog is None:
            commands = [self.get_command(ctx, name) for name in self.list_commands(ctx)]
            told = [(each.epilog or "").splitlines() for each in commands if each is not None]
            self.epilog = "\n".join(["\b", "Examples:", *(lines[2] for lines in told if len(lines) > 2)][:5])
        super().format_epilog(ctx, formatter)

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
    """Report wrong usage in one sentence, without the lines that click puts before it."""
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
        """Take the words of the command line; without any, at a terminal, show the status."""
        if not args and not ctx.resilient_parsing and sys.stdout and sys.stdout.isatty():
            args = [ALONE]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with _in_one_sentence():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            from hubbub.terminal.exit_codes import INTERRUPTED

            click.echo(err=True)  # ends the line with the ^C that the terminal shows
            ctx.exit(INTERRUPTED)

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


WHOLE = 1_000  # characters, which no sentence about a command has

COMMON = frozenset({"--url", "--token", "--project", "--data"})  # options of commands, and not of groups

ALONE = "status"  # the command that `hubbub` alone means on a terminal

# Other programs' names of commands, and ours.
ELSEWHERE = {
    "auth": "login",
    "signin": "login",
    "signout": "logout",
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
    "add": "task add",
    "who": "agents",
    "online": "agents",
    "whoami": "status",
    "quit": "down",
    "shutdown": "down",
    "uninstall": "install CLIENT --uninstall",
}

SECTIONS = {
    "Every day": {
        "status": CommandEntry(
            "hubbub.cli.server.status", "Show the hub, who is online, and what needs you."
        ),
        "agents": CommandEntry("hubbub.cli.agents.agent_list", "List agents and what they are doing."),
        "tasks": CommandEntry("hubbub.cli.work.tasks", "List tasks, newest first."),
        "task": CommandEntry("hubbub.cli.work.tasks", "Add, show, claim, do, answer or steer a task."),
        "send": CommandEntry("hubbub.cli.mail.messages", "Send a message, or a task."),
        "inbox": CommandEntry(
            "hubbub.cli.mail.messages", "Show the messages and tasks that wait for you, or for an agent."
        ),
        "wait": CommandEntry("hubbub.cli.mail.messages", "Wait for mail or work for you, or for an agent."),
        "approve": CommandEntry("hubbub.cli.fleet.approvals", "List pending approvals, or approve one."),
        "deny": CommandEntry("hubbub.cli.fleet.approvals", "Deny a pending approval."),
        "log": CommandEntry("hubbub.cli.log.activity_log", "Show what happened, or follow what happens."),
        "watch": CommandEntry("hubbub.cli.log.watch", "Show the dashboard in the terminal."),
        "why": CommandEntry(
            "hubbub.cli.log.why", "Explain why a task waits, an agent is silent or a file is taken."
        ),
        "login": CommandEntry(
            "hubbub.cli.people.login", "Log in at a hub, for all commands on this machine.", "login_"
        ),
        "logout": CommandEntry("hubbub.cli.people.login", "Log out at a hub."),
        "open": CommandEntry(
            "hubbub.cli.people.open_dashboard", "Open the dashboard in your browser.", "open_"
        ),
    },
    "Agents and clients": {
        "install": CommandEntry("hubbub.cli.clients.install", "Connect a client on this machine to the hub."),
        "work": CommandEntry("hubbub.cli.agents.work", "Turn any program into an agent."),
        "chat": CommandEntry("hubbub.cli.agents.chat", "Talk to this machine's own agent."),
        "agent": CommandEntry(
            "hubbub.cli.agents.managed_agents", "Start, stop, follow, change, rename and remove agents."
        ),
        "mcp": CommandEntry("hubbub.cli.clients.mcp", "Serve MCP on standard input and output."),
    },
    "Proof, cost and limits": {
        "proof": CommandEntry("hubbub.cli.work.proof", "Show the evidence of the work on a task."),
        "cost": CommandEntry("hubbub.cli.cost", "Show tokens used and estimated cost."),
        "budget": CommandEntry("hubbub.cli.limits.budget", "Limit tokens or money, and list their use."),
        "account": CommandEntry("hubbub.cli.limits.accounts", "Group agents that share a provider account."),
        "pause": CommandEntry("hubbub.cli.limits.accounts", "Pause the agents of an account."),
        "resume": CommandEntry("hubbub.cli.limits.accounts", "Resume the agents of a paused account."),
    },
    "People and projects": {
        "project": CommandEntry("hubbub.cli.people.projects", "Create, list, change and archive projects."),
        "user": CommandEntry(
            "hubbub.cli.people.users", "Create, list, invite and remove people, and set passwords."
        ),
        "token": CommandEntry("hubbub.cli.people.tokens", "Create, list and revoke tokens."),
        "webhook": CommandEntry("hubbub.cli.log.webhooks", "Send events to other programs."),
    },
    "Machines": {
        "node": CommandEntry("hubbub.cli.fleet.nodes", "Connect this machine to a hub, and manage machines."),
    },
    "The hub": {
        "up": CommandEntry("hubbub.cli.server.background", "Start the hub in the background."),
        "down": CommandEntry("hubbub.cli.server.background", "Stop the hub that runs in the background."),
        "serve": CommandEntry("hubbub.cli.server.serve", "Run the hub in the foreground."),
        "install-service": CommandEntry(
            "hubbub.cli.server.install_service", "Run the hub as a system service.", "install_service"
        ),
        "doctor": CommandEntry("hubbub.cli.server.doctor", "Check the installation, and say how to fix it."),
        "backup": CommandEntry("hubbub.cli.server.backup", "Back up the database while the hub runs."),
        "restore": CommandEntry("hubbub.cli.server.backup", "Replace the database with a backup."),
        "copy": CommandEntry("hubbub.cli.server.backup", "Move the hub to PostgreSQL, or back."),
        "migrate": CommandEntry("hubbub.cli.server.migrate", "Upgrade the database to this version."),
        "import": CommandEntry(
            "hubbub.cli.clients.import_folder", "Import the memory of a relay folder.", "imports"
        ),
    },
    "Advanced": {
        "with": CommandEntry(
            "hubbub.cli.leases.with_command",
            "Run a command while no other uses a port, a database or a GPU.",
            "with_",
        ),
        "lease": CommandEntry("hubbub.cli.leases.lease", "Show who uses such things now, and release them."),
        "breaker": CommandEntry(
            "hubbub.cli.limits.breaker", "Show agents stopped for going in circles, and let them continue."
        ),
        "ring": CommandEntry("hubbub.cli.mail.ring", "Wake idle clients of this machine; starts by itself."),
        "trust": CommandEntry("hubbub.cli.clients.trust_hooks", "Allow the hooks of a project to run."),
        "gate": CommandEntry(
            "hubbub.cli.fleet.gate_check", "Check what agents would be allowed to do on this machine."
        ),
        "audit": CommandEntry("hubbub.cli.fleet.audit", "Verify this machine's log of what agents did."),
        "prove": CommandEntry(
            "hubbub.cli.server.prove", "Crash hubs of its own, to test that nothing is lost."
        ),
    },
    "This program": {
        "help": CommandEntry("hubbub.cli.server.help_version", "Show the help of a command.", "help_"),
        "version": CommandEntry("hubbub.cli.server.help_version", "Show version information."),
        "completion": CommandEntry(
            "hubbub.cli.server.shell_completion", "Print the completion script for your shell."
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
    help="Print the version as JSON, with --version.",
    callback=_wants_json,
)
@click.option(
    "--version", is_flag=True, expose_value=False, help="Show version information.", callback=_version
)
def hubbub() -> None:
    """Let AI agents message each other, share tasks and stay out of each other's files."""
