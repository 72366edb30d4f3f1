"""`hubbub watch`: the command itself."""

import sys

import click

from hubbub.client import Hub
from hubbub.model.log.projection import NOUNS, Projector
from hubbub.terminal import display
from hubbub.terminal.command import command, uses_project


@command("watch", short_help="Show the dashboard in the terminal.", example="hubbub watch")
@uses_project
def watch(*, hub: Hub, as_json: bool) -> None:
    """Show what needs you, the board, the fleet and the log, and act by keys; `?` lists them.

    With --json print the project's picture once: its tasks, agents, machines, approvals, messages and overlaps.
    """
    snapshot = hub.get("/snapshot")  # a refusal is shown before the screen is taken
    if as_json:
        picture = Projector.of(snapshot["picture"]).picture
        display.show_json({noun: list(picture[noun].values()) for noun in NOUNS})
        return
    from hubbub.watch.screen import Watch  # takes a while to import

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise click.UsageError("it needs a terminal; --json prints what there is, once")
    roles = {each["slug"]: each["role"] for each in hub.get("/me")["projects"]}
    Watch(hub, acts=roles.get(snapshot["project"]) != "viewer").run()
