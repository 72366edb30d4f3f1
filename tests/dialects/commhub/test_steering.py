"""send_ack, retry_task, cancel_task and reassign_task: steering work that was given."""

import threading
from collections.abc import Callable

import pytest

from tests.dialects.commhub.callers import Fleet
from tests.dialects.commhub.requirements import requires
from tests.dialects.conftest import both_engines
from tests.dialects.running_hub import Json

TERMINAL = ["replied", "failed", "cancelled", "expired"]
OPEN = ["delivered", "acked", "running"]
HELD = ["acked", "running"]  # its holder has said yes, and hears of what others do


def _send(fleet: Fleet, **more: object) -> str:
    """A task from commander to coder-1, who are both there; returns its id."""
    fleet.online("coder-1")
    sent = fleet.agent("commander").send_task(alias="coder-1", task="sort", context="quick", **more)
    return str(sent["message_id"])


def _brought_to(fleet: Fleet, status: str) -> str:
    """A task that is in that status; returns its id."""
    task_id = _send(fleet)
    coder = fleet.agent("coder-1")
    steps: dict[str, Callable[[], object]] = {
        "delivered": lambda: None,
        "acked": lambda: coder.ack_inbox(alias="coder-1", message_id=task_id),
        "running": lambda: fleet.online("coder-1", "working", task=task_id),
        "expired": lambda: fleet.later(hours=1),
    }
    end = {"alias": "commander", "text": "end", "in_reply_to": task_id, "status": status}
    steps.get(status, lambda: coder.send_reply(**end))()
    assert fleet.task(task_id)["status"] == status
    return task_id


def _refused(answer: Json, error: str) -> None:
    assert (answer["ok"], answer["error"]) == (False, error)


@requires("send_ack.accepts", "send_ack.reply", "send_ack.from_session", "send_ack.no_inbox")
@pytest.mark.parametrize("by", ["coder-1", "hub"])
def test_send_ack_accepts_a_task(fleet: Fleet, by: str) -> None:
    """A delivered task becomes acked, by its assignee or by hub for it, and nobody gets mail of it."""
    task_id = _send(fleet)
    caller = fleet.agent("coder-1") if by == "coder-1" else fleet.program()

    assert caller.send_ack(task_id=task_id) == {"ok": True, "task_id": task_id, "updated": 1}

    assert fleet.task(task_id)["status"] == "acked"
    assert fleet.inbox("commander") == fleet.inbox("hub") == []


@requires("life.send_ack.refused")
def test_send_ack_of_what_is_not_ones_own_changes_nothing(fleet: Fleet) -> None:
    """Somebody else's task, or one that is accepted, running or ended already: updated 0, and nothing is changed."""
    task_id = _send(fleet)
    other, coder = fleet.agent("coder-2"), fleet.agent("coder-1")

    with fleet.unchanged():
        assert other.send_ack(task_id=task_id) == {"ok": True, "task_id": task_id, "updated": 0}
    for step in (
        lambda: coder.send_ack(task_id=task_id),
        lambda: fleet.online("coder-1", "working", task=task_id),
        lambda: coder.report_completion(alias="coder-1", task=task_id, result="done"),
    ):
        step()
        with fleet.unchanged():
            assert coder.send_ack(task_id=task_id)["updated"] == 0


@requires("life.send_ack.created", "life.claim.working")
@pytest.mark.parametrize("by", ["send_ack", "report_status"])
@both_engines
def test_a_free_task_is_claimed(fleet: Fleet, by: str) -> None:
    """A created task that is addressed to nobody belongs to who acknowledges it or begins to work on it."""
    fleet.online("coder-1")
    other = fleet.online("coder-2")
    task_id = fleet.free_task()
    assert (fleet.task(task_id)["status"], fleet.task(task_id)["to_name"]) == ("created", None)

    if by == "send_ack":
        assert fleet.agent("coder-1").send_ack(task_id=task_id)["updated"] == 1
    else:
        fleet.online("coder-1", "working", task=task_id)

    task = fleet.task(task_id)
    assert (task["status"], task["to_name"]) == ("acked" if by == "send_ack" else "running", "coder-1")
    with fleet.unchanged():
        assert other.send_ack(task_id=task_id)["updated"] == 0
    fleet.online("coder-2", "working", task=task_id)
    assert fleet.task(task_id)["to_name"] == "coder-1"


@requires("life.claim.working", "life.send_ack.refused")
@both_engines
def test_a_task_that_waits_for_others_is_not_claimed(fleet: Fleet) -> None:
    """An agent reporting work on a task that waits for dependencies has sent a heartbeat, and not claimed it."""
    task_id = fleet.free_task(needs=[fleet.free_task()])
    coder = fleet.online("coder-1")

    with fleet.unchanged():
        assert coder.send_ack(task_id=task_id) == {"ok": True, "task_id": task_id, "updated": 0}
    fleet.online("coder-1", "working", task=task_id)

    assert (fleet.task(task_id)["status"], fleet.task(task_id)["to_name"]) == ("created", None)
    assert fleet.row("coder-1")["status"] == "working"


@requires("life.send_ack.created")
def test_hub_cannot_claim_for_nobody(fleet: Fleet) -> None:
    """A free task is claimed by an agent; hub, which is none, gets updated 0."""
    task_id = fleet.free_task()
    program = fleet.program()

    with fleet.unchanged():
        assert program.send_ack(task_id=task_id)["updated"] == 0


@requires("life.claim.once")
@both_engines
def test_one_of_many_gets_a_free_task(fleet: Fleet) -> None:
    """Exactly one of the agents that claim a free task at the same moment is told that it has it, and has it."""
    agents = {f"coder-{number}": fleet.online(f"coder-{number}") for number in range(6)}
    task_id = fleet.free_task()
    won: dict[str, int] = {}
    barrier = threading.Barrier(len(agents))

    def claim(name: str) -> None:
        barrier.wait()
        won[name] = agents[name].send_ack(task_id=task_id)["updated"]

    threads = [threading.Thread(target=claim, args=(name,)) for name in agents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(won.values()) == 1
    assert won[fleet.task(task_id)["to_name"]] == 1


@requires("retry_task.from", "retry_task.same_task", "retry_task.new_row", "retry_task.reply", "retry_task.ttl",
          "life.keeps", "get_task.times", "retry_task.required")  # fmt: skip
@pytest.mark.parametrize("status", ["failed", "cancelled", "expired"])
def test_a_task_is_tried_again(fleet: Fleet, status: str) -> None:
    """A failed, cancelled or expired task is delivered again, with a row of its own and one fresh hour to live."""
    task_id = _brought_to(fleet, status)
    fleet.later(hours=3)

    answer = fleet.program().retry_task(task_id=task_id)

    assert answer == {"ok": True, "task_id": task_id, "retried_to": "coder-1"}
    (row,) = fleet.inbox("coder-1")
    assert row["id"] != task_id
    assert (row["content"], row["context"], row["from_session"]) == ("sort", "quick", "commander")
    task = fleet.task(task_id)
    assert (task["status"], task["from_name"], task["context"]) == ("delivered", "commander", "quick")
    assert task["result"] is task["completed_at"] is task["started_at"] is None
    assert task["delivered_at"] == row["created_at"] > task["created_at"]
    fleet.later(hours=1, milliseconds=-1)
    assert fleet.task(task_id)["status"] == "delivered"
    fleet.later(milliseconds=1)
    assert fleet.task(task_id)["status"] == "expired"


@requires("retry_task.ttl")
def test_a_retry_does_not_keep_the_old_ttl(fleet: Fleet) -> None:
    """A task that was given a day, or a minute, has an hour after it is retried."""
    for ttl in (60, 86_400):
        task_id = _send(fleet, ttl_seconds=ttl)
        fleet.agent("commander").cancel_task(task_id=task_id)
        fleet.agent("commander").retry_task(task_id=task_id, from_session="commander")
        task = fleet.task(task_id)
        hours = {at: task[at][11:13] for at in ("delivered_at", "expires_at")}
        assert (int(hours["expires_at"]) - int(hours["delivered_at"])) % 24 == 1
        assert task["expires_at"][14:] == task["delivered_at"][14:]


@requires("retry_task.not_retryable")
@pytest.mark.parametrize("status", [*OPEN, "replied"])
def test_what_may_not_be_retried(fleet: Fleet, status: str) -> None:
    """A task in any other status is refused with it, in CommHub's word, and stays as it is."""
    task_id = _brought_to(fleet, status)

    with fleet.unchanged():
        answer = fleet.agent("commander").retry_task(task_id=task_id)
    _refused(answer, f"task status is {status}, not retryable")


@requires("retry_task.not_retryable", "cancel_task.from")
def test_a_created_task_can_be_cancelled_but_not_retried(fleet: Fleet) -> None:
    """A task that nobody has yet is created: not retryable, but it can be cancelled."""
    task_id = fleet.free_task()

    _refused(fleet.program().retry_task(task_id=task_id), "task status is created, not retryable")
    assert fleet.program().cancel_task(task_id=task_id)["cancelled"] is True
    assert fleet.task(task_id)["status"] == "cancelled"


@requires(
    "cancel_task.from", "cancel_task.reply", "life.cancel.reason", "life.out_of_inbox", "cancel_task.required"
)
@pytest.mark.parametrize("status", OPEN)
def test_a_task_is_cancelled(fleet: Fleet, status: str) -> None:
    """An unfinished task is cancelled: the reason is its result, and it is in nobody's inbox any more."""
    task_id = _brought_to(fleet, status)

    answer = fleet.agent("commander").cancel_task(task_id=task_id, reason="不要了")

    assert answer == {"ok": True, "task_id": task_id, "cancelled": True}
    task = fleet.task(task_id)
    assert (task["status"], task["result"]) == ("cancelled", "不要了")
    assert task["completed_at"] is not None
    assert [row["type"] for row in fleet.inbox("coder-1")] == (["reply"] if status in HELD else [])


@requires("cancel_task.terminal")
@pytest.mark.parametrize("status", TERMINAL)
def test_a_terminal_task_cannot_be_cancelled(fleet: Fleet, status: str) -> None:
    """A task that has ended is not cancelled, and the answer is ok false, cancelled false, and nothing else."""
    task_id = _brought_to(fleet, status)

    with fleet.unchanged():
        answer = fleet.agent("commander").cancel_task(task_id=task_id, reason="too late")
    assert answer == {"ok": False, "cancelled": False}


@requires("reassign_task.from", "reassign_task.reply", "reassign_task.old_inbox", "reassign_task.resets",
          "reassign_task.new_row", "reassign_task.ttl", "life.keeps", "life.out_of_inbox",
          "reassign_task.required")  # fmt: skip
@pytest.mark.parametrize("status", OPEN)
def test_a_task_is_reassigned(fleet: Fleet, status: str) -> None:
    """An unfinished task goes to the new alias as if it had just been sent; its expiry stays, the old one loses it."""
    task_id = _brought_to(fleet, status)
    fleet.online("代码2号")
    before = fleet.task(task_id)
    fleet.later(minutes=5)

    answer = fleet.program().reassign_task(task_id=task_id, new_alias="代码2号")

    assert answer == {
        "ok": True,
        "task_id": task_id,
        "reassigned_from": "coder-1",
        "reassigned_to": "代码2号",
    }
    assert [row["type"] for row in fleet.inbox("coder-1")] == (["reply"] if status in HELD else [])
    (row,) = fleet.inbox("代码2号")
    assert row["id"] != task_id
    assert (row["content"], row["context"], row["from_session"]) == ("sort", "quick", "commander")
    task = fleet.task(task_id)
    assert (task["status"], task["to_name"], task["started_at"]) == ("delivered", "代码2号", None)
    assert task["expires_at"] == before["expires_at"]
    assert task["delivered_at"] == row["created_at"] > before["delivered_at"]


@requires("reassign_task.from")
def test_a_free_task_can_be_assigned(fleet: Fleet) -> None:
    """A created task is handed to an agent the same way; nobody had it before."""
    fleet.online("coder-1")
    task_id = fleet.free_task()

    answer = fleet.program().reassign_task(task_id=task_id, new_alias="coder-1")

    assert (answer["reassigned_from"], answer["reassigned_to"]) == (None, "coder-1")
    assert len(fleet.inbox("coder-1")) == 1


@requires("reassign_task.terminal")
@pytest.mark.parametrize("status", TERMINAL)
def test_a_terminal_task_cannot_be_reassigned(fleet: Fleet, status: str) -> None:
    """A task that has ended is refused with its status, and stays where it is."""
    task_id = _brought_to(fleet, status)
    fleet.online("coder-2")

    with fleet.unchanged():
        answer = fleet.agent("commander").reassign_task(task_id=task_id, new_alias="coder-2")
    _refused(answer, f"task is terminal ({status})")


@requires("life.alias_not_found")
def test_a_task_is_reassigned_to_somebody_known(fleet: Fleet) -> None:
    """Reassigning to an alias that the network never saw is refused like sending to it."""
    task_id = _brought_to(fleet, "running")

    with fleet.unchanged():
        answer = fleet.agent("commander").reassign_task(task_id=task_id, new_alias="coder-11")
    _refused(answer, "alias_not_found")
    assert answer["near"][0] == "coder-1"


@requires("life.old_hands")
def test_old_hands_have_no_say(fleet: Fleet) -> None:
    """An agent that had a task before it was reassigned can't end, accept or begin it; its sender and hub can."""
    task_id = _brought_to(fleet, "running")
    fleet.online("coder-2")
    boss, coder = fleet.agent("commander"), fleet.agent("coder-1")
    boss.reassign_task(task_id=task_id, new_alias="coder-2")

    with fleet.unchanged():
        _refused(coder.send_reply(alias="commander", text="late", in_reply_to=task_id), "permission_denied")
        assert coder.send_ack(task_id=task_id)["updated"] == 0
    fleet.online("coder-1", "working", task=task_id)
    assert fleet.task(task_id)["status"] == "delivered"

    assert fleet.program().send_reply(alias="commander", text="enough", in_reply_to=task_id)["ok"] is True
    assert fleet.task(task_id)["result"] == "enough"


@requires("life.either_id")
@pytest.mark.parametrize("by", ["send_ack", "send_reply", "report_completion", "cancel_task", "get_task"])
def test_a_task_is_named_by_its_newest_row_too(fleet: Fleet, by: str) -> None:
    """After a reassignment the id of the new row stands for the task, in every tool; answers give the task's id."""
    task_id = _brought_to(fleet, "delivered")
    coder = fleet.online("coder-2")
    fleet.agent("commander").reassign_task(task_id=task_id, new_alias="coder-2")
    (row,) = fleet.inbox("coder-2")

    if by == "send_ack":
        assert coder.send_ack(task_id=row["id"]) == {"ok": True, "task_id": task_id, "updated": 1}
    elif by == "send_reply":
        assert coder.send_reply(alias="commander", text="r", in_reply_to=row["id"])["ok"] is True
    elif by == "report_completion":
        assert coder.report_completion(alias="coder-2", task=row["id"], result="r")["ok"] is True
    elif by == "cancel_task":
        assert fleet.agent("commander").cancel_task(task_id=row["id"])["task_id"] == task_id
    status = {"send_ack": "acked", "cancel_task": "cancelled", "get_task": "delivered"}.get(by, "replied")
    assert fleet.task(row["id"])["task_id"] == task_id
    assert fleet.task(task_id)["status"] == status


@requires("all.not_found", "get_task.not_found", "tokens.foreign")
@pytest.mark.parametrize(
    ("tool", "more"),
    [
        ("get_task", {}),
        ("send_ack", {}),
        ("retry_task", {}),
        ("cancel_task", {}),
        ("reassign_task", {"new_alias": "coder-1"}),
    ],
)
def test_a_task_that_is_not_there(fleet: Fleet, elsewhere: Fleet, tool: str, more: dict[str, str]) -> None:
    """An id that is unknown, none at all or another network's is task not found, and nothing is changed."""
    fleet.online("coder-1")
    elsewhere.online("coder-1")
    foreign = elsewhere.program().send_task(alias="coder-1", task="t")["message_id"]
    message = fleet.program().send_message(alias="coder-1", message="m")["message_id"]

    with fleet.unchanged(), elsewhere.unchanged():
        for task_id in (
            foreign,
            message,
            "01a1fe36-5944-7000-93c0-6b7043a9f307",
            "none",
            "",
            "9",
            "任务",
            "-" * 36,
        ):
            answer = getattr(fleet.program(), tool)(task_id=task_id, **more)
            assert answer == {"ok": False, "error": "task not found"}, task_id
