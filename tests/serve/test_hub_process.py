"""A hub as a process: how it starts, says where it is, refuses to start, and stops."""

import asyncio
import gc
import http.client
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import apsw
import pytest
from prometheus_client.parser import text_string_to_metric_families
from pydantic import TypeAdapter

from hubbub import app
from hubbub.app import Hub
from hubbub.serve.background.maintenance import Maintenance
from hubbub.serve.http.server import USUAL, YOUNG, gc_frozen
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.log.snapshots import list_needs
from hubbub.serve.rest.work.tasks import show_task
from hubbub.settings import Settings
from tests.serve.live.event_streams import following
from tests.serve.served_hub import running_hub
from tests.serve.web_client import Visit, Web, done, refusal
from tests.support.served_hub import serving
from tests.support.waiting import patience

Start = Callable[..., "Process"]

MADE_OF = 10_000  # objects at least: modules, schemas, routes


class Process:
    """`hubbub serve` as a child process; made when it has said where it is, or has ended."""

    def __init__(self, data: Path, *flags: str, **environment: str) -> None:
        self.data = data
        self.child = subprocess.Popen(
            [sys.executable, "-m", "hubbub", "serve", "--port", "0", "--data", str(data), *flags],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )
        assert self.child.stdout is not None
        self.url = self.child.stdout.readline().strip()

    @property
    def secret(self) -> str:
        return (self.data / "owner-token").read_text().strip()

    def get(self, path: str, secret: str | None = None) -> tuple[int, str]:
        """Status and body of a path."""
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=patience())
        connection.request("GET", path, headers={"Authorization": f"Bearer {secret}"} if secret else {})
        response = connection.getresponse()
        body = response.read().decode()
        connection.close()
        return response.status, body

    def end(self, how: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Return exit status and log, after a signal."""
        self.child.send_signal(how)
        _out, errors = self.child.communicate(timeout=patience())
        return self.child.returncode, errors


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts hubs as processes, and kills those that still run when the test ends."""
    with ExitStack() as processes:

        def started(*flags: str, data: Path | None = None, **environment: str) -> Process:
            process = Process(data or tmp_path / "data", *flags, **environment)
            processes.callback(process.child.communicate)
            processes.callback(process.child.kill)
            return process

        yield started


def test_the_first_start_makes_an_owner(start: Start) -> None:
    """The first start makes the user `owner`, the project `default`, and a token that only its user may read."""
    hub = start()
    assert re.fullmatch(r"utok_[0-9a-f]{32}", hub.secret)
    assert stat.S_IMODE((hub.data / "owner-token").stat().st_mode) == 0o600
    status, body = hub.get("/api/v1/me", hub.secret)
    me = json.loads(body)
    assert (status, me["user"], [each["slug"] for each in me["projects"]]) == (200, "owner", ["default"])


def test_a_second_start_keeps_everything(start: Start) -> None:
    """Things that were there when a hub was killed are there when it starts again, with the same token."""
    first = start()
    secret = first.secret
    first.end(signal.SIGKILL)
    again = start()
    assert again.secret == secret
    assert again.get("/api/v1/me", secret)[0] == 200


def test_a_lost_owner_token_is_made_anew(start: Start) -> None:
    """The owner of the data owns the hub: where the owner's token is gone, or no good, a start makes another."""
    first = start()
    lost = first.secret
    first.end()
    file = first.data / "owner-token"
    for spoil in (file.unlink, partial(file.write_text, "utok_" + "0" * 32)):
        spoil()
        again = start()
        assert again.secret != lost
        assert again.get("/api/v1/me", again.secret)[0] == 200
        assert again.get("/api/v1/me", lost)[0] == 200
        again.end()


def test_a_program_is_greeted_too(start: Start) -> None:
    """To a program the hub prints each MCP address on a line of its own, and how to send a token."""
    hub = start()
    hub.child.send_signal(signal.SIGTERM)
    assert hub.child.stdout is not None
    printed = hub.child.stdout.read()
    assert {f"{hub.url}/mcp{each}" for each in ("", "/cmdop", "/commhub", "/golemxv", "/relay")} <= {
        *printed.split()
    }
    assert "Authorization: Bearer" in printed


def test_a_hub_says_where_it_is(start: Start) -> None:
    """While it runs, `hub.json` in the data folder has its address and process; after a clean end it is gone."""
    hub = start()
    facts = json.loads((hub.data / "hub.json").read_text())
    assert (facts["url"], facts["pid"]) == (hub.url, hub.child.pid)
    assert facts["started_at"] > 1_700_000_000_000
    assert hub.end()[0] == 0
    assert not (hub.data / "hub.json").exists()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it_cleanly_with_streams_open(start: Start, how: signal.Signals) -> None:
    """A hub that is told to stop ends its streams, closes its database, and exits with status 0."""
    hub = start()
    with ExitStack() as streams:
        opened = [streams.enter_context(following(hub.url, hub.secret)) for _ in range(5)]
        assert hub.end(how)[0] == 0
        assert [stream.rest() for stream in opened] == [[]] * 5
    assert not (hub.data / "hubbub.db-wal").exists()


def test_a_taken_port_is_one_sentence(start: Start) -> None:
    """A port that somebody else has is refused with a sentence that names it."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        hub = start("--port", str(taken.getsockname()[1]))
        _out, errors = hub.child.communicate(timeout=patience())
    assert hub.child.returncode == 1
    assert f"port {taken_port(errors)} of 127.0.0.1 is in use" in errors
    assert "Traceback" not in errors


def taken_port(errors: str) -> str:
    found = re.search(r"port (\d+)", errors)
    assert found, errors
    return found[1]


def test_a_second_hub_on_the_same_data_is_refused(start: Start) -> None:
    """Data that a hub serves is refused to a second one, with a sentence that says who has it."""
    first = start()
    second = start()
    _out, errors = second.child.communicate(timeout=patience())
    assert second.child.returncode == 1
    assert f"in use by another hub at {first.url} (process {first.child.pid}" in errors
    assert "Traceback" not in errors


def test_a_database_of_a_newer_program_is_refused(start: Start, tmp_path: Path) -> None:
    """A database that a newer program has changed is left alone."""
    hub = start()
    hub.end()
    db = apsw.Connection(str(hub.data / "hubbub.db"))
    db.execute("INSERT INTO migrations SELECT 9999, name, checksum, applied_at FROM migrations LIMIT 1")
    db.close()
    again = start()
    _out, errors = again.child.communicate(timeout=patience())
    assert again.child.returncode == 1
    assert "at version 9999" in errors
    assert "Traceback" not in errors


def test_a_dialect_that_does_not_exist_is_refused(start: Start) -> None:
    """A root dialect that the hub does not speak is refused with those that it does."""
    hub = start("--root-dialect", "klingon")
    _out, errors = hub.child.communicate(timeout=patience())
    assert hub.child.returncode in (1, 2)
    assert "commhub" in errors
    assert "Traceback" not in errors


def test_no_secret_is_ever_logged(start: Start) -> None:
    """The log, however detailed, has no token in it, wherever that came in, and no text of a message."""
    hub = start(HUBBUB_LOG_LEVEL="debug", HUBBUB_LOG_FORMAT="json")
    connection = http.client.HTTPConnection(urlsplit(hub.url).netloc, timeout=patience())
    headers = {"Authorization": f"Bearer {hub.secret}", "Content-Type": "application/json"}
    connection.request("POST", "/api/v1/tasks", json.dumps({"text": "the plan is secret"}), headers)
    assert connection.getresponse().read()
    connection.request("HEAD", f"/events?token={hub.secret}")
    assert connection.getresponse().status == 200
    connection.close()
    hub.get(f"/nothing/{hub.secret}", hub.secret)
    hub.get("/events", "ntok_" + "f" * 32)
    code, log = hub.end()
    lines = [json.loads(line) for line in log.splitlines()]
    assert code == 0
    assert [line["event"] for line in lines].count("request") >= 4
    assert all(secret not in log for secret in (hub.secret, "ntok_", "utok_", "the plan is secret"))


def test_health_and_readiness_need_no_token(start: Start) -> None:
    """`/health` and `/ready` answer anyone, and tell nothing but that all is well, and the version."""
    hub = start()
    assert json.loads(hub.get("/health")[1]).keys() == {"ok", "version"}
    assert hub.get("/ready") == (200, '{"ok":true}')


def test_a_hub_whose_database_is_away_is_not_ready(
    tmp_path: Path, postgres_url: str, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the store does not answer, `/ready` is a 503 with the reason, as is every call; `/health` stays well."""
    with running_hub(tmp_path / "hub", database=postgres_url) as hub:
        web = visit(hub, hub.owner_secret, root="")
        assert web.get("/ready").status_code == 200
        hub.store._pool.close()  # type: ignore[attr-defined]
        answer = web.get("/ready")
        assert (answer.status_code, answer.json()["ok"]) == (503, False)
        assert answer.json()["reason"]
        assert web.get("/api/v1/me").status_code == 503
        assert web.get("/health").status_code == 200


def test_metrics_count_without_names(tmp_path: Path, visit: Visit) -> None:
    """`/metrics` counts requests, tool calls, streams and tasks; it needs a token, and holds no name of an agent."""
    with running_hub(tmp_path / "hub") as hub:
        hub.meet("代码1号")
        hub.send_task("代码1号")
        web = visit(hub, hub.token(), root="")
        call = {"name": "get_inbox", "arguments": {"alias": "代码1号"}}
        done(web.post("/mcp/commhub", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}))
        done(web.get("/api/v1/agents/代码1号"))
        with following(hub.url, hub.token(), "/events/代码1号") as stream:
            stream.next()
            text = web.get("/metrics").text
        assert visit(hub, root="").get("/metrics").status_code == 401
    samples = {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    assert samples["hubbub_requests_total", "/api/v1/agents/{name:path}", "200"] == 1
    assert samples["hubbub_tool_seconds_count", "commhub", "get_inbox"] == 1
    assert samples["hubbub_tasks", "delivered"] == 1
    assert samples["hubbub_open_streams",] == 1
    assert "代码" not in text


def test_a_bug_is_shown_to_us_and_not_to_the_caller(
    tmp_path: Path, visit: Visit, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A bug in what answers a request is a 500 that says nothing of itself, and is in the log."""

    def broken(_tx: Any) -> None:
        raise RuntimeError("the secret is 42")

    monkeypatch.setattr("hubbub.core.people.users.everyone", broken)
    with running_hub(tmp_path / "hub") as hub:
        answer = visit(hub, hub.owner_secret).get("/users")
    assert refusal(answer) == (500, "internal")
    assert "42" not in answer.text
    assert "the secret is 42" in capsys.readouterr().out


def test_what_fails_in_the_background_stops_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug in what the hub does by itself stops it, rather than leaving it half alive."""
    hub = Hub(Settings(data=tmp_path / "hub", port=0, no_node=True))
    sweep = Maintenance.sweep

    async def broken(upkeep: Maintenance) -> None:
        if upkeep._store is hub.store:
            raise RuntimeError("a bug")
        await sweep(upkeep)  # of a hub that other tests share

    monkeypatch.setattr(Maintenance, "sweep", broken)
    hub.serve()
    assert not (tmp_path / "hub" / "hub.json").exists()


def test_overdue_tasks_expire_by_themselves(tmp_path: Path, visit: Visit) -> None:
    """A task whose time runs out is expired, and told of, without anybody asking."""
    with running_hub(tmp_path / "hub") as hub:
        hub.meet("a")
        web = visit(hub, hub.token())
        with following(hub.url, hub.token()) as stream:
            done(web.post("/tasks", {"text": "x", "to": "a", "ttl_seconds": 0.05}))
            stream.until(kind="task.expired")


def test_a_hub_can_be_stopped_before_it_serves(tmp_path: Path) -> None:
    """A hub that is told to stop before it serves ends at once, and lets go of its data."""
    hub = Hub(Settings(data=tmp_path / "hub", port=0))
    hub.stop()
    hub.serve()
    with serving(Hub(Settings(data=tmp_path / "hub", port=0))):
        assert (tmp_path / "hub" / "hub.json").exists()


@pytest.mark.parametrize(
    ("host", "sentence"), [("host.invalid", "cannot be found"), ("192.0.2.1", "cannot listen")]
)
def test_a_host_that_is_not_this_machine_is_refused(start: Start, host: str, sentence: str) -> None:
    """An address that is not of this machine is refused in one sentence."""
    hub = start("--host", host)
    _out, errors = hub.child.communicate(timeout=patience(60))
    assert hub.child.returncode in (1, 2)
    assert sentence in errors
    assert "Traceback" not in errors


def test_what_stays_as_long_as_the_hub_is_looked_through_by_no_collection_of_garbage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """A hub's parts are out of the collector's sight while it is served, and given back when it has ended."""
    request.addfinalizer(gc.freeze)
    request.addfinalizer(partial(gc.set_threshold, *gc.get_threshold()))
    monkeypatch.setattr(app, "gc_frozen", gc_frozen)  # which other hubs of the tests' own process do without
    with running_hub(tmp_path / "hub", no_node=True):
        assert gc.get_freeze_count() > MADE_OF
        assert gc.get_threshold() == (YOUNG, *USUAL[1:])
    assert gc.get_freeze_count() == 0
    assert gc.get_threshold() == USUAL


@pytest.mark.system
def test_what_few_need_is_loaded_when_they_do() -> None:
    """A hub that nobody has asked for a text or a document renders none, and colours no stack trace."""
    code = "import sys, hubbub.app; print(*sys.modules)"
    fresh = ["/usr/bin/env", sys.executable, "-c", code]  # a fork would have loaded all
    loaded = subprocess.run(fresh, capture_output=True, text=True, check=True).stdout.split()
    assert "hubbub.serve.application" in loaded
    assert not {"apsw.ext", "greenlet", "markdown_it", "nh3", "rich"} & {*loaded}


def test_the_first_request_makes_nobody_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The schemas of a call are made at its first request, in a thread: the event loop makes none."""
    begin, interface = TypeAdapter.__init__, import_module("hubbub.serve.rest.application")
    made_on: list[object] = []

    def noted(self: TypeAdapter[object], *args: Any, **options: Any) -> None:
        with suppress(RuntimeError):  # of a thread without an event loop
            made_on.append(asyncio.get_running_loop())
        begin(self, *args, **options)

    router = Router("test")
    for path, call in (("/needs", list_needs), ("/tasks/{ref}", show_task)):
        router.get(path)(call)
    monkeypatch.setattr(interface, "ROUTES", router.routes)  # as in a process whose first hub this is
    monkeypatch.setattr(TypeAdapter, "__init__", noted)
    with running_hub(tmp_path / "hub") as hub:
        assert not any("dependant" in vars(route) for route in router.routes)
        web = Web(hub.url, hub.owner_secret)
        with web.http:
            done(web.get("/api/v1/needs"))
            assert "dependant" not in vars(router.routes[-1])
            assert done(web.get("/api/v1/openapi.json"))["paths"].keys() == {"/needs", "/tasks/{ref}"}
            assert refusal(web.get("/api/v1/tasks/T-1"))[0] == 404
    assert all("dependant" in vars(route) for route in router.routes)
    assert made_on == []
