"""A running hub for whoever asks, and peers of both revisions of MCP."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from hubbub.serve import followers
from tests.serve.hub import Hub, running_hub
from tests.serve.outbox.receiver import FakeGitHub, Receiver
from tests.serve.web import Visit, Web
from tests.serve.wire import LEGACY, MODERN, Connect, Peer

HOUR = timedelta(hours=1)


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    with running_hub(tmp_path / "hub") as running:
        yield running


@pytest.fixture
def postgres_hub(tmp_path: Path, postgres_url: str) -> Iterator[Hub]:
    with running_hub(tmp_path / "hub", database=postgres_url) as running:
        yield running


@pytest.fixture(params=["hub", "postgres_hub"])
def any_hub(request: pytest.FixtureRequest) -> Hub:
    """A running hub; a test that asks for it runs on both engines."""
    running: Hub = request.getfixturevalue(request.param)
    return running


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
        monkeypatch.setattr(followers, "time", SimpleNamespace(time=lambda: time.time() + ahead))
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
