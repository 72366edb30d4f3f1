"""A token's limits, and its use: seen in lists, in numbers and by the doctor; and a rate of its own."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hubbub.core.people import quotas
from hubbub.model.people.rights import Role
from hubbub.serve.mcp import connections
from tests.serve.mcp.wire import BOTH, LEGACY, PATH, message
from tests.serve.served_hub import Hub, running_hub
from tests.serve.web_client import Visit, Web, done, refusal

SESSION = "mcp-session-id"
SESSIONS = 5


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("limits") / "hub"


@pytest.fixture(scope="module")
def hub(folder: Path) -> Iterator[Hub]:
    """A hub on which a token may have few sessions and streams."""
    with running_hub(folder, mcp_connections=SESSIONS, token_streams=2) as running:
        yield running


@pytest.fixture
def owner(hub: Hub, visit: Visit) -> Web:
    return visit(hub, hub.owner_secret)


def opened(web: Web) -> dict[str, str]:
    """The headers of a transport session that is opened now."""
    params = {
        "protocolVersion": LEGACY,
        "clientInfo": {"name": "x", "version": "1"},
        "capabilities": {},
    }
    answer = web.http.post(PATH, json=message("initialize", params), headers=BOTH)
    return {**BOTH, SESSION: answer.headers[SESSION], "mcp-protocol-version": LEGACY}


def listed(owner: Web, agent: str) -> dict[str, Any]:
    return next(each for each in done(owner.get("/tokens"))["tokens"] if each["agent"] == agent)


def examined(hub: Hub, folder: Path, agent: str) -> list[dict[str, Any]]:
    """Return the doctor's findings on the agent's token."""
    command = [sys.executable, "-m", "hubbub", "doctor", "--json", "--data", str(folder)]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    assert hub.url in ended.stdout, ended.stderr
    return [each for each in json.loads(ended.stdout) if f"({agent})" in each["subject"]]


def test_what_a_token_uses_stands_beside_what_it_may(
    hub: Hub, owner: Web, visit: Visit, folder: Path
) -> None:
    """The list of tokens, `/metrics` and `hubbub doctor` tell of calls, streams, sessions and what is stored."""
    web = visit(hub, hub.token("olga"), "")
    calm = listed(owner, "olga")
    assert calm["use"] is None
    assert calm["limits"] == {
        "rate": 500,
        "burst": 10_000,
        "streams": 2,
        "connections": SESSIONS,
        "stored": 4096 * 1024 * 1024,
    }
    with ExitStack() as streams:
        sessions = [opened(web) for _ in range(SESSIONS - 1)]
        streams.enter_context(web.http.stream("GET", PATH, headers=sessions[0]))
        streams.enter_context(web.http.stream("GET", PATH, headers=sessions[1]))

        use = listed(owner, "olga")["use"]
        numbers = owner.http.get(hub.url + "/metrics").text
        (found,) = examined(hub, folder, "olga")

    assert (use["connections"], use["streams"], use["stored_today"]) == (SESSIONS - 1, 2, 0)
    assert use["near"] == ["streams", "connections"]
    assert 'hubbub_token_use_highest{quota="connections"} 0.8' in numbers
    assert 'hubbub_tokens_near_quota{quota="connections"} 1.0' in numbers
    assert 'hubbub_tokens_near_quota{quota="stored"} 0.0' in numbers
    assert not found["well"]
    assert found["found"] == f"2 of 2 streams and waiting calls; {SESSIONS - 1} of {SESSIONS} MCP sessions"
    assert "HUBBUB_TOKEN_STREAMS" in found["do"]
    assert "HUBBUB_MCP_CONNECTIONS" in found["do"]


def test_the_doctor_tells_what_tokens_may(tmp_path: Path) -> None:
    """Where no token is near its limits, the doctor says so in one line, with the limits."""
    with running_hub(tmp_path / "hub", token_rate=0) as hub:
        command = [sys.executable, "-m", "hubbub", "doctor", "--json", "--data", str(tmp_path / "hub")]
        ended = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
        assert hub.url in ended.stdout, ended.stderr
    (found,) = [each for each in json.loads(ended.stdout) if each["subject"] == "quotas"]
    assert found["well"]
    assert found["found"].startswith(
        "a token may use 2,000 streams and waiting calls, 50 MCP sessions, 4,096 MiB stored a day; none of "
    )


def test_a_token_has_a_rate_of_its_own(
    hub: Hub, owner: Web, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token made with a rate gets 429 with Retry-After beyond it, with a burst in proportion; lists show the rate."""
    made = done(owner.post("/tokens?project=default", {"agent": "rita", "rate": 2}))
    slow, free = visit(hub, made["secret"]), visit(hub, hub.token("fred"))
    stopped = time.monotonic()
    monkeypatch.setattr(quotas, "time", SimpleNamespace(monotonic=lambda: stopped))

    answers = [slow.get("/me") for _ in range(41)]

    assert [each.status_code for each in answers] == [200] * 40 + [429]
    assert refusal(answers[-1]) == (429, "too_many")
    assert answers[-1].headers["retry-after"] == "1"
    assert "more than 2 calls a second; wait 1 s" in answers[-1].json()["message"]
    assert free.get("/me").status_code == 200
    token = listed(owner, "rita")
    assert (made["token"]["rate"], token["rate"]) == (2, 2)
    assert (token["limits"]["rate"], token["limits"]["burst"]) == (2, 40)
    assert (token["use"]["rate"], token["use"]["near"]) == (4.1, ["calls"])
    assert (listed(owner, "fred")["rate"], listed(owner, "fred")["limits"]["rate"]) == (None, 500)


def test_nobody_gives_more_calls_than_they_may(hub: Hub, owner: Web, visit: Visit) -> None:
    """More calls than all have are given by the hub's owner alone; a token gives no other more than it has itself."""
    sven = done(owner.post("/users", {"name": "sven", "project": "default", "role": "admin"}))["token"]
    admin = visit(hub, sven)
    assert refusal(admin.post("/tokens?project=default", {"rate": 501})) == (403, "forbidden")
    done(admin.post("/tokens?project=default", {"rate": 500}))
    done(owner.post("/tokens?project=default", {"rate": 501}))
    made = done(owner.post("/tokens?project=default", {"rate": 7, "role": Role.ADMIN}))
    slow = visit(hub, made["secret"])
    for wanted in ({}, {"rate": 8}):
        refused = slow.post("/tokens", wanted)
        assert refusal(refused) == (403, "forbidden")
        assert (
            "cannot give another token more calls a second than it has itself: 7" in refused.json()["message"]
        )
    assert done(slow.post("/tokens", {"rate": 7}))["token"]["rate"] == 7
    for wrong in (0, -1, 1.5, "2", True, 1_000_001):
        assert refusal(owner.post("/tokens?project=default", {"rate": wrong})) == (400, "invalid"), wrong


def test_requests_under_way_in_a_session_are_bounded(
    hub: Hub, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session that waits for as many answers as may be is refused the next request, but no word that ends one."""
    monkeypatch.setattr(connections, "UNDER_WAY", 1)
    web = visit(hub, hub.token("uma"), "")
    session, other = opened(web), opened(web)
    with web.http.stream("GET", PATH, headers=session):
        refused = web.http.post(PATH, json=message("ping"), headers=session)
        assert refusal(refused) == (429, "too_many")
        assert "this MCP session has 1 requests under way" in refused.text
        assert web.http.post(PATH, json=message("ping"), headers=other).status_code == 200
        told = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
        assert web.http.post(PATH, json=told, headers=session).status_code == 202
        assert web.http.delete(PATH, headers=session).status_code == 200
