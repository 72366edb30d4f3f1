"""`hubbub install-service`: the hub as a service of the system."""

import os
from pathlib import Path

import click

from hubbub.cli.server.serve import host_option, no_node_option, port_option, public_url_option
from hubbub.daemons import service_settings
from hubbub.daemons.service_options import installs, put, read_settings
from hubbub.daemons.system_service import ASKED_BY, HubProgram
from hubbub.settings import variable
from hubbub.store.engine import database_address
from hubbub.terminal.command import command, data_option


@command(
    "install-service",
    short_help="Run the hub as a system service.",
    example="hubbub install-service --start\nsudo hubbub install-service --system",
)
@installs
@host_option
@port_option
@public_url_option
@no_node_option
@data_option
def install_service(
    *,
    data: str | None,
    host: str | None,
    port: str | None,
    public_url: str | None,
    no_node: bool | None,
    whole_system: bool,
    only_shown: bool,
    **chosen: bool,
) -> None:
    """Install hubbub serve as a service: for systemd on Linux, for launchd on macOS.

    It works with the data folder and the working folder of this command. Settings of the environment, such as
    HUBBUB_DATABASE, are kept in a file of the data folder that only you may read; an empty variable ends one.
    """
    given = {"host": host, "port": port, "public_url": public_url}
    ours = read_settings(whole_system=whole_system, data=data, **given)
    flags = ("--no-node",) if no_node else ()
    options = (*(f"--{name.replace('_', '-')}={text}" for name, text in given.items() if text), *flags)
    named = (*(name for name, text in given.items() if text), *(("no_node",) if no_node else ()))
    variables = service_settings.kept(ours.data, os.environ, without=named)
    if variable("database") not in variables:
        database_address.require_none(ours.data)
    if not (only_shown or whole_system):
        ours.data.mkdir(mode=service_settings.FOLDER_MODE, parents=True, exist_ok=True)
    file = ours.data / service_settings.FILE
    if not only_shown and (variables or file.exists()):
        service_settings.write(ours.data, variables, user=os.environ.get(ASKED_BY) if whole_system else None)
    hub = HubProgram(
        data=ours.data,
        config=ours.config,
        cwd=Path.cwd(),
        options=options,
        environment=file if variables else None,
    )
    put(hub, whole_system=whole_system, only_shown=only_shown, **chosen)
    if variables:
        verb = "would be" if only_shown else "are"
        click.echo(f"Its settings {verb} in {file}: {', '.join(sorted(variables))}", err=True)
