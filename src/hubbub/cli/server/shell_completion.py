"""`hubbub completion`: completing commands in a shell."""

import click
from click.shell_completion import get_completion_class

from hubbub.terminal import display
from hubbub.terminal.command import command
from hubbub.terminal.wrong_words import OneOf

NAME = "hubbub"
VARIABLE = "_HUBBUB_COMPLETE"


@command(
    "completion",
    short_help="Print the completion script for your shell.",
    example='eval "$(hubbub completion bash)"\nhubbub completion fish | source',
)
@click.argument("shell", type=OneOf(["bash", "zsh", "fish"]))
def completion(*, shell: str, as_json: bool) -> None:
    """Print the script with which SHELL completes hubbub's commands and options."""
    complete = get_completion_class(shell)
    root = click.get_current_context().find_root().command
    assert complete is not None
    script = complete(root, {}, NAME, VARIABLE).source()
    if as_json:
        display.show_json({"shell": shell, "script": script})
    else:
        click.echo(script)
