"""The command line. Each command is loaded when it runs, so that `--help` answers at once."""

import importlib
from typing import Any, NamedTuple

import click

from hubbub.model import extras


class Entry(NamedTuple):
    """Where a command is, and what the list of commands says about it."""

    module: str
    about: str
    attribute: str | None = None  # of the module, where the command's name can be none


class Group(click.Group):
    """A group that says what was probably meant: by an option that belongs behind the command, or by another word."""

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
            likely = self._likely(ctx, word)
            hint = f" Did you mean {' or '.join(map(repr, likely))}?" if likely else ""
            raise click.UsageError(f"No such command {word!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def _likely(self, ctx: click.Context, word: str) -> list[str]:
        """The commands that were probably meant, the likeliest first."""
        from difflib import get_close_matches

        known, elsewhere = self.list_commands(ctx), ELSEWHERE if ctx.parent is None else {}
        if word.lower() in elsewhere:
            return [elsewhere[word.lower()]]
        found = get_close_matches(word.lower(), [*known, *elsewhere], n=2, cutoff=0.7)
        return list(dict.fromkeys(elsewhere.get(each, each) for each in found))


class Shelf(Group):
    """A group whose commands are loaded on demand; each is an attribute of its module, mostly of the same name."""

    def __init__(self, *args: Any, entries: dict[str, Entry], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.entries = entries

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
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.about) for name, entry in self.entries.items()])


COMMON = frozenset({"--url", "--token", "--project", "--data"})  # options of commands, and not of groups

# What other programs call it, and what it is called here.
ELSEWHERE = {
    "login": "open",
    "dashboard": "open",
    "status": "doctor",
    "start": "up",
    "stop": "down",
    "run": "serve",
    "ps": "agents",
    "logs": "log",
    "message": "send",
    "mail": "inbox",
}

ENTRIES = {
    "serve": Entry("hubbub.cli.serve", "Run the hub until a signal."),
    "up": Entry("hubbub.cli.background", "Start the hub in the background."),
    "down": Entry("hubbub.cli.background", "Stop the hub that runs in the background."),
    "open": Entry("hubbub.cli.open", "Show the dashboard.", "open_"),
    "install-service": Entry(
        "hubbub.cli.service", "Have the system keep the hub running.", "install_service"
    ),
    "install": Entry("hubbub.cli.install", "Make a client of this machine an agent of the hub."),
    "ring": Entry("hubbub.cli.ring", "Wake the idle clients of this machine."),
    "mcp": Entry("hubbub.cli.mcp", "An MCP server on stdio, bridged to the hub."),
    "work": Entry("hubbub.cli.work", "Turn any program into an agent."),
    "chat": Entry("hubbub.cli.chat", "Talk with the agent of this machine."),
    "agent": Entry("hubbub.cli.placed", "Start, stop, follow and remove agents."),
    "agents": Entry("hubbub.cli.agents", "Who is here, and what they do."),
    "tasks": Entry("hubbub.cli.tasks", "List tasks, newest first."),
    "task": Entry("hubbub.cli.tasks", "Add, show, cancel, retry or reassign a task."),
    "send": Entry("hubbub.cli.mail", "Send a message, or a task."),
    "inbox": Entry("hubbub.cli.mail", "What waits for an agent."),
    "wait": Entry("hubbub.cli.mail", "Wait until something comes for an agent."),
    "approve": Entry("hubbub.cli.approvals", "Let a call go on, or list what waits for a person's answer."),
    "deny": Entry("hubbub.cli.approvals", "Say no to a call that waits for a person's answer."),
    "trust": Entry("hubbub.cli.trust", "Let the hooks of a project run."),
    "log": Entry("hubbub.cli.log", "What happened, and what happens."),
    "watch": Entry("hubbub.cli.watch.command", "The dashboard in a terminal."),
    "why": Entry("hubbub.cli.why", "Why a task waits, an agent is silent, a file is taken."),
    "cost": Entry("hubbub.cli.cost", "What was used, in tokens and in money."),
    "project": Entry("hubbub.cli.projects", "Create, list and show projects, and divide them into areas."),
    "user": Entry("hubbub.cli.users", "Create, list and invite people, give them passwords."),
    "token": Entry("hubbub.cli.tokens", "Create, list and revoke tokens."),
    "webhook": Entry("hubbub.cli.webhooks", "Tell other programs what happens."),
    "node": Entry("hubbub.cli.node", "Let agents use this machine, and see to the others."),
    "gate": Entry("hubbub.cli.gate", "See what this machine's gate would say."),
    "audit": Entry("hubbub.cli.audit", "Check this machine's audit log."),
    "import": Entry("hubbub.cli.imports", "Bring in what was kept elsewhere.", "imports"),
    "backup": Entry("hubbub.cli.backup", "Copy the hub's database while it runs."),
    "restore": Entry("hubbub.cli.backup", "Put a backup in the place of the database."),
    "migrate": Entry("hubbub.cli.migrate", "Bring the database to this version."),
    "doctor": Entry("hubbub.cli.doctor", "Check that all is well, and say what to do."),
    "completion": Entry("hubbub.cli.completion", "The script that completes commands in your shell."),
    "help": Entry("hubbub.cli.helping", "Show the help of a command.", "help_"),
    "version": Entry("hubbub.cli.helping", "Show what this is and what it runs on."),
}


def _wants_json(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    """Kept for `_version`, which is looked at after it."""
    ctx.meta[__name__] = value


def _version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    as_json: bool = ctx.meta[__name__]
    if value:
        from hubbub.cli import versions

        versions.show(as_json=as_json)
        ctx.exit()
    if as_json and not ctx.resilient_parsing:
        raise click.UsageError("--json comes after the command: hubbub COMMAND --json", ctx)


@click.command(
    cls=Shelf,
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
