"""The agent of a machine, asked through `hubbub mcp cmdop`: what it leaves on the board, and what people are asked."""

import json
import os
import shlex
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.cli.processes import RunningHub, ends
from tests.cli.stdio_peers import MODERN, StdioPeer

ANSWERS = 'cat; echo "task $HUBBUB_TASK_ID"'
# Does by tools of its own what it is told, and says with which token.
ERRAND = shlex.join([sys.executable, str(Path(__file__).with_name("errand.py"))])
ENDLESS = "echo $$ > begun; exec tail -f /dev/null"


class Client(StdioPeer):
    """A client that works in a folder."""

    def __init__(self, hub: RunningHub, folder: Path, environment: Mapping[str, str]) -> None:
        self.cwd = folder
        super().__init__(hub, MODERN, "cmdop", **environment)


class Machine:
    """A folder in which an agent's clients work, and the agent of that machine."""

    def __init__(self, folder: Path, hub: RunningHub, closing: ExitStack) -> None:
        self.hub, self.work, self.config = hub, folder / "work", folder / "config"
        self.work.mkdir()
        self.config.mkdir(mode=0o700)
        self._closing = closing

    def has_agent(self, code: str, more: str = "") -> None:
        (self.config / "node.toml").write_text(
            f"{more}\n[runtime]\nkind = 'command'\ncommand = ['/bin/sh', '-c', '{code}']\n"
        )

    def skill(self, text: str) -> None:
        folder = self.work / "skills" / "tidy"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "SKILL.md").write_text(f"---\nname: tidy\ndescription: Tidies.\n---\n{text}")

    def client(self) -> Client:
        made = self.hub.client().post("/tokens", {"agent": "ada", "role": "member"})
        environment = {"HUBBUB_TOKEN": made["secret"], "HUBBUB_CONFIG": str(self.config)}
        peer = Client(self.hub, self.work, environment)
        self._closing.callback(peer.close)
        peer.connect()
        return peer


@pytest.fixture
def machine(hub: RunningHub, tmp_path: Path) -> Iterator[Machine]:
    with ExitStack() as closing:
        yield Machine(tmp_path, hub, closing)


def call(peer: StdioPeer, name: str, /, **arguments: object) -> Any:
    return peer.ask("tools/call", {"name": name, "arguments": arguments})["result"]["structuredContent"]


def test_delegated_work_is_on_the_board(machine: Machine) -> None:
    """It is a task of the caller that the machine did, with its result; `task_status` and the board tell the same."""
    machine.has_agent(ANSWERS, 'mode = "bypass"')
    ada = machine.client()

    done = call(ada, "delegate_task", prompt="mend it")

    assert done["text"] == f"mend ittask {done['task_id']}"
    assert call(ada, "task_status", task_id=done["task_id"]) == {"status": "done", "result": done["text"]}
    task = machine.hub.client().task(done["task_id"])
    assert (task["sender"], task["title"], task["result"]) == ("ada", "mend it", done["text"])


@pytest.mark.system
@pytest.mark.parametrize("tool", ["ask_agent", "delegate_task"])
def test_a_program_acts_as_whoever_asked_while_it_works(machine: Machine, tool: str) -> None:
    """It has a token of its own for the order: the caller's name, cmdop's tools alone, and not a moment longer."""
    machine.has_agent(ERRAND, 'mode = "bypass"')
    ada = machine.client()
    make, look = ["issue_create", {"title": "by a program"}], ["connect", {"operation": "list"}]
    where = {"hostname": "localhost"} if tool == "ask_agent" else {}

    done = json.loads(call(ada, tool, prompt=json.dumps(make), **where)["text"])
    again = json.loads(call(ada, tool, prompt=json.dumps(look), **where)["text"])

    (issue,) = [
        each for each in machine.hub.client().get("/tasks")["tasks"] if each["title"] == "by a program"
    ]
    assert (done["answer"]["id"], issue["sender"]) == (str(issue["number"]), "ada")
    secrets = [each["token"].replace(" ", "") for each in (done, again)]
    assert len({*secrets}) == 2
    assert not [secret for secret in secrets if secret in done["words"] or secret in again["words"]]
    for secret in secrets:
        refused = machine.hub.run("agents", HUBBUB_TOKEN=secret, HUBBUB_URL=machine.hub.url)
        assert refused.returncode != 0
        assert "token" in refused.stderr
    assert "order" not in {each["role"] for each in machine.hub.client().get("/tokens")["tokens"]}


def test_work_of_a_machine_that_was_killed_is_ended(machine: Machine) -> None:
    """Its agent ends with it, and the next process of the machine says on the board that nobody is at work any more."""
    machine.has_agent(ENDLESS, 'mode = "bypass"')
    os.mkfifo(machine.work / "begun")
    ada = machine.client()
    ada.request("tools/call", {"name": "delegate_task", "arguments": {"prompt": "think"}})
    agent = int((machine.work / "begun").read_text())

    ada.process.send_signal(signal.SIGKILL)
    ada.process.wait()
    assert ends(agent)
    (task,) = machine.hub.client().get("/tasks")["tasks"]
    assert task["status"] == "working"
    call(machine.client(), "skill_list")

    ended = machine.hub.client().task(task["id"])
    assert (ended["status"], ended["result"]) == ("failed", "the machine stopped before this was done")


def test_a_projects_skill_asks_whatever_the_rules_say(machine: Machine) -> None:
    """Neither a rule nor the mode lets code of strangers run unseen; a person's yes holds until it changes."""
    machine.has_agent(ANSWERS, 'mode = "bypass"\napproval_timeout = 20\nrules.allow = ["skill_run"]')
    machine.skill("Tidy up.")
    ada = machine.client()

    asked = ada.request("tools/call", {"name": "skill_run", "arguments": {"name": "tidy", "prompt": "all"}})
    approval = machine.hub.until("approval.asked")
    question = machine.hub.client().get("/approvals")["approvals"][0]
    machine.hub.client().post(f"/approvals/{question['id']}/approve")
    done = ada.answer(asked)["result"]["structuredContent"]

    assert approval["agent"] == "ada"
    assert question["reason"] == "the skill 'tidy' comes with the project and was never used here"
    assert done["status"] == "done"
    assert done["text"].startswith("Tidy up.\n\n")
    assert call(ada, "skill_run", name="tidy", prompt="again")["status"] == "done"
    machine.skill("Tidy up, and more.")
    explained = call(ada, "permissions_helper", operation="explain", tool="skill_run", args={"name": "tidy"})
    assert (explained["decision"], explained["source"]) == ("ask", "floor")
    assert explained["reason"] == "the skill 'tidy' has changed since it was last used"
