"""`hubbub up` and `hubbub down`: the hub, with its own machine, in the background."""

import os
import signal
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from datetime import timedelta
from pathlib import Path

import click

from hubbub.cli.clients.left_behind import left_behind
from hubbub.cli.server import greeting
from hubbub.cli.server.serve import host_option, is_elsewhere, port_option, warn_of_unknown_variables
from hubbub.client import Hub, HubRefused, HubUnreachable, owner_token, running_hub
from hubbub.clients.hook import ringer_process
from hubbub.clients.wake import ringer
from hubbub.daemons import hub_starter
from hubbub.serve.http import listener
from hubbub.settings import Settings, read
from hubbub.store.engine.folder_lock import holder_of
from hubbub.terminal import display
from hubbub.terminal.command import command, data_option

PATIENCE = timedelta(seconds=30)  # for a hub that is told to stop
LOOK = timedelta(milliseconds=50)
WORKER = "work"  # the runtime of agents that `hubbub work` runs


@command("up", short_help="Start the hub in the background.", example="hubbub up\nhubbub up --port 9000")
@data_option
@host_option
@port_option
def up(*, data: str | None, host: str | None, port: str | None, as_json: bool) -> None:
    """Start the hub of the data folder in the background, with this machine, and wait until it is ready.

    Agents work in the current folder, unless the machine's policy says where. Settings come from the environment.
    """
    warn_of_unknown_variables()
    chosen = read(data=data, host=host, port=port)
    url = hub_starter.running_address(chosen.data)
    given = {"host": host, "port": port}
    is_new = url is None
    if url is None:
        url = _start(chosen, given)
    elif is_elsewhere(url, chosen, given):
        options = "".join(f" --{name} {text}" for name, text in given.items() if text)
        raise click.ClickException(
            f"the hub of this data folder already runs at {url}; to move it: hubbub down, then hubbub up{options}"
        )
    if ringer.rings_for(chosen.config, None):
        ringer_process.start(str(chosen.config))
    greeting.show(url, chosen, is_new=is_new, as_json=as_json)
    if is_new and (warning := listener.exposure(chosen.host, chosen.public_url)):
        click.echo(f"Warning: {warning}", err=True)
    _tell_of_clients(chosen.config, url)


def _tell_of_clients(config: Path, url: str) -> None:
    """Name the clients that use another address of this machine, where no hub is any more, with the remedy."""
    for each in left_behind(config, url):
        where = f" (in {each.folder})" if each.folder else ""
        told = (
            f"{each.client} still uses {each.url}, where no hub answers; connect it here{where}: {each.again}"
        )
        click.echo(f"Warning: {display.clean(told)}", err=True)


def _start(chosen: Settings, given: Mapping[str, str | None]) -> str:
    display.advise("starting the hub …")
    listener.listen(chosen.host, chosen.port).close()  # a taken port is told before a hub is started in vain
    try:
        return hub_starter.start(chosen.data, *(f"--{name}={text}" for name, text in given.items() if text))
    except HubUnreachable as error:
        raise click.ClickException(display.clean(str(error))) from None


@command("down", short_help="Stop the hub that runs in the background.", example="hubbub down")
@data_option
def down(*, data: str | None, as_json: bool) -> None:
    """Stop the hub of the data folder, however it was started, and wait until it has stopped."""
    settings = read(data=data)
    folder = settings.data
    _stop_ringing(settings.config, running_hub(folder))
    workers = [] if as_json else _workers(folder)
    pid = holder_of(folder)
    if pid is not None:
        os.kill(pid, signal.SIGTERM)
        _wait_until_gone(folder, pid)
    display.show_result(
        {"stopped": pid is not None},
        "the hub has stopped" if pid is not None else "no hub is running on the data folder",
        as_json=as_json,
    )
    if workers:
        number = "1 worker still runs" if len(workers) == 1 else f"{len(workers)} workers still run"
        names = display.clean(", ".join(workers))
        display.show(f"{number} and will go on when the hub is back: {names}")


def _workers(data: Path) -> list[str]:
    """Name the agents that `hubbub work` runs by itself, as far as the hub tells: they outlive it."""
    url, token = running_hub(data), owner_token(data)
    if url is None or token is None:
        return []
    with closing(Hub(url, token)) as hub, suppress(HubRefused, HubUnreachable):
        projects = [each["slug"] for each in hub.get("/me")["projects"]]
        agents = [
            each for slug in projects for each in Hub(url, token, project=slug).get("/agents")["agents"]
        ]
        return [
            each["name"]
            for each in agents
            if each["live"] and each["runtime"] == WORKER and each["placed"] is None
        ]
    return []


def _stop_ringing(config: Path, url: str | None) -> None:
    """Stop the ringer if it rings only for the hub at `url`."""
    if url is None or not ringer.rings_for(config, url) or ringer.rings_for(config, None, but=url):
        return
    ringer_process.stop(str(config))


def _wait_until_gone(data: Path, pid: int) -> None:
    """Raise `click.ClickException` if the process holds the data folder for too long."""
    deadline = time.monotonic() + PATIENCE.total_seconds()
    while holder_of(data) == pid or _lives(pid):
        if time.monotonic() > deadline:
            raise click.ClickException(f"the hub (process {pid}) has not stopped yet; see its log")
        time.sleep(LOOK.total_seconds())


def _lives(pid: int) -> bool:
    """Tell whether the process lives, and is not just an unreaped one."""
    try:
        os.kill(pid, 0)
        return ") Z " not in Path("/proc", str(pid), "stat").read_text("utf-8")
    except ProcessLookupError:
        return False
    except OSError:  # no such folder on this platform, which reports every end
        return True
