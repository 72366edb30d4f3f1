"""A running hub for whoever asks, and peers of both revisions of MCP."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import pytest
from argon2 import PasswordHasher

from hubbub.serve.http import passwords
from hubbub.serve.live import subscribers
from tests.conftest import postgres_copy
from tests.serve.mcp.wire import LEGACY, MODERN, Connect, Peer
from tests.serve.outbox.receivers import FakeGitHub, Receiver
from tests.serve.served_hub import Hub, anew, running_hub
from tests.serve.web_client import Visit, Web
from tests.support.memory_folder import in_memory

HOUR = timedelta(hours=1)


@pytest.fixture(scope="session", autouse=True)
def quick_passwords() -> Iterator[None]:
    """Passwords are hashed as always, only with less work: it takes a tenth of a second each on purpose."""
    with pytest.MonkeyPatch.context() as patch:
        quick = partial(PasswordHasher, time_cost=1, memory_cost=8, parallelism=1)
        patch.setattr(passwords, "PasswordHasher", quick)
        yield


@pytest.fixture(scope="session")
def sqlite_hub() -> Iterator[Hub]:
    with (
        TemporaryDirectory(prefix="hubbub-serve-", dir=in_memory()) as folder,
        running_hub(Path(folder), no_node=True) as running,
    ):
        yield running


@pytest.fixture(scope="session")
def postgres_hub(
    tmp_path_factory: pytest.TempPathFactory, postgres_server: str, postgres_template: str
) -> Iterator[Hub]:
    with (
        postgres_copy(postgres_server, postgres_template) as url,
        running_hub(tmp_path_factory.mktemp("shared"), database=url, no_node=True) as running,
    ):
        yield running


# For what can come out differently on the two engines through all layers: races, waits, order, counters, rollback.
both_engines = pytest.mark.parametrize("hub", ["sqlite", "postgres"], indirect=True)

# For what stops its hub, breaks it, counts its streams, or wants its machine.
with_own_hub = pytest.mark.parametrize("hub", ["own"], indirect=True)


@pytest.fixture
def hub(request: pytest.FixtureRequest) -> Hub:
    """A hub without a machine, over SQLite, which tests share one after the other: each begins in a new world.

    Tests that are marked with `both_engines` or `with_own_hub` have another.
    """
    kind = getattr(request, "param", "sqlite")
    running: Hub = request.getfixturevalue(f"{kind}_hub")
    return running if kind == "own" else anew(running)


@pytest.fixture
def own_hub(tmp_path: Path) -> Iterator[Hub]:
    with running_hub(tmp_path / "hub") as running:
        yield running


@pytest.fixture
def visit() -> Iterator[Visit]:
    """Makes clients of plain HTTP, and closes them."""
    with ExitStack() as clients:

        def made(hub: Hub, secret: str | None = None, root: str = "/api/v1") -> Web:
            client = Web(hub.url + root, secret)
            clients.callback(client.http.close)
            return client

        yield made


@pytest.fixture
def expiring(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> Callable[[timedelta], str]:
    """Makes a token for whose streams so much time is left, counted from when they begin: connecting takes a while."""

    def made(left: timedelta) -> str:
        ahead = (HOUR - left).total_seconds()
        monkeypatch.setattr(subscribers, "time", SimpleNamespace(time=lambda: time.time() + ahead))
        return hub.token(ttl=HOUR)

    return made


@pytest.fixture(params=[LEGACY, MODERN])
def revision(request: pytest.FixtureRequest) -> str:
    """A test that asks for it is run in both revisions."""
    return str(request.param)


@pytest.fixture
def connect(hub: Hub) -> Iterator[Connect]:
    """Makes peers, from a token's secret and a revision, and closes them."""
    with ExitStack() as peers:

        def connected(secret: str, revision: str) -> Peer:
            peer = Peer(hub, secret, revision)
            peers.callback(peer.http.close)
            return peer

        yield connected


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A server for webhooks."""
    server = Receiver()
    with server.serving():
        yield server


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    """A server that answers as GitHub does."""
    server = FakeGitHub()
    with server.serving():
        yield server
