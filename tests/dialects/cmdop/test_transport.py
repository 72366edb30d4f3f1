"""cmdop over HTTP: a call whose tool says something streams, for clients that take events; all others do not."""

import json
from typing import Any

import httpx2
import pytest
from anyio.from_thread import BlockingPortal
from mcp.client.client import ConnectMode

from tests.dialects.cmdop.callers import Board
from tests.dialects.cmdop.test_elicitation import EACH_ERA, called
from tests.dialects.cmdop.workshop import Workshop
from tests.dialects.running_hub import NO_TLS, Json, call
from tests.support.waiting import patience

HELLO: Json = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "c", "version": "1"},
    },
}
JSON, EVENTS = "application/json", "text/event-stream"


def _content(response: httpx2.Response) -> Any:
    """The message in a response, be it plain or an event."""
    if response.headers["content-type"].startswith(EVENTS):
        (data,) = [line for line in response.text.splitlines() if line.startswith("data: {")]
        return json.loads(data.removeprefix("data: "))
    return response.json()


@pytest.mark.parametrize(
    ("accept", "kind"), [(JSON, JSON), (f"{JSON}, {EVENTS}", JSON), ("*/*", JSON), (EVENTS, EVENTS)]
)
def test_a_transport_session_is_served_as_its_client_takes_it(
    anywhere: Board, accept: str, kind: str
) -> None:
    """From the handshake to the end of the session each request is answered in a form that the client takes."""
    headers = {"Authorization": f"Bearer {anywhere.agent('ada').secret}", "Accept": accept}
    with httpx2.Client(base_url=anywhere.hub.url, headers=headers, timeout=patience(), verify=NO_TLS) as http:
        hello = http.post(anywhere.path, json=HELLO)
        assert _content(hello)["result"]["serverInfo"]["name"] == "cmdop"
        session = {"Mcp-Session-Id": hello.headers["mcp-session-id"], "MCP-Protocol-Version": "2025-11-25"}
        told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        assert http.post(anywhere.path, json=told, headers=session).status_code == 202

        listed = http.post(anywhere.path, json=call("issue_list"), headers=session)

        assert listed.headers["content-type"].startswith(kind)
        assert _content(listed)["result"]["structuredContent"] == {"result": []}
        assert http.delete(anywhere.path, headers=session).status_code == 200
        assert http.post(anywhere.path, json=call("issue_list"), headers=session).status_code == 404


@pytest.mark.parametrize("begun", [JSON, f"{JSON}, {EVENTS}", EVENTS])
def test_each_request_of_a_session_says_anew_what_it_takes(anywhere: Board, begun: str) -> None:
    """A session is not lost when a request takes another form than the one that began it."""
    headers = {"Authorization": f"Bearer {anywhere.agent('ada').secret}"}
    with httpx2.Client(base_url=anywhere.hub.url, headers=headers, timeout=patience(), verify=NO_TLS) as http:
        hello = http.post(anywhere.path, json=HELLO, headers={"Accept": begun})
        session = {"Mcp-Session-Id": hello.headers["mcp-session-id"], "MCP-Protocol-Version": "2025-11-25"}
        told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        for accept in (JSON, EVENTS, f"{JSON}, {EVENTS}", begun):
            takes = {**session, "Accept": accept}
            assert http.post(anywhere.path, json=told, headers=takes).status_code == 202
            for asked in (call("issue_list"), {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}):
                answer = http.post(anywhere.path, json=asked, headers=takes)
                assert answer.headers["content-type"].split(";")[0] in accept
                assert "result" in _content(answer)


def test_a_bare_call_is_answered_plainly(anywhere: Board) -> None:
    """A call on its own needs no stream, whatever the client takes."""
    response = anywhere.post(call("issue_list"), Accept=f"{JSON}, {EVENTS}")

    assert response.headers["content-type"].startswith(JSON)
    assert response.json()["result"]["structuredContent"] == {"result": []}


@EACH_ERA
def test_a_long_result_reaches_the_official_client(
    machine: Workshop, portal: BlockingPortal, mode: ConnectMode
) -> None:
    """It comes as plain JSON: in a stream that client takes a mebibyte for an event, and no more."""
    machine.policy('mode = "bypass"')
    much = {"command": f"head -c {1024 * 1024} /dev/zero | tr '\\0' x"}

    answer, is_error = portal.call(called, machine, mode, None, "execute_command", much)

    assert not is_error
    assert len(answer["stdout"]) == 1024 * 1024
