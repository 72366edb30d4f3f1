"""`hubbub help` and `hubbub version`: for people who do not know yet that these are options."""

import click

from hubbub.terminal import display, versions
from hubbub.terminal.command import command


@command("help", short_help="Show the help of a command.", example="hubbub help\nhubbub help task add")
@click.argument("words", metavar="[COMMAND]...", nargs=-1)
@click.pass_context
def help_(context: click.Context, /, *, words: tuple[str, ...], as_json: bool) -> None:
    """Show the help of COMMAND, as `hubbub COMMAND --help` does; without it, the list of commands."""
    found = context.find_root()
    for word in words:
        if not isinstance(found.command, click.Group):
            raise click.UsageError(f"{found.command_path!r} has no commands of its own")
        _name, meant, _rest = found.command.resolve_command(found, [word])
        assert meant is not None  # a wrong word was refused
        found = click.Context(meant, info_name=word, parent=found)
    text = found.get_help()
    display.show_json({"help": text}) if as_json else click.echo(text)


@command("version", short_help="Show version information.", example="hubbub version --json")
def version(*, as_json: bool) -> None:
    """Show the versions of hubbub and of its libraries, like `hubbub --version`."""
    versions.show(as_json=as_json)
