"""Quotas of tokens, seen from outside: what is refused, how, and where it is shown."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest

from hubbub.client import Hub as Client
from hubbub.core.people import quotas
from hubbub.core.people.quotas import MIB
from tests.serve.browser import browsing
from tests.serve.mcp.wire import call, post
from tests.serve.served_hub import Hub, running_hub
from tests.serve.web_client import Visit, done, refusal

ECHO = call("echo", text="hello")


@pytest.fixture
def strict(tmp_path: Path) -> Iterator[Hub]:
    """A hub of which a token may use little: one call a second, four at once."""
    with running_hub(tmp_path / "hub", token_rate=1, token_burst=4) as hub:
        yield hub


@pytest.fixture
def narrow(tmp_path: Path) -> Iterator[Hub]:
    """A hub on which a token may hold two streams, and store one MiB a day."""
    with running_hub(tmp_path / "hub", token_streams=2, token_megabytes=1) as hub:
        yield hub


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock by which calls are counted stands still, so that nothing depends on how quick a test is."""
    monkeypatch.setattr(quotas, "time", SimpleNamespace(monotonic=lambda: 1000.0))


@pytest.mark.usefixtures("stopped")
def test_one_in_a_loop_does_not_take_the_share_of_others(strict: Hub) -> None:
    """A client that calls too fast gets 429 with Retry-After, over MCP, REST and streams alike; others are answered."""
    loop, other = strict.token("ada"), strict.token("bob")
    assert [post(strict, loop, ECHO).status_code for _ in range(6)] == [200] * 4 + [429] * 2
    headers = {"Authorization": f"Bearer {loop}"}
    paths = ("/api/v1/me", "/events", "/api/tasks", "/metrics")
    for answer in (
        post(strict, loop, ECHO),
        *(httpx2.get(strict.url + path, headers=headers) for path in paths),
    ):
        assert refusal(answer) == (429, "too_many")
        assert answer.headers["retry-after"] == "1"
        assert "more than 1 call a second; wait 1 s" in answer.text
    assert post(strict, other, ECHO).status_code == 200
    assert httpx2.get(strict.url + "/health").status_code == 200


def test_programs_wait_as_they_are_asked_to(strict: Hub) -> None:
    """A program of ours that is refused for its haste waits, and its call is done: nobody above it hears of it."""
    client = Client(strict.url, strict.token("ada"))
    try:
        for _ in range(6):
            assert client.get("/me")["agent"] == "ada"
    finally:
        client.close()


def test_the_bridge_waits_as_it_is_asked_to(strict: Hub, tmp_path: Path) -> None:
    """A client on standard input hears nothing of a refusal that passes: each of its calls is answered."""
    calls = [{"jsonrpc": "2.0", "id": number, "method": "tools/list"} for number in range(6)]
    token = strict.token("ada")
    command = [sys.executable, "-m", "hubbub", "mcp", "hub", "--url", strict.url, "--token", token]
    hello = {
        "jsonrpc": "2.0",
        "id": "hello",
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    told = "".join(json.dumps(each) + "\n" for each in [hello, *calls])
    ended = subprocess.run(command, input=told, capture_output=True, text=True, cwd=tmp_path, check=False)
    answers = {each["id"]: each for each in map(json.loads, ended.stdout.splitlines()) if "id" in each}
    assert set(answers) == {"hello", *range(6)}, ended.stderr
    assert all("result" in each for each in answers.values()), answers


def test_streams_of_a_token_are_bounded(narrow: Hub) -> None:
    """The third stream is refused until one ends; those of another token are its own."""
    mine, other = narrow.token("ada"), narrow.token("bob")

    def opened(secret: str, path: str = "/events") -> Any:
        return httpx2.stream("GET", narrow.url + path, headers={"Authorization": f"Bearer {secret}"})

    with ExitStack() as streams:
        streams.enter_context(opened(mine))
        streams.enter_context(opened(mine, "/events/ada"))
        for path in ("/events", "/api/v1/agents/ada/inbox?wait_seconds=5"):
            with opened(mine, path) as third:
                third.read()
                assert refusal(third) == (429, "too_many"), path
                assert "holds 2 streams open" in third.json()["message"]
                assert int(third.headers["retry-after"]) > 0
        assert streams.enter_context(opened(other)).status_code == 200


def test_what_a_token_stores_in_a_day_is_bounded(narrow: Hub, visit: Visit) -> None:
    """A caller whose storage is full is refused writes, in the words of each door, and still reads."""
    loop, other = visit(narrow, narrow.token("ada")), visit(narrow, narrow.token("bob"))
    stored = 0
    while (answer := loop.post("/tasks", {"to": "bob", "text": "x" * 50_000})).is_success:
        stored += 50_000
        assert stored < 10 * MIB
    assert stored >= 10 * 50_000
    assert refusal(answer) == (429, "too_many")
    assert "has stored 1 MiB today" in answer.json()["message"]
    assert 0 < int(answer.headers["retry-after"]) <= 86_400
    note = post(narrow, loop.http.headers["authorization"].split()[1], call("note", to="bob", text="more"))
    assert note.json()["result"]["structuredContent"] == {"fine": False, "why": "too_many"}
    assert loop.get("/tasks").status_code == 200
    done(other.post("/tasks", {"to": "ada", "text": "work"}))

    owner = visit(narrow, narrow.owner_secret)
    listed = done(owner.get("/tokens"))
    use = {each["agent"]: each["use"] for each in listed["tokens"]}
    assert listed["limits"] == {"rate": 500, "burst": 10_000, "streams": 2, "connections": 50, "stored": MIB}
    assert use["ada"]["stored_today"] >= MIB
    assert use["ada"]["refused"] == {"stored": 2}
    assert use["ada"]["refused_since"] <= use["ada"]["refused_at"]
    assert (use["bob"]["refused"], use["bob"]["refused_at"]) == ({}, None)
    numbers = owner.http.get(narrow.url + "/metrics").text
    assert 'hubbub_over_quota_total{quota="stored"} 2.0' in numbers
    assert "hubbub_tokens_over_quota 1.0" in numbers
    assert "ada" not in numbers


@pytest.mark.usefixtures("stopped")
def test_a_page_in_a_loop_leaves_its_person_waiting_only(strict: Hub) -> None:
    """People who have signed in have a share, too: a page that errs gets 429 with Retry-After."""
    with browsing(strict) as browser:
        browser.sign_in()
        answers = [browser.call("GET", "/me") for _ in range(6)]
    assert [each.status_code for each in answers] == [200] * 4 + [429] * 2
    assert answers[-1].headers["retry-after"] == "1"


@pytest.mark.usefixtures("stopped")
def test_doctor_names_who_was_refused(strict: Hub, tmp_path: Path) -> None:
    """`hubbub doctor` says which token was refused, how often and since when, and has nothing to say of the others."""
    loop, quiet = strict.token("ada"), strict.token("bob")
    for secret, calls in ((loop, 6), (quiet, 1)):
        for _ in range(calls):
            post(strict, secret, ECHO)
    command = [sys.executable, "-m", "hubbub", "doctor", "--json", "--data", str(tmp_path / "hub")]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    found = [each for each in json.loads(ended.stdout) if each["subject"].startswith("quota")]
    assert [(each["well"], "(ada)" in each["subject"]) for each in found] == [(False, True)]
    assert "(2 for calls)" in found[0]["found"]
    assert "look for a loop" in found[0]["do"]
    assert ended.returncode == 1
