"""`hubbub install`: a client of this machine becomes an agent of the hub, and leaves it again without a trace."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from hubbub import settings
from hubbub.cli.clients.install_steps import InstallOptions, InstallOutcome, install_client, uninstall_client
from hubbub.clients import install_record
from hubbub.clients.install.client_installer import PROJECT, USER
from hubbub.clients.install.install_plan import CannotInstall
from hubbub.clients.install.known_clients import CLIENTS
from hubbub.daemons import hub_starter
from hubbub.terminal import display
from hubbub.terminal.command import DEFAULT_PROJECT, Choice, chooses_hub, command
from hubbub.terminal.wrong_words import OneOf

USUAL_HUB = "http://127.0.0.1:{port}"


@command(
    "install",
    short_help="Make a client of this machine an agent of the hub.",
    example="hubbub install claude-code\nhubbub install codex --as ember --dry-run\nhubbub install codex --uninstall",
)
@click.argument("client", type=OneOf([*CLIENTS]), metavar="CLIENT", required=False)
@click.option(
    "--scope",
    type=OneOf([USER, PROJECT]),
    default=USER,
    show_default=True,
    help="For all that you do, or for the project in the present folder.",
)
@click.option("--as", "agent", metavar="NAME", help="Which agent it is. [default: the client's name]")
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--uninstall", is_flag=True, help="Take back what an install did.")
@click.option("--force", is_flag=True, help="Also replace what is there under our name.")
@click.option("--list", "only_list", is_flag=True, help="List the clients, and what is installed.")
@chooses_hub
def install(
    *,
    client: str | None,
    scope: str,
    agent: str | None,
    dry_run: bool,
    uninstall: bool,
    force: bool,
    only_list: bool,
    choice: Choice,
    as_json: bool,
) -> None:
    """Connect CLIENT to the hub, as an agent with a token of its own, then try whether it connects.

    Changes only what is ours in the client's files, which stay as they are otherwise. Starts a hub when none runs and
    no --url is given.
    """
    config = settings.read().config
    if only_list:
        _show_list(install_record.read(config), as_json=as_json)
        return
    if client is None:
        raise click.UsageError(f"say which client: {', '.join(CLIENTS)}")
    known = CLIENTS[client]
    if scope == PROJECT and known.no_project:
        raise click.UsageError(known.no_project)
    wish = InstallOptions(known, scope, Path.cwd(), config, dry_run=dry_run, force=force)
    try:
        outcome = uninstall_client(wish, choice) if uninstall else _installed(wish, choice, agent)
    except CannotInstall as unfit:
        if unfit.snippet is None:
            raise
        sentence, snippet = display.clean(str(unfit)), display.clean(unfit.snippet, lines=True)
        raise click.ClickException(f"{sentence}\n\n{snippet}") from None
    _show(wish, outcome, as_json=as_json)


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


def _show(wish: InstallOptions, outcome: InstallOutcome, *, as_json: bool) -> None:
    if as_json:
        display.show_json(outcome.facts())
    else:
        for line in _lines(wish, outcome):
            display.show(line)
    if not outcome.well:
        raise click.ClickException(display.clean(outcome.sentence))


def _lines(wish: InstallOptions, outcome: InstallOutcome) -> list[str]:
    """Return the lines for standard output: everything except a failure."""
    is_undone = wish.dry_run or outcome.conflicts
    shown = [outcome.diff.rstrip("\n")] if outcome.diff and is_undone else []
    changed = [] if is_undone else _changed(wish, outcome.changed)
    return [*shown, *changed, *outcome.notes, *([outcome.sentence] if outcome.well else [])]


def _changed(wish: InstallOptions, files: Sequence[str]) -> list[str]:
    """Return a line for each file of the client; the files in hubbub's own folder share one."""
    own = [file for file in files if Path(file).is_relative_to(wish.config)]
    lines = [f"{_deed(file)} {file}" for file in files if file not in own]
    deed = "changed" if any(_deed(file) == "changed" for file in own) else "removed"
    return [*lines, f"{deed} {len(own)} files in {wish.config}"] if own else lines


def _deed(file: str) -> str:
    """Tell from a file's present state what was done to it."""
    return "changed" if Path(file).exists() else "removed"


def _show_list(installs: list[install_record.Install], *, as_json: bool) -> None:
    rows: list[dict[str, Any]] = []
    for name, client in CLIENTS.items():
        scopes = [USER] if client.no_project else [USER, PROJECT]
        present = [
            {"scope": each.scope, "folder": each.folder, "agent": each.agent, "url": each.url}
            for each in installs
            if each.client == name
        ]
        rows.append({"client": name, "title": client.title, "scopes": scopes, "installs": present})
    if as_json:
        display.show_json(rows)
        return
    display.show_table(
        ("client", "scopes", "installed"),
        [(each["client"], ", ".join(each["scopes"]), _places(each["installs"])) for each in rows],
    )


def _places(installs: list[dict[str, Any]]) -> str:
    return "; ".join(
        f"as {each['agent']}" + (f" in {each['folder']}" if each["folder"] else "") for each in installs
    )
