"""Hubs that run on either engine for as long as the tests do."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from hubbub.settings import Settings
from hubbub.store.engine.postgres import Postgres
from hubbub.store.engine.sqlite import SQLite
from tests.conftest import postgres_copy
from tests.dialects.running_hub import Hub, StillClock, running_hub
from tests.support.memory_folder import in_memory
from tests.support.migrated_database import migrated


@pytest.fixture(scope="session")
def portal() -> Iterator[BlockingPortal]:
    """An event loop for the official client, in a thread of its own."""
    with start_blocking_portal("asyncio", {"use_uvloop": True}) as running:
        yield running


@contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="hubbub-dialects-", dir=in_memory()))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def sqlite_hub(portal: BlockingPortal) -> Iterator[Hub]:
    clock = StillClock()
    with _folder() as folder:
        store = SQLite.open(migrated(folder / "data"), clock=clock)
        try:
            with running_hub(store, clock, Settings(data=folder), portal) as hub:
                yield hub
        finally:
            store.close()


@pytest.fixture(scope="session")
def postgres_hub(portal: BlockingPortal, postgres_server: str, postgres_template: str) -> Iterator[Hub]:
    clock = StillClock()
    with postgres_copy(postgres_server, postgres_template) as url, _folder() as folder:
        store = Postgres.open(url, clock=clock)
        try:
            with running_hub(store, clock, Settings(data=folder), portal) as hub:
                yield hub
        finally:
            store.close()


# For what can come out differently on the two engines through all layers: races, waits, order, counters, rollback.
# The core's own tests run on both every day, so PostgreSQL beneath all layers is for `make check`.
both_engines = pytest.mark.parametrize(
    "hub", ["sqlite", pytest.param("postgres", marks=pytest.mark.system)], indirect=True
)


@pytest.fixture
def hub(request: pytest.FixtureRequest) -> Hub:
    """A running hub, over SQLite unless the test is marked with `both_engines`."""
    running: Hub = request.getfixturevalue(f"{getattr(request, 'param', 'sqlite')}_hub")
    return running
