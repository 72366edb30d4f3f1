"""send_task, send_message, send_reply and broadcast: what reaches whom, and what is answered."""

import pytest

from tests.dialects.commhub.callers import Fleet
from tests.dialects.commhub.requirements import requires
from tests.dialects.conftest import both_engines

TEXTS = [
    "sort",
    "  indented\n  twice",
    "\n\nblank lines",
    "a\r\nb",
    "",
    " ",
    "x" * 81 + "\ny",
    "🦊\t" * 100,
    "a\n\na",
]


@requires("send_task.reply", "send_message.reply", "send_reply.reply")
@pytest.mark.parametrize("status", ["working", "idle", "blocked", "error", "waiting_input", "offline"])
def test_the_answer_says_how_the_receiver_is(fleet: Fleet, status: str) -> None:
    """Sending answers ok, the message's id, and what the receiver last reported of itself."""
    fleet.online("coder-1", status=status)
    boss = fleet.agent("commander")

    for answer in (
        boss.send_task(alias="coder-1", task="t"),
        boss.send_message(alias="coder-1", message="m"),
        boss.send_reply(alias="coder-1", text="r"),
    ):
        assert list(answer) == ["ok", "message_id", "session_status"]
        assert answer["session_status"] == status
        assert answer["message_id"] in {row["id"] for row in fleet.inbox("coder-1")}


@requires("life.offline_accepted", "inbox.acts_is_known")
def test_who_is_known_may_be_written_to(fleet: Fleet) -> None:
    """A known alias that is silent, or that only has a token or once acted by name, gets its mail; it is offline."""
    fleet.online("coder-1")
    fleet.later(minutes=10)
    fleet.agent("reviewer")
    fleet.agent("reviewer").list_tasks()
    fleet.program().send_message(alias="coder-1", message="m", from_session="once-here")

    for alias in ("coder-1", "reviewer", "once-here"):
        assert fleet.program().send_task(alias=alias, task="t")["session_status"] == "offline"
        assert "t" in {row["content"] for row in fleet.inbox(alias)}


@requires("life.alias_not_found", "words.names")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("send_task", {"alias": "coder-11", "task": "t"}),
        ("send_message", {"alias": "coder-11", "message": "m"}),
        ("send_reply", {"alias": "coder-11", "text": "r"}),
    ],
)
def test_an_alias_that_was_never_seen_is_refused(fleet: Fleet, tool: str, arguments: dict[str, str]) -> None:
    """A name the network never saw is alias_not_found, with at most 3 names that are near it, and nothing is kept."""
    for name in ("coder-1", "coder-2", "coder-12", "Coder-10", "代码1号", "zzz"):
        fleet.online(name)
    program = fleet.program()

    with fleet.unchanged():
        answer, is_error = program.ask(tool, arguments | {"from_session": "newcomer"})
    assert (answer["ok"], answer["error"], is_error) == (False, "alias_not_found", False)
    assert len(answer["near"]) == 3
    assert {"coder-1", "coder-12"} < set(answer["near"])
    assert all(name in answer["message"] for name in answer["near"])

    (near,) = program.send_task(alias="代码2号", task="t")["near"]
    assert near == "代码1号"
    assert program.send_task(alias="莫名其妙", task="t")["near"] == []


@requires("send_task.from_session", "send_message.from_session", "send_reply.from_session", "tokens.unbound")
def test_an_unbound_token_is_hub_unless_it_says_who_it_is(fleet: Fleet) -> None:
    """Without from_session everything comes from hub; with it, from that agent."""
    fleet.online("coder-1")
    program = fleet.program()

    for said in ({}, {"from_session": "指挥室"}):
        program.send_task(alias="coder-1", task="t", **said)
        program.send_message(alias="coder-1", message="m", **said)
        program.send_reply(alias="coder-1", text="r", **said)

    assert [row["from_session"] for row in fleet.inbox("coder-1")] == ["hub"] * 3 + ["指挥室"] * 3


@requires("life.message_id", "send_task.priority", "send_task.inbox", "get_task.row")
def test_a_sent_task_is_delivered(fleet: Fleet) -> None:
    """The message_id is the task's id and its row's; the task is delivered, normal, without result or parent."""
    fleet.online("coder-1")
    answer = fleet.agent("commander").send_task(alias="coder-1", task="t")

    (row,) = fleet.inbox("coder-1")
    task = fleet.task(answer["message_id"])
    assert row["id"] == task["task_id"] == answer["message_id"]
    assert (task["status"], task["priority"], task["from_name"], task["to_name"]) == (
        "delivered", "normal", "commander", "coder-1",
    )  # fmt: skip
    assert task["result"] is task["parent_task_id"] is task["started_at"] is task["completed_at"] is None
    assert task["delivered_at"] == task["created_at"]


@requires("life.content")
def test_a_text_arrives_to_the_letter(fleet: Fleet) -> None:
    """A text is read as it was sent: blanks, empty lines and long first lines too, in tasks, messages and replies."""
    fleet.online("coder-1")
    program = fleet.program()
    for text in TEXTS:
        program.send_task(alias="coder-1", task=text, context=text)
        program.send_message(alias="coder-1", message=text)
        program.send_reply(alias="coder-1", text=text)

    rows = fleet.inbox("coder-1")
    assert [row["content"] for row in rows] == [text for text in TEXTS for _ in range(3)]
    assert [row["context"] for row in rows if row["type"] == "task"] == TEXTS
    assert [row["content"] for row in program.list_tasks()["tasks"]] == TEXTS[::-1]
    assert [fleet.task(row["id"])["content"] for row in rows if row["type"] == "task"] == TEXTS


@requires("send_task.ttl_seconds.default", "send_task.ttl_seconds.limit", "life.expires")
@pytest.mark.parametrize(
    ("ttl", "seconds"), [({}, 3_600), ({"ttl_seconds": 86_400}, 86_400), ({"ttl_seconds": 90}, 90)]
)
def test_a_task_expires_when_its_time_is_over(fleet: Fleet, ttl: dict[str, int], seconds: int) -> None:
    """A task lives as long as ttl_seconds says, an hour by default; then, to the second, it is expired."""
    fleet.online("coder-1")
    task_id = fleet.program().send_task(alias="coder-1", task="t", **ttl)["message_id"]

    fleet.later(seconds=seconds, milliseconds=-1)
    assert fleet.task(task_id)["status"] == "delivered"
    fleet.later(milliseconds=1)
    task = fleet.task(task_id)
    assert task["status"] == "expired"
    assert task["result"] is None
    assert fleet.inbox("coder-1") == []


@requires("send_message.no_task")
def test_a_message_is_no_task(fleet: Fleet) -> None:
    """A message makes no task and ends none."""
    fleet.online("coder-1")
    sent = fleet.program().send_message(alias="coder-1", message="m")

    assert fleet.program().list_tasks()["count"] == 0
    assert fleet.program().get_task(task_id=sent["message_id"]) == {"ok": False, "error": "task not found"}


@requires(
    "send_reply.in_reply_to", "send_reply.status", "life.reply.ends", "life.result", "get_inbox.context"
)
@pytest.mark.parametrize("said", [None, "replied", "failed", "cancelled"])
@pytest.mark.parametrize("status", ["delivered", "acked", "running"])
def test_a_reply_ends_its_task(fleet: Fleet, said: str | None, status: str) -> None:
    """A reply to an unfinished task ends it as status says, replied by default; its text becomes the result."""
    coder, boss = fleet.online("coder-1"), fleet.agent("commander")
    task_id = boss.send_task(alias="coder-1", task="t")["message_id"]
    if status == "acked":
        coder.send_ack(task_id=task_id)
    if status == "running":
        fleet.online("coder-1", status="working", task=task_id)

    how = {} if said is None else {"status": said}
    answer = coder.send_reply(alias="commander", text="答", in_reply_to=task_id, **how)

    task = fleet.task(task_id)
    assert (task["status"], task["result"]) == (said or "replied", "答")
    assert task["completed_at"] is not None
    assert fleet.inbox("coder-1") == []
    (row,) = fleet.inbox("commander")
    assert (row["id"], row["type"], row["from_session"]) == (answer["message_id"], "reply", "coder-1")
    assert task_id in row["context"]


@requires("life.reply.ends", "send_reply.in_reply_to")
def test_a_free_task_can_be_replied_to(fleet: Fleet) -> None:
    """A created task, which nobody has yet, is ended by a reply too."""
    task_id = fleet.free_task()
    fleet.online("coder-1")

    assert fleet.agent("coder-1").send_reply(alias="hub", text="no need", in_reply_to=task_id)["ok"] is True
    assert fleet.task(task_id)["status"] == "replied"


@requires("life.result", "send_reply.in_reply_to")
def test_the_result_reaches_who_asked_for_it(fleet: Fleet) -> None:
    """A reply that is addressed to a third agent reaches it, and the task's sender all the same."""
    coder, boss = fleet.online("coder-1"), fleet.agent("commander")
    fleet.agent("reviewer")
    task_id = boss.send_task(alias="coder-1", task="t")["message_id"]

    coder.send_reply(alias="reviewer", text="done", in_reply_to=task_id)

    assert [row["content"] for row in fleet.inbox("reviewer")] == ["done"]
    assert [row["content"] for row in fleet.inbox("commander")] == ["done"]


@requires("send_reply.unlinked", "life.hub_receives")
def test_a_reply_may_answer_nothing(fleet: Fleet) -> None:
    """Without in_reply_to a reply ends no task; hub may always be written to, and a looker-on reads it there."""
    coder = fleet.online("coder-1")
    task_id = fleet.program().send_task(alias="coder-1", task="t")["message_id"]

    assert coder.send_reply(alias="hub", text="just so")["ok"] is True
    assert coder.send_message(alias="hub", message="hello")["ok"] is True

    assert fleet.task(task_id)["status"] == "delivered"
    assert [row["content"] for row in fleet.inbox("hub")] == ["just so", "hello"]


@requires("life.reply.message")
def test_a_reply_to_a_message_links_the_two(fleet: Fleet) -> None:
    """in_reply_to a message, or the row of a broadcast, is shown with the reply, and ends nothing."""
    coder, boss = fleet.online("coder-1"), fleet.online("commander")
    message = boss.send_message(alias="coder-1", message="m")["message_id"]
    boss.broadcast(message="b")
    row = next(row for row in fleet.inbox("coder-1") if row["type"] == "broadcast")

    for subject in (message, row["id"]):
        assert coder.send_reply(alias="commander", text="r", in_reply_to=subject)["ok"] is True
    assert message in next(row["context"] for row in fleet.inbox("commander") if row["type"] == "reply")
    assert len(fleet.inbox("coder-1")) == 2


@requires("life.reply.not_found", "tokens.foreign")
def test_a_reply_to_nothing_is_refused(fleet: Fleet, elsewhere: Fleet) -> None:
    """in_reply_to what is neither a task nor a message of the network: reply_task_not_found, and nothing is sent."""
    coder = fleet.online("coder-1")
    elsewhere.online("coder-1")
    foreign_task = elsewhere.program().send_task(alias="coder-1", task="t")["message_id"]
    foreign_message = elsewhere.program().send_message(alias="coder-1", message="m")["message_id"]

    with fleet.unchanged(), elsewhere.unchanged():
        for subject in (
            foreign_task,
            foreign_message,
            "01a1fe36-5944-7000-93c0-6b7043a9f307",
            "nothing",
            "无",
        ):
            answer = coder.send_reply(alias="coder-1", text="r", in_reply_to=subject)
            assert (answer["ok"], answer["error"]) == (False, "reply_task_not_found"), subject


@requires("life.reply.terminal")
@pytest.mark.parametrize("end", ["replied", "failed", "cancelled", "expired"])
def test_a_reply_to_a_terminal_task_is_refused(fleet: Fleet, end: str) -> None:
    """A task that has ended in whatever way takes no reply: reply_task_terminal, and nothing is sent."""
    coder, boss = fleet.online("coder-1"), fleet.agent("commander")
    task_id = boss.send_task(alias="coder-1", task="t")["message_id"]
    if end == "expired":
        fleet.later(hours=1)
    else:
        coder.send_reply(alias="commander", text="first", in_reply_to=task_id, status=end)
    assert fleet.task(task_id)["status"] == end

    with fleet.unchanged():
        answer = coder.send_reply(alias="commander", text="second", in_reply_to=task_id)
    assert (answer["ok"], answer["error"]) == (False, "reply_task_terminal")


@requires("broadcast.online", "broadcast.reply", "broadcast.from_hub")
def test_a_broadcast_reaches_everyone_who_is_online(fleet: Fleet, elsewhere: Fleet) -> None:
    """It reaches each agent that is not offline, once, from hub whoever sends it; the answer has an id for each."""
    for number, status in enumerate(["working", "idle", "blocked", "error", "waiting_input", "offline"]):
        fleet.online(f"coder-{number}", status)
    elsewhere.online("stranger")
    fleet.agent("never-there")

    answer = fleet.agent("coder-1").broadcast(message="大家好", from_session="coder-1")

    assert list(answer) == ["ok", "recipients", "message_ids"]
    rows = [row for number in range(5) for row in fleet.inbox(f"coder-{number}")]
    assert {row["id"] for row in rows} == set(answer["message_ids"])
    assert answer["recipients"] == len(answer["message_ids"]) == len(rows) == 5
    assert {(row["content"], row["from_session"]) for row in rows} == {("大家好", "hub")}
    assert fleet.inbox("coder-5") == fleet.inbox("never-there") == elsewhere.inbox("stranger") == []


@requires("broadcast.filter_server", "broadcast.filter_status", "inbox.filter_offline", "broadcast.online")
@both_engines
def test_a_broadcast_can_be_narrowed(fleet: Fleet) -> None:
    """Servers, statuses or both select receivers; the offline are reached if asked for; nobody is an answer too."""
    fleet.online("a", "idle", server="s1")
    fleet.online("b", "working", server="s1")
    fleet.online("c", "working", server="s2")
    fleet.online("d", "offline", server="s1")

    for narrowed, reached in [
        ({"filter_server": "s1"}, "ab"),
        ({"filter_status": "working"}, "bc"),
        ({"filter_server": "s1", "filter_status": "working"}, "b"),
        ({"filter_status": "offline"}, "d"),
        ({"filter_server": "s3"}, ""),
        ({"filter_status": "asleep"}, ""),
    ]:
        text = repr(narrowed)
        assert fleet.program().broadcast(message=text, **narrowed)["recipients"] == len(reached)
        got = [name for name in "abcd" if text in {row["content"] for row in fleet.inbox(name)}]
        assert "".join(got) == reached, narrowed


@requires("life.idempotent")
@pytest.mark.parametrize("tool", ["send_task", "send_message", "broadcast"])
@both_engines
def test_a_write_that_is_repeated_under_its_key_happens_once(fleet: Fleet, tool: str) -> None:
    """The same call under the same key gets the same answer and does nothing; another call is a conflict."""
    fleet.online("coder-1")
    program = fleet.program()
    text = "task" if tool == "send_task" else "message"
    to = {} if tool == "broadcast" else {"alias": "coder-1"}
    key = {"hubbub/idempotency-key": "k-1"}

    first, _ = program.ask(tool, {**to, text: "once"}, **key)
    with fleet.unchanged():
        assert program.ask(tool, {**to, text: "once"}, **key) == (first, False)
        answer, _ = program.ask(tool, {**to, text: "twice"}, **key)
        assert (answer["ok"], answer["error"]) == (False, "conflict")
    program.ask(tool, {**to, text: "once"}, **{"hubbub/idempotency-key": "k-2"})
    assert len(fleet.inbox("coder-1")) == 2


@both_engines
def test_the_same_words_again_are_only_the_task(fleet: Fleet) -> None:
    """A task that says the same as an open one reaches its receiver, and no note about it reaches anybody."""
    boss, coder = fleet.agent("commander"), fleet.agent("coder-1")
    text = "Translate the page on leases into French"
    sent = [
        boss.send_task(alias="coder-1", task=text, priority=each)["message_id"] for each in ("low", "high")
    ]

    assert [row["id"] for row in fleet.inbox("coder-1")] == [*reversed(sent)]
    assert fleet.inbox("commander") == []
    for each in sent:
        coder.ack_inbox(alias="coder-1", message_id=each)
    assert fleet.inbox("coder-1") == []
