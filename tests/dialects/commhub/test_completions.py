"""report_completion and get_completions: what agents say they have done."""

from datetime import UTC, datetime, timedelta, timezone
from functools import partial

import pytest

from hubbub.core.agents import agents
from hubbub.core.work import tasks
from hubbub.store.tx import Tx
from tests.dialects.commhub.callers import Fleet
from tests.dialects.commhub.requirements import requires
from tests.dialects.conftest import both_engines
from tests.dialects.running_hub import Json

COLUMNS = [
    "id", "session_name", "task", "result", "artifacts", "score", "duration_minutes", "network_id", "completed_at",
]  # fmt: skip


def _send(fleet: Fleet, text: str = "sort", to: str = "coder-1", **more: object) -> str:
    sent = fleet.agent("commander").send_task(alias=to, task=text, **more)
    assert sent["ok"], sent
    return str(sent["message_id"])


def _completions(fleet: Fleet, **narrowed: object) -> list[Json]:
    rows: list[Json] = fleet.program().get_completions(**narrowed)["completions"]
    return rows


@requires("report_completion.reply", "get_completions.row", "get_completions.artifacts")
@both_engines
def test_a_completion_is_kept_whole(fleet: Fleet) -> None:
    """The answer names the completion; its row has the nine columns, the artifacts as JavaScript's JSON text."""
    coder = fleet.online("代码1号")

    answer = coder.report_completion(
        alias="代码1号",
        task="写排序",
        result="完成",
        artifacts=["/tmp/排序.py", "u"],
        score=8.5,
        duration_minutes=2,
    )

    assert list(answer) == ["ok", "completion_id"]
    (row,) = _completions(fleet)
    assert list(row) == COLUMNS
    assert row.pop("completed_at")
    assert row == {
        "id": answer["completion_id"],
        "session_name": "代码1号",
        "task": "写排序",
        "result": "完成",
        "artifacts": '["/tmp/排序.py","u"]',
        "score": 8.5,
        "duration_minutes": 2,
        "network_id": fleet.network_id,
    }


@requires("get_completions.artifacts", "report_completion.any_text")
def test_what_was_not_told_is_null(fleet: Fleet) -> None:
    """Without artifacts, score and duration these are null; a text that fits no task is no mistake."""
    fleet.online("coder-1").report_completion(alias="coder-1", task="something else", result="")

    (row,) = _completions(fleet)
    assert [row["artifacts"], row["score"], row["duration_minutes"], row["result"]] == [None, None, None, ""]


@requires("report_completion.any_text")
def test_a_completion_that_ends_nothing_says_so(fleet: Fleet) -> None:
    """An agent with unfinished tasks is told that its report fits none of them, and which it has."""
    coder = fleet.online("coder-1")
    task_id = _send(fleet)

    answer = coder.report_completion(alias="coder-1", task="sorting", result="done")

    assert fleet.task(task_id)["status"] == "delivered"
    assert answer["ok"] is True
    assert answer["message"] == (
        "the report is kept, but no task of yours has this id or text, so none is completed; "
        f"yours are {task_id} (delivered)"
    )
    assert "message" not in coder.report_completion(alias="coder-1", task="sort", result="done")


def test_a_short_id_is_an_id(fleet: Fleet) -> None:
    """`T-1` names a task when it is acknowledged, begun and completed; another's is refused like its long id."""
    coder = fleet.online("coder-1")
    fleet.online("coder-2")
    task_id = _send(fleet)
    assert coder.ack_inbox(alias="coder-1", message_id="T-1")["ok"] is True
    assert fleet.task(task_id)["status"] == "acked"
    fleet.online("coder-1", status="working", task="t-1")
    assert fleet.task(task_id)["status"] == "running"

    other = fleet.agent("coder-2").report_completion(alias="coder-2", task="T-1", result="mine")
    assert (other["ok"], other["error"]) == (False, "permission_denied")
    coder.report_completion(alias="coder-1", task="T-1", result="done")
    assert (fleet.task(task_id)["status"], fleet.task(task_id)["result"]) == ("replied", "done")


def test_a_text_like_a_short_id_is_a_text_first(fleet: Fleet) -> None:
    """If an agent's task says just `T-1`, a report of that text is about it, and not about task 1."""
    coder = fleet.online("coder-1")
    first, second = _send(fleet), _send(fleet, "T-1")

    coder.report_completion(alias="coder-1", task="T-1", result="done")

    assert (fleet.task(first)["status"], fleet.task(second)["status"]) == ("delivered", "replied")


@requires("report_completion.rests")
def test_a_completion_puts_the_session_to_rest(fleet: Fleet) -> None:
    """An agent that reports a completion is idle, with no task and progress 0, and otherwise as before."""
    fleet.online("coder-1", status="working", task="sort", progress=90, score=5, model="m")

    fleet.agent("coder-1").report_completion(alias="coder-1", task="sort", result="done")

    row = fleet.row("coder-1")
    assert (row["status"], row["task"], row["progress"]) == ("idle", None, 0)
    assert (row["score"], row["model"], row["resume_id"]) == (5, "m", "run of coder-1")


@requires("report_completion.rests")
@both_engines
def test_a_completion_ends_what_an_absent_agent_was_doing(fleet: Fleet) -> None:
    """The session becomes idle, without a task and with progress 0, also if it said offline; a silent one stays so."""
    fleet.online("coder-1", status="working", task="sort", progress=90, model="m")
    fleet.online("coder-1", status="offline")
    coder = fleet.agent("coder-1")

    for minutes, status in ((0, "idle"), (11, "offline")):
        fleet.later(minutes=minutes)
        coder.report_completion(alias="coder-1", task="sort", result="done")
        row = fleet.row("coder-1")
        assert (row["status"], row["task"], row["progress"], row["model"]) == (status, None, 0, "m")


@requires("report_completion.replies")
def test_a_completion_does_not_end_a_task_that_is_held_back(fleet: Fleet) -> None:
    """A task that waits for others is not completed by a report; the agent is told, and the report is kept."""
    coder = fleet.online("coder-1")

    def hold_back(tx: Tx) -> str:
        agents.meet(tx, fleet.project.id, "planner")
        send = partial(tasks.send, tx, fleet.project.id, sender="planner")
        return str(send(to="coder-1", text="second", needs=[send(to=None, text="first")]).id)

    held = fleet.hub.do(hold_back)
    for named in (held, "second"):
        answer = coder.report_completion(alias="coder-1", task=named, result="done")
        assert answer["ok"] is True
    assert fleet.task(held)["status"] == "created"
    assert len(_completions(fleet)) == 2
    told = coder.report_completion(alias="coder-1", task=held, result="done")["message"]
    assert told == "the report is kept, but the task is not completed: it waits for tasks that it needs"


@requires("report_completion.replies", "report_completion.by_id", "report_completion.by_text", "report_completion.logs",
          "life.result", "life.activity", "get_task.times")  # fmt: skip
@pytest.mark.parametrize("by", ["id", "text"])
@pytest.mark.parametrize("status", ["delivered", "acked", "running"])
def test_a_completion_ends_its_task(fleet: Fleet, by: str, status: str) -> None:
    """A task that is delivered, acked or running becomes replied, by id or text; its sender gets the result."""
    coder = fleet.online("coder-1")
    task_id = _send(fleet, "写 sort")
    if status != "delivered":
        coder.ack_inbox(alias="coder-1", message_id=task_id)
    if status == "running":
        fleet.online("coder-1", status="working", task=task_id)
    assert fleet.task(task_id)["status"] == status

    coder.report_completion(alias="coder-1", task=task_id if by == "id" else "写 sort", result="done")

    task = fleet.task(task_id)
    assert (task["status"], task["result"]) == ("replied", "done")
    assert task["completed_at"] is not None
    (reply,) = fleet.inbox("commander")
    assert (reply["type"], reply["content"], reply["from_session"]) == ("reply", "done", "coder-1")
    assert fleet.inbox("coder-1") == []
    (logged,) = [line for line in fleet.log() if line["kind"] == "task.completed"]
    assert logged["actor"] == "coder-1"
    assert (logged["detail"]["before"] != logged["detail"]["after"], logged["detail"]["after"]) == (
        True,
        "completed",
    )


@requires("report_completion.by_id", "life.completes.which")
def test_the_id_goes_before_the_text(fleet: Fleet) -> None:
    """A task whose text is the id of another one is not meant by that id."""
    coder = fleet.online("coder-1")
    meant = _send(fleet)
    other = _send(fleet, meant)

    coder.report_completion(alias="coder-1", task=meant, result="done")

    assert [fleet.task(each)["status"] for each in (meant, other)] == ["replied", "delivered"]


@requires("life.completes.which", "report_completion.by_text")
@both_engines
def test_of_tasks_with_one_text_the_running_one_is_completed(fleet: Fleet) -> None:
    """The running one of several tasks with the text is meant, else the newest; never another agent's."""
    coder = fleet.online("coder-1")
    fleet.online("coder-2")
    ids = [_send(fleet), _send(fleet), _send(fleet)]
    foreign = _send(fleet, to="coder-2")
    fleet.online("coder-1", status="working", task=ids[1])

    for ended in (1, 2, 0):
        coder.report_completion(alias="coder-1", task="sort", result="done")
        assert fleet.task(ids[ended])["status"] == "replied"
    coder.report_completion(alias="coder-1", task="sort", result="done")
    assert fleet.task(foreign)["status"] == "delivered"


@requires("report_completion.truncates", "life.truncated")
def test_a_long_result_is_cut_for_the_task_only(fleet: Fleet) -> None:
    """A task keeps 4,000 characters of a result, the completion and the reply all; the answer says it was cut."""
    coder = fleet.online("coder-1")
    fitting, longer = "名" * 4_000, "名" * 4_000 + "!" * 46_000

    task_id = _send(fleet)
    assert "truncated" not in coder.report_completion(alias="coder-1", task=task_id, result=fitting)
    assert fleet.task(task_id)["result"] == fitting

    task_id = _send(fleet)
    assert coder.report_completion(alias="coder-1", task=task_id, result=longer)["truncated"] is True
    assert fleet.task(task_id)["result"] == fitting
    assert _completions(fleet)[0]["result"] == longer
    assert fleet.inbox("commander")[-1]["content"] == longer

    assert "truncated" not in coder.report_completion(alias="coder-1", task="no task", result=longer)


@requires("report_completion.any_text")
def test_a_task_that_has_ended_stays_as_it_ended(fleet: Fleet) -> None:
    """A completion of a task that has ended is kept, and the task is left alone; the agent is told if it is lost."""
    coder, commander = fleet.online("coder-1"), fleet.agent("commander")
    lost, done = _send(fleet), _send(fleet)
    commander.cancel_task(task_id=lost, reason="no more")
    coder.send_reply(alias="commander", text="done", in_reply_to=done)

    late, again = (
        coder.report_completion(alias="coder-1", task=each, result="late") for each in (lost, done)
    )

    assert late["ok"] is True
    assert late["message"] == "the report is kept, but the task is cancelled already, and stays so"
    assert (again["ok"], again.get("message")) == (True, None)
    assert (fleet.task(lost)["status"], fleet.task(lost)["result"]) == ("cancelled", "no more")
    assert (fleet.task(done)["status"], fleet.task(done)["result"]) == ("replied", "done")
    assert len(_completions(fleet)) == 3


@requires("life.old_hands", "life.claim.once")
def test_somebody_elses_task_cannot_be_completed(fleet: Fleet) -> None:
    """An agent that never had the task, or has it no more, is refused, and no completion is kept."""
    coder, other = fleet.online("coder-1"), fleet.online("coder-2")
    task_id = _send(fleet)
    fleet.agent("commander").reassign_task(task_id=task_id, new_alias="coder-2")

    with fleet.unchanged():
        answer = coder.report_completion(alias="coder-1", task=task_id, result="late")
    assert (answer["ok"], answer["error"]) == (False, "permission_denied")
    assert other.report_completion(alias="coder-2", task=task_id, result="mine")["ok"] is True
    assert fleet.task(task_id)["result"] == "mine"


@requires("get_completions.order", "get_completions.limit", "get_completions.alias")
@both_engines
def test_completions_are_listed_newest_first(fleet: Fleet) -> None:
    """They come newest first, 50 of them by default, of one agent if named."""
    coder, other = fleet.online("coder-1"), fleet.online("coder-2")
    for number in range(51):
        coder.report_completion(alias="coder-1", task=str(number), result="r")
    other.report_completion(alias="coder-2", task="other", result="r")

    assert [row["task"] for row in _completions(fleet)] == ["other", *map(str, range(50, 1, -1))]
    assert len(_completions(fleet, limit=500)) == 52
    assert [row["task"] for row in _completions(fleet, alias="coder-2")] == ["other"]
    assert [row["task"] for row in _completions(fleet, alias="coder-1", limit=2)] == ["50", "49"]
    assert _completions(fleet, alias="nobody") == []


@requires("get_completions.since.default")
@both_engines
def test_without_since_a_day_is_shown(fleet: Fleet) -> None:
    """A completion is listed for 24 hours, and after that if since reaches back to it."""
    fleet.online("coder-1").report_completion(alias="coder-1", task="old", result="r")

    fleet.later(hours=24)
    assert len(_completions(fleet)) == 1

    fleet.later(milliseconds=1)
    assert _completions(fleet) == []
    assert len(_completions(fleet, since="2020-01-01")) == 1


@requires("get_completions.since", "inbox.since_forms")
def test_since_is_a_moment_however_it_is_written(fleet: Fleet) -> None:
    """With T or a blank, a zone or none (then it is UTC), a fraction or none, it is the same moment."""
    fleet.online("coder-1").report_completion(alias="coder-1", task="t", result="r")
    at = datetime.strptime(_completions(fleet)[0]["completed_at"], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
    after = at + timedelta(seconds=1)
    east = timezone(timedelta(hours=8))

    def forms(moment: datetime) -> list[str]:
        there = moment.astimezone(east)
        return [
            f"{moment:%Y-%m-%d %H:%M:%S}", f"{moment:%Y-%m-%dT%H:%M:%S}", f"{moment:%Y-%m-%dT%H:%M:%S.000}",
            f"{moment:%Y-%m-%d %H:%M:%S}.000000Z", f"{moment:%Y-%m-%dT%H:%M:%SZ}", f"{moment:%Y%m%dT%H%M%SZ}",
            f"{moment:%Y-%m-%d %H:%M:%S}+00:00", f"{there:%Y-%m-%dT%H:%M:%S}+08:00",
            f"{there:%Y-%m-%d %H:%M:%S}.000+08:00",
        ]  # fmt: skip

    for form in forms(at):
        assert len(_completions(fleet, since=form)) == 1, form
    for form in forms(after):
        assert _completions(fleet, since=form) == [], form
    for far in ("0001-01-01", "0001-01-01T00:00:00+14:00"):
        assert len(_completions(fleet, since=far)) == 1
    assert _completions(fleet, since="9999-12-31T23:59:59-14:00") == []


@requires("get_completions.since")
@pytest.mark.parametrize(
    "since", ["yesterday", " ", "2026-13-01", "1760000000000000", "2026-04-12T25:00:00", "昨天"]
)
def test_since_must_be_a_time(anywhere: Fleet, since: str) -> None:
    """A time that is not ISO 8601 is invalid, and the message says what is allowed."""
    answer = anywhere.program().wrong("get_completions", since=since)

    assert answer["error"] == "invalid_arguments"
    assert "ISO 8601" in answer["message"]
