"""CommHub over the wire: the manners of its clients, and everything that may go wrong before a tool is reached."""

import asyncio
import json
from functools import partial
from itertools import product
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from hubbub.model.people.rights import Role
from tests.dialects.commhub.callers import Fleet
from tests.dialects.commhub.requirements import requires
from tests.dialects.conftest import both_engines
from tests.dialects.every_row import every_row
from tests.dialects.running_hub import NO_TLS, Json, call
from tests.support.waiting import patience

SEND = call("send_message", alias="coder-1", message="🦊")
FORGED = ["x", "ntok_", "ntok_" + "0" * 32, "utok_" + "f" * 32, "名", "ntok_" + "0" * 10_000, "' OR 1=1 --"]


def _content(answer: Json) -> Json:
    """The JSON in the text of a tool's result."""
    (content,) = answer["result"]["content"]
    assert content["type"] == "text"
    parsed: Json = json.loads(content["text"])
    return parsed


def _strange(text: str) -> list[str]:
    """Return the constants in the text that Python takes for numbers, and JSON does not."""
    found: list[str] = []
    json.loads(text, parse_constant=found.append)
    return found


@requires("transport.bare", "all.post_mcp", "transport.paths", "all.content")
def test_a_bare_call_works(fleet: Fleet) -> None:
    """A tools/call that is posted with a token, without initialize or session, is answered as JSON."""
    fleet.online("coder-1")

    answer = fleet.post(SEND, path="/mcp/commhub")

    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["id"] == 1
    assert _content(answer.json())["ok"] is True
    assert [row["content"] for row in fleet.inbox("coder-1")] == ["🦊"]


@requires("transport.framing")
@pytest.mark.parametrize(
    ("accept", "is_framed"),
    [
        ("application/json", False),
        ("*/*", False),
        ("application/json, text/event-stream", False),
        ("text/event-stream", True),
    ],
)
def test_an_answer_is_framed_as_the_client_takes_it(fleet: Fleet, accept: str, is_framed: bool) -> None:
    """A client that takes JSON gets JSON; one that takes nothing but event frames gets a frame with the same."""
    fleet.online("coder-1")

    answer = fleet.post(SEND, Accept=accept)

    assert answer.status_code == 200
    if is_framed:
        assert answer.headers["content-type"].startswith("text/event-stream")
        (data,) = [line for line in answer.text.splitlines() if line.startswith("data: ")]
        body = json.loads(data.removeprefix("data: "))
    else:
        body = answer.json()
    assert _content(body)["ok"] is True


@requires("all.post_mcp", "transport.paths")
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_clients_of_both_revisions_work(fleet: Fleet, mode: str) -> None:
    """An official client of the old revisions and one of the new see the same tools and get the same answers."""
    fleet.online("coder-1")
    secret = fleet.token()

    async def work() -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {secret}"}
        async with httpx2.AsyncClient(headers=headers, timeout=patience(), verify=NO_TLS) as http:
            transport = streamable_http_client(f"{fleet.hub.url}/mcp/commhub", http_client=http)
            async with Client(transport, mode=mode) as client:
                listed = await client.list_tools()
                return len(listed.tools), await client.call_tool("get_session_status", {"alias": "coder-1"})

    count, result = fleet.hub.portal.call(work)
    assert count == 17
    assert result.structured_content["session"]["alias"] == "coder-1"


@requires("transport.unauthorized")
def test_a_forged_token_is_refused(fleet: Fleet) -> None:
    """No token, or one that nobody gave out, is 401, in every tool and however it looks; nothing happens."""
    fleet.online("coder-1")
    url = f"{fleet.hub.url}/mcp/commhub"

    with fleet.unchanged(), every_row() as row:
        for secret in FORGED:
            headers = {b"Authorization": f"Bearer {secret}".encode()}
            answer = httpx2.post(url, json=SEND, headers=headers, timeout=patience(), verify=NO_TLS)
            with row(secret[:40]):
                assert answer.status_code == 401
                assert answer.json()["error"]["data"] == {"error": "unauthorized"}
        assert httpx2.post(url, json=SEND, timeout=patience(), verify=NO_TLS).status_code == 401


@requires("transport.refusal", "transport.invalid", "transport.unknown_tool", "all.no_license")
def test_yes_no_and_wrong_on_the_wire(fleet: Fleet) -> None:
    """A refusal is a result like any other; only invalid arguments and unknown tools are isError, and hold JSON too."""
    fleet.online("coder-1")

    refused = fleet.post(call("get_task", task_id="none")).json()["result"]
    invalid = fleet.post(call("get_task")).json()["result"]
    unknown = fleet.post(call("sing")).json()["result"]

    assert [bool(each.get("isError")) for each in (refused, invalid, unknown)] == [False, True, True]
    contents = [json.loads(each["content"][0]["text"]) for each in (refused, invalid, unknown)]
    assert [each["error"] for each in contents] == ["task not found", "invalid_arguments", "unknown_tool"]
    assert not any(each["ok"] for each in contents)
    assert "license" not in repr(contents)


@requires("all.no_license", "send_task.viewer")
def test_a_trial_never_ends(fleet: Fleet) -> None:
    """However much time goes by, who may send tasks may send them."""
    secret = fleet.token()
    fleet.online("coder-1")
    fleet.later(days=400)

    answer = _content(fleet.post(call("send_task", alias="coder-1", task="t"), secret).json())
    assert (answer["ok"], answer["session_status"]) == (True, "offline")


@requires("transport.null")
def test_null_is_the_same_as_omitted(fleet: Fleet) -> None:
    """Null for what is optional means its default."""
    fleet.online("coder-1")
    optional = dict.fromkeys(
        ("priority", "context", "from_session", "ttl_seconds", "network_id", "parent_task_id")
    )

    sent = fleet.program().send_task(alias="coder-1", task="t", **optional)

    task = fleet.task(sent["message_id"])
    assert (task["priority"], task["from_name"], task["context"]) == ("normal", "hub", None)
    created, expires = task["created_at"], task["expires_at"]
    assert created[14:] == expires[14:]


BODIES: dict[str, bytes] = {
    "nothing": b"",
    "no JSON": b"{",
    "no object": b'"tools/call"',
    "null": b"null",
    "a batch": json.dumps([SEND]).encode(),
    "no method": b'{"jsonrpc": "2.0", "id": 1}',
    "broken UTF-8": b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "\xff"}}',
    "half a surrogate pair": json.dumps(call("send_message", alias="coder-1", message="\ud83e")).encode(),
    "NaN": b'{"jsonrpc": "2.0", "id": NaN, "method": "tools/call"}',
    "deep": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":' + b"[" * 50_000,
    "deep and closed": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"send_message","arguments":'
    + b'{"a":' * 5_000 + b"1" + b"}" * 5_002,
    "a number for a name": b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 7}}',
    "a list of arguments": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":[1]}}',
    "no params": b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}',
    "an unknown method": b'{"jsonrpc": "2.0", "id": 1, "method": "tools/sing", "params": {}}',
    "a NUL": json.dumps(call("send_message", alias="coder-1", message="a\0b")).encode(),
}  # fmt: skip


@requires("transport.invalid")
def test_a_broken_message_breaks_nothing(fleet: Fleet) -> None:
    """An invalid call of a tool is answered by one clear sentence, never by a 5xx or a trace, and changes nothing."""
    fleet.online("coder-1")
    secret = fleet.program().secret

    with fleet.unchanged(), every_row() as row:
        for what, body in BODIES.items():
            answer = fleet.post(body, secret)
            with row(what):
                assert answer.status_code in (200, 400)
                told = answer.json()
                if "error" in told:
                    assert told["error"]["message"]
                else:
                    assert (told["result"]["isError"], _content(told)["error"]) == (True, "invalid_arguments")
                assert "Traceback" not in answer.text
                assert "site-packages" not in answer.text


@requires("transport.range")
@pytest.mark.parametrize("size", [1_100_000, 10_500_000])
def test_a_body_is_bounded(fleet: Fleet, size: int) -> None:
    """A body over 1 MiB is 413, whether its length is told beforehand or it comes in pieces, and changes nothing."""
    fleet.online("coder-1")
    secret = fleet.program().secret
    body = json.dumps(call("send_message", alias="coder-1", message="x" * size)).encode()
    pieces = (body[at : at + 65_536] for at in range(0, len(body), 65_536))

    with fleet.unchanged():
        for content in (body, pieces):
            answer = httpx2.post(
                f"{fleet.hub.url}/mcp/commhub",
                content=content,
                headers={"Authorization": f"Bearer {secret}"},
                timeout=patience(),
                verify=NO_TLS,
            )
            assert answer.status_code == 413
            assert answer.json()["error"]["data"] == {"error": "too_large"}


@requires("transport.range")
def test_numbers_beyond_numbers(fleet: Fleet) -> None:
    """A number that is too large for any number, or too small, is invalid or taken as what it is, never a 5xx."""
    fleet.online("coder-1")
    needed: dict[str, Json] = {
        "report_status": {"resume_id": "run of coder-1", "alias": "coder-1", "status": "idle"},
        "report_completion": {"alias": "coder-1", "task": "t", "result": "r"},
        "send_task": {"alias": "coder-1", "task": "t"},
        "list_tasks": {},
    }
    taken = [
        ("report_status", "score"),
        ("report_status", "progress"),
        ("report_completion", "duration_minutes"),
        ("send_task", "ttl_seconds"),
        ("list_tasks", "limit"),
    ]

    with every_row() as row:
        for (tool, name), number in product(taken, ("1e999", "1" + "0" * 400, "-0.0001")):
            body = json.dumps(call(tool, **needed[tool], **{name: 777.125})).replace("777.125", number)
            answer = fleet.post(body.encode())
            with row(tool, name, number[:9]):
                assert answer.status_code in (200, 400)
                assert "-32603" not in answer.text
                assert not _strange(answer.text)
    for look in ("get_all_status", "get_completions", "list_tasks"):
        assert getattr(fleet.program(Role.VIEWER), look)()["ok"] is True


@requires("tokens.foreign")
def test_nothing_of_another_network_is_seen(fleet: Fleet, elsewhere: Fleet) -> None:
    """No tool shows a network token what is in another network, whatever id or name it asks for."""
    elsewhere.online("secret-agent", "working", task="secret work")
    task_id = elsewhere.program().send_task(alias="secret-agent", task="secret task")["message_id"]
    elsewhere.agent("secret-agent").report_completion(alias="secret-agent", task="x", result="secret result")
    program = fleet.program()

    answers = [
        program.get_inbox(alias="secret-agent"),
        program.get_task(task_id=task_id),
        program.list_tasks(alias="secret-agent"),
        program.get_all_status(),
        program.get_session_status(alias="secret-agent"),
        program.get_completions(alias="secret-agent", since="2020-01-01"),
        program.send_task(alias="secret-agen", task="t"),
    ]
    assert "secret-agent" not in repr(answers)
    assert not [each for each in ("secret work", "secret task", "secret result") if each in repr(answers)]


@requires("transport.bare")
@both_engines
def test_many_bare_calls_at_once(fleet: Fleet) -> None:
    """Calls that come at the same time are each answered, and each is done once."""
    fleet.online("coder-1")
    secret = fleet.program().secret

    async def send(http: httpx2.AsyncClient, number: int) -> Json:
        message = call("send_message", alias="coder-1", message=str(number))
        answer = await http.post(f"{fleet.hub.url}/mcp/commhub", json={**message, "id": number})
        return dict(answer.json())

    async def work() -> list[Json]:
        headers = {"Authorization": f"Bearer {secret}"}
        async with httpx2.AsyncClient(headers=headers, timeout=patience(), verify=NO_TLS) as http:
            return await asyncio.gather(*map(partial(send, http), range(30)))

    answers = fleet.hub.portal.call(work)
    assert [answer["id"] for answer in answers] == list(range(30))
    assert sorted(int(row["content"]) for row in fleet.inbox("coder-1")) == list(range(30))
