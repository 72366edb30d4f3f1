"""The encore: a hub that has the play's story and nobody in it, to be looked at in the dashboard when the play is over.

It is a process of its own that outlives the play, holds a copy of the play's data, and goes by itself after an hour,
with the copy.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlencode

from demo.processes import Vanished
from demo.stage import PROJECT
from hubbub.app import Hub, prepare_process
from hubbub.core.log import activity
from hubbub.core.people import logins, projects
from hubbub.model.people.rights import SYSTEM
from hubbub.model.records import Project
from hubbub.serve.http.page_paths import LOGIN
from hubbub.settings import Settings
from hubbub.store.tx import Tx

LASTS = timedelta(hours=1)
FIRST = ("task.sent",)  # what the story begins with
ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Encore:
    """The place where the story can be looked at: a link that signs in once, and a process that can be ended."""

    link: str
    pid: int


def give(data: Path) -> Encore:
    """Begin, with a copy of the hub's data folder. Raises `Vanished` if it does not come about."""
    folder = Path(tempfile.mkdtemp(prefix="hubbub-encore-"))
    shutil.copytree(data, folder / "hub", ignore=shutil.ignore_patterns("hub.json", "hubbub.lock"))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HUBBUB_")}
    process = subprocess.Popen(
        [sys.executable, "-m", "demo.encore", str(folder)],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    with process.stdout:
        link = process.stdout.readline().strip()
    if not link:
        raise Vanished(f"the encore is gone, with exit code {process.wait()}")
    return Encore(link, process.pid)


def play(folder: Path) -> None:
    """Serve what is in the folder for an hour, or until a signal; then the folder is gone."""
    settings = Settings(data=folder / "hub", port=0, no_node=True, log_level="error")
    try:
        prepare_process(settings)
        hub = Hub(settings)
        end = threading.Timer(LASTS.total_seconds(), hub.stop)
        end.daemon = True
        end.start()
        hub.serve(_say)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def beginning(tx: Tx, project: Project) -> str:
    """The address of the board from the moment on at which the story's first task was sent; it runs by itself."""
    _latest, number = activity.page(tx, project.id, kinds=FIRST, limit=1)
    first, _number = activity.page(tx, project.id, kinds=FIRST, limit=1, offset=max(0, number - 1))
    moment = {"at": first[0].seq, "play": 1} if first else {}
    return f"/board?{urlencode({'project': project.slug, **moment})}"


def _say(hub: Hub) -> None:
    """Tell the play where the hub is, and say nothing more."""
    code = hub.store.write_now(SYSTEM, lambda tx: logins.owners_link(tx, LASTS))
    wanted = hub.store.read_now(SYSTEM, lambda tx: beginning(tx, projects.find(tx, PROJECT)))
    print(f"{hub.url}{LOGIN}/{code}?{urlencode({'next': wanted})}", flush=True)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


if __name__ == "__main__":
    play(Path(sys.argv[1]))
