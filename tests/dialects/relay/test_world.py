"""Relay's and CommHub's agents in one project: the same tasks, messages and agents, each in their own words."""

import pytest

from tests.dialects.commhub.callers import Fleet
from tests.dialects.conftest import both_engines
from tests.dialects.relay.callers import Team, no, yes
from tests.dialects.relay.requirements import requires
from tests.dialects.running_hub import Json


def _sent(fleet: Fleet, text: str = "t", **more: object) -> str:
    """A task that CommHub's commander sends to coder-1; returns its id."""
    fleet.online("coder-1")
    fleet.online("commander")
    answer = fleet.agent("commander").send_task(alias="coder-1", task=text, **more)
    assert answer["ok"], answer
    return str(answer["message_id"])


def _told(team: Team, name: str, task_id: str) -> list[Json]:
    """Return the messages to an agent in the thread of a task."""
    return [row for row in team.mail(name) if row["thread_id"] == task_id]


@requires("world.tasks", "world.text", "words.priorities", "words.agents")
@pytest.mark.parametrize(("said", "shown"), [("high", "high"), ("normal", "medium"), ("low", "low")])
def test_a_commhub_task_is_listed(team: Team, said: str, shown: str) -> None:
    """A task that CommHub sent is in get_all_tasks: its first line is the title, and all of it the description."""
    text = f"{'标题' * 45}\nand more"
    task_id = _sent(team.fleet, text, priority=said)

    row = team.row(task_id)

    assert {
        name: row[name] for name in ("title", "priority", "status", "assignee", "created_by", "depth")
    } == {
        "title": "标题" * 40,
        "priority": shown,
        "status": "todo",
        "assignee": "coder-1",
        "created_by": "commander",
        "depth": 0,
    }
    assert row["description"] == text


@requires("world.tasks")
def test_a_commhub_task_is_claimed(team: Team) -> None:
    """A task that CommHub addressed is claimed by its addressee through Relay, and a free one by anyone."""
    addressed, free = _sent(team.fleet), team.fleet.free_task()

    assert yes(team.agent("fe").claim_task(task_id=addressed))["reason"] == "task is assigned to coder-1"
    assert yes(team.agent("coder-1").claim_task(task_id=addressed))["claimed"] is True
    assert yes(team.agent("fe").claim_task(task_id=free))["claimed"] is True

    assert team.fleet.task(addressed)["status"] == "running"
    assert (team.fleet.task(free)["status"], team.fleet.task(free)["to_name"]) == ("running", "fe")
    assert team.fleet.inbox("coder-1") == []


@requires("world.result", "world.done_text", "claiming.winner")
@pytest.mark.parametrize("said", ["All done: 🦊\n## how", None])
def test_the_result_reaches_the_commhub_sender(team: Team, said: str | None) -> None:
    """Done by Relay, the sender gets a reply: the assignee's last words in the task's thread, else done."""
    task_id = _sent(team.fleet)
    coder = team.agent("coder-1")
    yes(coder.claim_task(task_id=task_id))
    if said is not None:
        coder.send_message(to="fe", content="on it", thread_id=task_id)
        coder.send_message(to="fe", content=said, thread_id=task_id)
        coder.send_message(to="fe", content="unrelated", thread_id="other")
        team.agent("fe").send_message(to="coder-1", content="thanks", thread_id=task_id)

    yes(coder.update_task(task_id=task_id, status="done"))

    (row,) = team.fleet.inbox("commander")
    assert (row["type"], row["content"], row["from_session"]) == ("reply", said or "done", "coder-1")
    task = team.fleet.task(task_id)
    assert (task["status"], task["result"]) == ("replied", said or "done")


@requires("world.result")
def test_the_result_reaches_a_sender_who_was_told_it_before(team: Team) -> None:
    """A CommHub sender who never reported gets the reply, though the result was sent to it as a message, too."""
    task_id = _sent(team.fleet)
    coder = team.agent("coder-1")
    yes(coder.claim_task(task_id=task_id))
    coder.send_message(to="commander", content="All done", thread_id=task_id)

    yes(coder.update_task(task_id=task_id, status="done"))

    message, reply = team.fleet.inbox("commander")
    assert (message["type"], message["content"]) == ("message", "All done")
    assert (reply["type"], reply["content"]) == ("reply", "All done")
    assert reply["context"] == f"in_reply_to: {task_id}, status: replied"


@requires("world.result")
def test_the_result_of_a_free_task_reaches_its_sender_once(team: Team) -> None:
    """A task that is done, reopened and done again tells its sender each time it is done, and no more."""
    task_id = team.fleet.free_task()
    fe = team.agent("fe")
    yes(fe.claim_task(task_id=task_id))
    yes(fe.update_task(task_id=task_id, status="done"))
    yes(fe.update_task(task_id=task_id, status="done"))
    assert [row["content"] for row in team.fleet.inbox("planner")] == ["done"]

    yes(fe.update_task(task_id=task_id, status="in_progress"))
    yes(fe.update_task(task_id=task_id, status="done"))

    assert [row["content"] for row in team.fleet.inbox("planner")] == ["done", "done"]


@requires("world.inbox", "world.inbox.text", "world.held")
def test_a_relay_task_comes_into_the_inbox(team: Team) -> None:
    """A Relay task in an inbox is title, blank line, description; the description alone if it begins with the title."""
    team.fleet.online("coder-1")
    described = team.task("Login", assignee="coder-1", description="Build it.\nWell.", priority="critical")
    bare = team.task("Logout", assignee="coder-1", priority="low")
    repeated = team.task("Look", assignee="coder-1", description="Look at it.", priority="low")

    rows = {row["id"]: row for row in team.fleet.inbox("coder-1")}

    assert [rows[task_id]["content"] for task_id in (described, bare, repeated)] == [
        "Login\n\nBuild it.\nWell.",
        "Logout",
        "Look at it.",
    ]
    assert {row["type"] for row in rows.values()} == {"task"}
    assert [rows[described]["priority"], rows[bare]["priority"]] == ["high", "low"]
    assert rows[described]["from_session"] == "lead"


@requires("world.told", "world.inbox")
@pytest.mark.parametrize("how", ["completed", "replied", "failed"])
def test_the_result_reaches_the_relay_creator(team: Team, how: str) -> None:
    """However a CommHub agent ends it, the creator gets a message from it with the task's id as thread_id."""
    coder = team.fleet.online("coder-1")
    task_id = team.task("Login", assignee="coder-1")
    coder.ack_inbox(alias="coder-1", message_id=task_id)
    assert team.row(task_id)["status"] == "todo"
    team.fleet.online("coder-1", "working", task=task_id)
    assert team.row(task_id)["status"] == "in_progress"

    if how == "completed":
        coder.report_completion(alias="coder-1", task=task_id, result="结果")
    else:
        coder.send_reply(alias="lead", text="结果", in_reply_to=task_id, status=how)

    (row,) = _told(team, "lead", task_id)
    assert (row["from_agent"], row["to_agent"], row["content"]) == ("coder-1", "lead", "结果")
    assert team.row(task_id)["status"] == ("failed" if how == "failed" else "done")


@requires("world.told", "world.done_text")
def test_the_creator_is_told_of_what_relay_did(team: Team) -> None:
    """When another agent of Relay's does the task its creator gets the message; who does their own gets none."""
    task_id, own = team.task("theirs"), team.task("own")
    fe = team.agent("fe")
    yes(fe.claim_task(task_id=task_id))
    fe.send_message(to=None, content="shipped", thread_id=task_id)
    yes(fe.update_task(task_id=task_id, status="done"))
    yes(team.agent("lead").update_task(task_id=own, status="done"))

    assert [(row["from_agent"], row["content"], row["to_agent"]) for row in _told(team, "lead", task_id)] == [
        ("fe", "shipped", None),
        ("fe", "shipped", "lead"),
    ]
    assert _told(team, "lead", own) == []


@requires("world.held", "claiming.met")
@both_engines
def test_a_dependent_task_comes_when_its_needs_are_done(team: Team) -> None:
    """It is in no inbox, and cannot be begun, until the last of what it needs is done; then it is delivered once."""
    coder = team.fleet.online("coder-1")
    first, second = team.task("first"), team.task("second", assignee="coder-1")
    held = team.task("held", assignee="coder-1", depends_on=[first, second])
    assert [row["content"] for row in team.fleet.inbox("coder-1")] == ["second"]
    assert coder.send_ack(task_id=held)["updated"] == 0
    team.fleet.online("coder-1", "working", task=held)
    assert team.row(held)["status"] == "todo"

    yes(team.agent("lead").update_task(task_id=first, status="done"))
    assert [row["content"] for row in team.fleet.inbox("coder-1")] == ["second"]
    coder.report_completion(alias="coder-1", task=second, result="r")

    assert [row["content"] for row in team.fleet.inbox("coder-1")] == ["held"]
    assert coder.ack_inbox(alias="coder-1", message_id=held) == {"ok": True}


@requires("world.held")
@both_engines
def test_needs_that_are_done_at_once_deliver_once(team: Team) -> None:
    """When all that a task needs is done at the same moment it comes into the inbox once."""
    team.fleet.online("coder-1")
    needs = [team.task(str(n)) for n in range(8)]
    team.task("held", assignee="coder-1", depends_on=needs)

    team.program().at_once(
        "update_task", [{"agent_id": "lead", "task_id": each, "status": "done"} for each in needs]
    )

    assert len(team.fleet.inbox("coder-1")) == 1
    assert len([line for line in team.log() if line["kind"] == "task.delivered"]) == 1


@requires("world.held")
@both_engines
def test_a_need_that_is_done_meanwhile_holds_nothing_back(team: Team) -> None:
    """A task that is created at the moment when what it needs is done comes into the inbox all the same."""
    team.fleet.online("coder-1")
    made = []
    for _ in range(15):
        needed = team.task()
        creating = team.member("lead").soon(
            "create_task", title="t", priority="low", assignee="coder-1", depends_on=[needed]
        )
        doing = team.agent("lead").soon("update_task", task_id=needed, status="done")
        yes(doing())
        made.append(yes(creating())["task_id"])

    assert len(team.fleet.inbox("coder-1")) == len(made)


@requires("world.message", "world.heard")
def test_messages_cross(team: Team) -> None:
    """A Relay message lies in a CommHub agent's inbox, and what CommHub writes to an agent is in its get_messages."""
    coder = team.fleet.online("coder-1")
    team.agent("fe").send_message(to="coder-1", content="你好")
    coder.send_message(alias="fe", message="hello")

    (row,) = team.fleet.inbox("coder-1")
    assert (row["type"], row["content"], row["from_session"]) == ("message", "你好", "fe")
    (heard,) = team.mail("fe")
    assert (heard["from_agent"], heard["to_agent"], heard["content"]) == ("coder-1", "fe", "hello")
    assert coder.ack_inbox(alias="coder-1", message_id=row["id"]) == {"ok": True}
    assert [each["content"] for each in team.mail("coder-1")] == ["你好"]


@requires("world.broadcast", "world.heard", "messages.own")
def test_broadcasts_cross(team: Team) -> None:
    """A Relay broadcast lies once in each CommHub agent's inbox but its sender's; CommHub's is read by everyone."""
    for name in ("coder-1", "coder-2"):
        team.fleet.online(name)
    team.agent("coder-1").send_message(content="from relay")
    team.fleet.agent("coder-2").broadcast(message="from commhub")

    inboxes = {
        name: [row["content"] for row in team.fleet.inbox(name) if row["type"] == "broadcast"]
        for name in ("coder-1", "coder-2")
    }
    assert inboxes == {"coder-1": ["from commhub"], "coder-2": ["from relay", "from commhub"]}
    assert [row["content"] for row in team.mail("fe")] == ["from relay", "from commhub"]
    assert [row["content"] for row in team.mail("coder-1")] == ["from commhub"]


@both_engines
def test_a_broadcast_to_some_is_not_read_by_others(team: Team) -> None:
    """A CommHub broadcast that a server or a status narrows is only delivered to the sessions that match."""
    coder = team.fleet.online("coder-1", server="s1")
    team.fleet.online("coder-2", server="s2")
    fe = team.agent("fe")
    messages = fe.get_messages(agent_id="fe")["messages"]

    for narrowed in ({"filter_server": "s1"}, {"filter_status": "working"}, {"filter_status": "no such"}):
        coder.broadcast(message="to some", **narrowed)

    assert [row["content"] for row in team.fleet.inbox("coder-1")] == ["to some"]
    assert team.fleet.inbox("coder-2") == []
    assert fe.get_messages(agent_id="fe")["messages"] == messages
    coder.broadcast(message="to all")
    assert [row["content"] for row in fe.get_messages(agent_id="fe")["messages"]] == ["to all"]


@requires("world.events", "world.held", "world.broadcast")
@both_engines
def test_followers_of_an_inbox_hear_of_relay(team: Team) -> None:
    """A Relay message, broadcast and task are heard by who follows the inbox, a held task when it is delivered."""
    team.fleet.online("coder-1")
    lead = team.agent("lead")
    with team.fleet.events("coder-1") as frames:
        needed = team.task()
        held = team.task(assignee="coder-1", depends_on=[needed], priority="critical")
        sent = yes(lead.send_message(to="coder-1", content="m"))
        assert frames.next() == {"type": "new_message", "from": "lead", "message_id": sent["message_id"]}
        lead.send_message(content="b")
        assert frames.next() == {"type": "broadcast", "inbox_count": 2}
        yes(lead.update_task(task_id=needed, status="done"))
        heard = {"type": "new_task", "inbox_count": 3, "priority": "high", "from": "lead", "task_id": held}
        assert frames.next() == heard


@requires("world.hub")
def test_the_hub_is_a_receiver(team: Team) -> None:
    """A message to hub is accepted, and kept for people to read; a task may be hub's too."""
    sent = yes(team.agent("fe").send_message(to="hub", content="c"))

    assert [row["id"] for row in yes(team.watcher().get_messages(agent_id="hub"))["messages"]] == [
        sent["message_id"]
    ]


@requires("world.known")
def test_whoever_acts_is_known(team: Team) -> None:
    """An agent that did no more than read is a legal receiver for CommHub; a name only written to is not yet one."""
    team.agent("lead").send_message(to="never-seen", content="c")
    yes(team.member("fe").get_messages())
    program = team.fleet.program()

    assert program.send_message(alias="fe", message="m")["ok"] is True
    assert program.send_message(alias="never-seen", message="m")["error"] == "alias_not_found"


@requires("world.steering", "words.lost", "updating.lost")
def test_commhub_steers_relays_tasks(team: Team) -> None:
    """A task that CommHub cancels, retries and reassigns is seen so here, and its new assignee may claim it."""
    team.fleet.online("coder-1")
    task_id = team.task("t", assignee="fe")
    boss = team.fleet.program()

    assert boss.cancel_task(task_id=task_id, reason="no")["ok"] is True
    assert team.row(task_id)["status"] == "cancelled"
    assert no(team.agent("fe").update_task(task_id=task_id, status="todo")) == "task is cancelled"
    assert boss.retry_task(task_id=task_id)["ok"] is True
    assert team.row(task_id)["status"] == "todo"
    assert boss.reassign_task(task_id=task_id, new_alias="coder-1")["ok"] is True
    assert yes(team.agent("fe").claim_task(task_id=task_id))["reason"] == "task is assigned to coder-1"
    assert yes(team.agent("coder-1").claim_task(task_id=task_id))["claimed"] is True


@requires("world.steering", "update_task.assignee")
def test_relay_steers_commhubs_tasks(team: Team) -> None:
    """A task that Relay gives to another leaves the one inbox for the other; put back to todo it comes again."""
    task_id = _sent(team.fleet)
    team.fleet.online("coder-2")

    yes(team.agent("commander").update_task(task_id=task_id, assignee="coder-2"))

    assert team.fleet.inbox("coder-1") == []
    assert len(team.fleet.inbox("coder-2")) == 1
    yes(team.agent("coder-2").claim_task(task_id=task_id))
    assert team.fleet.inbox("coder-2") == []
    yes(team.agent("coder-2").update_task(task_id=task_id, status="todo"))
    assert [row["content"] for row in team.fleet.inbox("coder-2")] == ["t"]
    assert team.fleet.task(task_id)["status"] == "delivered"


@requires("world.tasks", "claiming.not")
@both_engines
def test_both_dialects_claim_at_once(team: Team) -> None:
    """One of a Relay agent and a CommHub agent who claim the same free task at once gets it."""
    coder = team.fleet.online("coder-1")
    for _ in range(10):
        task_id = team.fleet.free_task()
        here = team.agent("fe").soon("claim_task", task_id=task_id)
        there = coder.soon("send_ack", task_id=task_id)

        won = (yes(here())["claimed"], there()["updated"] == 1)

        assert sorted(won) == [False, True]
        assert team.row(task_id)["assignee"] == ("fe" if won[0] else "coder-1")
