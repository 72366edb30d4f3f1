"""`hubbub serve`: the hub itself."""

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import click

from hubbub import settings
from hubbub.daemons import service_settings
from hubbub.model import data_folder
from hubbub.model.programs import loading
from hubbub.terminal import display
from hubbub.terminal.command import command, data_option

host_option = click.option("--host", metavar="ADDRESS", help="The address to listen on. [default: 127.0.0.1]")
port_option = click.option(
    "--port", metavar="N", help="The port to listen on; 0 takes any free one. [default: 8420]"
)
public_url_option = click.option(
    "--public-url", metavar="URL", help="Address at which the hub is reached from outside."
)
no_node_option = click.option(
    "--no-node", is_flag=True, default=None, help="Do not offer this machine as a node."
)


@command(
    "serve",
    short_help="Run the hub in the foreground.",
    example="hubbub serve\nhubbub serve --port 9000 --data ./hub-data",
)
@data_option
@host_option
@port_option
@click.option(
    "--database", metavar="URL", help="Database, as postgresql://… [default: SQLite in the data folder]"
)
@click.option("--root-dialect", metavar="NAME", help="The dialect at /mcp. [default: hub]")
@public_url_option
@no_node_option
@click.option("--keep-log-days", metavar="N", help="Days to keep the log. [default: forever]")
@click.option(
    "--claim-minutes",
    metavar="N",
    help="Minutes that a file stays claimed after its last edit. [default: 30]",
)
@click.option(
    "--watch-loop",
    metavar="MS",
    help="Log the stack of code that blocks the event loop for more milliseconds. [default: off]",
)
@click.option(
    "--environment",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Variables, as lines NAME=VALUE, for settings that the environment does not have.",
)
@click.option("--quiet", is_flag=True, help="Print nothing when it is ready.")
@click.option(
    "--open-registration", is_flag=True, default=None, help="Let anyone who reaches the hub register."
)
def serve(*, quiet: bool, environment: Path | None, as_json: bool, **given: str | bool | None) -> None:
    """Run the hub until you press Ctrl-C.

    Each option may also be given as HUBBUB_<NAME>. The first start makes the user `owner`, the project `default` and
    the file `owner-token` in the data folder. If a hub of that folder is already running, this shows it and ends.
    """
    for name, value in service_settings.read(environment).items() if environment is not None else ():
        os.environ.setdefault(name, value)
    warn_of_unknown_variables()
    chosen = settings.read(None, **given, log_format="json" if as_json else None)
    if not quiet and (running := _running(chosen, given)) is not None:
        from hubbub.cli.server import greeting

        greeting.show(running, chosen, is_new=False, as_json=as_json)
        return
    with loading.at_once():
        from hubbub import app

    app.run(chosen, is_quiet=quiet)


def warn_of_unknown_variables() -> None:
    """Say on standard error, before a hub is started, which variables it does not know: they do nothing."""
    for name, meant in settings.unknown_variables(os.environ).items():
        click.echo(f"Warning: {display.clean(about_unknown(name, meant))}", err=True)


def about_unknown(name: str, meant: str | None) -> str:
    """Return the sentence about a variable that hubbub does not know."""
    return f"{name} is unknown and does nothing" + (f": {meant} is meant?" if meant else "")


def _running(chosen: settings.Settings, given: Mapping[str, object]) -> str | None:
    """Return the address of the hub that serves the data folder already, unless another place was asked for."""
    if data_folder.running_hub(chosen.data) is None:
        return None
    from hubbub.daemons import hub_starter

    url = hub_starter.running_address(chosen.data)
    return None if url is None or is_elsewhere(url, chosen, given) else url


def is_elsewhere(url: str, chosen: settings.Settings, given: Mapping[str, object]) -> bool:
    """Tell whether options ask for another host or port than that of a running hub."""
    from hubbub.serve.http.listener import url_of

    place, wanted = urlsplit(url), urlsplit(url_of(chosen.host, chosen.port))
    return any(
        given[name] is not None and has != asked
        for name, has, asked in (("host", place.hostname, wanted.hostname), ("port", place.port, wanted.port))
    )
