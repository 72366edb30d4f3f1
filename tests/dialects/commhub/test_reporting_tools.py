"""report_status: how an agent tells of itself, and what follows from it."""

import pytest

from hubbub.model.people.rights import Role
from tests.dialects.commhub.callers import Fleet
from tests.dialects.commhub.requirements import requires
from tests.dialects.conftest import both_engines

DESCRIBED = {
    "server": "机房-1", "hostname": "box", "agent": "agent-node:codex-sdk", "project_dir": "/srv/x",
    "version": "0.9", "tmux_name": "main:1", "node_id": "n_1", "session_id": "th-1", "config_path": "~/.c",
    "channels": '["ops"]', "model": "a-model",
}  # fmt: skip


@requires(
    "report_status.reply", "report_status.described", "get_all_status.row", "words.names", "words.network_id"
)
def test_a_report_is_kept_and_answered(fleet: Fleet) -> None:
    """The answer names the session and counts its inbox; the session shows everything that was told."""
    coder = fleet.agent("代码1号")
    told = {"task": "写排序算法", "output": "ok", "score": 7.5, "progress": 50, **DESCRIBED}

    answer = coder.report_status(resume_id="sdk-n_1", alias="代码1号", status="working", **told)

    assert answer == {"ok": True, "resume_id": "sdk-n_1", "alias": "代码1号", "inbox_count": 0}
    row = fleet.row("代码1号")
    assert row.pop("last_seen_at") == row.pop("registered_at")
    assert row == {
        "resume_id": "sdk-n_1",
        "alias": "代码1号",
        "status": "working",
        "network_id": fleet.network_id,
        **told,
    }
    assert fleet.network_id.startswith("net_")
    assert len(bytes.fromhex(fleet.network_id.removeprefix("net_"))) == 6


@requires("report_status.reply")
def test_a_report_counts_the_inbox(fleet: Fleet) -> None:
    """inbox_count is how many messages of every type wait for the agent."""
    coder = fleet.online("coder-1")
    fleet.program().send_task(alias="coder-1", task="t")
    fleet.program().send_message(alias="coder-1", message="m")

    assert coder.report_status(resume_id="r", alias="coder-1", status="idle")["inbox_count"] == 2


@requires("report_status.output.kept")
def test_of_the_output_the_beginning_is_kept(fleet: Fleet) -> None:
    """The session keeps the first 4,000 of 50,000 characters of output, counted as characters, not bytes."""
    fleet.online("coder-1", output="名" * 4_000 + "x" * 46_000)

    assert fleet.row("coder-1")["output"] == "名" * 4_000


@requires("report_status.model", "inbox.omitted", "get_all_status.row")
def test_what_a_heartbeat_omits_stays(fleet: Fleet) -> None:
    """Fields that a report leaves out keep what was told before; what was never told is null."""
    fleet.online("coder-1", status="working", task="t", progress=10, score=3, server="s", model="m-1")
    fleet.online("coder-1", status="blocked", progress=20)

    row = fleet.row("coder-1")
    assert (row["status"], row["progress"], row["task"]) == ("blocked", 20, "t")
    assert (row["score"], row["server"], row["model"]) == (3, "s", "m-1")
    assert row["hostname"] is row["version"] is None

    fleet.online("coder-2")
    assert fleet.row("coder-2")["model"] is None


@requires("report_status.node", "report_status.node.runtime", "report_status.node.needs_id")
@pytest.mark.parametrize(
    ("agent", "runtime"),
    [("agent-node:claude-agent-sdk", "claude-agent-sdk"), ("claude-code", "claude-code"), (None, None)],
)
def test_a_node_is_described_by_its_agents(fleet: Fleet, agent: str | None, runtime: str | None) -> None:
    """With node_id the node is known, its name, model and runtime; without it, nothing is kept of a node."""
    fleet.online("coder-1", node_name="no one", model="m-1", agent="x:y")
    assert fleet.nodes() == []

    fleet.online("coder-1", node_id="n_1", node_name="盒子", model="m-2", agent=agent)
    (node,) = fleet.nodes()
    assert (node.key, node.name, node.model, node.runtime) == ("n_1", "盒子", "m-2", runtime)

    fleet.online("coder-1", node_id="n_1", model="m-3")
    (node,) = fleet.nodes()
    assert (node.name, node.model, node.runtime) == ("盒子", "m-3", runtime)


@requires("report_status.needs_network_token")
def test_a_heartbeat_needs_a_token_of_a_network(fleet: Fleet) -> None:
    """A person's token cannot report, whether or not it names a network, and nothing is kept of the try."""
    person = fleet.person((fleet.project, Role.OWNER))

    with fleet.unchanged():
        for extra in ({}, {"network_id": fleet.network_id}):
            answer = person.report_status(resume_id="r", alias="coder-1", status="idle", **extra)
            assert (answer["ok"], answer["error"]) == (False, "network_token_required")


@requires("report_status.replaces")
def test_a_restarted_agent_replaces_itself(fleet: Fleet) -> None:
    """A report under the same alias with another resume_id leaves one session, the new one, with nothing of the old."""
    coder = fleet.agent("coder-1")
    coder.report_status(resume_id="old", alias="coder-1", status="working", model="m", task="t")
    fleet.online("coder-2")

    coder.report_status(resume_id="new", alias="coder-1", status="idle")

    row = fleet.row("coder-1")
    assert (row["resume_id"], row["status"], row["model"], row["task"]) == ("new", "idle", None, None)
    assert fleet.row("coder-2")["resume_id"] == "run of coder-2"


@requires("report_status.starts", "report_status.starts.by_id_or_text", "get_task.times")
@pytest.mark.parametrize("by", ["id", "text"])
@pytest.mark.parametrize("acked", [False, True], ids=["delivered", "acked"])
def test_working_on_a_task_starts_it(fleet: Fleet, by: str, acked: bool) -> None:
    """A working report that names a delivered or acked task, by id or text, moves it to running and says when."""
    coder = fleet.online("coder-1")
    task_id = fleet.program().send_task(alias="coder-1", task="写 sort\n\nin Python")["message_id"]
    if acked:
        coder.ack_inbox(alias="coder-1", message_id=task_id)
    assert fleet.task(task_id)["started_at"] is None

    fleet.online("coder-1", status="working", task=task_id if by == "id" else "写 sort\n\nin Python")

    task = fleet.task(task_id)
    assert task["status"] == "running"
    assert task["started_at"] is not None


@requires("report_status.starts.only_working")
@pytest.mark.parametrize("status", ["idle", "blocked", "error", "waiting_input"])
def test_only_working_starts_a_task(fleet: Fleet, status: str) -> None:
    """A report in another status, or that names another task or none, leaves the task as it is."""
    fleet.online("coder-1")
    task_id = fleet.program().send_task(alias="coder-1", task="sort")["message_id"]

    fleet.online("coder-1", status=status, task=task_id)
    fleet.online("coder-1", status="working", task="sort ")
    fleet.online("coder-2", status="working", task=task_id)
    fleet.online("coder-1", status="working", task="")

    assert fleet.task(task_id)["status"] == "delivered"


@requires("report_status.alias", "words.names")
def test_an_alias_may_be_an_emoji(fleet: Fleet) -> None:
    """An alias is any text that people see; none differs from another by a character that nobody sees."""
    program = fleet.program()
    report = {"resume_id": "r", "status": "idle"}

    assert program.report_status(alias="\U0001f469\u200d\U0001f4bb", **report)["ok"] is True
    assert program.report_status(alias="\u2764\ufe0f bot", **report)["ok"] is True
    like, is_error = program.ask("report_status", {"alias": "\u2764 bot", **report})
    assert (like["error"], is_error) == ("invalid_arguments", True)
    assert like["message"] == "the name looks like that of the agent '\u2764\ufe0f bot'; choose another name"


@requires("life.starts.oldest")
@both_engines
def test_of_tasks_with_one_text_the_oldest_is_started(fleet: Fleet) -> None:
    """A text that several tasks have starts the oldest; the next heartbeats start no other until that has ended."""
    coder = fleet.online("coder-1")
    ids = [fleet.program().send_task(alias="coder-1", task="again")["message_id"] for _ in range(3)]
    fleet.online("coder-2")
    other = fleet.program().send_task(alias="coder-2", task="again")["message_id"]

    for ended in range(3):
        for _heartbeat in range(2):
            fleet.online("coder-1", status="working", task="again")
            statuses = [fleet.task(each)["status"] for each in ids]
            assert statuses == [*["replied"] * ended, "running", *["delivered"] * (2 - ended)]
        coder.report_completion(alias="coder-1", task="again", result="done")
    assert fleet.task(other)["status"] == "delivered"


@requires("report_status.starts.by_id_or_text", "report_completion.by_text")
def test_a_text_of_digits_is_a_text(fleet: Fleet) -> None:
    """A task whose text looks like a number is meant by it, not some other task that has this number."""
    fleet.online("coder-1")
    fleet.online("coder-2")
    program = fleet.program()
    first = program.send_task(alias="coder-2", task="something")["message_id"]
    one = program.send_task(alias="coder-1", task="1")["message_id"]

    fleet.online("coder-1", status="working", task="1")
    assert (fleet.task(first)["status"], fleet.task(one)["status"]) == ("delivered", "running")

    assert fleet.agent("coder-1").report_completion(alias="coder-1", task="1", result="r")["ok"] is True
    assert (fleet.task(first)["status"], fleet.task(one)["status"]) == ("delivered", "replied")


@requires("report_status.heartbeat")
def test_a_report_is_a_heartbeat(fleet: Fleet) -> None:
    """Every report renews last_seen_at, and with it the 10 minutes for which the agent counts as there."""
    fleet.online("coder-1")
    first = fleet.row("coder-1")["last_seen_at"]

    for _ in range(3):
        fleet.later(minutes=9)
        fleet.online("coder-1")

    row = fleet.row("coder-1")
    assert row["status"] == "idle"
    assert row["last_seen_at"] > first


@requires("inbox.offline_at_once", "get_all_status.filters")
def test_who_reports_offline_is_offline(fleet: Fleet) -> None:
    """An agent that says it leaves is offline from that moment on, and back with its next report."""
    fleet.online("coder-1", status="working", model="m")

    fleet.online("coder-1", status="offline")
    assert fleet.row("coder-1")["status"] == "offline"
    assert fleet.program().get_all_status(filter_status="offline")["sessions"] != []

    fleet.online("coder-1")
    row = fleet.row("coder-1")
    assert (row["status"], row["model"]) == ("idle", "m")


@requires("get_all_status.offline", "inbox.ten_minutes")
@both_engines
def test_ten_silent_minutes_make_an_agent_offline(fleet: Fleet) -> None:
    """Up to 10 minutes after its last report an agent is as it said; then it is offline, and the log says so, once."""
    fleet.online("coder-1", status="working")

    fleet.later(minutes=10, milliseconds=-1)
    assert fleet.row("coder-1")["status"] == "working"

    fleet.later(milliseconds=1)
    assert fleet.row("coder-1")["status"] == "offline"
    assert fleet.program().get_session_status(alias="coder-1")["session"]["status"] == "offline"
    assert [line["kind"] for line in fleet.log()].count("agent.timeout") == 1
