"""Real clients against a scripted model on loopback. Not part of the suite: `make e2e` runs them."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.processes import RunningHub
from tests.clients.e2e.desk import Desk, desk_in

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
    with desk_in(tmp_path, RunningHub(tmp_path / "data")) as made:
        yield made
