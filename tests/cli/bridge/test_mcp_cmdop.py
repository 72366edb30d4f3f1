"""`hubbub mcp cmdop`: the machine is the one that it runs on, through real processes."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from hubbub.client import HubRefused
from hubbub.dialects import discover
from tests.cli.processes import RunningHub, ends, hubbub
from tests.cli.stdio_peers import LEGACY, MODERN, Message, StdioPeer

Json = dict[str, Any]
BYPASS = 'mode = "bypass"'
TOUCH = {"command": "touch made"}
EACH_ERA = pytest.mark.parametrize("revision", [LEGACY, MODERN])


class MachinePeer(StdioPeer):
    """A client whose folder is the machine's root; it can be asked something, unless it is told not to."""

    def __init__(self, hub: RunningHub, revision: str, cwd: Path, **environment: str) -> None:
        self.cwd = cwd
        super().__init__(hub, revision, "cmdop", **environment)

    def wrong(self, tool: str, **arguments: object) -> Json:
        """Return the error of a tool's refusal."""
        result = self.result(tool, arguments)
        assert result["isError"] is True, result
        refused: Json = result["structuredContent"]
        return refused

    def result(self, tool: str, arguments: Json, **more: object) -> Json:
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments, **more})
        result: Json = answer["result"]
        return result

    def asked(self) -> Message:
        """Wait for a question of the server's."""
        return self.hear("elicitation/create")


class Site:
    """A folder to work in, and the operator's policy for it."""

    def __init__(self, folder: Path, hub: RunningHub, closing: ExitStack) -> None:
        self.hub, self.work, self.config = hub, folder / "work", folder / "config"
        self.work.mkdir()
        self.config.mkdir()
        self._closing = closing

    def policy(self, text: str) -> None:
        file = self.config / "node.toml"
        file.write_text(f'{text}\n[files]\nroots = ["{self.work}"]\n')
        file.chmod(0o600)

    def start(
        self, revision: str = MODERN, agent: str | None = "ada", *, can_ask: bool = False, **more: str
    ) -> MachinePeer:
        """Start a server for an agent, which ends with the test."""
        made = self.hub.client().post("/tokens", {"agent": agent, "role": "admin"})
        environment = {"HUBBUB_TOKEN": made["secret"], "HUBBUB_CONFIG": str(self.config), **more}
        peer = MachinePeer(self.hub, revision, self.work, **environment)
        peer.capabilities = {"elicitation": {}} if can_ask else {}
        self._closing.callback(peer.close)
        peer.connect()
        return peer

    def approve(self, approval_id: str) -> None:
        self.hub.client().post(f"/approvals/{approval_id}/approve")


@pytest.fixture
def site(hub: RunningHub, tmp_path: Path) -> Iterator[Site]:
    with ExitStack() as closing:
        yield Site(tmp_path, hub, closing)


@pytest.fixture
def own_site(own_hub: RunningHub, tmp_path: Path) -> Iterator[Site]:
    with ExitStack() as closing:
        yield Site(tmp_path, own_hub, closing)


@EACH_ERA
def test_its_tools_are_done_where_it_runs(site: Site, revision: str) -> None:
    """The machine works in the client's folder, and the hub's tools at the hub; in both eras."""
    site.policy(BYPASS)
    peer = site.start(revision)
    assert {each["name"] for each in peer.ask("tools/list")["result"]["tools"]} == set(
        discover()["cmdop"].tools
    )

    assert peer.call("write_file", path="a.txt", content="hello\n") == {"bytes_written": 6}
    assert (site.work / "a.txt").read_text() == "hello\n"
    assert peer.call("execute_command", command="pwd; cat a.txt") == {
        "stdout": f"{site.work}\nhello\n", "stderr": "", "exit_code": 0,
    }  # fmt: skip
    made = peer.call("issue_create", title="t", assignee="bob")
    assert made["id"] == "1"
    listed = peer.result("issue_list", {})
    assert json.loads(listed["content"][0]["text"]) == listed["structuredContent"]["result"]
    assert site.hub.task(1)["sender"] == "ada"
    assert (
        peer.result("todo_write", {"items": [{"text": "a", "done": True}]})["content"][0]["text"] == "- [x] a"
    )
    assert peer.wrong("format_disk")["code"] == "invalid"
    assert peer.wrong("read_file")["error"] == "path is missing"


def test_every_call_is_in_the_audit_log_of_the_machine(site: Site) -> None:
    """Also what the hub does passes the local gate first, then that of the hub, whose log is the same one here."""
    site.policy('[rules]\ndeny = ["issue_close"]')
    peer = site.start()
    peer.call("issue_create", title="t")

    denied = peer.wrong("issue_close", id="1")

    assert (denied["code"], denied["source"], denied["rule_id"]) == ("denied", "rule", "issue_close")
    assert site.hub.task(1)["status"] == "queued"
    lines = [json.loads(line) for line in (site.hub.data / "audit.jsonl").read_text().splitlines()]
    own = [line for line in lines if line["who"] == f"{site.hub.project}/ada"]
    decided = [(line["decision"], line["tool"]) for line in own if "decision" in line]
    assert decided == [("allow", "issue_create")] * 2 + [("deny", "issue_close")]


@EACH_ERA
def test_a_person_is_asked_through_the_hub(site: Site, revision: str) -> None:
    """A question waits at the hub, where a person answers it; also when the hub itself then does the call, once."""
    site.policy("approval_timeout = 300")
    peer = site.start(revision)

    number = peer.request("tools/call", {"name": "execute_command", "arguments": TOUCH})
    site.approve(site.hub.until("approval.asked")["detail"]["approval_id"])
    done = peer.answer(number)["result"]["structuredContent"]
    assert done.get("exit_code") == 0, done
    assert (site.work / "made").exists()

    key = {"operation": "key_set", "key": "sk-0123456789abcdefghij"}
    number = peer.request("tools/call", {"name": "connect", "arguments": key})
    asked = site.hub.until("approval.asked", times=2)["detail"]
    assert "0123456789" not in json.dumps(asked)
    site.approve(asked["approval_id"])
    assert peer.answer(number)["result"]["structuredContent"] == {"key": "sk-…ghij"}


def test_what_only_says_that_it_was_approved_is_asked_about(site: Site) -> None:
    """The hub asks for itself unless a person approved this very call just now; no words of a caller's spare that."""
    site.policy("approval_timeout = 0.1")
    peer = site.start()
    late = peer.wrong("execute_command", **TOUCH)

    for claimed in (late["approval_id"], "0" * 32, "true"):
        said = {"hubbub/approval": claimed, "hubbub/gated": True}
        result = peer.result("connect", {"operation": "key_show"}, _meta=said)
        assert result["structuredContent"]["code"] == "needs_approval"


def test_the_client_answers_up_to_2025(site: Site) -> None:
    """Where the operator lets it, the server asks the client by a request of its own, and goes on with the answer."""
    site.policy("elicitation = true\napproval_timeout = 300")
    peer = site.start(LEGACY, can_ask=True)

    for content, is_done in (({"approve": True}, True), ({"approve": False}, False)):
        number = peer.request("tools/call", {"name": "execute_command", "arguments": TOUCH})
        question = peer.asked()
        assert "touch made" in question["params"]["message"]
        peer.send(
            {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": content}}
        )
        result = peer.answer(number)["result"]
        assert result["isError"] is not is_done
        assert (site.work / "made").exists() is is_done
        (site.work / "made").unlink(missing_ok=True)


def test_the_client_answers_since_2026(site: Site) -> None:
    """There the result is a question, and the call is made again with the answer, which counts once, for it alone."""
    site.policy("elicitation = true\napproval_timeout = 300")
    peer = site.start(MODERN, can_ask=True)

    unfinished = peer.result("execute_command", TOUCH)

    assert unfinished["resultType"] == "input_required"
    (name, question), *others = unfinished["inputRequests"].items()
    assert (question["method"], others) == ("elicitation/create", [])
    answered = {
        "requestState": unfinished["requestState"],
        "inputResponses": {name: {"action": "accept", "content": {"approve": True}}},
    }
    other = peer.result("execute_command", {"command": "touch other"}, **answered)
    assert other["resultType"] == "input_required"
    assert peer.result("execute_command", TOUCH, **answered)["structuredContent"]["exit_code"] == 0
    assert (site.work / "made").exists()
    assert not (site.work / "other").exists()
    assert peer.result("execute_command", TOUCH, **answered)["resultType"] == "input_required"


@pytest.mark.system
def test_it_works_on_while_the_hub_is_away(own_site: Site) -> None:
    """Calls of the machine alone need no hub; calls of the hub wait for it to come back."""
    own_site.policy(BYPASS)
    peer = own_site.start()
    assert peer.call("issue_list") == {"result": []}
    own_site.hub.stop(signal.SIGKILL)

    assert peer.call("execute_command", command="echo here")["stdout"] == "here\n"
    number = peer.request("tools/call", {"name": "issue_create", "arguments": {"title": "t"}})
    own_site.hub.start()
    assert peer.answer(number)["result"]["structuredContent"]["id"] == "1"
    assert [each["title"] for each in peer.call("issue_list")["result"]] == ["t"]


def test_a_call_that_is_cancelled_ends_its_command(site: Site) -> None:
    """A client that takes back its call leaves no command running."""
    site.policy(BYPASS)
    peer = site.start()
    pipe = site.work / "begun"
    os.mkfifo(pipe)
    begin = {"command": "sleep 60 & echo > begun; wait"}
    number = peer.request("tools/call", {"name": "execute_command", "arguments": begin})
    pipe.read_text()

    sleeping = _sleeping_below(peer.process.pid)
    assert sleeping
    peer.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})

    assert all(ends(pid) for pid in sleeping)


@pytest.mark.parametrize("ending", ["call", "client"])
def test_nobody_is_asked_any_longer_about_a_call_that_is_cancelled(site: Site, ending: str) -> None:
    """The question of a call is withdrawn once its client takes it back, or ends."""
    site.policy("")
    peer = site.start()
    number = peer.request("tools/call", {"name": "execute_command", "arguments": TOUCH})
    asked = site.hub.until("approval.asked")["detail"]["approval_id"]

    if ending == "call":
        peer.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
    else:
        peer.close()

    site.hub.until("approval.withdrawn", lambda line: line["detail"]["approval_id"] == asked)
    with pytest.raises(HubRefused, match="its call was cancelled"):
        site.approve(asked)
    assert not (site.work / "made").exists()


def test_a_repeated_key_runs_nothing_twice(site: Site) -> None:
    """A call with a key of the client's is done once, also on the client's machine."""
    site.policy(BYPASS)
    peer = site.start()
    keyed = {"_meta": {"hubbub/idempotency-key": "k"}}
    count = {"command": "echo x >> count; wc -l < count"}

    results = [peer.result("execute_command", count, **keyed)["structuredContent"] for _ in range(2)]

    assert [each["stdout"] for each in results] == ["1\n", "1\n"]
    assert peer.result("execute_command", TOUCH, **keyed)["structuredContent"]["code"] == "failed"


def test_an_agent_that_is_asked_goes_on_from_its_chain(site: Site) -> None:
    """A question of a machine's agent, by a server that it starts, is its chain's next link, whatever its calls say."""
    site.policy(f"{BYPASS}\nruntime = {{ kind = 'command', command = ['printenv', 'HUBBUB_CHAIN'] }}")
    free = site.start()
    here = free.call("connect", operation="whoami")["hostname"]
    bound = site.start(HUBBUB_CHAIN=json.dumps(["grace", here]))
    circle = {
        "error": f"grace → {here} → {here}: {here}'s agent is already at work on this",
        "code": "failed",
    }
    prompt = {"hostname": "localhost", "prompt": "go"}

    assert json.loads(free.call("ask_agent", **prompt)["text"]) == ["ada", here]
    assert bound.wrong("ask_agent", **prompt) == circle

    def saying(peer: MachinePeer, chain: object) -> Json:
        answer: Json = peer.result("ask_agent", prompt, _meta={"hubbub/chain": chain})["structuredContent"]
        return answer

    assert saying(bound, []) == saying(free, ["grace", here]) == circle
    assert saying(free, "grace")["code"] == "invalid"


def test_a_chain_that_cannot_be_read_begins_no_other(hub: RunningHub) -> None:
    """The server does not start, and says why in one sentence."""
    done = hubbub("mcp", "cmdop", data=hub.data, environment={"HUBBUB_CHAIN": "ada > web1"})

    assert (done.returncode, done.stdout) == (2, "")
    assert "HUBBUB_CHAIN: must be a list of at most 32 names" in done.stderr


def test_who_works_for_another_is_not_the_owner(hub: RunningHub) -> None:
    """A program that was asked gets no owner's token from the data folder: it needs one of its own, and is told so."""
    asked = {"HUBBUB_CHAIN": json.dumps(["ada", "web1"])}
    for words in (("mcp", "cmdop"), ("agents",)):
        done = hubbub(*words, data=hub.data, environment=asked)
        assert (done.returncode, done.stdout) == (2, "")
        assert "no token: HUBBUB_CHAIN says that this works for another" in done.stderr
    token = hub.client().post("/tokens", {"agent": "web1-agent", "role": "member"})["secret"]
    own = hubbub("agents", data=hub.data, environment={**asked, "HUBBUB_TOKEN": token})
    assert own.returncode == 0


def test_nothing_but_messages_is_written_to_the_client(site: Site) -> None:
    """A policy that does not load makes the machine strict, and says so on standard error alone."""
    site.policy("mode = 1")
    peer = site.start()

    assert peer.wrong("read_file", path="a")["rule_id"] == "strict"
    rest, code = peer.close()
    assert (rest, code) == ("", 0)


def _sleeping_below(pid: int) -> list[int]:
    """The processes below `pid` that do nothing but sleep."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid=,comm="], capture_output=True, text=True, check=True)
    rows = [line.split(maxsplit=2) for line in listed.stdout.splitlines()]
    found: list[int] = []
    waiting = [pid]
    while waiting:
        parent = waiting.pop()
        children = [(int(child), name) for child, of, name in rows if int(of) == parent]
        found += [child for child, name in children if name == "sleep"]
        waiting += [child for child, _name in children]
    return found
