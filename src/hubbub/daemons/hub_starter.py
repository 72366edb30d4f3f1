"""Starting a hub when one is needed and none runs."""

import os
import subprocess
import time
from collections.abc import Mapping
from math import inf
from pathlib import Path

from hubbub.client import Hub, HubRefused, HubUnreachable, running_hub
from hubbub.model.errors import StoreRefused
from hubbub.model.programs.launching import program
from hubbub.processes.fair_time import FairTime
from hubbub.store.engine.folder_lock import FolderLock
from hubbub.terminal import display

LOG_FILE = "hub.log"
PATIENCE = 60.0  # seconds for a hub to start, of an idle machine: on a busy one they are longer
SILENCE = 10.0  # seconds after which people are told that it is still on its way
LOOK = 0.05
REFUSAL = "Error: "  # before the sentence of a command that refuses
OURS = ("RELAY_", "GXV_")  # prefixes of the variables with a client's identity and place


def ensure_hub(data: Path) -> str:
    """Return the address of the data folder's hub; if there is none, start one, which keeps running.

    It serves every client, so it does not run in the present folder. Raises `HubUnreachable`, with
    the hub's last words, if it does not start.
    """
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    usual_port = running_address(data) or _start(data, cwd=data, environment=environment)
    url = usual_port or _start(data, "--port", "0", cwd=data, environment=environment)
    return _required(url, data)


def start(data: Path, *options: str) -> str:
    """Start a hub for a person, with the options of `hubbub serve`, but in the background; return its address.

    Raises `HubUnreachable`, with the hub's last words, if it does not start.
    """
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    return _required(_start(data, *options, cwd=Path.cwd(), environment=os.environ), data)


def running_address(data: Path) -> str | None:
    """Return the address of the data folder's hub, if it answers."""
    url = running_hub(data)
    if url is None:
        return None
    hub = Hub(url, "")
    try:
        hub.health()
    except (HubUnreachable, HubRefused):
        return None
    finally:
        hub.close()
    return url


def _required(url: str | None, data: Path) -> str:
    if url is None:
        log = data / LOG_FILE
        last = _last_line(log)
        reason = last.removeprefix(REFUSAL)
        where = ": " if reason != last else f"; {log} ends with: "
        raise HubUnreachable(f"no hub could be started{where}{reason}")
    return url


def _start(data: Path, *options: str, cwd: Path, environment: Mapping[str, str]) -> str | None:
    """Start a hub that outlives this process and wait until it answers; None if it ends before.

    It prints no greeting: its output goes to a file, where a sign-in link must not be. Raises `HubUnreachable` if it
    lives and does not answer for too long, as that is counted on a busy machine.
    """
    log_file = data / LOG_FILE
    log_file.touch(mode=0o600)
    with log_file.open("ab") as log:
        hub = subprocess.Popen(
            [*program(), "serve", "--quiet", "--data", str(data), *options],
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    began, fair_time = time.monotonic(), FairTime()
    while (url := running_address(data)) is None:
        if hub.poll() is not None and not _is_in_use(data):
            return running_address(data)
        if fair_time.passed() > PATIENCE:
            raise HubUnreachable(
                f"the hub (process {hub.pid}) is running and does not answer yet; hubbub status tells when it does, "
                f"{log_file} what it does"
            )
        if time.monotonic() > began + SILENCE:
            display.advise(f"this machine is busy: the hub is still starting (process {hub.pid}) …")
            began = inf
        time.sleep(LOOK)
    return url


def _is_in_use(data: Path) -> bool:
    """Tell whether a hub holds the data folder, which another program started meanwhile."""
    try:
        FolderLock.take(data).release()
    except StoreRefused:
        return True
    return False


def _last_line(file: Path) -> str:
    lines = file.read_text("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "nothing"
