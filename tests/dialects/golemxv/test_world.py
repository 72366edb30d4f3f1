"""GolemXV's, CommHub's and Relay's agents in one project: the same tasks, messages and agents, each in their words."""

import pytest

from hubbub.model.records import title_of
from tests.dialects.conftest import both_engines
from tests.dialects.golemxv.callers import GONE, Crew, no
from tests.dialects.golemxv.requirements import requires


@requires("world.presence", "presence.row", "presence.live")
def test_a_commhub_session_is_present(crew: Crew) -> None:
    """An agent that reports to CommHub is in presence for ten minutes from its report, with nothing declared."""
    crew.fleet.online("coder-1", "working", task="x")

    (row,) = crew.viewer().presence()["agents"]
    assert (row["agent_name"], row["declared_area"], row["declared_files"]) == ("coder-1", None, None)
    assert crew.viewer().project_info()["active_agent_count"] == 1
    crew.later(seconds=599)
    assert crew.here() == ["coder-1"]
    crew.later(seconds=1)
    assert crew.here() == []


@requires("world.presence")
def test_who_has_checked_in_is_online_for_commhub(crew: Crew) -> None:
    """An agent that checks in is in get_all_status as long as it is present here, and offline then."""
    ann = crew.checkin("ann", declared_files=["a"])
    assert crew.fleet.row("ann")["status"] != "offline"

    ann.checkout()
    assert crew.fleet.row("ann")["status"] == "offline"


@requires("world.presence", "checkin.taken")
def test_a_name_is_one_agent_in_both(crew: Crew) -> None:
    """A name that is live by CommHub is taken for other tokens; its own token may check in as it."""
    coder = crew.fleet.online("coder-1")

    assert "another token" in no(crew.member(), "checkin", agent_name="coder-1")
    assert crew.of(coder.secret).checkin()["agent_name"] == "coder-1"
    assert crew.here() == ["coder-1"]


@requires("world.receiver", "send_message.to")
def test_who_has_checked_in_gets_mail_from_all(crew: Crew) -> None:
    """Relay's and CommHub's agents write to who has checked in, who finds it in get_messages and in its inbox."""
    crew.checkin("ann")
    assert crew.team.member("lead").send_message(to="ann", content="by relay")["success"] is True
    assert crew.fleet.online("coder-1").send_message(alias="ann", message="by commhub")["ok"] is True

    rows = [(row["from"], row["to"], row["content"]) for row in crew.messages()]
    assert rows == [("coder-1", "ann", "by commhub"), ("lead", "ann", "by relay")]
    assert [row["content"] for row in crew.fleet.inbox("ann")] == ["by relay", "by commhub"]


@requires("world.broadcast", "send_message.broadcast")
def test_a_broadcast_reaches_every_dialect(crew: Crew) -> None:
    """CommHub's agents find a broadcast in their inboxes, and Relay's read it as a message to all."""
    crew.fleet.online("coder-1")
    crew.checkin("ann").send_message(to="broadcast", content="hear")

    (letter,) = crew.fleet.inbox("coder-1")
    assert (letter["type"], letter["content"]) == ("broadcast", "hear")
    (row,) = crew.team.member("fe").get_messages()["messages"]
    assert (row["from_agent"], row["to_agent"], row["content"]) == ("ann", None, "hear")


@requires("world.tasks", "world.claimed", "world.result", "claim_task.own", "words.statuses")
def test_a_commhub_task_is_done_here(crew: Crew) -> None:
    """A task that CommHub addressed is claimed by its addressee only, and its result is a reply to its sender."""
    crew.fleet.online("commander")
    ann, bob = crew.checkin("ann"), crew.checkin("bob")
    text = f"{'标题' * 45}\nand more"
    sent = crew.fleet.agent("commander").send_task(alias="ann", task=text, priority="high")["message_id"]
    (row,) = crew.viewer().list_tasks()["tasks"]
    assert row == {
        "id": row["id"],
        "title": title_of(text),
        "status": "assigned",
        "priority": "high",
        "area": None,
        "assigned": "ann",
    }

    assert no(bob, "claim_task", task_id=row["id"]) == GONE
    assert ann.claim_task(task_id=row["id"])["task"]["description"] == text
    assert crew.fleet.task(sent)["status"] == "acked"
    ann.update_task(task_id=row["id"], status="in_progress")
    assert crew.fleet.task(sent)["status"] == "running"
    ann.complete_task(task_id=row["id"], result_summary="All done 🦊")

    (reply,) = crew.fleet.inbox("commander")
    assert (reply["type"], reply["content"], reply["from_session"]) == ("reply", "All done 🦊", "ann")
    assert (crew.fleet.task(sent)["status"], crew.fleet.task(sent)["result"]) == ("replied", "All done 🦊")


@requires("world.result", "world.told", "update_task.reason")
def test_a_failure_reaches_the_commhub_sender(crew: Crew) -> None:
    """A task that failed here has failed there, and its sender is told why."""
    crew.fleet.online("commander")
    ann = crew.checkin("ann")
    sent = crew.fleet.agent("commander").send_task(alias="ann", task="t")["message_id"]
    ann.update_task(task_id=1, status="failed", reason="no key")

    assert crew.fleet.task(sent)["status"] == "failed"
    (reply,) = crew.fleet.inbox("commander")
    assert (reply["type"], reply["content"]) == ("reply", "no key")


@requires("world.claimed", "claim_task.once")
def test_what_is_claimed_elsewhere_is_taken_here(crew: Crew) -> None:
    """A free task that Relay's agent claims is in progress here, and not to be claimed; and the other way round."""
    first, second = crew.made_task(), crew.made_task()
    ann, fe = crew.checkin("ann"), crew.team.member("fe")
    assert fe.claim_task(task_id=str(first.id))["claimed"] is True
    assert (crew.row(first.number)["status"], crew.row(first.number)["assigned"]) == ("in_progress", "fe")
    assert no(ann, "claim_task", task_id=first.number) == GONE

    ann.claim_task(task_id=second.number)
    assert fe.claim_task(task_id=str(second.id))["claimed"] is False


@requires("world.claimed", "claim_task.once")
@both_engines
def test_of_those_who_claim_in_two_dialects_one_wins(crew: Crew) -> None:
    """When a Relay agent and a GolemXV agent claim the same free task at once exactly one has it."""
    ann, fe = crew.checkin("ann"), crew.team.member("fe")
    for _ in range(10):
        task = crew.made_task()
        here, there = ann.soon("claim_task", task_id=task.number), fe.soon("claim_task", task_id=str(task.id))

        won = [name for name, answer in (("ann", here()), ("fe", there())) if answer.get("claimed")]

        assert won == [crew.row(task.number)["assigned"]]


@requires("world.tasks", "world.needs", "world.result", "claim_task.unmet")
def test_a_relay_task_is_done_here(crew: Crew) -> None:
    """A Relay task with needs is pending until they are done; its result is a message to its creator."""
    lead = crew.team.agent("lead")
    needed = lead.create_task(title="first", priority="low")["task_id"]
    task_id = lead.create_task(
        title="Login", description="Build it.", priority="critical", depends_on=[needed]
    )["task_id"]
    ann = crew.checkin("ann")
    rows = {row["title"]: row for row in crew.viewer().list_tasks()["tasks"]}
    assert [rows[title]["status"] for title in ("first", "Login")] == ["pending", "pending"]
    number, first = rows["Login"]["id"], rows["first"]["id"]

    assert no(ann, "claim_task", task_id=number) == f"{GONE}: it waits for task {first} (pending)"
    lead.update_task(task_id=needed, status="done")
    task = ann.claim_task(task_id=number)["task"]
    assert (task["title"], task["description"], task["priority"]) == ("Login", "Build it.", "critical")
    ann.update_task(task_id=number, status="in_progress")
    assert crew.team.row(task_id)["status"] == "in_progress"
    ann.complete_task(task_id=number, result_summary="built")

    assert crew.team.row(task_id)["status"] == "done"
    told = [row for row in crew.team.mail("lead") if row["thread_id"] == task_id]
    assert [(row["from_agent"], row["content"]) for row in told] == [("ann", "built")]


@requires("world.needs")
def test_what_relay_waits_for_is_done_here(crew: Crew) -> None:
    """A Relay task that needs one which CommHub sent can be claimed once a GolemXV agent has completed that."""
    crew.fleet.online("commander")
    ann = crew.checkin("ann")
    needed = crew.fleet.agent("commander").send_task(alias="ann", task="t")["message_id"]
    task_id = crew.team.task(depends_on=[needed])
    fe = crew.team.agent("fe")
    assert fe.claim_task(task_id=task_id)["claimed"] is False

    ann.claim_task(task_id=1)
    ann.complete_task(task_id=1, result_summary="s")

    assert fe.claim_task(task_id=task_id)["claimed"] is True


@requires("world.told", "get_messages.others")
@pytest.mark.parametrize("how", ["replied", "failed"])
def test_a_result_of_elsewhere_is_a_message_here(crew: Crew, how: str) -> None:
    """A CommHub agent's reply to this agent's task is a message to it, in get_messages."""
    coder = crew.fleet.online("coder-1")
    crew.checkin("ann")
    sent = crew.fleet.agent("ann").send_task(alias="coder-1", task="t")["message_id"]
    coder.send_reply(alias="ann", text="so it is", in_reply_to=sent, status=how)

    (row,) = crew.messages()
    assert (row["from"], row["to"], row["content"]) == ("coder-1", "ann", "so it is")
    assert crew.row(1)["status"] == ("completed" if how == "replied" else "failed")


@requires("world.claimed", "leases.late", "words.statuses")
@both_engines
def test_what_is_steered_elsewhere_shows_here(crew: Crew) -> None:
    """A task that CommHub cancels or reassigns is so here too, and its old holder reports in vain."""
    crew.fleet.online("coder-1")
    ann = crew.checkin("ann")
    cancelled, given = crew.made_task(), crew.made_task()
    for task in (cancelled, given):
        ann.claim_task(task_id=task.number)
    crew.fleet.program().cancel_task(task_id=str(cancelled.id))
    crew.fleet.program().reassign_task(task_id=str(given.id), new_alias="coder-1")

    assert crew.row(cancelled.number)["status"] == "cancelled"
    assert (crew.row(given.number)["status"], crew.row(given.number)["assigned"]) == ("assigned", "coder-1")
    with crew.unchanged():
        assert "cancelled" in no(ann, "update_task", task_id=cancelled.number, status="blocked")
        assert "'coder-1'" in no(ann, "complete_task", task_id=given.number, result_summary="late")


@requires("world.receiver")
def test_who_has_checked_in_may_be_given_work_by_all(crew: Crew) -> None:
    """CommHub sends tasks to who has checked in, and Relay names it as assignee; each is assigned to it here."""
    ann = crew.checkin("ann")
    crew.fleet.online("commander")
    assert crew.fleet.agent("commander").send_task(alias="ann", task="one")["ok"] is True
    crew.team.task("two", assignee="ann")

    rows = crew.viewer().list_tasks(assigned_to="ann", status="assigned")["tasks"]
    assert [row["title"] for row in rows] == ["one", "two"]
    assert all(ann.claim_task(task_id=row["id"])["claimed"] for row in rows)
