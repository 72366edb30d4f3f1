"""The course of a task beyond one call: parents and children, lost agents, the queue, and the record."""

import pytest

from tests.dialects.commhub.callers import Fleet
from tests.dialects.commhub.requirements import requires
from tests.dialects.conftest import both_engines
from tests.dialects.running_hub import Caller

pytestmark = both_engines


def _send(sender: Caller, to: str, text: str, parent: str | None = None) -> str:
    answer = sender.send_task(alias=to, task=text, **({"parent_task_id": parent} if parent else {}))
    assert answer["ok"], answer
    return str(answer["message_id"])


@requires("life.chain", "send_task.parent", "report_completion.chains", "get_task.row")
@pytest.mark.parametrize("how", ["completed", "replied", "failed", "cancelled", "expired"])
def test_the_end_of_a_child_reaches_the_parents_sender(fleet: Fleet, how: str) -> None:
    """However a child ends, its text comes to the parent's originator as a reply, beside what its own sender gets."""
    lead, coder = fleet.online("lead"), fleet.online("coder-1")
    parent = _send(fleet.agent("commander"), "lead", "whole")
    child = _send(lead, "coder-1", "part", parent)
    assert fleet.task(child)["parent_task_id"] == parent

    if how == "completed":
        coder.report_completion(alias="coder-1", task=child, result="完")
    elif how == "expired":
        fleet.online("lead", "working", task=parent)
        fleet.later(hours=1)
    elif how == "cancelled":
        lead.cancel_task(task_id=child, reason="完")
    else:
        coder.send_reply(alias="lead", text="完", in_reply_to=child, status=how)

    (row,) = fleet.inbox("commander")
    assert row["type"] == "reply"
    word = {"completed": "replied"}.get(how, how)
    assert row["context"] == f"in_reply_to: {parent}, child_task_id: {child}, child_status: {word}"
    assert row["content"].startswith("expired" if how == "expired" else "完")
    assert fleet.task(parent)["status"] == ("running" if how == "expired" else "delivered")


@requires("life.chain.five")
def test_a_chain_reaches_five_levels(fleet: Fleet) -> None:
    """The end of a task is told to the originators of five ancestors, and not to that of the sixth."""
    for level in range(9):
        fleet.online(f"level-{level}")
    ids: list[str] = []
    for level in range(8):
        sender = fleet.agent(f"level-{level}")
        ids.append(_send(sender, f"level-{level + 1}", "t", ids[-1] if ids else None))

    fleet.agent("level-8").report_completion(alias="level-8", task=ids[-1], result="deep")

    told = [
        level
        for level in range(8)
        if "deep" in {row["content"] for row in fleet.inbox(f"level-{level}") if row["type"] == "reply"}
    ]
    assert told == [2, 3, 4, 5, 6, 7]  # its own sender, and those of five ancestors


@requires("life.chain.terminal")
def test_a_terminal_parent_is_not_reopened(fleet: Fleet) -> None:
    """A child that ends after its parent is told of, and the parent stays as it ended."""
    lead, coder = fleet.online("lead"), fleet.online("coder-1")
    parent = _send(fleet.agent("commander"), "lead", "whole")
    child = _send(lead, "coder-1", "part", parent)
    lead.report_completion(alias="lead", task=parent, result="without it")
    before = fleet.task(parent)

    coder.report_completion(alias="coder-1", task=child, result="late")

    assert fleet.task(parent) == before
    assert [row["content"] for row in fleet.inbox("commander")] == ["without it", "late"]


@requires("life.parent_unknown", "tokens.foreign")
def test_a_parent_must_be_a_task_of_the_network(fleet: Fleet, elsewhere: Fleet) -> None:
    """A parent that is unknown, a message, or another network's task: parent task not found, and nothing is sent."""
    fleet.online("coder-1")
    elsewhere.online("coder-1")
    foreign = _send(elsewhere.program(), "coder-1", "t")
    message = fleet.program().send_message(alias="coder-1", message="m")["message_id"]

    with fleet.unchanged():
        for parent in (foreign, message, "01a1fe36-5944-7000-93c0-6b7043a9f307", "none", " "):
            answer = fleet.program().send_task(alias="coder-1", task="t", parent_task_id=parent)
            assert answer == {"ok": False, "error": "parent task not found"}, parent


@requires("life.expires", "life.expires.not_running", "life.out_of_inbox")
def test_what_was_not_begun_in_time_expires(fleet: Fleet) -> None:
    """Created, delivered and acked tasks expire; one that runs does not, however long it takes."""
    coder = fleet.online("coder-1")
    boss = fleet.agent("commander")
    delivered, acked, running = (_send(boss, "coder-1", name) for name in ("delivered", "acked", "running"))
    coder.ack_inbox(alias="coder-1", message_id=acked)
    fleet.online("coder-1", "working", task=running)

    for _ in range(10):
        fleet.later(minutes=8)
        fleet.online("coder-1", "working")

    assert [fleet.task(each)["status"] for each in (delivered, acked, running)] == [
        "expired",
        "expired",
        "running",
    ]
    assert [row["content"] for row in fleet.inbox("coder-1")] == ["running"]
    expired = [row for row in fleet.inbox("commander") if "expired" in row["content"]]
    assert len(expired) == 2


@requires("life.back_again", "life.stays_addressed")
@pytest.mark.parametrize("status", ["acked", "running"])
@pytest.mark.parametrize("gone", ["silent", "offline", "restarted"])
def test_begun_work_is_delivered_again(fleet: Fleet, status: str, gone: str) -> None:
    """Work that was acknowledged and not finished stays as it is while its agent is gone, and comes again with it."""
    coder = fleet.online("coder-1")
    task_id = _send(fleet.agent("commander"), "coder-1", "t")
    coder.ack_inbox(alias="coder-1", message_id=task_id)
    if status == "running":
        fleet.online("coder-1", "working", task=task_id)
    if gone == "silent":
        fleet.later(minutes=11)
    if gone == "offline":
        fleet.online("coder-1", "offline")
    assert (fleet.task(task_id)["status"], fleet.task(task_id)["to_name"]) == (status, "coder-1")
    assert fleet.inbox("coder-1") == []

    resume_id = "another run" if gone == "restarted" else "run of coder-1"
    answer = coder.report_status(resume_id=resume_id, alias="coder-1", status="idle")

    assert answer["inbox_count"] == 1
    (row,) = fleet.inbox("coder-1")
    assert (row["content"], row["from_session"]) == ("t", "commander")
    assert fleet.task(task_id)["status"] == "delivered"
    assert coder.ack_inbox(alias="coder-1", message_id=row["id"])["ok"] is True


@requires("life.stays_addressed")
def test_unread_mail_waits(fleet: Fleet) -> None:
    """Unacknowledged mail of an absent agent waits in its inbox, once, and is there when it comes."""
    fleet.online("coder-1", "offline")
    fleet.program().send_message(alias="coder-1", message="m")
    task_id = _send(fleet.program(), "coder-1", "t")
    fleet.later(minutes=30)

    assert fleet.online("coder-1").get_session_status(alias="coder-1")["inbox_pending"] == 2
    assert [row["id"] for row in fleet.inbox("coder-1")][1] == task_id


@requires("life.back_to_queue")
@pytest.mark.parametrize("by", ["send_ack", "report_status"])
def test_claimed_work_of_a_lost_agent_goes_back_to_the_queue(fleet: Fleet, by: str) -> None:
    """Work from the open queue whose claimer falls silent is free again, and another one may claim it."""
    coder = fleet.online("coder-1")
    task_id = fleet.free_task()
    if by == "send_ack":
        coder.send_ack(task_id=task_id)
    else:
        fleet.online("coder-1", "working", task=task_id)

    fleet.later(minutes=10, milliseconds=-1)
    assert fleet.task(task_id)["to_name"] == "coder-1"
    fleet.later(milliseconds=1)
    assert (fleet.task(task_id)["status"], fleet.task(task_id)["to_name"]) == ("created", None)

    assert fleet.online("coder-2").send_ack(task_id=task_id)["updated"] == 1
    fleet.online("coder-1")
    assert fleet.task(task_id)["to_name"] == "coder-2"


@requires("life.activity", "report_completion.logs")
def test_every_change_is_recorded_once(fleet: Fleet) -> None:
    """The log has one line for each change of a task: what it was, what it became, who did it."""
    coder, boss = fleet.online("coder-1"), fleet.agent("commander")
    fleet.online("coder-2")
    task_id = _send(boss, "coder-1", "t")
    coder.ack_inbox(alias="coder-1", message_id=task_id)
    fleet.online("coder-1", "working", task=task_id)
    boss.reassign_task(task_id=task_id, new_alias="coder-2")
    boss.cancel_task(task_id=task_id, reason="r")
    boss.retry_task(task_id=task_id)
    fleet.agent("coder-2").send_reply(alias="commander", text="no", in_reply_to=task_id, status="failed")

    lines = [line for line in fleet.log() if str(line["task_id"]) == task_id]
    assert [
        (each["kind"], each["actor"], each["detail"]["before"], each["detail"]["after"]) for each in lines
    ] == [
        ("task.sent", "commander", None, "delivered"),
        ("task.accepted", "coder-1", "delivered", "accepted"),
        ("task.started", "coder-1", "accepted", "working"),
        ("task.reassigned", "commander", "working", "delivered"),
        ("task.cancelled", "commander", "delivered", "cancelled"),
        ("task.retried", "commander", "cancelled", "delivered"),
        ("task.failed", "coder-2", "delivered", "failed"),
    ]
