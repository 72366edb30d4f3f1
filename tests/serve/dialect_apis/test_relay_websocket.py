"""The live view, through a real WebSocket."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Event

import pytest

from hubbub.core.agents import agents
from hubbub.core.mail import messages
from hubbub.model.people.rights import SYSTEM
from hubbub.serve.dialect_apis import relay_websocket
from hubbub.serve.live import log_tail
from hubbub.serve.live.log_tail import LogReader
from hubbub.store.tx import Tx
from tests.serve.conftest import both_engines
from tests.serve.dialect_apis.watchers import Team, watching
from tests.serve.mcp.wire import call, post
from tests.serve.served_hub import Hub
from tests.serve.web_client import Json
from tests.support.waiting import patience

NAME = "代码1号"


@pytest.fixture
def team(hub: Hub) -> Team:
    """Agents of one project, in the run `first`."""
    team = Team(hub, hub.token())
    team.do("start_session", "lead", session_id="first")
    return team


def create(team: Team, title: str, **more: object) -> str:
    made = team.do("create_task", "lead", run=None, title=title, priority="high", **more)
    return str(made["task_id"])


def say(hub: Hub, tx: Tx, text: str) -> None:
    """Send a message in the current run, as any dialect may."""
    messages.send(tx, hub.project.id, sender="writer", to="hub", body=text)


def rows(frame: Json, kind: str) -> list[str]:
    return [row["id"] for row in frame[kind]]


# The snapshot


@both_engines
def test_the_first_frame_is_all_that_there_is(hub: Hub, team: Team) -> None:
    """The snapshot has the run, its tasks, messages, artifacts and reviews, the agents, and which hub it is."""
    needed = create(team, "needed", description="all of it")
    task = create(team, "task", depends_on=[needed], assignee=NAME)
    message = team.do("send_message", "lead", content="hello")["message_id"]
    artifact = team.do("post_artifact", "lead", name="n", type="report", content="long")["artifact_id"]
    review = team.do("request_review", "lead", artifact_id=artifact, reviewer=NAME)["review_id"]
    team.do("claim_task", "worker", task_id=needed)
    server = team.do("get_server_info", "lead")

    with watching(hub, team.secret) as watch:
        first = watch.next()

    assert (first["type"], first["sessionId"]) == ("session:snapshot", "first")
    assert (rows(first, "tasks"), rows(first, "artifacts")) == ([needed, task], [artifact])
    assert rows(first, "messages")[0] == message
    assert rows(first, "reviews") == [review]
    assert (first["tasks"][0]["status"], first["tasks"][0]["description"]) == ("in_progress", "all of it")
    assert first["tasks"][1]["depends_on"] == [needed]
    assert "content" not in first["artifacts"][0]
    assert first["agents"] == [{"id": "lead", "status": "idle"}, {"id": "worker", "status": "working"}]
    assert (first["instanceId"], first["port"]) == (server["instanceId"], server["port"])
    assert first["timestamp"] // 1000 >= first["tasks"][0]["created_at"]


def test_a_project_without_a_run_is_shown_too(hub: Hub) -> None:
    """While nobody has named a run its id is null; what belongs to it is shown."""
    hub.meet("a")
    task_id = hub.send_task("a")
    with watching(hub, hub.token()) as watch:
        first = watch.next()
    assert first["sessionId"] is None
    assert rows(first, "tasks") == [task_id]


@both_engines
def test_nothing_is_missing_and_nothing_comes_twice(hub: Hub, team: Team) -> None:
    """A viewer who begins while others write sees each message once: in the snapshot, or after it."""
    number, watchers = 60, 6

    def write(each: int) -> None:
        hub.do(lambda tx: say(hub, tx, f"m{each}"))

    def see() -> list[str]:
        with watching(hub, team.secret) as watch:
            seen = [row["content"] for row in watch.next()["messages"]]
            while len(seen) < number:
                frame = watch.next()
                seen += [frame["message"]["content"]] if frame["type"] == "message:new" else []
            return seen

    with ThreadPoolExecutor(2 * watchers) as pool:
        written = [pool.submit(write, each) for each in range(number // 2)]
        watched = [pool.submit(see) for _ in range(watchers)]
        written += [pool.submit(write, each) for each in range(number // 2, number)]
        assert [each.result() for each in written] == [None] * number
        for each in watched:
            assert sorted(each.result()) == sorted(f"m{number}" for number in range(number))


@both_engines
def test_what_happens_around_the_snapshot_is_told_once(
    hub: Hub, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An event between the beginning of the view and its look is in the snapshot, and only there."""
    show = relay_websocket.Watcher._show

    async def beset(watcher: relay_websocket.Watcher, reading: LogReader) -> None:
        await hub.store.write(SYSTEM, lambda tx: say(hub, tx, "before"))
        await show(watcher, reading)
        await hub.store.write(SYSTEM, lambda tx: say(hub, tx, "after"))

    monkeypatch.setattr(relay_websocket.Watcher, "_show", beset)
    with watching(hub, team.secret) as watch:
        assert [row["content"] for row in watch.next()["messages"]] == ["before"]
        assert watch.the("message:new")["message"]["content"] == "after"


@pytest.mark.parametrize("hub", ["postgres"], indirect=True)
def test_what_the_log_tells_late_is_told_once(hub: Hub) -> None:
    """An event in the snapshot already, though the log holds it back for a slower writer, does not come again."""
    slow, is_writing, may_end = ThreadPoolExecutor(1), Event(), Event()

    def dawdle(tx: Tx) -> None:
        agents.meet(tx, hub.project.id, "slow")
        is_writing.set()
        assert may_end.wait(patience())

    with slow:
        writing = slow.submit(hub.do, dawdle)
        assert is_writing.wait(patience())
        hub.do(lambda tx: say(hub, tx, "quick"))
        with watching(hub, hub.token()) as watch:
            assert [row["content"] for row in watch.next()["messages"]] == ["quick"]
            may_end.set()
            writing.result()
            hub.do(lambda tx: say(hub, tx, "last"))
            told = watch.until("message:new")
    assert [each.get("agentId") or each["message"]["content"] for each in told] == ["slow", "last"]


# What happens


def test_tasks_are_told_as_they_change(hub: Hub, team: Team) -> None:
    """`task:updated` comes with the whole task when it is made, claimed, moved and done."""
    with watching(hub, team.secret) as watch:
        watch.next()
        needed = create(team, "needed")
        assert watch.the("task:updated")["task"]["status"] == "todo"
        task = create(team, "task", depends_on=[needed], description="all of it")
        made = watch.the("task:updated")["task"]
        assert (made["id"], made["depends_on"], made["description"]) == (task, [needed], "all of it")
        team.do("claim_task", "worker", task_id=needed)
        claimed = watch.the("task:updated")["task"]
        assert (claimed["status"], claimed["assignee"]) == ("in_progress", "worker")
        team.do("update_task", "worker", task_id=needed, status="done")
        assert watch.the("task:updated")["task"]["status"] == "done"


@both_engines
def test_messages_are_told(hub: Hub, team: Team) -> None:
    """`message:new` comes with the message, as `get_messages` shows it, whatever dialect it was sent in."""
    with watching(hub, team.secret) as watch:
        watch.next()
        sent = team.do("send_message", "lead", to="worker", content="hi", metadata={"k": "v"})["message"]
        assert watch.the("message:new")["message"] == sent
        hub.do(lambda tx: say(hub, tx, "theirs"))
        told = watch.the("message:new")["message"]
        assert (told["from_agent"], told["to_agent"], told["content"]) == ("writer", "hub", "theirs")


def test_a_broadcast_is_told_once(hub: Hub, team: Team) -> None:
    """A message to everyone is one `message:new`, into however many inboxes it goes."""
    for name in ("a", "b"):
        report = call("report_status", resume_id=f"{name}-1", alias=name, status="idle", task="t")
        assert post(hub, team.secret, report, path="/mcp/commhub").is_success
    with watching(hub, team.secret) as watch:
        watch.next()
        team.do("send_message", "lead", content="to all")
        team.do("send_message", "lead", to="a", content="to a")
        told = [watch.the("message:new")["message"] for _ in range(2)]
    assert [(each["to_agent"], each["content"]) for each in told] == [(None, "to all"), ("a", "to a")]


def test_artifacts_and_reviews_are_told(hub: Hub, team: Team) -> None:
    """`artifact:posted`, `review:requested` and `review:updated` come with the artifact, or the review."""
    with watching(hub, team.secret) as watch:
        watch.next()
        artifact = team.do("post_artifact", "lead", name="n", type="pr", content="text")["artifact_id"]
        posted = watch.the("artifact:posted")["artifact"]
        assert (posted["id"], posted["name"], posted["type"]) == (artifact, "n", "pr")
        review = team.do("request_review", "lead", artifact_id=artifact, reviewer="judge")["review_id"]
        asked = watch.the("review:requested")["review"]
        assert (asked["id"], asked["status"], asked["reviewer"]) == (review, "pending", "judge")
        team.do("submit_review", "judge", review_id=review, status="approved", comments="fine")
        given = watch.the("review:updated")["review"]
        assert (given["id"], given["status"], given["comments"]) == (review, "approved", "fine")


def test_agents_and_their_memory_are_told(hub: Hub, team: Team) -> None:
    """`agent:joined` tells of a new agent, `memory:updated` whose memory was written; null is the project's."""
    with watching(hub, team.secret) as watch:
        watch.next()
        team.do("write_memory", NAME, key="k", content="c")
        assert watch.the("agent:joined")["agentId"] == NAME
        assert watch.the("memory:updated")["agentId"] == NAME
        answer = post(hub, team.secret, call("write_memory", key="k", content="c"), path="/mcp/relay")
        assert answer.is_success
        assert watch.the("memory:updated")["agentId"] is None


def test_frames_carry_the_time(hub: Hub, team: Team) -> None:
    """Each frame has the moment of what it tells, in milliseconds."""
    with watching(hub, team.secret) as watch:
        began = watch.next()["timestamp"]
        team.do("send_message", "lead", content="x")
        told = watch.the("message:new")
    assert told["timestamp"] // 1000 == told["message"]["created_at"]
    assert told["timestamp"] >= began


def test_how_agents_are_is_told(hub: Hub, team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    """`agent:status` follows from what agents report, and from the tasks that they begin and end."""
    monkeypatch.setattr(relay_websocket, "STATUS_PAUSE", timedelta(milliseconds=1))
    task = create(team, "task")
    with watching(hub, team.secret) as watch:
        watch.next()
        team.do("claim_task", "worker", task_id=task)
        watch.the("agent:status", agentId="worker", status="working")
        team.do("update_task", "worker", task_id=task, status="done")
        watch.the("agent:status", agentId="worker", status="idle")
        report = call("report_status", resume_id="b-1", alias="b", status="blocked", task="t")
        post(hub, team.secret, report, path="/mcp/commhub")
        watch.the("agent:status", agentId="b", status="blocked")


def test_of_an_agent_that_keeps_changing_little_is_told(
    hub: Hub, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One `agent:status` of an agent comes in a pause of five seconds; other agents need not wait for it."""
    assert timedelta(seconds=5) == relay_websocket.STATUS_PAUSE
    monkeypatch.setattr(relay_websocket, "STATUS_PAUSE", timedelta(hours=1))
    first, second = create(team, "first"), create(team, "second")
    with watching(hub, team.secret) as watch:
        watch.next()
        team.do("claim_task", "worker", task_id=first)
        told = watch.until("agent:status", agentId="worker")
        for status in ("in_review", "in_progress", "done"):
            team.do("update_task", "worker", task_id=first, status=status)
        team.do("claim_task", "other", task_id=second)
        told += watch.until("agent:status", agentId="other")
    assert [each["agentId"] for each in told if each["type"] == "agent:status"] == ["worker", "other"]


def test_thoughts_are_told(hub: Hub, team: Team) -> None:
    """`agent:thinking` tells what an agent of the run thinks, and nothing of what those of other runs do."""
    with watching(hub, team.secret) as watch:
        watch.next()
        team.do("broadcast_thinking", "lead", run="aside", content="elsewhere")
        team.do("broadcast_thinking", "lead", content="here")
        told = watch.the("agent:thinking")
    assert (told["agentId"], told["chunk"]) == ("lead", "here")
    assert told["timestamp"] > 0


def test_who_thinks_works(hub: Hub, team: Team) -> None:
    """After the first thought of an agent comes `agent:status` `working`, and within the pause no other of it."""
    with watching(hub, team.secret) as watch:
        watch.next()
        for thought in ("first", "second"):
            team.do("broadcast_thinking", "lead", content=thought)
        told = [*watch.until("agent:status"), *watch.until("agent:thinking", chunk="second")]
        team.do("broadcast_thinking", "worker", content="third")
        told += watch.until("agent:status", agentId="worker")
    assert [each["chunk"] for each in told if each["type"] == "agent:thinking"] == [
        "first",
        "second",
        "third",
    ]
    statuses = [(each["agentId"], each["status"]) for each in told if each["type"] == "agent:status"]
    assert statuses == [("lead", "working"), ("worker", "working")]


# Which run


def test_other_runs_are_not_told(hub: Hub, team: Team) -> None:
    """Tasks, messages, artifacts and reviews of other runs are not shown."""
    with watching(hub, team.secret) as watch:
        watch.next()
        team.do("create_task", "lead", run="aside", title="t", priority="low")
        team.do("send_message", "lead", run="aside", content="m")
        posted = team.do("post_artifact", "lead", run="aside", name="n", type="pr", content="c")
        asked = {"artifact_id": posted["artifact_id"], "reviewer": "judge"}
        review = team.do("request_review", "lead", run="aside", **asked)["review_id"]
        team.do("submit_review", "judge", run="aside", review_id=review, status="approved")
        team.do("send_message", "lead", content="here")
        told = watch.until("message:new")
    assert told[-1]["message"]["content"] == "here"
    assert {each["type"] for each in told[:-1]} <= {"agent:joined"}


def test_the_view_goes_from_run_to_run(hub: Hub, team: Team) -> None:
    """When a run is started, `session:started` comes, and a snapshot of it; then what happens in it."""
    with watching(hub, team.secret) as watch:
        watch.next()
        team.do("start_session", "lead", session_id="second")
        create(team, "task")
        told = watch.until("session:snapshot")
        assert [each["sessionId"] for each in told if "sessionId" in each] == ["second", "second"]
        assert told[-2]["type"] == "session:started"
        team.do("start_session", "lead", session_id="first")
        watch.the("session:started", sessionId="first")
        assert watch.next()["type"] == "session:snapshot"


def test_a_thought_of_a_run_that_has_just_begun_is_told_in_it(
    hub: Hub, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However fast a thought follows upon the start of its run, and slow the log is, the view is there first."""
    monkeypatch.setattr(log_tail, "GATHER", timedelta(milliseconds=300))
    with watching(hub, team.secret) as watch:
        watch.next()
        for each in ("second", "third"):
            team.do("start_session", "lead", session_id=each)
            team.do("broadcast_thinking", "lead", content=f"in the {each}")
            told = watch.until("agent:thinking", chunk=f"in the {each}")
            assert [frame["sessionId"] for frame in told if frame["type"] == "session:snapshot"] == [each]


def test_the_first_name_of_a_run_is_told(hub: Hub) -> None:
    """A view of the run that nobody has named begins anew when somebody does."""
    team = Team(hub, hub.token())
    with watching(hub, team.secret) as watch:
        assert watch.next()["sessionId"] is None
        team.do("send_message", "lead", run="named", content="x")
        watch.the("session:started", sessionId="named")
        assert [row["content"] for row in watch.next()["messages"]] == ["x"]


def test_a_run_can_be_chosen(hub: Hub, team: Team) -> None:
    """With `?session=` that run is shown, and stays, whichever becomes the current one."""
    team.do("send_message", "lead", run="aside", content="then")
    with watching(hub, team.secret, session="aside") as watch:
        first = watch.next()
        assert (first["sessionId"], [row["content"] for row in first["messages"]]) == ("aside", ["then"])
        team.do("start_session", "lead", session_id="second")
        team.do("send_message", "lead", run="aside", content="now")
        told = watch.until("message:new")
        assert told[-1]["message"]["content"] == "now"
        assert "session:started" not in [each["type"] for each in told]
        team.do("start_session", "lead", session_id="aside")
        watch.the("session:started", sessionId="aside")


def test_projects_are_apart(hub: Hub, team: Team) -> None:
    """A view shows one project; a person names which."""
    elsewhere = hub.other_project()
    other = Team(hub, hub.token(project=elsewhere))
    with watching(hub, hub.owner_secret, project="elsewhere") as watch:
        watch.next()
        team.do("send_message", "lead", content="here")
        other.do("send_message", "lead", run="r", content="there")
        contents = [row["content"] for row in watch.the("session:snapshot")["messages"]]
    assert contents == ["there"]
