"""Four tongues, one world: agents of CommHub, Relay, GolemXV and cmdop share tasks, and talk to each other."""

from dataclasses import replace
from operator import itemgetter

import pytest

from tests.dialects.conftest import both_engines
from tests.dialects.golemxv.callers import GONE, no
from tests.dialects.relay.callers import yes
from tests.dialects.running_hub import Json
from tests.stories.world import TEXT, World

TTL = 180  # seconds of silence, after which GolemXV takes an agent to be gone


@both_engines
def test_a_task_for_which_another_waits_is_done_in_three_tongues(world: World) -> None:
    """A GolemXV agent does what CommHub sent and a Relay task depends on; each hears of it in its own words."""
    gil, rhea = world.gil, world.rhea
    parser = world.send("gil", priority="high")
    release = world.team.task("Release it", by="rhea", depends_on=[parser], assignee="rhea")
    refused = yes(rhea.claim_task(task_id=release))
    assert refused == {"claimed": False, "reason": f"Unmet dependencies: {parser}"}
    number, other = world.number(parser), world.number(release)
    assert no(gil, "claim_task", task_id=other) == GONE  # it is rhea's

    claimed = gil.claim_task(task_id=number)["task"]
    assert (claimed["title"], claimed["description"], claimed["priority"]) == (
        "Write the parser",
        TEXT,
        "high",
    )
    gil.update_task(task_id=number, status="in_progress")
    woken = rhea.soon("get_messages", wait_seconds=45)
    world.fleet.hub.followers.wait_for(1, world.fleet.project)
    gil.complete_task(task_id=number, result_summary="all 161 scripts", files_changed=["src/parser.py"])

    (reply,) = world.fleet.inbox("commander")
    assert (reply["type"], reply["from_session"], reply["content"]) == ("reply", "gil", "all 161 scripts")
    assert woken()["messages"] == []  # what woke her is a task
    assert yes(rhea.claim_task(task_id=release))["claimed"] is True
    yes(rhea.update_task(task_id=release, status="done"))
    assert world.fleet.task(release)["status"] == "replied"
    assert {row["id"]: row["status"] for row in world.listed()} == {number: "completed", other: "completed"}


def test_what_relay_asks_for_comes_back_to_it(world: World) -> None:
    """A GolemXV agent claims what Relay left open; the result is a message in the thread of the task."""
    task_id = world.team.task("for anyone", by="rhea")
    number = world.number(task_id)
    world.gil.claim_task(task_id=number)
    assert yes(world.rhea.claim_task(task_id=task_id))["claimed"] is False
    world.gil.complete_task(task_id=number, result_summary="fertig ✓")

    (told,) = [each for each in world.team.mail("rhea") if each["thread_id"] == task_id]
    assert (told["from_agent"], told["content"]) == ("gil", "fertig ✓")
    assert world.said_of(task_id) == ("replied", "done", "completed", "done")


def test_what_waits_for_gil_is_named_in_his_words(world: World) -> None:
    """A task that depends on one of another dialect cannot be claimed; GolemXV names the other by number and status."""
    first = world.send("commander", "first")
    second = world.team.task("second", by="rhea", depends_on=[first])
    said = no(world.gil, "claim_task", task_id=world.number(second))
    assert said == f"{GONE}: it waits for task {world.number(first)} (assigned)"


def test_everyone_is_seen_by_everyone(world: World) -> None:
    """A checked-in agent is in CommHub's list, a reporting one in GolemXV's, and each may be written to from each."""
    assert world.fleet.row("gil")["status"] == "idle"
    assert world.crew.here() == ["commander", "gil"]
    world.rhea.get_messages()  # whoever acts is known
    for sent in (
        world.rhea.send_message(to="gil", content="from Relay")["success"],
        world.rhea.send_message(to="commander", content="from Relay")["success"],
        world.gil.send_message(to="rhea", content="from GolemXV")["sent"],
        world.gil.send_message(to="commander", content="from GolemXV")["sent"],
        world.commander.send_message(alias="gil", message="from CommHub")["ok"],
        world.commander.send_message(alias="rhea", message="from CommHub")["ok"],
    ):
        assert sent is True
    assert [each["content"] for each in world.fleet.inbox("commander")] == ["from Relay", "from GolemXV"]
    assert [each["content"] for each in world.fleet.inbox("gil")] == ["from Relay", "from CommHub"]
    assert [each["content"] for each in world.team.mail("rhea")] == ["from GolemXV", "from CommHub"]


@both_engines
def test_a_presence_ends_in_every_tongue(world: World) -> None:
    """An agent that checks out, reports to be offline, or falls silent is gone for everyone, and counted as that."""
    world.gil.checkout(outcome_status="partial", work_summary="half of it")
    assert world.fleet.row("gil")["status"] == "offline"
    gus = world.checked_in("gus")
    world.crew.later(seconds=TTL - 1)
    assert gus.heartbeat()["ok"] is True
    world.crew.later(seconds=TTL + 1)
    assert world.fleet.row("gus")["status"] == "offline"
    assert world.crew.here() == ["commander"]
    world.commander.report_status(resume_id="run of commander", alias="commander", status="offline")
    assert world.crew.here() == []
    ended = {each["agent_name"]: each["status"] for each in world.crew.stays()}
    assert ended == {"gil": "checked_out", "gus": "timed_out", "commander": "checked_out"}


@both_engines
def test_a_whole_life_in_four_tongues(world: World) -> None:
    """Through every status that there is, each dialect says of a task what is true, as far as its words go."""
    gil, as_relay = world.gil, world.relay_as("gil")
    task_id = world.team.task("the task", by="rhea")
    number = world.number(task_id)
    task: Json = {"task_id": task_id}
    mine: Json = {"task_id": number}

    def is_now(*words: str) -> None:
        assert world.said_of(task_id) == words

    is_now("created", "todo", "pending", "todo")
    yes(world.rhea.update_task(**task, assignee="gil"))
    is_now("delivered", "todo", "assigned", "todo")
    gil.claim_task(**mine)
    is_now("acked", "todo", "assigned", "todo")
    gil.update_task(**mine, status="in_progress")
    is_now("running", "in_progress", "in_progress", "in_progress")
    gil.update_task(**mine, status="blocked", reason="no input")
    is_now("running", "in_progress", "blocked", "blocked")
    yes(as_relay.update_task(**task, status="in_review"))
    is_now("running", "in_review", "in_progress", "in_review")
    gil.update_task(**mine, status="failed", reason="cannot be")
    is_now("failed", "failed", "failed", "failed")
    assert world.fleet.program().retry_task(**task)["ok"] is True
    is_now("delivered", "todo", "assigned", "todo")
    assert world.fleet.program().cancel_task(**task)["ok"] is True
    is_now("cancelled", "cancelled", "cancelled", "cancelled")
    assert world.fleet.program().retry_task(**task, ttl_seconds=3600)["ok"] is True
    world.crew.later(hours=1, seconds=1)
    is_now("expired", "expired", "failed", "expired")
    assert world.fleet.program().retry_task(**task)["ok"] is True
    back = world.checked_in("gil")
    back.claim_task(**mine)
    back.complete_task(**mine, result_summary="at last")
    is_now("replied", "done", "completed", "done")


@pytest.mark.parametrize("name", ["代码-1号", "Ада", "नील", "José", "ギル_2"])
def test_names_of_any_script(world: World, name: str) -> None:
    """An agent is called the same in every dialect, whatever it is written in."""
    agent = world.checked_in(name)
    task_id = world.send(name, f"для {name}")
    assert world.team.row(task_id)["assignee"] == name
    agent.claim_task(task_id=world.number(task_id))
    yes(world.rhea.send_message(to=name, content=f"привет {name}"))
    agent.complete_task(task_id=world.number(task_id), result_summary="готово")
    assert world.fleet.row(name)["alias"] == name
    assert world.fleet.inbox("commander")[0]["from_session"] == name
    assert [each["content"] for each in world.crew.messages() if each["to"] == name] == [f"привет {name}"]


@pytest.mark.parametrize(
    ("relay", "commhub"), [("critical", "high"), ("high", "high"), ("medium", "normal"), ("low", "low")]
)
def test_priorities(world: World, relay: str, commhub: str) -> None:
    """An urgent task is urgent for everyone; a dialect with fewer words uses no wrong one."""
    made = yes(world.rhea.create_task(title="t", priority=relay, assignee="gil"))["task_id"]
    assert world.crew.row(world.number(made))["priority"] == relay
    assert world.fleet.task(made)["priority"] == commhub


@both_engines
def test_the_most_urgent_comes_first_whoever_sent_it(world: World) -> None:
    """GolemXV's list has the tasks of all dialects, the most urgent first, then in the order of their making."""
    world.send("gil", "low", priority="low")
    world.team.task("critical", by="rhea", priority="critical")
    world.send("gil", "normal", priority="normal")
    world.team.task("medium", by="rhea", priority="medium")
    assert [each["title"] for each in world.listed()] == ["critical", "normal", "medium", "low"]


@both_engines
def test_one_history_of_messages(world: World) -> None:
    """GolemXV's history has what was said in every dialect, newest first; a broadcast is to all."""
    gil, rhea = world.gil, world.rhea
    rhea.get_messages()
    assert world.commander.send_message(alias="rhea", message="one")["ok"] is True
    yes(rhea.send_message(content="two"))
    gil.send_message(to="commander", content="three", type="request")
    gil.send_message(to="broadcast", content="four", type="status")
    task_id = world.send("gil", "five is a task")
    gil.claim_task(task_id=world.number(task_id))
    gil.complete_task(task_id=world.number(task_id), result_summary="five")

    rows = world.crew.messages()
    assert [(each["from"], each["to"], each["type"], each["content"]) for each in rows] == [
        ("gil", "commander", "text", "five"),
        ("gil", "all", "status", "four"),
        ("gil", "commander", "request", "three"),
        ("rhea", "all", "text", "two"),
        ("commander", "rhea", "text", "one"),
    ]
    assert [each["content"] for each in world.team.mail("rhea")] == ["one", "four"]
    assert [each["content"] for each in world.fleet.inbox("commander")] == ["two", "three", "four", "five"]


@both_engines
def test_who_falls_silent_loses_what_it_had_claimed(world: World) -> None:
    """A GolemXV agent that times out loses a free task, a Relay agent takes it, and no late report gets through."""
    gil, rhea = world.gil, world.rhea
    free = world.team.task("for anyone", by="lead")
    addressed = world.send("gil", "for gil alone")
    for task_id in (free, addressed):
        gil.claim_task(task_id=world.number(task_id))
        gil.update_task(task_id=world.number(task_id), status="in_progress")
    assert yes(rhea.claim_task(task_id=free))["claimed"] is False  # nobody robs the living

    world.crew.later(seconds=TTL + 1)
    assert world.said_of(free) == ("created", "todo", "pending", "todo")
    assert world.said_of(addressed) == ("running", *["in_progress"] * 3)  # his it stays
    (released,) = [each for each in world.crew.log() if each["kind"] == "task.released"]
    assert released["detail"]["reason"] == "gil is gone (silent)"
    assert yes(rhea.claim_task(task_id=free))["claimed"] is True

    assert no(gil, "complete_task", task_id=1, result_summary="late") == "Session not found or expired"
    back = world.checked_in("gil")
    said = no(back, "complete_task", task_id=world.number(free), result_summary="late")
    assert said == "the task is assigned to 'rhea'"
    yes(rhea.update_task(task_id=free, status="done"))
    assert [each["content"] for each in world.team.mail("lead") if each["thread_id"] == free] == ["done"]
    assert world.said_of(addressed) == ("delivered", "todo", "assigned", "todo")  # again, as he is back


def test_a_scope_is_no_business_of_those_who_declare_none(world: World) -> None:
    """Agents that say nothing of files are never in conflict, and see those that are as they see everyone."""
    world.crew.area("parser", "src/parser/")
    came = world.checked_in("gus")
    gil = world.gil
    assert gil.scope_update(declared_area="parser")["conflicts"] == []
    met = came.scope_update(declared_files=["src/parser/lexer.py"])["conflicts"]
    assert [each["agent_name"] for each in met] == ["gil"]
    assert {each["alias"] for each in world.commander.get_all_status()["sessions"]} == {
        "commander",
        "gil",
        "gus",
    }


def test_one_name_speaks_several_tongues(world: World) -> None:
    """An agent that checks in, reports and joins under one name keeps its session and its work, in any order."""
    open_queue = [world.crew.task(f"task {number}") for number in range(3)]
    commhub = replace(world.gil, path="/mcp/commhub", says={})
    own = replace(world.gil, path="/mcp", says={})
    relay = replace(world.gil, path="/mcp/relay", says={"agent_id": "gil"})

    def all_speak() -> None:
        assert commhub.report_status(resume_id="run", alias="gil", status="working")["ok"]
        assert own.join(name="gil")["you"] == "gil"
        assert relay.get_messages()["success"]
        assert world.gil.heartbeat()["ok"]

    all_speak()
    world.gil.claim_task(task_id=open_queue[0])
    own.task(action="start", task=f"T-{open_queue[1]}")
    (third,) = [row["id"] for row in relay.get_all_tasks()["tasks"] if row["title"] == "task 2"]
    assert relay.claim_task(task_id=third)["claimed"]
    all_speak()
    assert {row["assigned"] for row in world.listed()} == {"gil"}

    again = replace(world.gil, says={"project_slug": world.crew.slug})
    again = replace(
        again, says={**again.says, "session_token": again.checkin(agent_name="gil")["session_token"]}
    )
    assert world.gil.wrong("heartbeat")["error"] == "Session not found or expired"
    assert again.heartbeat()["ok"]
    assert [row["assigned"] for row in sorted(world.listed(), key=itemgetter("id"))] == [None, "gil", "gil"]
