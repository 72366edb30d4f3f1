"""get_task, list_tasks, get_all_status and get_session_status: what is shown of the world."""

from datetime import UTC, datetime

from hubbub.core.work import tasks
from hubbub.model.lifecycle import Event
from hubbub.model.people.rights import Role
from hubbub.model.records import Priority, Task
from hubbub.store.tx import Tx
from tests.dialects.commhub.callers import Fleet
from tests.dialects.commhub.requirements import requires
from tests.dialects.conftest import both_engines
from tests.dialects.running_hub import Json

LISTED = [
    "task_id",
    "from_name",
    "to_name",
    "priority",
    "status",
    "content",
    "result",
    "created_at",
    "completed_at",
]
DOCUMENTED = {
    *LISTED, "delivered_at", "started_at", "expires_at", "network_id", "requires_response", "parent_task_id",
}  # fmt: skip


def _listed(fleet: Fleet, **narrowed: object) -> list[str]:
    """The contents of the tasks that are listed."""
    answer = fleet.program().list_tasks(**narrowed)
    assert answer["count"] == len(answer["tasks"])
    return [row["content"] for row in answer["tasks"]]


def _counts(groups: list[Json]) -> dict[str, int]:
    counts = {group["status"]: group["count"] for group in groups}
    assert len(counts) == len(groups)
    return counts


@requires("get_task.row", "words.network_id", "words.times", "get_task.times")
def test_a_task_is_shown_whole(fleet: Fleet) -> None:
    """get_task shows every documented field, each time as UTC text, from the beginning to the end."""
    fleet.online("coder-1")
    task_id = fleet.agent("commander").send_task(alias="coder-1", task="t", ttl_seconds=7200)["message_id"]
    now = datetime.fromtimestamp(fleet.hub.clock() // 1000, UTC).replace(tzinfo=None)
    fleet.later(seconds=10)
    fleet.online("coder-1", "working", task=task_id)
    fleet.later(seconds=10)
    fleet.agent("coder-1").report_completion(alias="coder-1", task=task_id, result="r")

    task = fleet.task(task_id)
    assert set(task) >= DOCUMENTED
    assert task["network_id"] == fleet.network_id
    assert task["requires_response"] == 1
    at = {
        name: datetime.fromisoformat(task[name])
        for name in ("created_at", "delivered_at", "started_at", "completed_at", "expires_at")
    }
    assert now == at["created_at"] == at["delivered_at"] < at["started_at"] < at["completed_at"]
    assert (at["expires_at"] - at["created_at"]).total_seconds() == 7200


@requires("list_tasks.row", "list_tasks.count", "list_tasks.filters", "list_tasks.limit")
@both_engines
def test_tasks_are_listed(fleet: Fleet) -> None:
    """A row has nine columns; alias, status and from_name narrow the list, alone and together."""
    for name in ("coder-1", "coder-2"):
        fleet.online(name)
        for sender in ("commander", "reviewer"):
            fleet.agent(sender).send_task(alias=name, task=f"{sender} to {name}")
    fleet.online("coder-1", "working", task="commander to coder-1")
    full = fleet.program().list_tasks()["tasks"]

    assert [list(row) for row in full] == [LISTED] * 4
    assert {"commander to coder-1", "reviewer to coder-1"} == set(_listed(fleet, alias="coder-1"))
    assert {"commander to coder-1", "commander to coder-2"} == set(_listed(fleet, from_name="commander"))
    assert _listed(fleet, status="running") == ["commander to coder-1"]
    assert _listed(fleet, status="delivered", alias="coder-1") == ["reviewer to coder-1"]
    assert _listed(fleet, status="delivered", alias="coder-2", from_name="commander") == [
        "commander to coder-2"
    ]
    assert (
        _listed(fleet, alias="nobody")
        == _listed(fleet, status="asleep")
        == _listed(fleet, from_name="nobody")
        == []
    )
    assert len(_listed(fleet, limit=3)) == 3
    assert fleet.program().list_tasks(status="asleep")["message"] == (
        "no task has this status: the statuses are "
        "created, delivered, acked, running, replied, failed, cancelled, expired"
    )


@requires("list_tasks.filters", "get_all_status.filters", "get_completions.alias", "broadcast.filter_status")
def test_an_empty_filter_is_none(fleet: Fleet) -> None:
    """A filter that is an empty text counts as left out, in every tool that filters."""
    coder, program = fleet.online("coder-1"), fleet.program()
    program.send_task(alias="coder-1", task="t")
    coder.report_completion(alias="coder-1", task="any", result="r")

    assert program.list_tasks(alias="", status="", from_name="") == program.list_tasks()
    assert program.get_all_status(filter_status="", filter_server="") == program.get_all_status()
    assert program.get_completions(alias="") == program.get_completions()
    assert program.broadcast(message="b", filter_status="", filter_server="")["recipients"] == 1


@requires("get_all_status.filters")
def test_a_status_that_there_is_not_is_said(fleet: Fleet) -> None:
    """Who filters sessions by a status that CommHub does not have is told which there are, by both tools that do."""
    fleet.online("coder-1")
    told = (
        "no session has this status: the statuses are working, idle, blocked, error, waiting_input, offline"
    )

    listed = fleet.program().get_all_status(filter_status="running")
    sent = fleet.program().broadcast(message="m", filter_status="running")

    assert (listed["sessions"], listed["message"]) == ([], told)
    assert (sent["recipients"], sent["message_ids"], sent["message"]) == (0, [], told)
    assert "message" not in fleet.program().get_all_status(filter_status="offline")


@requires("list_tasks.limit", "list_tasks.count", "list_tasks.stats")
def test_twenty_tasks_are_listed_by_default(fleet: Fleet) -> None:
    """list_tasks gives 20 unless it is asked for more or fewer; stats counts them all."""
    fleet.online("coder-1")
    for number in range(21):
        fleet.program().send_task(alias="coder-1", task=str(number))

    assert _listed(fleet) == [str(number) for number in range(20, 0, -1)]
    assert len(_listed(fleet, limit=100)) == 21
    assert _counts(fleet.program().list_tasks(limit=1)["stats"]) == {"delivered": 21}


@requires("list_tasks.stats", "list_tasks.network_id", "tokens.person_reads_all", "words.slug")
@both_engines
def test_stats_count_what_is_in_scope(fleet: Fleet, elsewhere: Fleet) -> None:
    """The stats count by status what the caller may see, or the network named, and takes no notice of filters."""
    for each in (fleet, elsewhere):
        each.online("coder-1")
        each.program().send_task(alias="coder-1", task="t")
    done = fleet.program().send_task(alias="coder-1", task="u")["message_id"]
    fleet.agent("coder-1").report_completion(alias="coder-1", task=done, result="r")
    person = fleet.person((fleet.project, Role.VIEWER), (elsewhere.project, Role.MEMBER))

    for narrowed in ({}, {"alias": "nobody"}, {"status": "failed"}, {"limit": 1}):
        assert _counts(fleet.program().list_tasks(**narrowed)["stats"]) == {"delivered": 1, "replied": 1}
        assert _counts(person.list_tasks(**narrowed)["stats"]) == {"delivered": 2, "replied": 1}
    for name in (elsewhere.network_id, elsewhere.project.slug):
        answer = person.list_tasks(network_id=name)
        assert (_counts(answer["stats"]), answer["count"]) == ({"delivered": 1}, 1)
    assert person.list_tasks()["count"] == 3


@requires("words.statuses", "words.priorities", "list_tasks.filters")
def test_every_status_and_priority_has_its_word(fleet: Fleet) -> None:
    """Blocked and in review are running, queued is created, critical is high, medium is normal."""

    def made(*events: Event, priority: Priority = Priority.MEDIUM) -> str:
        def make(tx: Tx) -> Task:
            task = tasks.send(tx, fleet.project.id, sender="hub", to=None, text="t", priority=priority)
            for event in events:
                task = tasks.step(tx, task, event)
            return task

        return str(fleet.hub.do(make).id)

    for status, events in {
        "created": [],
        "acked": [Event.ACCEPT],
        "running": [Event.ACCEPT, Event.START],
        "replied": [Event.COMPLETE],
        "failed": [Event.FAIL],
        "cancelled": [Event.CANCEL],
        "expired": [Event.EXPIRE],
    }.items():
        assert fleet.task(made(*events))["status"] == status
    for last in (Event.BLOCK, Event.SUBMIT):
        held = made(Event.ACCEPT, Event.START, last)
        assert fleet.task(held)["status"] == "running"
        assert held in {row["task_id"] for row in fleet.program().list_tasks(status="running")["tasks"]}
    assert _counts(fleet.program().list_tasks()["stats"])["running"] == 3
    for priority, word in zip(Priority, ("high", "high", "normal", "low"), strict=True):
        assert fleet.task(made(priority=priority))["priority"] == word


@requires("get_all_status.filters", "get_all_status.summary", "get_all_status.network_id")
@both_engines
def test_sessions_are_narrowed_and_counted(fleet: Fleet, elsewhere: Fleet) -> None:
    """filter_status and filter_server narrow the sessions; summary counts them all, of the network if one is named."""
    fleet.online("a", "idle", server="s1")
    fleet.online("b", "working", server="s1")
    fleet.online("c", "working", server="s2")
    fleet.online("d", "offline", server="s2")
    elsewhere.online("e", "idle", server="s1")
    person = fleet.person((fleet.project, Role.VIEWER), (elsewhere.project, Role.VIEWER))

    for narrowed, names in [
        ({}, "abcd"),
        ({"filter_status": "working"}, "bc"),
        ({"filter_status": "offline"}, "d"),
        ({"filter_server": "s1"}, "ab"),
        ({"filter_server": "s2", "filter_status": "working"}, "c"),
        ({"filter_status": "asleep"}, ""),
    ]:
        answer = fleet.program().get_all_status(**narrowed)
        assert sorted(row["alias"] for row in answer["sessions"]) == list(names)
        assert _counts(answer["summary"]) == {"idle": 1, "working": 2, "offline": 1}
    assert len(person.get_all_status()["sessions"]) == 5
    answer = person.get_all_status(network_id=elsewhere.network_id)
    assert ([row["alias"] for row in answer["sessions"]], _counts(answer["summary"])) == (["e"], {"idle": 1})


@requires("get_session_status.session", "get_session_status.inbox_pending", "get_session_status.recent",
          "get_all_status.row")  # fmt: skip
def test_one_session_in_detail(fleet: Fleet) -> None:
    """It is the row of get_all_status, with what waits in its inbox and its last 5 completions, newest first."""
    coder = fleet.online("代码1号", "blocked", model="m", node_id="n_1", agent="agent-node:codex")
    for number in range(7):
        coder.report_completion(alias="代码1号", task=str(number), result="r", artifacts=["a"])
    fleet.program().send_task(alias="代码1号", task="t")
    fleet.program().send_message(alias="代码1号", message="m")
    fleet.later(hours=48)

    answer = fleet.program().get_session_status(alias="代码1号")

    assert answer["session"] == fleet.row("代码1号")
    assert answer["session"]["model"] == "m"
    assert answer["inbox_pending"] == 1
    recent = answer["recent_completions"]
    assert [row["task"] for row in recent] == ["6", "5", "4", "3", "2"]
    assert recent == fleet.program().get_completions(since="2020-01-01", limit=5)["completions"]


@requires("get_session_status.unknown")
def test_an_unknown_session_is_null(fleet: Fleet) -> None:
    """An alias that is unknown, or was never there, has no session; that is an answer, not an error."""
    fleet.agent("never-there")

    for alias in ("nobody", "never-there", "hub", "无人"):
        answer = fleet.program().get_session_status(alias=alias)
        assert answer == {"ok": True, "session": None, "inbox_pending": 0, "recent_completions": []}


@requires("get_completions.network_id", "tokens.person_reads_all", "tokens.foreign")
def test_completions_of_a_network(fleet: Fleet, elsewhere: Fleet) -> None:
    """A person sees the completions of all their networks, or of the one named; a network token its own."""
    for each in (fleet, elsewhere):
        each.online("coder-1").report_completion(alias="coder-1", task=each.project.slug, result="r")
    person = fleet.person((fleet.project, Role.VIEWER), (elsewhere.project, Role.OWNER))

    assert [row["task"] for row in person.get_completions()["completions"]] == [
        elsewhere.project.slug, fleet.project.slug,
    ]  # fmt: skip
    for caller, named in [(person, fleet.network_id), (fleet.program(), fleet.project.slug)]:
        (row,) = caller.get_completions(network_id=named)["completions"]
        assert (row["task"], row["network_id"]) == (fleet.project.slug, fleet.network_id)
    assert len(fleet.program().get_completions()["completions"]) == 1
