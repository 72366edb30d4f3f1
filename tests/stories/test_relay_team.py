"""A Relay team, each agent with a server of its own, works through a plan to the end, and the hub dies on the way.

The plan: the design comes first; then ben builds while the counter, a program that never heard of Relay, counts; what
both have made is tested by whoever takes it.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.cli.processes import RunningHub, RunningWorker
from tests.cli.stdio_peers import LEGACY, MODERN, StdioPeer

RUN = "release-1"
TEXT = "every word of the design"


class Member:
    """An agent of the team, which starts a Relay server of its own, with a token that is nobody else's."""

    def __init__(self, hub: RunningHub, root: Path, name: str, revision: str = MODERN, **more: str) -> None:
        secret = hub.client().post("/tokens", {"agent": name, "role": "member"})["secret"]
        self.name = name
        self.read: list[dict[str, Any]] = []  # the messages it knows
        self.peer = StdioPeer(
            hub, revision, "relay", HUBBUB_TOKEN=secret, RELAY_PROJECT_ROOT=str(root), **more
        ).connect()

    def begin(self, tool: str, **arguments: object) -> int:
        """Call a tool, and do not wait for the answer."""
        named = {"name": tool, "arguments": {"agent_id": self.name, **arguments}}
        return self.peer.request("tools/call", named)

    def hear(self, number: int) -> dict[str, Any]:
        """The answer to a call, which says yes."""
        answer: dict[str, Any] = self.peer.answer(number)["result"]["structuredContent"]
        assert answer["success"] is True, answer
        return answer

    def do(self, tool: str, **arguments: object) -> dict[str, Any]:
        return self.hear(self.begin(tool, **arguments))

    def wait(self) -> int:
        """Begin to wait for the next message."""
        after = self.read[-1]["seq"] if self.read else 0
        return self.begin("get_messages", after_seq=after, wait_seconds=45)

    def woken(self, number: int) -> list[tuple[str, str]]:
        """Return sender and text of a wake; an earlier wake may have been for a task."""
        while not (found := self.hear(number)["messages"]):
            number = self.wait()
        self.read += found
        return [(message["from_agent"], message["content"]) for message in found]

    def mail(self) -> list[tuple[str, str]]:
        return self.woken(self.wait())

    def status(self, task_id: str) -> str:
        (row,) = [row for row in self.do("get_all_tasks")["tasks"] if row["id"] == task_id]
        return str(row["status"])

    def leave(self) -> None:
        assert self.peer.close() == ("", 0)


@dataclass
class Team:
    """Everyone, and what the orchestrator has planned."""

    hub: RunningHub
    folder: Path
    olga: Member  # the orchestrator
    dora: Member
    ben: Member
    tim: Member
    rita: Member  # the reviewer
    counter: RunningWorker
    plan: dict[str, str] = field(default_factory=dict)  # task ids

    @property
    def members(self) -> tuple[Member, ...]:
        return self.olga, self.dora, self.ben, self.tim, self.rita

    @property
    def door(self) -> Path:
        """The place where the counter's program waits until it may go on."""
        return self.folder / "door"

    def let_go(self) -> None:
        self.door.write_bytes(b"go\n")

    def executions(self) -> list[str]:
        """A line for each run of the counter's program: the task."""
        return (self.folder / "ledger").read_text().split()


@pytest.fixture
def team(own_hub: RunningHub, tmp_path: Path) -> Iterator[Team]:
    with ExitStack() as leaving:

        def member(name: str, revision: str = MODERN, **more: str) -> Member:
            come = Member(own_hub, tmp_path, name, revision, **more)
            leaving.enter_context(come.peer.process)
            leaving.callback(come.peer.process.kill)
            return come

        olga = member("olga", LEGACY)
        assert olga.do("start_session", session_id=RUN)["session_id"] == RUN
        olga.do("send_message", content="we release today")  # to everyone who is there, or will be
        dora, ben, tim, rita = (member(name, RELAY_SESSION_ID=RUN) for name in ("dora", "ben", "tim", "rita"))
        os.mkfifo(tmp_path / "door")
        program = f"cd '{tmp_path}' && echo $HUBBUB_TASK_ID >> ledger && cat door > /dev/null && wc -w"
        counter = own_hub.work("counter", program)
        counter.says("ready")
        yield Team(own_hub, tmp_path, olga, dora, ben, tim, rita, counter)


@pytest.mark.system
def test_a_team_works_through_its_plan_while_the_hub_dies(team: Team) -> None:
    """A graph of tasks is done to the end by Relay's agents and a worker, each task once, though the hub dies."""
    make_the_plan(team)
    have_the_design_reviewed(team)
    start_building(team)
    survive_the_hub(team)
    finish(team)
    look_back(team)


def make_the_plan(team: Team) -> None:
    """The orchestrator says what is to be done, and in which order; who tries too early is told what is missing."""
    olga, plan = team.olga, team.plan
    olga.do("write_memory", key="conventions", content="four spaces, no tabs", agent_id=None)
    for title, who, needs in (
        ("design", "dora", ()),
        ("build", "ben", ("design",)),
        ("count", "counter", ("design",)),
        ("test", None, ("build", "count")),
    ):
        task = {
            "title": title,
            "description": TEXT,
            "priority": "high",
            "depends_on": [plan[need] for need in needs],
            "idempotency_key": title,
            **({"assignee": who} if who else {}),
        }
        plan[title] = olga.do("create_task", **task)["task_id"]
        assert olga.do("create_task", **task)["task_id"] == plan[title]
    olga.do("save_orchestrator_state", state='{"iteration": 1}')
    olga.do("send_message", to="dora", content="you go first")

    early = team.ben.do("claim_task", task_id=plan["build"])
    assert early["claimed"] is False
    assert early["reason"] == f"Unmet dependencies: {plan['design']}"
    assert team.hub.json("inbox", "counter") == []


def have_the_design_reviewed(team: Team) -> None:
    """Designer and reviewer only ever wait for each other's messages; nobody looks again and again."""
    dora, rita, plan = team.dora, team.rita, team.plan
    assert dora.mail() == [("olga", "we release today"), ("olga", "you go first")]
    assert dora.do("claim_task", task_id=plan["design"])["claimed"] is True
    assert rita.mail() == [("olga", "we release today")]  # she came later than it

    for draft, verdict in (("a draft", "changes_requested"), ("a design", "approved")):
        asked, told = rita.wait(), dora.wait()
        artifact = dora.do(
            "post_artifact", name="design", type="design", content=draft, task_id=plan["design"]
        )
        review = dora.do("request_review", artifact_id=artifact["artifact_id"], reviewer="rita")["review_id"]
        ((sender, question),) = rita.woken(asked)
        assert sender == "dora"
        assert review in question
        assert rita.do("get_artifact", name="design")["artifact"]["content"] == draft
        given = rita.do("submit_review", review_id=review, status=verdict, comments=f"of {draft}")
        assert given["review"]["status"] == verdict
        ((sender, answer),) = dora.woken(told)
        assert (sender, answer.partition("\n\n")[2]) == ("rita", f"of {draft}")


def start_building(team: Team) -> None:
    """Finish the design; both agents that wait for it begin: one claims its job, the other finds it in the inbox."""
    plan = team.plan
    team.dora.do("send_message", to="olga", content="see the artifact", thread_id=plan["design"])
    team.dora.do("update_task", task_id=plan["design"], status="done")
    assert team.ben.do("claim_task", task_id=plan["build"])["claimed"] is True
    team.hub.until("task.started", lambda activity: activity["task_id"] == plan["count"])
    assert [team.olga.status(plan[title]) for title in ("design", "build", "count", "test")] == [
        "done", "in_progress", "in_progress", "todo",
    ]  # fmt: skip
    told = team.olga.mail()
    assert told == [("dora", "see the artifact")]  # which is the result: it is not told twice
    assert team.olga.read[-1]["thread_id"] == plan["design"]


def survive_the_hub(team: Team) -> None:
    """The hub is killed while one works, one waits, and a program runs; what is said meanwhile arrives afterwards."""
    assert team.tim.mail() == [("olga", "we release today")]
    waiting = team.tim.wait()
    before = team.olga.do("get_all_tasks", include_description=True)["tasks"]
    team.hub.stop(signal.SIGKILL)
    posting = team.ben.begin("post_artifact", name="build", type="report", content="it builds")
    team.let_go()
    team.counter.says("cannot be reached")
    team.hub.start()

    assert team.ben.hear(posting)["artifact_id"]
    team.olga.do("send_message", to="tim", content="the hub is back")
    assert team.tim.woken(waiting) == [("olga", "the hub is back")]
    after = {row["id"]: row for row in team.olga.do("get_all_tasks", include_description=True)["tasks"]}
    unmoved = [row for row in before if row["title"] != "count"]
    assert [after[row["id"]] for row in unmoved] == unmoved
    assert team.olga.do("get_orchestrator_state")["state"] == '{"iteration": 1}'
    assert team.ben.do("get_artifact", name="design")["artifact"]["content"] == "a design"
    assert team.ben.do("read_memory", agent_id=None)["content"] == "## conventions\n\nfour spaces, no tabs\n"


def finish(team: Team) -> None:
    """The worker's answer comes to the orchestrator like everyone's; of two who want the last task one gets it."""
    plan = team.plan
    assert team.olga.mail() == [("counter", "6")]
    assert team.olga.read[-1]["thread_id"] == plan["count"]
    assert completion(team)["pending_tasks"] != []
    told = team.olga.wait()
    team.ben.do("update_task", task_id=plan["build"], status="done")
    assert team.olga.woken(told) == [("ben", "done")]

    rivals = {member.name: member for member in (team.ben, team.tim)}
    calls = {name: member.begin("claim_task", task_id=plan["test"]) for name, member in rivals.items()}
    claims = {name: rivals[name].hear(call) for name, call in calls.items()}
    (winner,) = [name for name, claim in claims.items() if claim["claimed"]]
    (reason,) = [claim["reason"] for claim in claims.values() if not claim["claimed"]]
    assert reason in {"task is in_progress", f"task is assigned to {winner}"}
    rivals[winner].do("update_task", task_id=plan["test"], status="in_review")
    rivals[winner].do("update_task", task_id=plan["test"], status="done")
    team.olga.do("save_session_summary", session_id=RUN, summary="released")


def look_back(team: Team) -> None:
    """Everything is done, once; the hub's log, the program's own, and everyone's mail agree on that."""
    asked = completion(team)
    assert asked == {"all_done": True, "done_count": 4, "total_count": 4, "pending_tasks": []}
    assert team.tim.do("list_sessions")["sessions"] == [RUN]
    assert team.tim.do("get_session_summary", session_id=RUN)["summary"] == "released"
    remembered = team.folder / ".relay" / "memory" / "project.md"
    assert remembered.read_text() == "## conventions\n\nfour spaces, no tabs\n"
    log = team.hub.client().get("/activity", after=0, limit=500)["activity"]
    for kind in ("task.sent", "task.started", "task.completed"):
        happened = [each["task_id"] for each in log if each["kind"] == kind]
        assert sorted(happened) == sorted(team.plan.values()), kind
    assert team.executions() == [team.plan["count"]]
    for member in team.members:
        numbers = [message["seq"] for message in member.read]
        assert numbers == sorted(set(numbers))
        member.leave()
    team.counter.signal(signal.SIGTERM)
    assert team.counter.ended() == 0


def completion(team: Team) -> Any:
    """Return the run's progress, as observers ask for it."""
    return httpx2.get(
        f"{team.hub.url}/api/relay/sessions/{RUN}/completion-check",
        headers={"Authorization": f"Bearer {team.hub.client().token}"},
    ).json()
