"""The right to watch live, and its end, through a real WebSocket."""

import base64
import os
import socket
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from queue import Queue
from urllib.parse import urlsplit

import httpx2
import pytest

from hubbub.core.mail import messages
from hubbub.model.errors import StoreUnavailable
from hubbub.model.people.rights import Role
from hubbub.serve.dialect_apis import relay_websocket
from hubbub.serve.http import server
from hubbub.serve.live.subscribers import Subscribers
from tests.serve.conftest import both_engines, with_own_hub
from tests.serve.dialect_apis.watchers import refused, watching
from tests.serve.served_hub import Hub, running_hub
from tests.support.waiting import patience

KEEPALIVE_TIMEOUT = (1011).to_bytes(2, "big")  # as it stands in a frame


# Who may


def test_no_token_no_view(hub: Hub) -> None:
    """Without a valid token the upgrade is refused with 401."""
    assert refused(hub, None)[:2] == (401, "unauthorized")
    assert refused(hub, "ntok_" + "0" * 32)[:2] == (401, "unauthorized")


def test_the_token_may_come_in_the_query(hub: Hub) -> None:
    """Browsers, which cannot send headers, give the token as `?token=`."""
    with watching(hub, None, token=hub.token()) as watch:
        assert watch.next()["type"] == "session:snapshot"


def test_foreign_pages_and_hosts_are_refused(hub: Hub) -> None:
    """A foreign Origin is a 403 and a wrong Host a 421, whatever the token; the hub's own pages may watch."""
    secret = hub.token()
    assert refused(hub, secret, headers={"Origin": "https://evil.example"})[0] == 403
    assert refused(hub, None, headers={"Origin": "null"}, token=secret)[0] == 403
    assert handshake(hub, secret, host="evil.example").startswith("HTTP/1.1 421 ")
    with watching(hub, secret, headers={"Origin": "https://hub.example.org"}) as watch:
        assert watch.next()["type"] == "session:snapshot"


def test_a_view_needs_a_project_that_is_ones_own(hub: Hub) -> None:
    """A project of others is a 404; several, and none named, a 400 with a sentence that names them."""
    secret = hub.token()
    hub.other_project()
    assert refused(hub, secret, project="elsewhere")[:2] == (404, "project_denied")
    status, code, sentence = refused(hub, hub.owner_secret)
    assert (status, code) == (400, "project_required")
    assert "default, elsewhere" in sentence


@pytest.mark.parametrize("name", ["nowhere", "no\0where", "代码", " "])
def test_a_run_that_is_not_there_cannot_be_watched(hub: Hub, name: str) -> None:
    """A run that was never there, whatever it is called, is a 404."""
    assert refused(hub, hub.token(), session=name)[:2] == (404, "not_found")


def test_viewers_may_watch_and_leave_no_trace(hub: Hub) -> None:
    """Watching changes nothing: a viewer may, and no run is named by it."""
    with watching(hub, hub.token(role=Role.VIEWER)) as watch:
        assert watch.next()["sessionId"] is None


def test_a_refusal_is_no_alarm(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A refused caller has had an answer; nothing about it is logged as an error."""
    with running_hub(tmp_path / "hub") as hub:
        assert refused(hub, None)[0] == 401
        assert refused(hub, hub.token(), session="nowhere")[0] == 404
    assert [record.message for record in caplog.records if record.levelname == "ERROR"] == []


def test_elsewhere_there_is_no_websocket(hub: Hub) -> None:
    """At any other address a WebSocket is a 404; and plain HTTP at this one a 426."""
    for path in ("/", "/events", "/mcp/relay", "/api/v1/runs", "/ws/x"):
        assert refused(hub, hub.token(), path)[:2] == (404, "not_found")
    answer = httpx2.get(hub.url + "/ws", headers={"Authorization": f"Bearer {hub.token()}"})
    assert (answer.status_code, answer.json()["error"]) == (426, "upgrade_required")
    assert answer.headers["upgrade"] == "websocket"


# How it ends


@both_engines
def test_a_view_ends_when_its_token_is_revoked(hub: Hub) -> None:
    """Revoking the token closes the view with 1008, and what happens afterwards is not told."""
    secret = hub.token()
    with watching(hub, secret) as watch:
        watch.next()
        hub.meet("before")
        assert watch.next()["agentId"] == "before"
        hub.revoke(secret)
        hub.meet("after")
        told, code = watch.end()
    assert (code, [each["agentId"] for each in told if each["agentId"] == "after"]) == (1008, [])


def test_a_view_ends_when_its_token_expires(hub: Hub, expiring: Callable[[timedelta], str]) -> None:
    """A view lasts no longer than its token is valid."""
    with watching(hub, expiring(timedelta(seconds=2))) as watch:
        assert watch.next()["type"] == "session:snapshot"
        assert watch.end() == ([], 1008)


def test_a_view_ends_when_the_hub_stops(tmp_path: Path) -> None:
    """A hub that stops closes its views with 1012."""
    with running_hub(tmp_path / "hub") as hub, watching(hub, hub.token()) as watch:
        watch.next()
        hub.served.stop()
        assert watch.end() == ([], 1012)


def test_a_view_ends_when_the_store_cannot_be_read(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """A watcher that cannot be told what happened is sent away with 1013, to come back later."""

    def broken(*_args: object) -> list[object]:
        raise StoreUnavailable("the disk is gone")

    with watching(hub, hub.token()) as watch:
        watch.next()
        monkeypatch.setattr("hubbub.dialects.relay.live_view.frames", broken)
        hub.meet("a")
        assert watch.end() == ([], 1013)


def test_what_watchers_say_is_ignored(hub: Hub) -> None:
    """A little talk, of text or bytes, changes nothing."""
    with watching(hub, hub.token()) as watch:
        watch.next()
        for said in ("hello", "{", b"\xff", "x" * 1024):
            watch.connection.send(said)
        hub.meet("a")
        assert watch.next()["agentId"] == "a"


def test_what_is_too_large_closes_the_view(hub: Hub) -> None:
    """A frame of more than 1 KiB closes the view with 1009."""
    with watching(hub, hub.token()) as watch:
        watch.next()
        watch.connection.send("x" * 1025)
        assert watch.end() == ([], 1009)


def test_a_flood_closes_the_view(hub: Hub) -> None:
    """A client that talks without end is sent away with 1008."""
    with watching(hub, hub.token()) as watch:
        watch.next()
        for _ in range(relay_websocket.MOST_RECEIVED + 1):
            watch.connection.send("x")
        assert watch.end() == ([], 1008)


@with_own_hub
def test_a_watcher_that_leaves_is_forgotten(hub: Hub, left: "Queue[object]") -> None:
    """Nothing is held for a watcher that has gone, whether it said so or not."""
    with watching(hub, hub.token()) as watch:
        watch.next()
    assert left.get(timeout=patience())
    with watching(hub, hub.token()) as watch:
        watch.next()
        watch.connection.socket.shutdown(socket.SHUT_RDWR)
        assert left.get(timeout=patience())
    hub.meet("a")
    assert "hubbub_open_streams 0.0" in httpx2.get(hub.url + "/metrics", headers=bearer(hub)).text


def test_who_answers_no_ping_is_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A watcher that does not answer a ping in time, as it reads nothing, is closed with 1011."""
    monkeypatch.setattr(server, "PING", timedelta(milliseconds=20))
    monkeypatch.setattr(server, "PONG", timedelta(milliseconds=20))
    with running_hub(tmp_path / "hub") as hub, opened(hub, hub.token()) as dead:
        received = b"".join(iter(lambda: dead.recv(1 << 16), b""))
    assert KEEPALIVE_TIMEOUT + b"keepalive" in received


def test_a_watcher_that_takes_nothing_holds_up_nobody(
    hub: Hub, monkeypatch: pytest.MonkeyPatch, left: "Queue[object]"
) -> None:
    """Others hear at once, whatever one watcher does not take; after a while that one is let go."""
    monkeypatch.setattr(relay_websocket, "PATIENCE", timedelta(milliseconds=200))
    number, text = 150, "x" * 50_000
    with opened(hub, hub.token()) as stuck, watching(hub, hub.token()) as quick:
        quick.next()
        for each in range(number):
            body = f"{each} {text}"
            hub.do(lambda tx, body=body: messages.send(tx, hub.project.id, sender="w", to="hub", body=body))
            assert quick.next()["message"]["content"] == body
        assert left.get(timeout=patience())
        received = b"".join(iter(lambda: stuck.recv(1 << 20), b""))
    assert b'"session:snapshot"' in received
    assert f'"content":"{number - 1} '.encode() not in received


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> "Queue[object]":
    """Collects the followers as they are forgotten."""
    gone: Queue[object] = Queue()
    forget = Subscribers._forget

    def note(followers: Subscribers, follower: object) -> None:
        forget(followers, follower)  # type: ignore[arg-type]
        gone.put(follower)

    monkeypatch.setattr(Subscribers, "_forget", note)
    return gone


def bearer(hub: Hub) -> dict[str, str]:
    return {"Authorization": f"Bearer {hub.token()}"}


def opened(hub: Hub, secret: str, host: str | None = None) -> socket.socket:
    """A bare connection on which a live view was asked for, and nothing was read yet."""
    address = urlsplit(hub.url)
    assert address.hostname is not None
    assert address.port is not None
    connection = socket.socket()
    connection.settimeout(patience())
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect((address.hostname, address.port))
    key = base64.b64encode(os.urandom(16)).decode()
    lines = (
        "GET /ws HTTP/1.1",
        f"Host: {host or address.netloc}",
        f"Authorization: Bearer {secret}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Key: {key}",
        "Sec-WebSocket-Version: 13",
    )
    connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
    return connection


def handshake(hub: Hub, secret: str, host: str) -> str:
    """Return the hub's answer to a request for a live view at that host."""
    with opened(hub, secret, host) as connection:
        return connection.recv(65536).decode()
