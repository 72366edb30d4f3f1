"""Agents that ask the agents of other machines, from a client on one machine, by real processes on a network."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.cli.processes import ends
from tests.cli.stdio_peers import LEGACY, MODERN, Message
from tests.node.fleet.conftest import NUMBERS
from tests.node.fleet.process_fleet import BYPASS, Fleet, FleetClient, Machine
from tests.support.waiting import patience

pytestmark = pytest.mark.system

Json = dict[str, Any]

EACH_ERA = pytest.mark.parametrize("revision", [LEGACY, MODERN])
TALKS = "echo one; cat going >/dev/null; echo two"
OTHER = "other"  # a project that has none of the machines
ENDLESS = "echo $$ > begun; exec tail -f /dev/null"
# An agent that asks the next: one call of a tool, by a server that it starts as any program does that speaks MCP.
ASKS = """
import json, os, subprocess, sys
meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
params = {"name": "ask_agent", "arguments": {"hostname": sys.argv[1], "prompt": "go on"}, "_meta": meta}
call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
server = [sys.executable, "-m", "hubbub", "mcp", "cmdop"]
environment = {**os.environ, **json.load(open(sys.argv[2]))}
with subprocess.Popen(server, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as mcp:
    print(json.dumps(call), file=mcp.stdin, flush=True)
    print(json.loads(mcp.stdout.readline())["result"]["content"][0]["text"])
"""


class Client(FleetClient):
    """A client of either era, on a machine of its own."""

    def __init__(self, machine: Machine, token: str, revision: str) -> None:
        self._revision = revision
        super().__init__(machine, token)

    def connect(self) -> "Client":
        self.revision = self._revision
        super().connect()
        return self

    def begin(self, tool: str, *, progress: str | None = None, **arguments: object) -> int:
        """Call a tool and do not wait."""
        meta = {"_meta": {"progressToken": progress}} if progress is not None else {}
        return self.request("tools/call", {"name": tool, "arguments": arguments, **meta})

    def ends(self, number: int) -> Any:
        return self.answer(number)["result"]["structuredContent"]


class Team:
    """Machines that joined one hub, and clients on one that has not."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        fleet.hub.secret("project", "create", OTHER)
        self._desk = fleet.machine("desk")
        self.good, self.slow, self.dead = (self._joined(name) for name in ("good", "slow", "dead"))
        self.dead.stop(signal.SIGKILL)
        assert fleet.call("dead", "shell_tasks")["code"] == "offline"  # once it is not expected back any more
        self.says(self.good, "echo hi")
        self.says(self.slow, ENDLESS)
        os.mkfifo(self.slow.work / "begun")

    def _joined(self, name: str) -> Machine:
        machine = self.fleet.machine(name)
        machine.join()
        return machine

    def says(self, machine: Machine, code: str) -> None:
        """Make this program the machine's agent from now on."""
        machine.policy(
            f"{BYPASS}\nruntime = {{ kind = 'command', command = ['/bin/sh', '-c', '''{code}'''] }}"
        )

    def client(self, revision: str = MODERN, *, token: str | None = None) -> Client:
        return Client(self._desk, token or self.fleet.agent(), revision)


@pytest.fixture(scope="module")
def team(shared_fleet: Fleet) -> Team:
    return Team(shared_fleet)


@pytest.fixture
def client(team: Team) -> Iterator[Client]:
    with closing(team.client()) as made:
        yield made


def soon() -> int:
    """The milliseconds in which an agent that answers at once has answered, on this machine as busy as it is."""
    return round(patience(2) * 1000)


def test_one_dead_and_one_slow_harm_no_other(client: Client) -> None:
    """Each entry says just what came of it: an answer, a timeout with its name, or offline."""
    hosts = ["slow", "GOOD", "dead", "moon"]
    answer = client.call("ask_agents", hostnames=hosts, prompt="hi", per_host_timeout_ms=soon())

    assert list(answer["by_host"]) == hosts
    assert answer["by_host"]["GOOD"] == {"text": "hi", "tool_calls": []}
    failed = {host: entry for host, entry in answer["by_host"].items() if host != "GOOD"}
    assert {host: entry["code"] for host, entry in failed.items()} == {
        "slow": "timeout",
        "dead": "offline",
        "moon": "offline",
    }
    assert all(entry.keys() == {"error", "code"} for entry in failed.values())
    assert answer["timed_out"] == ["slow"]


def test_a_client_reaches_every_machine(team: Team, client: Client) -> None:
    """One entry in a client's configuration is enough: commands run, and agents answer, where they are meant to."""
    ran = client.call("connect", operation="exec", hostname="good", command="pwd")

    assert ran == {"stdout": f"{team.good.work}\n", "stderr": "", "exit_code": 0}
    for tool in ("ask_agent", "ask_agent_stream"):
        assert client.call(tool, hostname="good", prompt="hi") == {"text": "hi", "tool_calls": []}
        assert client.call(tool, hostname="dead", prompt="hi")["code"] == "offline"
    assert client.close() == ("", 0)  # who does not want to hear of progress hears none


def test_a_machine_passes_on_what_is_not_its_own(team: Team) -> None:
    """A machine's order to ask others goes back to the hub, while it answers for itself."""
    answer = team.fleet.call(
        "good", "ask_agents", hostnames=["localhost", "slow", "dead"], prompt="hi", total_timeout_ms=soon()
    )

    assert answer["by_host"]["localhost"] == {"text": "hi", "tool_calls": []}
    assert (answer["by_host"]["dead"]["code"], answer["timed_out"]) == ("offline", ["slow"])
    ran = team.fleet.call("good", "connect", operation="exec", hostname="slow", command="pwd")
    assert ran["stdout"] == f"{team.slow.work}\n"


@EACH_ERA
def test_text_comes_while_the_agent_works(team: Team, revision: str) -> None:
    """Each piece is progress as soon as it is said, in order; the whole is the result, and nothing comes after it."""
    going = team.good.pipe(f"going{next(NUMBERS)}")
    team.says(team.good, TALKS.replace("going", going.name))
    with closing(team.client(revision)) as peer:
        number = peer.begin("ask_agent_stream", progress="p", hostname="good", prompt="count")
        assert _told(peer) == "one\n"
        going.write_text("")
        assert _told(peer) == "two\n"
        assert peer.ends(number) == {"text": "one\ntwo", "tool_calls": []}
        assert peer.close() == ("", 0)
    team.says(team.good, "echo hi")


@EACH_ERA
def test_what_is_cancelled_here_ends_there(team: Team, revision: str) -> None:
    """The agent on the other machine is stopped when the client takes its call back."""
    with closing(team.client(revision)) as peer:
        number = peer.begin("ask_agent", hostname="slow", prompt="go")
        agent = int((team.slow.work / "begun").read_text())
        peer.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
        assert ends(agent)


def test_a_client_that_goes_takes_its_calls_with_it(team: Team) -> None:
    """A client whose process ends leaves no agent at work elsewhere."""
    peer = team.client(LEGACY)
    peer.begin("ask_agents", hostnames=["slow", "good"], prompt="go")
    agent = int((team.slow.work / "begun").read_text())
    peer.process.terminate()
    peer.close()

    assert ends(agent)


def test_agents_that_ask_in_a_circle_are_told_so(team: Team, client: Client) -> None:
    """Programs that are agents hand the chain on by their environment, and the circle is refused with all of it."""
    program = team.fleet.folder / "asks.py"
    program.write_text(ASKS)
    for machine, following in ((team.good, "slow"), (team.slow, "good")):
        team.says(machine, _asking(program, machine, following))
    try:
        answer = client.call("ask_agent", hostname="good", prompt="go")
    finally:
        team.says(team.good, "echo hi")
        team.says(team.slow, ENDLESS)

    sentence = "ada → good → slow → good: good's agent is already at work on this"
    circle = _as_text({"error": sentence, "code": "failed"})
    assert answer["text"] == _as_text({"text": circle, "tool_calls": []})


def test_nobody_gets_there_by_another(team: Team) -> None:
    """A viewer asks nobody; and an agent of another project knows of no machine of this one."""
    hub = team.fleet.hub
    viewer, stranger = (
        hub.secret("token", "create", "--agent", "eve", "--role", role, "--project", project)
        for role, project in (("viewer", "default"), ("member", OTHER))
    )

    asked = {"hostname": "good", "prompt": "hi"}
    told = [hub.post("ask_agent", asked, token=each) for each in (viewer, stranger)]

    assert [each["structuredContent"]["code"] for each in told] == ["denied", "offline"]


def _told(peer: Client) -> object:
    heard: Message = peer.hear("notifications/progress")
    assert heard["params"]["progressToken"] == "p"
    return heard["params"]["message"]


def _asking(program: Path, machine: Machine, following: str) -> str:
    """The program on a machine that asks the agent of the following one, with the token of its order."""
    own = {
        "HUBBUB_DATA": str(machine.data),
        "HUBBUB_CONFIG": str(machine.config),
    }
    settings = machine.home / "settings.json"
    settings.write_text(json.dumps(own))
    return f"exec {sys.executable} {program} {following} {settings}"


def _as_text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
