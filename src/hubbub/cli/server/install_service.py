"""`hubbub install-service`: the hub as a service of the system."""

from pathlib import Path

from hubbub.cli.server.serve import host_option, no_node_option, port_option, public_url_option
from hubbub.daemons.service_options import installs, put, read_settings
from hubbub.daemons.system_service import HubProgram
from hubbub.terminal.command import command, data_option

FOLDER_MODE = 0o700


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

    It works with the data folder and the working folder of this command. A setting that is only in the environment
    stays there: no secret gets into the unit.
    """
    given = {"host": host, "port": port, "public_url": public_url}
    ours = read_settings(whole_system=whole_system, data=data, **given)
    if not (only_shown or whole_system):
        ours.data.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    options = tuple(f"--{name.replace('_', '-')}={text}" for name, text in given.items() if text)
    options += ("--no-node",) if no_node else ()
    hub = HubProgram(data=ours.data, config=ours.config, cwd=Path.cwd(), options=options)
    put(hub, whole_system=whole_system, only_shown=only_shown, **chosen)
