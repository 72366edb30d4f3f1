"""The cost of one request for the others: the hub's event loop is never held for long.

Measured is the CPU that the loop's own thread uses between two turns of the loop, which no load on the machine
changes, and the steps of comparisons, which are done beside it, are counted.
"""

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from hubbub.core.presence import checkins
from hubbub.dialects.dialect import Dialect, Reply
from hubbub.model.agents.scopes import Scope
from hubbub.model.errors import HubError
from hubbub.model.people.rights import Role
from hubbub.store.tx import Tx
from tests.serve.mcp.wire import BOTH, message
from tests.serve.served_hub import Hub, anew, running_hub
from tests.serve.web_client import Visit, Web

MIB = 1024 * 1024
TURN = 0.002  # seconds between two turns that are looked at
LONGEST = 0.05  # seconds of CPU that the loop may be held for
MANY = 34  # patterns as long as may be are a scope


@dataclass(slots=True)
class Turns:
    """The CPU that the loop's thread used between two turns: the most since it was asked for last."""

    longest: float = 0.0
    last: float | None = field(default=None)

    def turn(self) -> None:
        now = time.thread_time()
        if self.last is not None:
            self.longest = max(self.longest, now - self.last)
        self.last = now
        asyncio.get_running_loop().call_later(TURN, self.turn)


TURNS = Turns()
WATCH = Dialect(
    name="watch",
    guide="For measuring.",
    success=lambda reply: reply,
    refusals={HubError: lambda error: {"error": error.code}},
    invalid=lambda sentence: {"error": sentence},
    unknown=lambda name: {"error": name},
)


@WATCH.tool(reads=True)
def longest(_tx: Tx) -> Reply:
    """Return the longest time that the loop was held; reads of this kind are done on the loop."""
    if TURNS.last is None:
        TURNS.turn()
    told, TURNS.longest = TURNS.longest, 0.0
    return {"seconds": told}


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    """A hub that tells how long its loop was held."""
    with running_hub(tmp_path_factory.mktemp("hostile") / "hub", also=WATCH) as running:
        with Web(
            running.url, running.owner_secret
        ).http as http:  # the first calls of a hub build what it is made of
            http.post("/api/v1/artifacts", json={})
            http.post("/mcp/relay", json=message("tools/list"))
        yield running


@pytest.fixture
def hub(watched: Hub) -> Hub:
    """The same, in which somebody has declared what is costly to compare, and nobody anything else."""
    new = anew(watched)
    costly = Scope.of(None, [f"**/{'*a' * 470}*q{number}" for number in range(MANY)])
    new.do(lambda tx: checkins.begin(tx, new.project, "ann", costly))
    return new


def held(web: Web) -> float:
    """Seconds of CPU that the loop was held for at most, since this was asked last."""
    answer = web.http.post("/mcp/watch", json=message("tools/call", {"name": "longest", "arguments": {}}))
    return float(answer.json()["result"]["structuredContent"]["seconds"])


def call(tool: str, arguments: str) -> str:
    """Return a call whose arguments are written as JSON."""
    return (
        f'{{"jsonrpc": "2.0", "id": 1, "method": "tools/call",'
        f' "params": {{"name": "{tool}", "arguments": {arguments}}}}}'
    )


def listed(piece: str, size: int) -> str:
    return "[" + ",".join([piece] * (size // (len(piece) + 1))) + "]"


def patterns(count: int, make: str) -> str:
    return json.dumps([make.format(number) for number in range(count)])


STARS = "**/" + "*b" * 470 + "*q{}"
SHORT = "**/b*{}*.py"
EMOJI = "\\ud83d\\ude00"
CHECK = "/api/v1/scopes/check"
ARTIFACTS = "/api/v1/artifacts"

Shot = tuple[Role, str, Callable[[], str], int]  # who, where, what, and the status of the answer
SHOTS: dict[str, Shot] = {
    "a check of long patterns": (Role.VIEWER, CHECK, lambda: f'{{"files": {patterns(MANY, STARS)}}}', 200),
    "a check of many patterns": (Role.VIEWER, CHECK, lambda: f'{{"files": {patterns(1000, SHORT)}}}', 200),
    "a check of many segments": (
        Role.VIEWER,
        CHECK,
        lambda: f'{{"files": {patterns(1000, "{}/" + "a/" * 60 + "b")}}}',
        200,
    ),
    "a tool's check of long patterns": (
        Role.MEMBER,
        "/mcp/golemxv",
        lambda: call(
            "conflict_check", f'{{"project_slug": "default", "declared_files": {patterns(MANY, STARS)}}}'
        ),
        200,
    ),
    "a declaration of long patterns": (
        Role.MEMBER,
        "/mcp/golemxv",
        lambda: call("checkin", f'{{"project_slug": "default", "declared_files": {patterns(MANY, STARS)}}}'),
        200,
    ),
    "the list of scopes": (Role.VIEWER, "/api/v1/scopes", lambda: "", 200),
    "a MiB of objects for a tool": (
        Role.VIEWER,
        "/mcp/hub",
        lambda: call("inbox", f'{{"x": {listed("{}", MIB - 500)}}}'),
        413,
    ),
    "10 MiB of objects for a tool": (
        Role.MEMBER,
        "/mcp/relay",
        lambda: call("get_messages", f'{{"agent_id": "m", "x": {listed("{}", 10 * MIB - 500)}}}'),
        413,
    ),
    "as many values as may be": (
        Role.MEMBER,
        "/mcp/relay",
        lambda: call("create_artifact", f'{{"title": {listed("{}", 3 * 9_900)}, "content": "x"}}'),
        200,
    ),
    "10 MiB of text for a tool": (
        Role.MEMBER,
        "/mcp/relay",
        lambda: call("create_artifact", json.dumps({"title": "x", "content": "x" * (10 * MIB - 500)})),
        200,
    ),
    "10 MiB of escapes for a tool": (
        Role.MEMBER,
        "/mcp/relay",
        lambda: call("create_artifact", f'{{"title": "x", "content": "{EMOJI * (10 * MIB // 12 - 50)}"}}'),
        200,
    ),
    "10 MiB of wide text for a tool": (
        Role.MEMBER,
        "/mcp/relay",
        lambda: call("create_artifact", f'{{"title": "x", "content": "\U0001f600{"x" * (10 * MIB - 500)}"}}'),
        200,
    ),
    "10 MiB of lists as an artifact": (
        Role.MEMBER,
        ARTIFACTS,
        lambda: f'{{"name": "x", "content": {listed("[]", 10 * MIB - 500)}}}',
        413,
    ),
    "10 MiB of text as an artifact": (
        Role.MEMBER,
        ARTIFACTS,
        lambda: json.dumps({"name": "x", "content": "x" * (10 * MIB - 500)}),
        400,
    ),
    "10 MiB of wide text as an artifact": (
        Role.MEMBER,
        ARTIFACTS,
        lambda: f'{{"name": "x", "content": "\U0001f600{"x" * (10 * MIB - 500)}"}}',
        400,
    ),
    "the largest artifact": (
        Role.MEMBER,
        ARTIFACTS,
        lambda: f'{{"name": "x", "content": "{EMOJI * 524_288}"}}',
        201,
    ),
    "a MiB of commas in a text": (
        Role.VIEWER,
        CHECK,
        lambda: json.dumps({"x": ",[{" * (MIB // 3 - 50)}),
        400,
    ),
    "a MiB of quotes": (Role.VIEWER, CHECK, lambda: f'{{"x": {listed(chr(34) * 2, MIB - 500)}}}', 413),
    "deep lists": (Role.VIEWER, CHECK, lambda: '{"x": ' + "[" * 500_000 + "]" * 500_000 + "}", 400),
}


@pytest.mark.parametrize("name", SHOTS)
def test_no_request_holds_the_loop(hub: Hub, visit: Visit, name: str) -> None:
    """No request of a member or viewer, small or large, holds the loop for more than 50 ms of its CPU."""
    role, path, body, status = SHOTS[name]
    owner = visit(hub, hub.owner_secret, "")
    web = visit(hub, hub.token("mia" if role is Role.MEMBER else "vera", role=role), "")
    content = body().encode()

    def shoot() -> float:
        held(owner)
        if content:
            answer = web.http.post(
                path, content=content, headers={**BOTH, "Content-Type": "application/json"}
            )
        else:
            answer = web.http.get(path)
        assert answer.status_code == status, answer.text[:300]
        return held(owner)

    assert any(
        shoot() < LONGEST for _ in range(3)
    )  # a processor that is shared is slower at times, never faster
