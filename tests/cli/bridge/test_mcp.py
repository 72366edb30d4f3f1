"""`hubbub mcp`: an MCP server on stdio that is a bridge to the hub, through real processes."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from hubbub.bridge import bridge as bridge_module
from hubbub.bridge.bridge import Bridge
from hubbub.bridge.messages import json_rpc
from hubbub.bridge.transport.mcp_upstream import Upstream
from hubbub.client import Hub, owner_token, running_hub
from hubbub.dialects import names
from tests.cli.processes import PROGRAM, RunningHub, hubbub, plain_environment, stranger
from tests.cli.stdio_peers import LEGACY, MODERN, StdioPeer

Connect = Callable[..., StdioPeer]
UPDATED = "notifications/resources/updated"
AGENTS = "hubbub://agents"


@pytest.fixture
def connect() -> Iterator[Connect]:
    with ExitStack() as peers:

        def connected(hub: RunningHub, revision: str, *arguments: str, **environment: str) -> StdioPeer:
            peer = StdioPeer(hub, revision, *arguments, **environment)
            peers.callback(peer.close)
            return peer.connect()

        yield connected


@pytest.fixture(params=[LEGACY, MODERN])
def revision(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def watch(peer: StdioPeer, uri: str) -> int | None:
    """Have the peer told when the resource changes, in the way of its revision."""
    if peer.revision == LEGACY:
        assert "result" in peer.ask("resources/subscribe", {"uri": uri})
        return None
    number = peer.request("subscriptions/listen", {"notifications": {"resourceSubscriptions": [uri]}})
    peer.hear("notifications/subscriptions/acknowledged")
    return number


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_official_client_connects(hub: RunningHub, mode: Any) -> None:
    """The official Python client lists and calls the tools of the hub, in both revisions, through the bridge."""
    hub.meet("ada")
    environment = plain_environment(hub.data, HUBBUB_PROJECT=hub.project)
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "hubbub", "mcp", "commhub"], env=environment
    )

    async def walk() -> tuple[int, Any]:
        async with Client(stdio_client(server), mode=mode) as client:
            tools = (await client.list_tools()).tools
            sent = await client.call_tool("send_task", {"alias": "ada", "task": "你好"})
            return len(tools), sent.structured_content

    count, sent = asyncio.run(walk())
    assert count == 17
    assert hub.client().task(sent["message_id"])["text"] == "你好"


def test_without_a_name_it_is_the_hubs_own_tongue(hub: RunningHub) -> None:
    """`hubbub mcp` speaks what the hub has at `/mcp`: the eight tools; who joins over it is that agent from then on."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "hubbub", "mcp"],
        env=plain_environment(hub.data, HUBBUB_PROJECT=hub.project),
    )

    async def walk() -> tuple[list[str], Any]:
        async with Client(stdio_client(server), mode="legacy") as client:
            tools = (await client.list_tools()).tools
            await client.call_tool("join", {"name": "ember"})
            told = await client.call_tool("join", {})
            return [tool.name for tool in tools], told.structured_content

    names, told = asyncio.run(walk())
    assert names == ["join", "inbox", "send", "task", "board", "files", "share", "ask"]
    assert told["you"] == "ember"


@pytest.mark.parametrize("names", [("ann", "bob"), ("安", "боб")])
def test_agents_without_tokens_of_their_own_are_told_apart(
    hub: RunningHub, connect: Connect, revision: str, names: tuple[str, str]
) -> None:
    """An agent that joins over the bridge keeps its name in all later calls, in any script, whoever joins elsewhere."""

    def call(peer: StdioPeer, tool: str, **arguments: object) -> Any:
        said = peer.answer(peer.request("tools/call", {"name": tool, "arguments": arguments}))["result"]
        assert not said["isError"], said
        return said["structuredContent"]

    first, second = (f"{name}-{revision}" for name in names)
    ann, bob = connect(hub, revision, "hub"), connect(hub, revision, "hub")
    assert [call(ann, "join", name=first)["you"], call(bob, "join", name=second)["you"]] == [first, second]
    call(ann, "send", to=second, text="are you there?", kind="message")
    (letter,) = call(bob, "inbox")["letters"]
    assert (letter["from"], letter["text"]) == (first, "are you there?")
    assert call(ann, "inbox")["letters"] == []


def test_only_some_tools(hub: RunningHub, connect: Connect, revision: str) -> None:
    """`--tools` leaves only these: they are listed and done, and no other."""
    peer = connect(hub, revision, "relay", "--tools", "send_message,get_messages")
    listed = peer.answer(peer.request("tools/list"))["result"]["tools"]
    assert [tool["name"] for tool in listed] == ["send_message", "get_messages"]
    for tool, is_there in (("get_messages", True), ("get_all_tasks", False)):
        called = peer.request("tools/call", {"name": tool, "arguments": {"agent_id": "rhea"}})
        assert peer.answer(called)["result"]["isError"] is not is_there


def test_mail_beside_an_answer(hub: RunningHub, connect: Connect, revision: str) -> None:
    """`--unread` has an answer followed by what the agent that made the call has not read, once."""
    name = f"rhea-{revision}"
    hub.meet(name)
    hub.run("send", name, "good morning")
    peer = connect(hub, revision, "relay", "--unread")
    said = {"agent_id": name, "to": name, "content": "x"}
    for told in (2, 1):
        called = peer.request("tools/call", {"name": "send_message", "arguments": said})
        assert len(peer.answer(called)["result"]["content"]) == told
        said = {**said, "to": "somebody"}


def test_tools_that_are_not_there(hub: RunningHub, connect: Connect) -> None:
    """A name that the dialect does not have is refused in one sentence, which says which there are."""
    peer = StdioPeer(hub, MODERN, "relay", "--tools", "nonsense")
    error = peer.answer(peer.request("tools/list"))["error"]
    assert error["message"].startswith(
        "--tools names the tools to have, by commas: there is no tool 'nonsense'"
    )
    peer.close()


def test_a_token_that_is_not_valid(hub: RunningHub) -> None:
    """A refused token is told in the words of the command: neither headers nor addresses are its user's."""
    peer = StdioPeer(hub, MODERN, HUBBUB_TOKEN="ntok_" + "0" * 32)
    error = peer.answer(peer.request("tools/list"))["error"]
    assert error["message"] == (
        "a valid token is needed: the hub does not know this one, or it was revoked or has expired; "
        "give another with --token or HUBBUB_TOKEN"
    )
    peer.close()


def test_news_come_through(hub: RunningHub, connect: Connect, revision: str) -> None:
    """A resource that the client watches is announced to it when it changes."""
    peer = connect(hub, revision)
    watch(peer, AGENTS)
    hub.meet("newcomer")
    assert peer.hear(UPDATED)["params"]["uri"] == AGENTS


@pytest.mark.system
def test_survives_a_restart_of_the_hub(own_hub: RunningHub, connect: Connect, revision: str) -> None:
    """A request made while the hub is away is answered when it is back, and what was watched goes on being watched."""
    peer = connect(own_hub, revision)
    watch(peer, AGENTS)
    own_hub.stop(signal.SIGKILL)
    waiting = peer.request("tools/call", {"name": "get_all_status", "arguments": {}})
    own_hub.start()
    assert peer.answer(waiting)["result"]["structuredContent"]["ok"] is True
    assert peer.hear(UPDATED)["params"]["uri"] == AGENTS  # who knows what happened meanwhile
    own_hub.meet("newcomer")
    assert peer.hear(UPDATED)["params"]["uri"] == AGENTS


def test_waits_for_a_hub_that_is_just_starting(own_hub: RunningHub, connect: Connect) -> None:
    """A client that starts while a hub that it knows is away is served when it is back."""
    there = {"HUBBUB_URL": own_hub.url, "HUBBUB_TOKEN": owner_token(own_hub.data) or ""}
    connect(own_hub, MODERN, **there).ask("tools/list")
    own_hub.stop()
    peer = StdioPeer(own_hub, MODERN, **there)
    waiting = peer.request("tools/list")
    own_hub.start()
    assert "result" in peer.answer(waiting)
    peer.close()


@pytest.mark.system
def test_hub_that_never_was(tmp_path: Path) -> None:
    """Where no hub was ever reached the bridge ends with code 3, rather than to wait for one."""
    for token in ("utok_1", "ntok_1"):
        done = hubbub("mcp", "--url", "http://127.0.0.1:1", "--token", token, data=tmp_path)
        assert (done.returncode, done.stdout) == (3, "")


def test_dialect_of_another_hub(tmp_path: Path) -> None:
    """A dialect that the hub does not speak is refused at the start, with those that it speaks."""
    with stranger(speaks=("commhub", "relay")) as url:
        done = hubbub("mcp", "golemxv", "--url", url, "--token", "ntok_1", data=tmp_path)
    sentence = "this hub does not speak golemxv; it speaks commhub, relay"
    assert (done.returncode, done.stderr) == (1, f"Error: {sentence}\n")


def test_unknown_dialect(tmp_path: Path) -> None:
    """A dialect that nobody speaks is wrong usage, and no hub is started for it."""
    done = hubbub("mcp", "esperanto", data=tmp_path)
    assert done.returncode == 2
    assert all(f"'{each}'" in done.stderr for each in names())
    assert list(tmp_path.iterdir()) == []


def test_orderly_restart_is_not_noticed(own_hub: RunningHub, connect: Connect) -> None:
    """When the hub ends a subscription because it goes down in good order, the bridge subscribes again by itself."""
    peer = connect(own_hub, MODERN)
    number = watch(peer, AGENTS)
    own_hub.stop()
    own_hub.start()
    message = peer.hear(UPDATED)
    assert message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == number


def test_requests_run_side_by_side(hub: RunningHub, connect: Connect) -> None:
    """A request that takes long does not keep others waiting."""
    peer = connect(hub, MODERN)
    watch(peer, AGENTS)  # answered when it ends
    assert peer.call("get_all_status")["ok"] is True


def test_cancelled_request_is_not_answered(hub: RunningHub, connect: Connect) -> None:
    """A request that the client cancels ends at the hub too, and the client hears no more of it."""
    peer = connect(hub, MODERN)
    number = watch(peer, AGENTS)
    peer.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
    assert peer.call("get_all_status")["ok"] is True
    rest, code = peer.close()
    assert (rest, code) == ("", 0)


def test_ends_with_its_input(hub: RunningHub, revision: str) -> None:
    """When standard input ends, what was asked is still answered, and the process ends with code 0."""
    peer = StdioPeer(hub, revision).connect()
    number = peer.request("tools/list")
    rest, code = peer.close()
    assert code == 0
    assert [json.loads(line)["id"] for line in rest.splitlines()] == [number]


def test_a_signal_ends_it(hub: RunningHub, connect: Connect) -> None:
    """At SIGTERM it ends, though its input is still open."""
    peer = connect(hub, LEGACY)
    peer.process.send_signal(signal.SIGTERM)
    assert peer.process.wait() == 0


def test_ends_when_nobody_reads(hub: RunningHub) -> None:
    """When its output is closed there is nobody to serve, and it ends without a trace."""
    peer = StdioPeer(hub, MODERN)
    assert peer.process.stdout is not None
    peer.process.stdout.close()
    peer.request("tools/list")
    assert peer.process.wait() == 0
    assert peer.process.stdin is not None
    peer.process.stdin.close()


def test_a_stranger_at_the_address(hub: RunningHub) -> None:
    """A server at the address that does not speak MCP is told from a hub, in the answer to each request."""
    with stranger() as url:
        peer = StdioPeer(hub, MODERN, HUBBUB_URL=url, HUBBUB_TOKEN="ntok_1")
        answer = peer.ask("tools/list")
        peer.close()
    assert "error" in answer


def test_sends_much_before_it_reads(hub: RunningHub, connect: Connect) -> None:
    """A client may send more than fits between the two before it reads any answer; all are answered."""
    peer = connect(hub, LEGACY)
    much = "x" * 10_000
    numbers = [peer.request("tools/call", {"name": much, "arguments": {}}) for _ in range(100)]
    assert all("result" in peer.answer(number) for number in numbers)


def test_input_from_a_file(hub: RunningHub, tmp_path: Path) -> None:
    """Standard input may be a file, of which the last line need not be ended."""
    lines = [{"jsonrpc": "2.0", "id": number, "method": "ping"} for number in (1, 2)]
    file = tmp_path / "input"
    file.write_text("\n\n".join(json.dumps(line) for line in lines))
    with file.open() as given:
        done = subprocess.run(
            [*PROGRAM, "mcp", "commhub"],
            env=plain_environment(hub.data),
            stdin=given,
            capture_output=True,
            check=True,
        )
    assert {json.loads(line)["id"] for line in done.stdout.splitlines()} == {1, 2}


def test_terminal_is_left_as_it_was(hub: RunningHub) -> None:
    """Standard input and output, which others may use as well, are not left in another mode."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = subprocess.Popen(
            [*PROGRAM, "mcp", "commhub"],
            env=plain_environment(hub.data),
            stdin=theirs.fileno(),
            stdout=theirs.fileno(),
        )
        ours.sendall(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        assert json.loads(ours.recv(65_536))["id"] == 1
        assert not os.get_blocking(theirs.fileno())
        ours.shutdown(socket.SHUT_WR)
        assert process.wait() == 0
        assert os.get_blocking(theirs.fileno())


@pytest.mark.parametrize("line", ["no json", "[]", "12", "{", '"text"', '{"method": "ping", "id": []}'])
def test_lines_that_are_no_messages(hub: RunningHub, connect: Connect, line: str) -> None:
    """A line that is no message is answered with a parse error, and the next one is served."""
    peer = connect(hub, LEGACY)
    peer.write(line)
    message = peer._next()
    assert (message["id"], message["error"]["code"]) == (None, -32700)
    assert "result" in peer.ask("ping")


def test_refusals_come_through(hub: RunningHub, connect: Connect) -> None:
    """A refusal of the hub is an answer to the request, in the protocol's words."""
    peer = connect(hub, LEGACY)
    assert "error" in peer.ask("resources/read", {"uri": "hubbub://nothing"})


def test_bad_token_is_said(hub: RunningHub) -> None:
    """With a token that is not valid, requests are answered with an error that says so."""
    peer = StdioPeer(hub, MODERN, HUBBUB_TOKEN="ntok_00000000000000000000000000000000", HUBBUB_URL=hub.url)
    answer = peer.ask("tools/list")
    peer.close()
    assert "a valid token is needed" in answer["error"]["message"]


def test_person_acts_as_member(hub: RunningHub, connect: Connect) -> None:
    """A person's token is exchanged once for a member's, which later starts use again."""
    client = hub.client()
    for _ in range(2):
        assert (
            connect(hub, MODERN).call("report_status", resume_id="1", alias="ada", status="idle")["ok"]
            is True
        )
    (made,) = [each for each in client.get("/tokens")["tokens"] if each["project_id"] is not None]
    assert (made["role"], made["agent"]) == ("member", None)
    kept = list((hub.data / "tokens").iterdir())
    assert {file.stat().st_mode & 0o777 for file in kept} == {0o600}


@pytest.mark.system
def test_starts_a_hub_and_leaves_it_running(tmp_path: Path, connect: Connect) -> None:
    """With no hub on the data folder and no --url, one is started, and goes on when the bridge has ended."""
    place = RunningHub(tmp_path / "data")
    peer = connect(place, MODERN)
    assert peer.call("get_all_status")["ok"] is True
    peer.close()
    url = running_hub(place.data)
    assert url is not None
    hub = Hub(url, "")
    assert hub.health()["ok"] is True
    hub.close()
    pid = json.loads((place.data / "hub.json").read_text())["pid"]
    assert hubbub("agents", data=place.data).returncode == 0
    os.kill(pid, signal.SIGTERM)


def test_says_when_the_hub_stays_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request is answered with an error once the hub has been away for too long."""
    monkeypatch.setattr(bridge_module, "PATIENCE", bridge_module.PATIENCE * 0)
    written: list[json_rpc.Message] = []

    async def write(line: bytes) -> None:
        written.append(json.loads(line))

    async def lines() -> Any:
        yield b'{"jsonrpc": "2.0", "id": 7, "method": "tools/list"}'

    async def run() -> None:
        await Bridge(Upstream(lambda: "http://127.0.0.1:9/mcp", "ntok_1"), write).run(lines())

    asyncio.run(run())
    assert [(each["id"], each["error"]["code"]) for each in written] == [(7, json_rpc.UNAVAILABLE)]
    assert "cannot be reached" in written[0]["error"]["message"]


def test_half_surrogates_pass() -> None:
    """Text that JSON can write and UTF-8 cannot is passed on as it was written."""
    line = rb'{"params":{"text":"\ud800 \u4f60"}}'
    message = json_rpc.decoded(line)
    assert message is not None
    assert json.loads(json_rpc.encoded(message)) == json.loads(line)


@pytest.mark.parametrize(
    ("name", "header"),
    [("send_task", "send_task"), ("发送", "=?base64?5Y+R6YCB?="), (" x", "=?base64?IHg=?=")],
)
def test_names_in_headers(name: str, header: str) -> None:
    """The header that repeats a tool's name is written so that any name fits into it."""
    message = {
        "method": "tools/call",
        "params": {"name": name, "_meta": {json_rpc.MODERN_VERSION_KEY: MODERN}},
    }
    assert json_rpc.mirrored(message)["Mcp-Name"] == header
