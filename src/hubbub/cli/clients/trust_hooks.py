"""`hubbub trust`: the hooks of a project's team files, seen by a person before they run."""

import os
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from hubbub import settings
from hubbub.terminal import display, questions
from hubbub.terminal.command import command, data_option
from hubbub.workspace import locations, teams
from hubbub.workspace.teams import TeamHook


@command(
    "trust", short_help="Allow the hooks of a project to run.", example="hubbub trust\nhubbub trust --list"
)
@click.argument(
    "place",
    metavar="[DIR]",
    required=False,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
)
@click.option("--list", "only_list", is_flag=True, help="Show the hooks, and change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@data_option
def trust(*, place: Path | None, only_list: bool, yes: bool, data: str | None, as_json: bool) -> None:
    """Show the hooks in the team files of the project in DIR, or in this folder, and allow them to run.

    Allowed hooks are remembered by their hash, for this folder on this machine. A new or changed hook does not run
    until you allow it, too.
    """
    from hubbub.node.gate import hook_trust

    kept = settings.read(data=data).data
    workspace = locations.find(os.environ if place is None else {}, (place or Path()).absolute())
    found, faults = teams.hooks(workspace)
    rows = [_row(each, is_trusted=hook_trust.is_seen(each.command, workspace.root, kept)) for each in found]
    unseen = [row["command"] for row in rows if not row["trusted"]]
    if not as_json and (rows or not faults):
        _show(rows)
    if unseen and not only_list and (yes or _agrees(as_json=as_json)):
        hook_trust.trust(unseen, workspace.root, kept)
        rows = [_row(each, is_trusted=True) for each in found]
    if as_json:
        display.show_json(rows)
    if faults:
        raise click.ClickException("\n".join(display.clean(str(each)) for each in faults))


def _row(hook: TeamHook, *, is_trusted: bool) -> dict[str, Any]:
    return {**hook._asdict(), "trusted": is_trusted}


def _show(rows: Sequence[dict[str, Any]]) -> None:
    """Print each hook whole: a hidden part would not count as seen."""
    for row in rows:
        said = "" if row["trusted"] else ", not trusted yet"
        display.show(f"{row['file']}: {row['agent']}: {row['hook']}{said}", lines=False)
        display.show(textwrap.indent(row["command"], "    "))
    if not rows:
        display.show("there are no hooks in the team files of this project")


def _agrees(*, as_json: bool) -> bool:
    """Ask the person for consent; with JSON ask nothing, and decline."""
    if not as_json:
        questions.require_yes("Let these run, with your rights?")
    return not as_json
