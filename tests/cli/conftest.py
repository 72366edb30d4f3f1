"""A hub as a process for every test, and a limit on how long a test may wait for what does not come."""

import math
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.processes import RunningHub
from tests.cli.relay_team import Team
from tests.conftest import address_of
from tests.support.waiting import patience

LIMIT = 60  # seconds, on a machine with nothing else to do


@pytest.fixture(autouse=True)
def limit() -> Iterator[None]:
    def give_up(_signal: int, _frame: object) -> None:
        raise TimeoutError("what the test waits for did not come")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(math.ceil(patience(LIMIT)))
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="session")
def shared_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHub]:
    running = RunningHub(tmp_path_factory.mktemp("hub") / "data")
    running.start()
    yield running
    running.close()


@pytest.fixture
def hub(shared_hub: RunningHub) -> Iterator[RunningHub]:
    """A fresh project of a hub that other tests use too."""
    place = shared_hub.new_project()
    yield place
    place.close()


@pytest.fixture
def own_hub(tmp_path: Path) -> Iterator[RunningHub]:
    """A hub for this test alone, which may be killed."""
    running = RunningHub(tmp_path / "data")
    running.start()
    yield running
    running.close()


@pytest.fixture(params=["sqlite", "postgres"])
def any_hub(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RunningHub]:
    """A hub over either engine, for one test alone."""
    settings = {}
    if request.param == "postgres":
        settings["HUBBUB_DATABASE"] = address_of(request.getfixturevalue("postgres_url"))
    running = RunningHub(tmp_path / "data", settings=settings)
    running.start()
    yield running
    running.close()


@pytest.fixture
def team(hub: RunningHub, tmp_path: Path) -> Iterator[Team]:
    """A fresh project of a hub, and a folder where its team works."""
    with Team.at(hub, tmp_path / "work") as fresh:
        yield fresh


@pytest.fixture
def own_team(own_hub: RunningHub, tmp_path: Path) -> Iterator[Team]:
    """A team whose hub may be killed."""
    with Team.at(own_hub, tmp_path / "work") as fresh:
        yield fresh
