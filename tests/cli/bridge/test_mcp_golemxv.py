"""`hubbub mcp golemxv`: what its environment says goes with every call, through real processes."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from hubbub.client import owner_token
from hubbub.dialects import discover
from tests.cli.processes import PROGRAM, RunningHub, hubbub
from tests.cli.stdio_peers import LEGACY, MODERN, StdioPeer

Json = dict[str, Any]
Start = Callable[..., StdioPeer]
CALM = dict.fromkeys(("GXV_API_KEY", "GXV_PROJECT_SLUG", "GXV_SESSION_TOKEN"), "")  # of this machine


@pytest.fixture
def start() -> Iterator[Start]:
    """Return a function that starts a server, in the newer revision by default, which ends with the test."""
    with ExitStack() as closing:

        def started(hub: RunningHub, revision: str = MODERN, **environment: str) -> StdioPeer:
            peer = StdioPeer(hub, revision, "golemxv", **{**CALM, **environment})
            closing.callback(peer.close)
            return peer.connect()

        yield started


def secret(hub: RunningHub, agent: str | None = None) -> str:
    """A new token of the hub's project."""
    made: str = hub.client().post("/tokens", {"agent": agent, "role": "member"})["secret"]
    return made


def checked_in(hub: RunningHub, start: Start, name: str, **scope: object) -> tuple[str, Json]:
    """An agent that has checked in with a token of its own; the token, and what checkin said."""
    token = secret(hub, name)
    peer = start(hub, GXV_API_KEY=token)
    return token, peer.call("checkin", project_slug=hub.project, **scope)


@pytest.mark.parametrize("revision", [LEGACY, MODERN])
def test_a_whole_day_over_stdio(hub: RunningHub, start: Start, revision: str) -> None:
    """Each of the 15 tools answers over stdio as it does over HTTP, in both eras of the protocol."""
    hub.meet("ada")
    for text in ("first", "second"):
        hub.client().post("/tasks", {"text": text})
    peer = start(hub, revision, GXV_API_KEY=secret(hub, "ada"))
    assert {each["name"] for each in peer.ask("tools/list")["result"]["tools"]} == set(
        discover()["golemxv"].tools
    )

    came = peer.call("checkin", project_slug=hub.project, declared_files=["a.py"])
    here: Json = {"session_token": came["session_token"]}
    slug: Json = {"project_slug": hub.project}
    assert peer.call("heartbeat", **here)["ok"] is True
    assert [each["agent_name"] for each in peer.call("presence", **slug)["agents"]] == ["ada"]
    assert peer.call("conflict_check", **slug, declared_files=["a.py"])["has_conflicts"] is False
    assert peer.call("scope_update", **here, declared_files=["b.py"])["declared_files"] == ["b.py"]
    assert [each["title"] for each in peer.call("list_tasks")["tasks"]] == ["first", "second"]
    for number in (1, 2):
        assert peer.call("claim_task", task_id=number)["claimed"] is True
    assert peer.call("update_task", task_id=1, status="blocked", reason="r")["updated"] is True
    assert peer.call("complete_task", task_id=2, result_summary="done")["completed"] is True
    assert peer.call("send_message", to="broadcast", content="hello")["sent"] is True
    assert peer.call("get_messages", sender="ada")["messages"][0]["content"] == "hello"
    assert peer.call("activity_log", **slug, event_type="checkin")["count"] == 1
    assert peer.call("project_info", **slug)["active_agent_count"] == 1
    assert peer.call("checkout", **here, outcome_status="success")["ok"] is True
    (row,) = peer.call("sessions", **slug)["sessions"]
    assert (row["status"], row["outcome_status"]) == ("checked_out", "success")


def test_the_environment_names_project_and_stay(hub: RunningHub, start: Start) -> None:
    """`GXV_PROJECT_SLUG` and `GXV_SESSION_TOKEN` stand for arguments that are left out."""
    token = secret(hub)
    first = start(hub, GXV_API_KEY=token)
    stays = {
        name: first.call("checkin", project_slug=hub.project, agent_name=name)["session_token"]
        for name in ("ada", "bob")
    }
    refused = first.call("send_message", to="ada", content="who says this?")
    assert refused["error"].startswith("session_token is missing")

    peer = start(hub, GXV_API_KEY=token, GXV_PROJECT_SLUG=hub.project, GXV_SESSION_TOKEN=stays["bob"])
    assert peer.call("presence")["project"]["slug"] == hub.project
    assert peer.call("send_message", to="ada", content="I do")["sent"] is True
    assert peer.call("get_messages")["messages"][0]["from"] == "bob"
    assert peer.call("checkout")["ok"] is True
    assert [each["agent_name"] for each in peer.call("presence")["agents"]] == ["ada"]


def test_arguments_win_over_the_environment(hub: RunningHub, start: Start) -> None:
    """An argument of a call counts, not the environment."""
    token = secret(hub)
    first = start(hub, GXV_API_KEY=token)
    stays = [
        first.call("checkin", project_slug=hub.project, agent_name=name)["session_token"]
        for name in ("ada", "bob")
    ]
    peer = start(hub, GXV_API_KEY=token, GXV_PROJECT_SLUG="nowhere", GXV_SESSION_TOKEN=stays[0])
    sent = {"to": "ada", "content": "c", "session_token": stays[1], "project_slug": hub.project}
    assert peer.call("send_message", **sent)["sent"] is True
    assert peer.call("get_messages", project_slug=hub.project)["messages"][0]["from"] == "bob"
    assert peer.call("get_messages") == {"error": "Project not found"}


def test_the_api_key_is_the_token(hub: RunningHub, start: Start) -> None:
    """`GXV_API_KEY` says who acts, unless --token or `HUBBUB_TOKEN` does."""
    ada, bob = (secret(hub, name) for name in ("ada", "bob"))
    came = start(hub, GXV_API_KEY=ada).call("checkin", project_slug=hub.project)
    assert came["agent_name"] == "ada"
    came = start(hub, GXV_API_KEY=ada, HUBBUB_TOKEN=bob).call("checkin", project_slug=hub.project)
    assert came["agent_name"] == "bob"


def test_a_persons_key_acts_in_the_project_that_is_named(hub: RunningHub, start: Start) -> None:
    """A person's token is exchanged for a member's of `GXV_PROJECT_SLUG`, where `HUBBUB_PROJECT` names none."""
    person = owner_token(hub.data) or ""
    peer = start(hub, GXV_API_KEY=person, GXV_PROJECT_SLUG=hub.project, HUBBUB_PROJECT="")
    assert peer.call("checkin", agent_name="ada")["project"]["slug"] == hub.project
    roles = [each["role"] for each in hub.client().get("/tokens")["tokens"] if each["project_id"]]
    assert roles == ["member"]


def test_two_servers_meet_in_one_file(hub: RunningHub, start: Start) -> None:
    """A scope declared over one server conflicts with that of another agent over another server."""
    checked_in(hub, start, "ada", declared_files=["src/auth.ts"])
    _token, came = checked_in(hub, start, "bob", declared_files=["src/**"])
    assert came["conflicts"] == [
        {"agent_name": "ada", "overlapping_areas": [], "overlapping_files": ["src/auth.ts"]}
    ]


@pytest.mark.system
def test_the_stay_outlives_its_server_and_the_hub(own_hub: RunningHub, start: Start) -> None:
    """A session token is good after `kill -9` of the server and of the hub: both keep nothing that counts."""
    token = secret(own_hub, "ada")
    first = start(own_hub, GXV_API_KEY=token)
    stay = first.call("checkin", project_slug="default")["session_token"]
    first.process.kill()
    own_hub.stop(signal.SIGKILL)
    own_hub.start()
    peer = start(own_hub, GXV_API_KEY=token, GXV_SESSION_TOKEN=stay)
    assert peer.call("heartbeat")["ok"] is True


@pytest.mark.parametrize("name", ["GXV_PROJECT_SLUG", "GXV_SESSION_TOKEN"])
def test_what_no_header_can_hold_is_wrong_usage(tmp_path: Path, name: str) -> None:
    """A value that can be no slug and no token is refused at the start, and not shown; no hub is started for it."""
    done = hubbub("mcp", "golemxv", data=tmp_path, environment={**CALM, name: "no\nheader"})
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{name} has characters that are not allowed" in done.stderr
    assert "header" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.system
def test_a_hub_that_is_started_does_not_get_the_secrets(tmp_path: Path) -> None:
    """The hub that is started for everyone, and left running, knows nothing of who caused it."""

    class Started(StdioPeer):
        program = ("/usr/bin/env", *PROGRAM)  # of what is forked the system tells another environment

    place = RunningHub(tmp_path / "data")
    with closing(
        Started(place, MODERN, "golemxv", **{**CALM, "GXV_SESSION_TOKEN": "of-whoever-starts-it"})
    ) as peer:
        assert peer.connect().call("heartbeat") == {"error": "Session not found or expired"}
    pid = json.loads((place.data / "hub.json").read_text())["pid"]
    environment = Path(f"/proc/{pid}/environ")
    known = environment.read_bytes() if environment.exists() else b"PATH="
    os.kill(pid, signal.SIGTERM)
    assert b"PATH=" in known
    assert b"of-whoever-starts-it" not in known
