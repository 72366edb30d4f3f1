"""Agents of every dialect meet a machine that has joined: what is placed there, delegated to it, and lost with it.

The machine is called box, and its own agent counts the words that it is asked.
"""

import signal
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.node.fleet.network import Relays
from tests.node.fleet.process_fleet import Fleet, Machine
from tests.support.waiting import patience

Json = dict[str, Any]

PACE = 15.0  # times as fast as usual, so that nobody waits long for whom is gone
POLICY = """
rules.allow = ["agent_start(*)", "delegate_task"]
runtime = { kind = "command", command = ["wc", "-w"] }
"""
TEXT = "every script there is"
COUNTED = "4"


class Agent:
    """An agent that speaks one dialect, each call for itself, with a token that is nobody else's."""

    def __init__(self, fleet: Fleet, dialect: str, name: str, **says: object) -> None:
        """`says` are the arguments of every call."""
        self._address = f"{fleet.hub.url}/mcp/{dialect}"
        self._headers = {"Authorization": f"Bearer {fleet.agent(name)}"}
        self._says = says

    def call(self, tool: str, *, on: str | None = None, **arguments: object) -> Json:
        """Return the answer of a tool; `on` is the machine meant, where the dialect knows of machines."""
        params = {"name": tool, "arguments": {**self._says, **arguments}}
        response = httpx2.post(
            self._address,
            json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params},
            headers=self._headers | ({"X-Hubbub-Node": on} if on else {}),
            timeout=patience(60),
            trust_env=False,
        )
        content: Json = response.json()["result"]["structuredContent"]
        return content


class Meeting:
    """A hub, the machine, and one agent of each dialect."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet, self.hub = fleet, fleet.hub
        self.box: Machine = fleet.machine("box")
        self.box.policy(POLICY)
        self.box.join()
        self.commander = Agent(fleet, "commhub", "commander")
        self.commander.call("report_status", resume_id="r", alias="commander", status="idle")
        self.rhea = Agent(fleet, "relay", "rhea", agent_id="rhea")
        self.rhea.call("start_session", session_id="counting")
        self.gil = Agent(fleet, "golemxv", "gil", project_slug="default")
        self.cleo = Agent(fleet, "cmdop", "cleo")
        self.placed: set[str] = set()

    def place(self, name: str) -> None:
        """Have a person place an agent on the machine, and wait until it is there."""
        self.placed.add(name)
        self.hub.json("agent", "start", name, "--node", "box", "--run", "wc -w")
        self.hub.until("agent.checkin", lambda line: line["agent"] == name)

    def completed(self, task_id: str) -> None:
        """Wait until a task is done."""
        self.hub.until("task.completed", lambda line: line["task_id"] == task_id)

    def mail(self) -> list[tuple[str, str]]:
        """Return the messages to rhea, with their senders."""
        found = self.rhea.call("get_messages")["messages"]
        return [(each["from_agent"], each["content"].strip()) for each in found]

    def machines(self) -> dict[str, bool]:
        """The machines that cleo sees, and whether they are there."""
        return {row["name"]: row["online"] for row in self.cleo.call("connect", operation="list")["result"]}


@pytest.fixture(scope="module")
def meeting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Meeting]:
    network = Relays()
    fleet = Fleet(network, tmp_path_factory.mktemp("meeting"), pace=PACE)
    yield Meeting(fleet)
    fleet.close()
    network.close()


def test_an_agent_on_a_machine_is_one_of_the_team(meeting: Meeting) -> None:
    """Relay's order to an agent that was placed on a machine is answered to it; the others see the agent at home."""
    meeting.place("counter")

    title, description = TEXT[:12], TEXT[13:]
    task = {"title": title, "description": description, "priority": "high", "assignee": "counter"}
    made = meeting.rhea.call("create_task", **task)
    meeting.completed(made["task_id"])

    assert ("counter", COUNTED) in meeting.mail()
    present = meeting.gil.call("presence")["agents"]
    assert "counter" in [each["agent_name"] for each in present]
    sessions = meeting.commander.call("get_all_status")["sessions"]
    assert {each["alias"] for each in sessions} == {"commander", *meeting.placed}
    (row,) = [each for each in meeting.hub.client().get("/agents")["agents"] if each["name"] == "counter"]
    assert (row["machine"], row["placed"]["status"]) == ("box", "running")


def test_what_a_machine_works_on_is_a_task_of_everyone(meeting: Meeting) -> None:
    """A task that cmdop delegates to a machine is on everybody's list, in each one's words, with its result."""
    done = meeting.cleo.call("delegate_task", prompt=TEXT, on="box")

    assert (done["text"].strip(), done["status"]) == (COUNTED, "done")
    (relay,) = [row for row in meeting.rhea.call("get_all_tasks")["tasks"] if row["id"] == done["task_id"]]
    assert (relay["status"], relay["assignee"]) == ("done", "node:box")
    told = meeting.commander.call("get_task", task_id=done["task_id"])["task"]
    assert (told["status"], told["from_name"], told["to_name"]) == ("replied", "cleo", "node:box")


@pytest.mark.system
def test_a_machine_is_cut_off(meeting: Meeting) -> None:
    """A caller of the machine hears at once that it is away; a task for its agent waits until it is back."""
    meeting.place("patient")
    meeting.box.stop(signal.SIGKILL)
    meeting.hub.is_away(meeting.box)

    assert meeting.machines() == {"box": False}
    assert meeting.cleo.call("ask_agent", hostname="box", prompt=TEXT)["code"] == "offline"
    sent = meeting.commander.call("send_task", alias="patient", task=TEXT)["message_id"]
    assert "The machine box has been offline since" in meeting.hub.run("why", "patient").stdout

    meeting.box.start()
    meeting.completed(sent)

    assert meeting.machines() == {"box": True}
    mail = meeting.commander.call("get_inbox", alias="commander")["messages"]
    assert [(each["from_session"], each["content"].strip()) for each in mail] == [("patient", COUNTED)]
