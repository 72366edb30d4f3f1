"""Hubs that run on either engine for as long as the tests do, and a project of its own for each test."""

import logging
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
import structlog
from anyio.from_thread import BlockingPortal, start_blocking_portal
from psycopg import sql

from hubbub.store.postgres import Postgres
from hubbub.store.sqlite import SQLite
from tests.conftest import url_of
from tests.dialects.commhub.hub import Fleet, Hub, StillClock, fresh_fleet, running_hub


@pytest.fixture(scope="session")
def portal() -> Iterator[BlockingPortal]:
    """An event loop for the official client, in a thread of its own."""
    with start_blocking_portal("asyncio") as running:
        yield running


@pytest.fixture(scope="session")
def quiet() -> None:
    """Log what a hub usually logs, not a line for each of the thousands of calls."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.INFO))


@contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="hubbub-commhub-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def sqlite_hub(quiet: None, portal: BlockingPortal) -> Iterator[Hub]:
    clock = StillClock()
    with _folder() as folder:
        store = SQLite.open(folder / "data", clock=clock)
        try:
            with running_hub(store, clock, folder, portal) as hub:
                yield hub
        finally:
            store.close()


@pytest.fixture(scope="session")
def postgres_hub(
    quiet: None, portal: BlockingPortal, postgres_server: str, postgres_template: str
) -> Iterator[Hub]:
    clock = StillClock()
    name = f"hubbub_{uuid4().hex}"
    copied = sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(
        sql.Identifier(name), sql.Identifier(postgres_template)
    )
    with psycopg.connect(postgres_server, autocommit=True) as server:
        server.execute(copied)
    store = Postgres.open(url_of(postgres_server, name), clock=clock)
    try:
        with _folder() as folder, running_hub(store, clock, folder, portal) as hub:
            yield hub
    finally:
        store.close()
        with psycopg.connect(postgres_server, autocommit=True) as server:
            server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture(params=["sqlite", "postgres"])
def hub(request: pytest.FixtureRequest) -> Hub:
    """A running hub; a test that asks for it runs on both engines."""
    running: Hub = request.getfixturevalue(f"{request.param}_hub")
    return running


@pytest.fixture
def fleet(hub: Hub) -> Iterator[Fleet]:
    """A fresh project of a hub on each engine."""
    with fresh_fleet(hub) as fresh:
        yield fresh


@pytest.fixture
def anywhere(sqlite_hub: Hub) -> Iterator[Fleet]:
    """A fresh project of a hub, for what does not depend on the engine."""
    with fresh_fleet(sqlite_hub) as fresh:
        yield fresh


@pytest.fixture
def elsewhere(fleet: Fleet) -> Iterator[Fleet]:
    """Another project of the same hub."""
    with fresh_fleet(fleet.hub) as fresh:
        yield fresh


@pytest.fixture
def anywhere_else(anywhere: Fleet) -> Iterator[Fleet]:
    """Another project of that hub."""
    with fresh_fleet(anywhere.hub) as fresh:
        yield fresh
