"""The limit on a body's content, however few bytes it takes."""

import asyncio
import json
from collections.abc import Callable
from contextlib import closing, suppress
from typing import Any

import pydantic_core
import pytest

from hubbub.model.people.rights import Role
from hubbub.serve.http.body_limits import AT_ONCE, DEPTH, TOO_DEEP, TOO_MANY, VALUES, BodyExcess, body_excess
from tests.serve.mcp.wire import Peer
from tests.serve.rest.fleet.desk_requests import asking
from tests.serve.served_hub import Hub
from tests.serve.web_client import Visit, refusal

MANY = "[" + "{}," * VALUES + "{}]"
JSON = {"Content-Type": "application/json"}


def nested(depth: int, opens: str = "[", closes: str = "]") -> str:
    return opens * depth + closes * depth


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("[" + ",".join(["1"] * (VALUES - 1)) + "]", None),
        (MANY, TOO_MANY),
        (json.dumps({str(number): number for number in range(VALUES + 1)}), TOO_MANY),
        (json.dumps([str(number) for number in range(VALUES + 1)]), TOO_MANY),
        (json.dumps([""] * (3 * VALUES)), TOO_MANY),
        (json.dumps({"text": "{[," * VALUES}), None),
        (json.dumps({"text": '"\\,' * VALUES}), None),
        (json.dumps({"text": '\\",' * VALUES + "\\"}), None),
        (nested(DEPTH), None),
        (nested(DEPTH + 1), TOO_DEEP),
        ("[" * 3_000, TOO_DEEP),
        ("[" * 50_000, TOO_DEEP),
        (nested(900, '{"a":', "}").replace(":}", ":1}"), TOO_DEEP),
        (nested(DEPTH + 1, '{"a":[],"b":', "}").replace(":}", ":1}"), TOO_DEEP),
        ("[[],[[]],{}" + ",[[]]" * 100 + "]", None),
        ("no JSON, " * 10, None),
        ("", None),
    ],
)
def test_values_are_counted_before_they_are_read(body: str, said: BodyExcess | None) -> None:
    """Values count wherever JSON has them, and in texts there are none; too many or too deep ones are refused."""
    assert body_excess(body.encode()) is said


@pytest.mark.parametrize(
    "path", ["/mcp/hub", "/mcp/relay", "/api/v1/scopes/check", "/_gxv/api/v1/tasks/claim"]
)
def test_no_route_reads_a_body_that_holds_too_much(hub: Hub, visit: Visit, path: str) -> None:
    """Whichever address it is sent to, a body of too many values is 413, and one of too deep ones 400."""
    web = visit(hub, hub.token("vera", role=Role.VIEWER), "")

    many = web.http.post(path, content=f'{{"x": {MANY}}}', headers=JSON)
    assert refusal(many) == (413, "too_large")
    assert "the body holds more than 20,000 values" in many.text
    deep = web.http.post(path, content=f'{{"x": {nested(900)}}}', headers=JSON)
    assert deep.status_code == 400


def test_a_question_with_deep_arguments_is_refused(
    hub: Hub, visit: Visit, capsys: pytest.CaptureFixture[str]
) -> None:
    """Arguments that are nested deep are refused by a sentence, and leave no trace in the log."""
    web = visit(hub, hub.token("ann"))
    said = json.dumps({"node": "box", "need": "put", "content": asking(arguments={"a": "deep"})})

    for levels in (90, 900):
        body = said.replace('"deep"', nested(levels))
        assert refusal(web.http.post("/desk", content=body, headers=JSON)) == (400, "invalid"), levels
    assert "Traceback" not in capsys.readouterr().err


def test_large_bodies_are_for_those_who_may_write(hub: Hub, visit: Visit) -> None:
    """A viewer may send one body of ten MiB, also where members may send all of them."""
    body = b" " * (2 * 1024 * 1024) + b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'

    sent = {
        role: visit(hub, hub.token(role.value, role=role), "").http.post(
            "/mcp/relay", content=body, headers=JSON
        )
        for role in (Role.MEMBER, Role.VIEWER)
    }

    assert sent[Role.MEMBER].status_code == 200
    assert refusal(sent[Role.VIEWER]) == (413, "too_large")


def _noting(read: Callable[..., Any], heavy: list[int]) -> Callable[..., Any]:
    """Wrap `read` to record the large values that are read on an event loop."""

    def noted(body: str | bytes, *arguments: Any, **more: Any) -> Any:
        with suppress(RuntimeError):
            asyncio.get_running_loop()
            if len(body) > AT_ONCE:
                heavy.append(len(body))
        return read(body, *arguments, **more)

    return noted


def test_a_large_call_is_read_beside_the_loop(
    hub: Hub, revision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes whole to its tool, and the event loop reads none of it, in a session and in a request of its own."""
    heavy: list[int] = []
    monkeypatch.setattr(pydantic_core, "from_json", _noting(pydantic_core.from_json, heavy))
    monkeypatch.setattr(json, "loads", _noting(json.loads, heavy))
    text = "a\u00e4\U0001f600" * 40_000
    peer = Peer(hub, hub.token("ada"), revision)
    with closing(peer.http):
        answer = peer.ask("tools/call", name="echo", arguments={"text": text})

    assert text in answer["structuredContent"].values()
    assert heavy == []
