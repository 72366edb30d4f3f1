"""Real clients against a scripted model on loopback. Not part of the suite: `make e2e` runs them."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cli.processes import RunningHub
from tests.clients.e2e.desk import Desk
from tests.support import process_table

LIMIT = 300  # seconds


@pytest.fixture(autouse=True)
def limit() -> Iterator[None]:
    def give_up(_signal: int, _frame: object) -> None:
        pytest.fail(f"what the test waits for did not come within {LIMIT} s")  # no OSError, which some catch

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(LIMIT)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A fresh machine: an empty home, an empty folder to work in, and a hub that runs."""
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    hub = RunningHub(tmp_path / "data")
    hub.start()
    yield Desk(home, work, hub)
    hub.close()
    _end_what_runs_from(tmp_path)


def _end_what_runs_from(folder: Path) -> None:
    """Kill what a client has installed there and left running, as Codex does with its server and that one's updater."""
    for pid, command in process_table.commands():
        if command.startswith(bytes(folder)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
