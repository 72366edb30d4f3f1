"""`hubbub ring`: wakes the idle clients of this machine that have to be woken from outside."""

import os
import signal

import click

from hubbub.clients.hook import ringer_process
from hubbub.clients.install_record import Install
from hubbub.clients.install_record import read as read_installs
from hubbub.clients.wake.ringer import Ringer, wake_channels
from hubbub.settings import read
from hubbub.terminal import display
from hubbub.terminal.command import command


@command("ring", short_help="Wake idle clients of this machine; starts by itself.", example="hubbub ring")
def ring(*, as_json: bool) -> None:
    """Wake idle clients on this machine until you press Ctrl-C, or until no installed client needs it.

    Codex has to be woken from outside. `hubbub up`, `hubbub install` and the clients start this by themselves; only
    one runs at a time.
    """
    config = read().config
    ringer = Ringer(config, wake_channels(os.environ))
    served = [each for each in read_installs(config) if each.client in ringer.doors]
    if not served:
        _show([], as_json=as_json)
        return
    lock = ringer_process.take(str(config))
    if lock is None:
        raise click.ClickException("hubbub ring is already running")
    try:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: ringer.stopped.set())
        _show(served, as_json=as_json)
        ringer.run()
    finally:
        lock.release()


def _show(served: list[Install], *, as_json: bool) -> None:
    if as_json:
        display.show_json({"rings_for": [{"client": each.client, "agent": each.agent} for each in served]})
        return
    names = ", ".join(f"{each.agent} ({each.client})" for each in served)
    display.show(f"waking {names}" if served else "no installed client needs waking; see hubbub install")
