"""`hubbub install`: a client of this machine becomes an agent of the hub, and leaves it again without a trace."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import click

from hubbub import settings
from hubbub.cli.clients.install_steps import InstallOptions, InstallOutcome, install_client, uninstall_client
from hubbub.clients import install_record
from hubbub.clients.install import detection
from hubbub.clients.install.client_installer import PROJECT, USER, UserFolders
from hubbub.clients.install.install_plan import CannotInstall
from hubbub.clients.install.known_clients import CLIENTS
from hubbub.daemons import hub_starter
from hubbub.terminal import display, questions
from hubbub.terminal.command import DEFAULT_PROJECT, Choice, chooses_hub, command
from hubbub.terminal.wrong_words import OneOf

USUAL_HUB = "http://127.0.0.1:{port}"
# What is done to a file, or would be; of several the last is told.
DEEDS = ("removed", "would remove", "would add", "changed", "would change")


@command(
    "install",
    short_help="Connect a client on this machine to the hub.",
    example="hubbub install\nhubbub install claude-code\n"
    "hubbub install codex --as birch --dry-run\nhubbub install codex --uninstall",
)
@click.argument("client", type=OneOf([*CLIENTS]), metavar="CLIENT", required=False)
@click.option(
    "--scope",
    type=OneOf([USER, PROJECT]),
    default=USER,
    show_default=True,
    help="For everything you do, or only for the project in the current folder.",
)
@click.option("--as", "agent", metavar="NAME", help="Name of the agent. [default: the client's name]")
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--verbose", is_flag=True, help="With --dry-run, show every changed line at a terminal, too.")
@click.option("--uninstall", is_flag=True, help="Undo an install.")
@click.option("--force", is_flag=True, help="Replace an entry of the same name.")
@click.option("--all", "is_all", is_flag=True, help="Install every client found on this machine.")
@click.option("--list", "only_list", is_flag=True, help="List the clients and their installs.")
@chooses_hub
def install(
    *,
    client: str | None,
    scope: str,
    agent: str | None,
    dry_run: bool,
    verbose: bool,
    uninstall: bool,
    force: bool,
    is_all: bool,
    only_list: bool,
    choice: Choice,
    as_json: bool,
) -> None:
    """Connect CLIENT to the hub, as an agent with a token of its own, then try whether it connects.

    Changes only hubbub's own entries in the client's files. Starts a hub if none is running and no --url is given.
    Without CLIENT, looks for clients on this machine and asks about each.
    """
    choice, config = choice.signed_in(), settings.read().config
    if only_list:
        _show_list(install_record.read(config), as_json=as_json)
        return
    if client is not None and is_all:
        raise click.UsageError("either a client, or --all")
    several = _Several(config, scope, uninstall=uninstall)
    names = [client] if client is not None else several.chosen(is_all=is_all)
    if len(names) > 1 and agent is not None:
        raise click.UsageError("--as names one agent: say which client")
    wishes = [
        InstallOptions(CLIENTS[name], scope, Path.cwd(), config, dry_run=dry_run, force=force)
        for name in names
    ]
    if client is not None and scope == PROJECT and CLIENTS[client].no_project:
        raise click.UsageError(CLIENTS[client].no_project or "")
    outcomes = []
    for wish in wishes:
        outcomes.append(_done(wish, choice, agent, uninstall=uninstall, is_alone=client is not None))
        if not as_json:
            _show(wish, outcomes[-1], is_whole=verbose or not sys.stdout.isatty())
    if as_json:
        facts = [outcome.facts() for outcome in outcomes]
        display.show_json(facts if client is None else facts[0])
    if failed := [outcome.sentence for outcome in outcomes if not outcome.well]:
        raise click.ClickException(display.clean("; ".join(failed)))


@dataclass(frozen=True, slots=True)
class _Several:
    """The clients meant if none is named: to install, those not installed yet; to uninstall, the installed ones."""

    config: Path
    scope: str
    uninstall: bool

    def chosen(self, *, is_all: bool) -> list[str]:
        """Return the clients to install or uninstall, as a person at a terminal chooses. Raises `click.UsageError`."""
        names = self._meant() or self._nothing()
        if is_all:
            return names
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            here = f"Found here: {', '.join(names)}; --all takes all of these."
            raise click.UsageError(f"say which client: {', '.join(CLIENTS)}. {here}")
        deed = "Uninstall" if self.uninstall else "Found on this machine. Install"
        return [name for name in names if questions.agreed(f"{deed} {CLIENTS[name].title}?", default=True)]

    def _meant(self) -> list[str]:
        installs = install_record.read(self.config)
        there = self._there(installs)
        if self.uninstall:
            return [name for name in CLIENTS if name in there]
        fitting = [name for name in CLIENTS if self.scope != PROJECT or not CLIENTS[name].no_project]
        here = detection.found(UserFolders.this(), installs)
        return [name for name in fitting if name in here and name not in there]

    def _there(self, installs: Sequence[install_record.Install]) -> set[str]:
        place = str(Path.cwd()) if self.scope == PROJECT else None
        return {each.client for each in installs if (each.scope, each.folder) == (self.scope, place)}

    def _nothing(self) -> NoReturn:
        if self.uninstall:
            raise click.ClickException("no client is connected to a hub; see hubbub install --list")
        other = " other" if self._there(install_record.read(self.config)) else ""
        raise click.ClickException(
            f"found no{other} client on this machine; name one to connect it anyway: {', '.join(CLIENTS)}"
        )


def _done(
    wish: InstallOptions, choice: Choice, agent: str | None, *, uninstall: bool, is_alone: bool
) -> InstallOutcome:
    """Install or uninstall; of several, a failing one does not stop the others."""
    try:
        return uninstall_client(wish, choice, agent) if uninstall else _installed(wish, choice, agent)
    except CannotInstall as unfit:
        if not is_alone:
            return InstallOutcome(str(unfit), well=False)
        if unfit.snippet is None:
            raise
        sentence, snippet = display.clean(str(unfit)), display.clean(unfit.snippet, lines=True)
        raise click.ClickException(f"{sentence}\n\n{snippet}") from None


def _installed(wish: InstallOptions, choice: Choice, agent: str | None) -> InstallOutcome:
    url, data = _hub(choice, dry_run=wish.dry_run)
    project = choice.project or DEFAULT_PROJECT
    name = wish.client.name if agent is None else agent
    return install_client(wish, choice, agent=name, url=url, data=data, project=project)


def _hub(choice: Choice, *, dry_run: bool) -> tuple[str, Path | None]:
    """Return the address of the hub, and its data folder if it is on this machine; start one if need be."""
    if choice.url is not None:
        return choice.url.rstrip("/"), None
    if dry_run:
        return hub_starter.running_address(choice.data) or USUAL_HUB.format(
            port=settings.read().port
        ), choice.data
    return hub_starter.ensure_hub(choice.data), choice.data


def _show(wish: InstallOptions, outcome: InstallOutcome, *, is_whole: bool) -> None:
    """Show an outcome; of a dry run the changed lines, too, if it `is_whole`."""
    for line in _lines(wish, outcome, is_whole=is_whole):
        display.show(line)
    if wish.dry_run and outcome.diff and not is_whole and not outcome.conflicts:
        display.advise("To see every changed line: add --verbose")


def _lines(wish: InstallOptions, outcome: InstallOutcome, *, is_whole: bool) -> list[str]:
    """Return the lines for standard output: everything except a failure."""
    is_undone = wish.dry_run or outcome.conflicts
    deeds = {file: _planned(file, outcome.diff) if is_undone else _deed(file) for file in outcome.changed}
    is_shown = outcome.conflicts or (wish.dry_run and is_whole)
    shown = [outcome.diff.rstrip("\n")] if outcome.diff and is_shown else []
    return [*_changed(wish, deeds), *shown, *outcome.notes, *([outcome.sentence] if outcome.well else [])]


def _changed(wish: InstallOptions, deeds: Mapping[str, str]) -> list[str]:
    """Return a line for each file of the client; the files in hubbub's own folder share one."""
    own = [file for file in deeds if Path(file).is_relative_to(wish.config)]
    lines = [f"{deed} {file}" for file, deed in deeds.items() if file not in own]
    deed = max((deeds[file] for file in own), key=DEEDS.index, default="")
    return [*lines, f"{deed} {len(own)} files in {wish.config}"] if own else lines


def _deed(file: str) -> str:
    """Return how a file was changed, judged by its present state."""
    return "changed" if Path(file).exists() else "removed"


def _planned(file: str, diff: str) -> str:
    """Return how a file would be changed."""
    if f"--- {file}\n+++ /dev/null\n" in diff:
        return "would remove"
    return "would change" if Path(file).exists() else "would add"


def _show_list(installs: list[install_record.Install], *, as_json: bool) -> None:
    rows: list[dict[str, Any]] = []
    here = detection.found(UserFolders.this(), installs)
    for name, client in CLIENTS.items():
        scopes = [USER] if client.no_project else [USER, PROJECT]
        present = [
            {"scope": each.scope, "folder": each.folder, "agent": each.agent, "url": each.url}
            for each in installs
            if each.client == name
        ]
        row = {"client": name, "title": client.title, "scopes": scopes, "installs": present}
        rows.append({**row, "here": name in here})
    if as_json:
        display.show_json(rows)
        return
    display.show_table(
        ("client", "scopes", "installed", "here"),
        [
            (
                each["client"],
                ", ".join(each["scopes"]),
                _places(each["installs"]),
                "on this machine" if each["here"] else "",
            )
            for each in rows
        ],
    )


def _places(installs: list[dict[str, Any]]) -> str:
    return "; ".join(
        f"as {each['agent']}" + (f" in {each['folder']}" if each["folder"] else "") for each in installs
    )
