"""get_inbox and ack_inbox: reading one's mail, and saying that it has come."""

from datetime import timedelta

import pytest

from hubbub.core.agents import agents
from hubbub.model.people.rights import Role
from tests.dialects.commhub.callers import Fleet
from tests.dialects.commhub.requirements import requires
from tests.dialects.conftest import both_engines


@requires(
    "get_inbox.row", "get_inbox.context", "send_task.inbox", "words.times", "words.names", "words.network_id"
)
def test_a_task_in_the_inbox(fleet: Fleet) -> None:
    """A task is shown with the documented fields, its context among them, from who sent it."""
    coder = fleet.online("代码1号")
    sent = fleet.agent("指挥室").send_task(
        alias="代码1号", task="写排序算法\n快", priority="high", context="背景"
    )

    (row,) = coder.get_inbox(alias="代码1号")["messages"]

    created_at = row.pop("created_at")
    assert created_at == fleet.task(sent["message_id"])["created_at"]
    assert [len(part) for part in created_at.split(" ")] == [10, 8]
    assert row == {
        "id": sent["message_id"],
        "type": "task",
        "priority": "high",
        "content": "写排序算法\n快",
        "context": "背景",
        "from_session": "指挥室",
        "network_id": fleet.network_id,
    }


@requires("inbox.types", "inbox.priority", "send_message.inbox", "send_reply.inbox", "broadcast.type",
          "get_inbox.context", "send_ack.no_inbox")  # fmt: skip
def test_what_an_inbox_holds(fleet: Fleet) -> None:
    """Tasks, messages, replies and broadcasts lie in it, each with its type; all but tasks are normal; no acks."""
    fleet.online("coder-1")
    boss = fleet.agent("commander")
    task_id = boss.send_task(alias="coder-1", task="t", priority="low")["message_id"]
    boss.send_message(alias="coder-1", message="m")
    boss.send_reply(alias="coder-1", text="r")
    boss.broadcast(message="b")

    rows = {row["type"]: row for row in fleet.inbox("coder-1")}
    assert {name: (row["content"], row["priority"]) for name, row in rows.items()} == {
        "task": ("t", "low"),
        "message": ("m", "normal"),
        "reply": ("r", "normal"),
        "broadcast": ("b", "normal"),
    }
    assert rows["task"]["context"] is rows["message"]["context"] is rows["broadcast"]["context"] is None

    fleet.agent("coder-1").send_ack(task_id=task_id)
    assert fleet.inbox("commander") == []


@requires("get_inbox.order")
@both_engines
def test_the_urgent_comes_first(fleet: Fleet) -> None:
    """High goes before normal before low, and within each the order is that of arrival, however close together."""
    coder = fleet.online("coder-1")
    boss = fleet.agent("commander")
    for number in range(4):
        for priority in ("low", "normal", "high"):
            boss.send_task(alias="coder-1", task=f"{priority} {number}", priority=priority)
        boss.send_message(alias="coder-1", message=f"message {number}")

    rows = coder.get_inbox(alias="coder-1", limit=100)["messages"]

    expected = [f"high {n}" for n in range(4)]
    expected += [f"{kind} {n}" for n in range(4) for kind in ("normal", "message")]
    assert [row["content"] for row in rows] == expected + [f"low {n}" for n in range(4)]


@requires("get_inbox.limit")
@both_engines
def test_ten_are_read_at_once_by_default(fleet: Fleet) -> None:
    """get_inbox gives 10 unless it is asked for more or fewer, and the same ones again until they are acknowledged."""
    coder = fleet.online("coder-1")
    for number in range(12):
        fleet.program().send_message(alias="coder-1", message=str(number))

    first = coder.get_inbox(alias="coder-1")["messages"]
    assert [row["content"] for row in first] == [str(n) for n in range(10)]
    assert coder.get_inbox(alias="coder-1")["messages"] == first
    assert len(coder.get_inbox(alias="coder-1", limit=100)["messages"]) == 12
    assert len(coder.get_inbox(alias="coder-1", limit=1)["messages"]) == 1
    assert coder.get_session_status(alias="coder-1")["inbox_pending"] == 12


@requires("ack_inbox.reply", "ack_inbox.removes", "ack_inbox.response")
def test_what_is_acknowledged_is_gone(fleet: Fleet) -> None:
    """ack_inbox answers ok and nothing else, takes the row out, whatever response says; again it is ok too."""
    coder = fleet.online("coder-1")
    sent = fleet.program().send_message(alias="coder-1", message="m")

    answer = coder.ack_inbox(alias="coder-1", message_id=sent["message_id"], response="no thanks")

    assert answer == {"ok": True}
    assert fleet.inbox("coder-1") == []
    assert "no thanks" not in repr(fleet.world())
    with fleet.unchanged():
        assert coder.ack_inbox(alias="coder-1", message_id=sent["message_id"]) == {"ok": True}


@requires("ack_inbox.removes")
@both_engines
def test_each_receiver_acknowledges_a_broadcast_for_itself(fleet: Fleet) -> None:
    """The rows of one broadcast are acknowledged one by one, by the ids that broadcast gave."""
    first, second = fleet.online("coder-1"), fleet.online("coder-2")
    fleet.program().broadcast(message="b")
    (row,) = first.get_inbox(alias="coder-1")["messages"]

    assert first.ack_inbox(alias="coder-1", message_id=row["id"]) == {"ok": True}

    assert fleet.inbox("coder-1") == []
    assert len(second.get_inbox(alias="coder-2")["messages"]) == 1


@requires("ack_inbox.not_yours", "inbox.private_ack")
@both_engines
def test_only_its_receiver_acknowledges(fleet: Fleet, elsewhere: Fleet) -> None:
    """An id that is unknown, no id, another alias's or another network's: message not found or not yours."""
    coder, other = fleet.online("coder-1"), fleet.online("coder-2")
    program = fleet.program()
    theirs = program.send_message(alias="coder-2", message="m")["message_id"]
    task = program.send_task(alias="coder-2", task="t")["message_id"]
    elsewhere.online("coder-1")
    foreign = elsewhere.program().send_message(alias="coder-1", message="m")["message_id"]
    free = fleet.free_task()
    refused = {"ok": False, "error": "message not found or not yours"}

    with fleet.unchanged(), elsewhere.unchanged():
        for message_id in (
            theirs,
            task,
            foreign,
            free,
            "01a1fe36-5944-7000-93c0-6b7043a9f307",
            "1",
            "",
            "消息",
        ):
            for caller in (coder, program):
                assert caller.ack_inbox(alias="coder-1", message_id=message_id) == refused, message_id
        assert coder.ack_inbox(alias="coder-2", message_id=theirs) == refused
    assert other.ack_inbox(alias="coder-2", message_id=theirs)["ok"] is True


@requires("ack_inbox.accepts", "life.activity")
def test_acknowledging_a_task_accepts_it(fleet: Fleet) -> None:
    """A delivered task becomes acked, and the log says who did it."""
    coder = fleet.online("coder-1")
    task_id = fleet.agent("commander").send_task(alias="coder-1", task="t")["message_id"]

    coder.ack_inbox(alias="coder-1", message_id=task_id)

    assert fleet.task(task_id)["status"] == "acked"
    (logged,) = [line for line in fleet.log() if line["kind"] == "task.accepted"]
    assert (logged["actor"], logged["detail"]["before"], logged["detail"]["after"]) == (
        "coder-1",
        "delivered",
        "accepted",
    )


@requires("ack_inbox.only_delivered")
def test_acknowledging_leaves_a_begun_task_as_it_is(fleet: Fleet) -> None:
    """A task that runs already keeps running when its row is acknowledged; the row is gone."""
    coder = fleet.online("coder-1")
    task_id = fleet.program().send_task(alias="coder-1", task="t")["message_id"]
    fleet.online("coder-1", status="working", task=task_id)
    assert len(fleet.inbox("coder-1")) == 1

    assert coder.ack_inbox(alias="coder-1", message_id=task_id)["ok"] is True

    assert fleet.task(task_id)["status"] == "running"
    assert fleet.inbox("coder-1") == []


@requires("inbox.private", "tokens.viewer_reads")
@pytest.mark.parametrize("role", [Role.MEMBER, Role.VIEWER])
def test_an_inbox_is_private(fleet: Fleet, role: Role) -> None:
    """A bound token reads its agent's inbox and no other; an unbound one of the network any."""
    fleet.online("coder-1")
    fleet.program().send_message(alias="coder-1", message="secret")

    answer = fleet.agent("coder-2", role).get_inbox(alias="coder-1")
    assert (answer["ok"], answer["error"]) == (False, "permission_denied")
    assert "secret" not in str(answer)

    assert len(fleet.agent("coder-1", role).get_inbox(alias="coder-1")["messages"]) == 1
    assert len(fleet.program(role).get_inbox(alias="coder-1")["messages"]) == 1


@requires("life.either_id")
def test_a_task_is_acknowledged_by_its_id_or_its_row(fleet: Fleet) -> None:
    """After a retry the row has an id of its own: that one and the task's acknowledge the same row."""
    coder, boss = fleet.online("coder-1"), fleet.agent("commander")
    for by in ("task", "row"):
        task_id = boss.send_task(alias="coder-1", task=by)["message_id"]
        boss.cancel_task(task_id=task_id)
        boss.retry_task(task_id=task_id)
        (row,) = fleet.inbox("coder-1")
        assert row["id"] != task_id

        assert (
            coder.ack_inbox(alias="coder-1", message_id=task_id if by == "task" else row["id"])["ok"] is True
        )

        assert fleet.task(task_id)["status"] == "acked"
        assert fleet.inbox("coder-1") == []


@both_engines
def test_a_sender_is_told_of_what_nobody_read(fleet: Fleet) -> None:
    """The hub's note is a message whose context says what it is about; no status is claimed of that."""
    fleet.online("commander")
    fleet.hub.do(lambda tx: agents.meet(tx, fleet.project.id, "ghost"))
    sent = fleet.agent("commander").send_message(alias="ghost", message="are you there?")
    fleet.later(hours=25)
    fleet.hub.bury(timedelta(hours=24))

    (note,) = fleet.inbox("commander")
    assert (note["type"], note["from_session"]) == ("message", "hub")
    assert note["content"].startswith("M-1 has not been read by ghost for 24 h: nobody came by that name.")
    assert note["context"] == f"in_reply_to: {sent['message_id']}"
