"""cmdop over HTTP: calls may stream, for clients that take events; all others are served as everywhere."""

import json
from typing import Any

import httpx2
import pytest

from tests.dialects.cmdop.callers import Board
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
    ("accept", "kind"), [(JSON, JSON), (f"{JSON}, {EVENTS}", EVENTS), ("*/*", EVENTS), (EVENTS, EVENTS)]
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


def test_a_bare_call_is_answered_plainly(anywhere: Board) -> None:
    """A call on its own needs no stream, whatever the client takes."""
    response = anywhere.post(call("issue_list"), Accept=f"{JSON}, {EVENTS}")

    assert response.headers["content-type"].startswith(JSON)
    assert response.json()["result"]["structuredContent"] == {"result": []}
