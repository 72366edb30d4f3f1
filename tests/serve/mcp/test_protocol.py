"""Dialects over MCP: both revisions, bare calls, and what comes back for what should never have been sent."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from hubbub.core.actions import inbox
from hubbub.model.programs.proxy_trust import authorities
from hubbub.serve.http.guard import BODY_LIMIT
from tests.serve.mcp.wire import BOTH, LEGACY, MODERN, PATH, Connect, Peer, call, message, post
from tests.serve.served_hub import TINY, Hub

SAID = {"fine": True, "text": "hello"}


def contents(result: Any) -> Any:
    """A tool's answer, having seen that both its forms say the same."""
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    return result["structuredContent"]


def bodies(hub: Hub, name: str) -> list[str]:
    """Return the texts in an inbox."""
    letters = hub.do(lambda tx: inbox.read(tx, hub.project.id, name, 100))
    return [letter.body for letter in letters]


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_official_client_connects_and_calls(hub: Hub, mode: Any) -> None:
    """The official Python client lists the tools as declared, calls one, reads a resource and the prompt."""
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {hub.token()}"}, verify=authorities(hub.url))
    async with http, Client(streamable_http_client(hub.url + PATH, http_client=http), mode=mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == set(TINY.tools)
        assert tools["echo"].input_schema == TINY.tools["echo"].schema
        assert tools["echo"].description == "Say it again."
        assert tools["echo"].annotations is not None
        assert tools["echo"].annotations.read_only_hint is True
        assert tools["echo"].output_schema is None
        assert (await client.call_tool("echo", {"text": "hello"})).structured_content == SAID
        assert (await client.read_resource("hubbub://agents")).contents[0].mime_type == "application/json"
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["work-here"]
        said = (await client.get_prompt("work-here", {"name": "ada"})).messages[0].content
        assert said.type == "text"
        assert said.text == f"You work here as ada.\n\n{TINY.guide}"


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_official_client_hears_why_it_is_refused(hub: Hub, mode: Any) -> None:
    """What is refused before any tool set sees it comes as a JSON-RPC error, whose sentence the client raises."""

    async def heard(path: str, secret: str) -> str:
        http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {secret}"}, verify=authorities(hub.url))
        transport = streamable_http_client(hub.url + path, http_client=http)
        with pytest.RaisesGroup(MCPError, allow_unwrapped=True, flatten_subgroups=True) as raised:
            async with http, Client(transport, mode=mode) as client:
                await client.list_tools()
        problem: BaseException = raised.value
        while isinstance(problem, ExceptionGroup):
            (problem,) = problem.exceptions
        return str(problem)

    for path in ("/mcp", *(f"/mcp/{name}" for name in hub.served.dialects)):
        assert await heard(path, "ntok_unknown") == (
            "a valid token is needed: Authorization: Bearer ntok_… or utok_…"
        )
    assert (await heard("/mcp/nonsense", hub.token())).startswith(
        "there is no dialect 'nonsense'; there are "
    )
    assert "?tools= names the tools" in await heard("/mcp?tools=nonsense", hub.token())


def test_a_tool_answers_in_both_forms(hub: Hub, connect: Connect, revision: str) -> None:
    """An answer is structured content and, for older clients, the same as JSON text."""
    result = connect(hub.token(), revision).ask("tools/call", name="echo", arguments={"text": "hello"})
    assert contents(result) == SAID
    assert result["isError"] is False


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ("nonsense", {"fine": False, "why": "unknown", "message": "nonsense"}),
        ("echo", {"fine": False, "why": "invalid", "message": "text is missing"}),
    ],
)
def test_a_wrong_call_is_told_in_the_words_of_the_dialect(
    hub: Hub, connect: Connect, revision: str, tool: str, said: object
) -> None:
    """An unknown tool and wrong arguments are results that say `isError`, not errors of the protocol."""
    result = connect(hub.token(), revision).ask("tools/call", name=tool, arguments={})
    assert result["isError"] is True
    assert contents(result) == said


def test_a_refusal_of_the_hub_is_told_in_the_words_of_the_dialect(
    hub: Hub, connect: Connect, revision: str
) -> None:
    """A full disk is a refusal like any other."""
    result = connect(hub.token(), revision).ask("tools/call", name="overflow", arguments={})
    assert contents(result) == {"fine": False, "why": "store_unavailable"}


def test_a_bug_tells_nothing_of_itself(
    hub: Hub, connect: Connect, revision: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The cause of an internal error is in the log, and only there."""
    error = connect(hub.token(), revision).request("tools/call", name="stumble", arguments={})["error"]
    assert error == {"code": -32603, "message": "the hub failed to answer this; its log says why"}
    assert "the secret is 42" in caplog.text


def test_an_unknown_prompt_is_refused(hub: Hub, connect: Connect, revision: str) -> None:
    """There is one prompt; another is an invalid parameter."""
    error = connect(hub.token(), revision).request("prompts/get", name="nonsense")["error"]
    assert (error["code"], error["message"]) == (-32602, "there is no such prompt; the only one is work-here")


def test_the_prompt_knows_the_name_of_a_bound_token(hub: Hub, connect: Connect, revision: str) -> None:
    """A caller bound to an agent need not say its name."""
    result = connect(hub.token("ada"), revision).ask("prompts/get", name="work-here")
    assert result["messages"][0]["content"]["text"].startswith("You work here as ada.")


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream", BOTH["Accept"], "*/*"])
def test_a_bare_call_needs_no_handshake(hub: Hub, accept: str) -> None:
    """A tool can be called without `initialize` and any session id, and is answered in the form that is accepted."""
    answer = post(hub, hub.token(), call("echo", text="hello"), Accept=accept)
    form = answer.headers["content-type"]
    assert form == ("text/event-stream" if accept == "text/event-stream" else "application/json")
    text = answer.text.removeprefix("event: message\r\ndata: ")
    assert contents(json.loads(text)["result"]) == SAID


def test_a_bare_message_may_be_any_method(hub: Hub) -> None:
    """Whatever needs no transport session can be asked for without one; subscribing does need one."""
    secret = hub.token()
    assert post(hub, secret, message("ping")).json()["result"] == {}
    assert len(post(hub, secret, message("tools/list")).json()["result"]["tools"]) == len(TINY.tools)
    error = post(hub, secret, message("resources/subscribe", {"uri": "hubbub://tasks"})).json()["error"]
    assert error["message"] == "subscribing needs a transport session: initialize first"
    assert post(hub, secret, message("nonsense")).json()["error"]["code"] == -32601
    assert post(hub, secret, message("tools/call", {"name": 7})).json()["error"]["code"] == -32602
    assert post(hub, secret, {"jsonrpc": "2.0", "method": "notifications/initialized"}).status_code == 202


def test_the_root_speaks_the_root_dialect(hub: Hub) -> None:
    """`/mcp` is the dialect that was chosen for it; one that does not exist is a 404 that names those that do."""
    listed = [post(hub, hub.token(), message("tools/list"), path=path) for path in ("/mcp", "/mcp/hub")]
    assert listed[0].json()["result"] == listed[1].json()["result"]
    refused = post(hub, hub.token(), call("echo", text="hello"), path="/mcp/nonsense")
    there = f"there is no dialect 'nonsense'; there are {', '.join(hub.served.dialects)}"
    problem = {"code": -32600, "message": there, "data": {"error": "not_found"}}
    assert (refused.status_code, refused.json()) == (404, {"jsonrpc": "2.0", "id": None, "error": problem})


def test_an_address_may_want_some_tools(hub: Hub, revision: str) -> None:
    """`?tools=` lists these and does these, in every revision; any other is unknown there."""
    peer = Peer(hub, hub.token(), revision, f"{PATH}?tools=echo,note")
    with closing(peer.http):
        assert [tool["name"] for tool in peer.ask("tools/list")["tools"]] == ["echo", "note"]
        assert contents(peer.ask("tools/call", name="echo", arguments={"text": "hello"})) == SAID
        refused = peer.ask("tools/call", name="overflow", arguments={})
    assert (refused["isError"], contents(refused)["why"]) == (True, "unknown")


@pytest.mark.parametrize("query", ["tools=echo", "tools=,echo,", "tools=%20echo%20", "tools=echo&tools=echo"])
def test_a_bare_call_is_narrowed_too(hub: Hub, query: str) -> None:
    """Calls on their own have the tools of their address, and no others."""
    path, secret = f"{PATH}?{query}", hub.token()
    listed = post(hub, secret, message("tools/list"), path=path).json()["result"]["tools"]
    assert [tool["name"] for tool in listed] == ["echo"]
    assert post(hub, secret, call("echo", text="hello"), path=path).json()["result"]["isError"] is False
    assert post(hub, secret, call("note", to="ada", text="hi"), path=path).json()["result"]["isError"] is True


@pytest.mark.parametrize(
    ("query", "wrong"),
    [
        ("tools=", "it names none"),
        ("tools=,", "it names none"),
        ("tools=nonsense,echo", "there is no tool 'nonsense'"),
        ("tools=ECHO", "there is no tool 'ECHO'"),
        ("tools=" + "x" * 10_000, f"there is no tool '{'x' * 64}'"),
        ("tools=" + ",".join("abcdefg"), "there is no tool 'a', 'b', 'c', 'd', 'e'"),
    ],
)
def test_tools_that_are_not_there(hub: Hub, query: str, wrong: str) -> None:
    """An address that wants what the dialect does not have is a 400 that says what it has."""
    answer = post(hub, hub.token(), message("tools/list"), path=f"{PATH}?{query}")
    assert answer.status_code == 400
    assert answer.json()["error"]["message"] == (
        f"?tools= names the tools to have, by commas: {wrong}; there are echo, note, stumble, overflow"
    )


@pytest.mark.parametrize("name", ["hub", "commhub", "relay", "golemxv", "cmdop"])
def test_every_dialect_can_be_narrowed(hub: Hub, name: str) -> None:
    """Each of the served tool sets has an address for one of its tools."""
    only = next(iter(hub.served.dialects[name].tools))
    answer = post(hub, hub.token(), message("tools/list"), path=f"/mcp/{name}?tools={only}")
    assert [tool["name"] for tool in answer.json()["result"]["tools"]] == [only]


def test_a_transport_session_belongs_to_its_token(hub: Hub, connect: Connect) -> None:
    """With another token, and on another path, a session id is unknown."""
    peer = connect(hub.token(), LEGACY)
    session = {"Mcp-Session-Id": peer.http.headers["mcp-session-id"], **BOTH}
    assert post(hub, hub.token(), message("ping"), **session).status_code == 404
    mine = peer.http.headers["authorization"].removeprefix("Bearer ")
    assert post(hub, mine, message("ping"), path="/mcp/relay", **session).status_code == 404
    assert post(hub, mine, message("ping"), **session).status_code == 200


@pytest.mark.parametrize("form", ["header", "meta"])
def test_a_keyed_call_that_is_repeated_happens_once(
    hub: Hub, connect: Connect, revision: str, form: str
) -> None:
    """With the same idempotency key, in a header or in `_meta`, the second call gets the answer of the first."""
    hub.meet("ada")
    peer = connect(hub.token(), revision)
    params: dict[str, Any] = {"name": "note", "arguments": {"to": "ada", "text": "once"}}
    if form == "header":
        peer.http.headers["Idempotency-Key"] = "k1"
    else:
        params["_meta"] = {"hubbub/idempotency-key": "k1"}
    first, second = (contents(peer.ask("tools/call", **params)) for _ in range(2))
    assert first == second
    assert bodies(hub, "ada") == ["once"]


def test_an_idempotency_key_is_text(hub: Hub) -> None:
    """Another type of key is refused, and nothing is done."""
    hub.meet("ada")
    params = {"name": "note", "arguments": {"to": "ada", "text": "x"}, "_meta": {"hubbub/idempotency-key": 7}}
    error = post(hub, hub.token(), message("tools/call", params)).json()["error"]
    assert error["message"] == "hubbub/idempotency-key must be text"
    assert bodies(hub, "ada") == []


NOT_JSON = [
    b"",
    b"{",
    b"nonsense",
    b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": NaN}}',
    b'{"jsonrpc": "2.0", "id": 1, "method": "\xff\xfe"}',
    b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "\\ud800"}}',
    b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": '
    + b"[" * 100_000
    + b"]" * 100_000
    + b"}}",
]
NO_MESSAGE = [
    b"[]",
    json.dumps([message("ping")]).encode(),
    b'"ping"',
    b'{"id": 1, "method": "ping"}',
    b'{"jsonrpc": "2.0", "id": 1}',
    b'{"jsonrpc": "2.0", "id": true, "method": "ping"}',
    b'{"jsonrpc": "2.0", "id": [1], "method": "ping"}',
    b'{"jsonrpc": "2.0", "id": 1, "method": 5}',
    b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}',
]


@pytest.mark.parametrize("headers", [{}, BOTH, {**BOTH, "MCP-Protocol-Version": MODERN}])
@pytest.mark.parametrize(
    ("code", "bodies"), [(-32700, NOT_JSON), (-32600, NO_MESSAGE)], ids=["json", "message"]
)
def test_what_is_no_message_is_refused_in_a_sentence(
    hub: Hub, code: int, bodies: list[bytes], headers: dict[str, str]
) -> None:
    """Broken UTF-8, broken or deep JSON, batches and half messages are 400 with one sentence, in every revision."""
    secret = hub.token()
    for body in bodies:
        answer = post(hub, secret, body, **headers)
        assert answer.status_code == 400, body[:60]
        error = answer.json()["error"]
        assert error["code"] == code
        assert "\n" not in error["message"]


@pytest.mark.parametrize("accept", ["text/event-stream", "text/plain"])
def test_a_refusal_is_json_whatever_is_accepted(hub: Hub, accept: str) -> None:
    """Only answers are put into event frames."""
    answer = post(hub, hub.token(), message("ping"), **{"Accept": accept, "Mcp-Session-Id": "nonsense"})
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/json")


def test_a_huge_body_is_refused(hub: Hub, connect: Connect, revision: str) -> None:
    """10 MB are 413, and the hub goes on."""
    peer = connect(hub.token(), revision)
    assert peer.http.post(hub.url + PATH, content=b" " * 10 * BODY_LIMIT).status_code == 413
    assert contents(peer.ask("tools/call", name="echo", arguments={"text": "hello"})) == SAID


@pytest.mark.parametrize("verb", ["PUT", "PATCH", "OPTIONS"])
def test_other_verbs_are_not_allowed(hub: Hub, verb: str) -> None:
    """Only POST, GET and DELETE mean something here."""
    headers = {"Authorization": f"Bearer {hub.token()}"}
    assert httpx2.request(verb, hub.url + PATH, headers=headers).status_code == 405


def test_calls_at_the_same_time_do_not_mix(hub: Hub, connect: Connect, revision: str) -> None:
    """Each of many concurrent calls gets its own answer, and each write happens once."""
    hub.meet("ada")
    peers = [connect(hub.token(), revision) for _ in range(4)]
    texts = [f"note {number}" for number in range(40)]

    def say(number: int) -> Any:
        peer = peers[number % len(peers)]
        echoed = contents(peer.ask("tools/call", name="echo", arguments={"text": texts[number]}))["text"]
        peer.ask("tools/call", name="note", arguments={"to": "ada", "text": echoed})
        return echoed

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(say, range(len(texts)))) == texts
    assert sorted(bodies(hub, "ada")) == sorted(texts)
