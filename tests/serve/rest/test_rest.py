"""The REST interface, through real HTTP."""

import re
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest
from fastapi import FastAPI

from hubbub.model.fleet.link_protocol import HubRequest
from hubbub.model.people.rights import Role
from tests.serve.conftest import both_engines, with_own_hub
from tests.serve.served_hub import Hub
from tests.serve.web_client import Json, Visit, Web, done, refusal

NAME = "代码1号"


Acting = Callable[..., Web]


@pytest.fixture
def web(hub: Hub, visit: Visit) -> Web:
    """The owner of the hub; the project knows an agent."""
    hub.meet(NAME)
    return visit(hub, hub.owner_secret)


@pytest.fixture
def acting(hub: Hub, visit: Visit) -> Acting:
    """Makes clients of one hub: `acting("name")` by a token bound to that agent, `acting(role=…)`, `acting()`."""

    def make(agent: str | None = None, *, secret: str | None = None, role: Role = Role.MEMBER) -> Web:
        return visit(hub, secret or hub.token(agent, role=role))

    return make


# Who asks, projects, people, tokens


def test_me_says_whom_a_token_stands_for(web: Web, hub: Hub, visit: Visit) -> None:
    """`/me` names the person or the agent, and the projects with the role in each."""
    person = done(web.get("/me"))
    agent = done(visit(hub, hub.token(NAME)).get("/me"))
    assert (person["user"], person["owns_hub"], person["agent"]) == ("owner", True, None)
    assert (agent["user"], agent["owns_hub"], agent["agent"], agent["role"]) == (None, False, NAME, "member")
    assert person["user_id"] == done(web.get("/users"))["users"][0]["id"]
    assert [(each["slug"], each["role"]) for each in agent["projects"]] == [("default", "member")]


def test_a_project_is_created_shown_and_listed(web: Web) -> None:
    """A person makes a project, which they own and find again."""
    made = done(web.post("/projects", {"slug": "web", "name": "The web", "conflict_mode": "block"}))[
        "project"
    ]
    assert (made["slug"], made["name"], made["conflict_mode"]) == ("web", "The web", "block")
    shown = done(web.get("/projects/web"))["project"]
    assert shown["id"] == made["id"]
    assert [each["slug"] for each in done(web.get("/projects"))["projects"]] == ["default", "web"]


@both_engines
def test_refusals_about_projects(web: Web, hub: Hub, visit: Visit) -> None:
    """A taken slug is a conflict, a bad one invalid, a foreign project not found, and agents make none."""
    assert refusal(web.post("/projects", {"slug": "default"})) == (409, "conflict")
    assert refusal(web.post("/projects", {"slug": "No!"})) == (400, "invalid")
    assert refusal(web.get("/projects/elsewhere")) == (404, "project_denied")
    agent = visit(hub, hub.token())
    assert refusal(agent.post("/projects", {"slug": "mine"})) == (403, "forbidden")


def test_a_user_is_created_with_a_token_that_works(web: Web, hub: Hub, visit: Visit) -> None:
    """The owner of the hub makes a person, whose token is told once and enters the project named."""
    made = done(web.post("/users", {"name": "张三", "project": "default", "role": "viewer"}))
    theirs = done(visit(hub, made["token"]).get("/me"))
    assert (theirs["user"], theirs["owns_hub"]) == ("张三", False)
    assert [(each["slug"], each["role"]) for each in theirs["projects"]] == [("default", "viewer")]
    assert [each["name"] for each in done(web.get("/users"))["users"]] == ["owner", "张三"]


def test_only_the_owner_of_the_hub_manages_people(web: Web, hub: Hub, visit: Visit) -> None:
    """People are listed and made by the owner of the hub alone."""
    other = visit(hub, done(web.post("/users", {"name": "other"}))["token"])
    assert refusal(other.get("/users")) == (403, "forbidden")
    assert refusal(other.post("/users", {"name": "friend"})) == (403, "forbidden")


def test_an_invitation_is_a_code(web: Web) -> None:
    """An invitation is a code that is told once."""
    assert done(web.post("/users/invites"))["code"].startswith("inv_")


def test_a_token_is_created_listed_and_revoked(web: Web, hub: Hub, visit: Visit) -> None:
    """A token works until it is revoked; its secret is in the first answer only."""
    made = done(web.post("/tokens", {"agent": NAME, "expires_seconds": 3600}))
    agent = visit(hub, made["secret"])
    assert done(agent.get("/me"))["agent"] == NAME
    assert made["token"]["expires_at"] - made["token"]["created_at"] == 3_600_000
    listed = web.get("/tokens")
    assert made["token"]["id"] in [each["id"] for each in done(listed)["tokens"]]
    assert made["secret"] not in listed.text
    assert done(web.delete(f"/tokens/{made['token']['id']}"))["token"]["id"] == made["token"]["id"]
    assert refusal(agent.get("/me")) == (401, "unauthorized")


def test_a_token_that_does_not_exist_cannot_be_revoked(web: Web) -> None:
    """Revoking what is no token is not found, whether or not it could be one."""
    for token_id in (str(uuid4()), "nonsense"):
        assert refusal(web.delete(f"/tokens/{token_id}")) == (404, "not_found")


def test_a_bound_token_makes_tokens_for_its_agent_only(acting: Acting) -> None:
    """A token bound to one agent cannot make one for another."""
    assert refusal(acting("a").post("/tokens", {"agent": "b"})) == (403, "forbidden")


# Agents, presence, inboxes


def test_agents_are_shown_with_how_they_are(web: Web) -> None:
    """An agent that was never there is offline; one that came is live, with what it tells of itself."""
    report = {"instance": "run-1", "take": True, "doing": "tests", "hostname": "box", "runtime": "py"}
    present = done(web.put("/agents/a/presence", report))
    assert (present["unread"], present["presence"]["condition"]) == (0, "idle")
    shown = {each["name"]: each for each in done(web.get("/agents"))["agents"]}
    assert (shown[NAME]["condition"], shown[NAME]["live"], shown[NAME]["seen_at"]) == ("offline", False, None)
    agent = done(web.get("/agents/a"))["agent"]
    assert agent.items() >= {"condition": "idle", "live": True, "doing": "tests", "hostname": "box"}.items()
    assert agent["since"] <= agent["seen_at"] < agent["expires_at"]


def test_an_agent_that_was_never_seen_is_not_found(web: Web) -> None:
    """An unknown name is refused with names much like it."""
    answer = web.get("/agents/代码2号")
    assert refusal(answer) == (404, "unknown_agent")
    assert NAME in answer.json()["message"]


@both_engines
def test_one_name_is_one_presence(web: Web) -> None:
    """Taking a name that somebody else is live by is refused, with who it is; a dead instance may be replaced."""
    done(web.put("/agents/a/presence", {"instance": "x", "take": True}))
    answer = web.put("/agents/a/presence", {"instance": "y", "take": True})
    assert refusal(answer) == (409, "conflict")
    assert "live as x" in answer.json()["message"]
    instead = done(web.put("/agents/a/presence", {"instance": "y", "take": True, "instead_of": "x"}))
    assert instead["presence"]["instance"] == "y"
    gone = web.put("/agents/a/presence", {"instance": "x"})
    assert refusal(gone) == (404, "not_found")
    assert gone.json()["message"] == (
        "presence 'x' not found: it has not begun, or has ended; to begin it, send take: true"
    )


def test_a_heartbeat_keeps_what_it_omits(web: Web) -> None:
    """A heartbeat changes what it tells, and leaves the rest as it was."""
    done(web.put("/agents/a/presence", {"instance": "x", "take": True, "doing": "one", "hostname": "box"}))
    beat = {"instance": "x", "condition": "working", "progress": 50}
    kept = done(web.put("/agents/a/presence", beat))["presence"]
    assert (kept["condition"], kept["doing"], kept["hostname"], kept["progress"]) == (
        "working",
        "one",
        "box",
        50,
    )


def test_an_agent_leaves(web: Web) -> None:
    """An agent that leaves is offline at once; leaving again changes nothing."""
    done(web.put("/agents/a/presence", {"instance": "x", "take": True}))
    assert done(web.delete("/agents/a/presence", instance="x"))["presence"]["end_reason"] == "left"
    assert done(web.get("/agents/a"))["agent"]["live"] is False
    assert done(web.delete("/agents/a/presence", instance="x"))["presence"] is None


@both_engines
def test_letters_wait_until_they_are_acknowledged(web: Web) -> None:
    """The inbox gives the most urgent first, again and again, until a letter is acknowledged."""
    low = done(web.post("/tasks", {"text": "later", "to": NAME, "priority": "low"}))["task"]
    high = done(web.post("/tasks", {"text": "now", "to": NAME, "priority": "critical"}))["task"]
    inbox = f"/agents/{NAME}/inbox"
    assert [each["id"] for each in done(web.get(inbox))["letters"]] == [high["id"], low["id"]]
    assert done(web.post(f"{inbox}/{high['id']}/ack")) == {"unread": 1}
    assert [each["task_id"] for each in done(web.get(inbox))["letters"]] == [low["id"]]
    assert done(web.get(f"/tasks/{high['id']}"))["task"]["status"] == "accepted"


def test_reading_an_inbox_notes_it_as_seen_by_its_agent_only(hub: Hub, web: Web, visit: Visit) -> None:
    """A letter is seen when its agent reads it, not when a person looks on."""
    done(web.post("/messages", {"to": NAME, "text": "hello"}))
    agent = visit(hub, hub.token(NAME))
    inbox = f"/agents/{NAME}/inbox"
    done(web.get(inbox))
    assert done(agent.get(inbox))["letters"][0]["seen_at"] is None
    assert done(agent.get(inbox))["letters"][0]["seen_at"] is not None


@both_engines
def test_reading_can_wait_for_something_to_come(hub: Hub, web: Web, visit: Visit) -> None:
    """An empty inbox that is read with `wait_seconds` answers as soon as something comes."""
    answers: list[Json] = []

    def wait() -> None:
        reader = visit(hub, hub.token(NAME))
        answers.append(done(reader.get(f"/agents/{NAME}/inbox", wait_seconds=30)))

    waiting = threading.Thread(target=wait)
    waiting.start()
    task = done(web.post("/tasks", {"text": "work", "to": NAME}))["task"]
    waiting.join(20)
    assert [each["id"] for each in answers[0]["letters"]] == [task["id"]]


@both_engines
def test_waiting_ends_without_a_letter(web: Web) -> None:
    """Where nothing comes in time, the answer is an empty inbox."""
    assert done(web.get(f"/agents/{NAME}/inbox", wait_seconds=0.05)) == {"letters": []}


def test_an_inbox_is_private(acting: Acting) -> None:
    """A token bound to one agent neither reads nor acknowledges what is another's."""
    task = done(acting("a").post("/tasks", {"text": "x", "to": "a"}))["task"]
    other = acting("b")
    assert refusal(other.get("/agents/a/inbox")) == (403, "forbidden")
    assert refusal(other.post(f"/agents/a/inbox/{task['id']}/ack")) == (403, "forbidden")
    assert refusal(other.post(f"/agents/b/inbox/{task['id']}/ack")) == (404, "not_found")


def test_the_inbox_of_nobody_is_not_found(acting: Acting) -> None:
    """There is no inbox for a name that the project has never seen; for `hub` there always is one."""
    assert refusal(acting().get("/agents/nobody/inbox")) == (404, "unknown_agent")
    assert done(acting().get("/agents/hub/inbox")) == {"letters": []}


# Tasks


@both_engines
def test_a_task_goes_its_way(web: Web) -> None:
    """A task is sent, accepted, started, reported on, completed; its reply is in the thread, each step in the log."""
    done(web.put(f"/agents/{NAME}/presence", {"instance": "x", "take": True}))
    sent = done(
        web.post("/tasks", {"text": "Sort it\nquickly", "to": NAME, "context": "c", "sender": "boss"})
    )
    task = sent["task"]
    assert task.items() >= {"number": 1, "title": "Sort it", "status": "delivered", "sender": "boss"}.items()
    me: Json = {"by": NAME, "epoch": task["epoch"]}
    assert done(web.post("/tasks/1/accept", me))["task"]["status"] == "accepted"
    assert done(web.post(f"/tasks/{task['id']}/start", me))["task"]["status"] == "working"
    done(web.post("/tasks/1/progress", {**me, "progress": 50, "output": "half"}))
    assert done(web.get(f"/agents/{NAME}"))["agent"]["output"] == "half"
    ended = done(web.post("/tasks/1/complete", {**me, "result": "sorted"}))
    assert ended["task"].items() >= {"status": "completed", "result": "sorted"}.items()
    whole = done(web.get("/tasks/1"))
    assert [(each["sender"], each["body"]) for each in whole["messages"]] == [(NAME, "sorted")]
    steps = [each["kind"] for each in whole["activity"] if each["kind"].startswith("task.")]
    assert steps == ["task.completed", "task.progress", "task.started", "task.accepted", "task.sent"]
    assert done(web.get("/completions"))["completions"][0]["id"] == ended["completion_id"]


def test_a_long_result_is_kept_whole_by_its_completion(web: Web) -> None:
    """The task keeps the beginning of a long result, the completion everything, and the answer says so."""
    done(web.post("/tasks", {"text": "x", "to": NAME}))
    ended = done(web.post("/tasks/1/complete", {"by": NAME, "result": "y" * 5_000}))
    assert (ended["truncated"], len(ended["task"]["result"])) == (True, 4_000)
    assert len(done(web.get("/completions"))["completions"][0]["result"]) == 5_000


@both_engines
def test_a_free_task_is_claimed_by_one(web: Web) -> None:
    """A task without a receiver waits in the open queue until somebody accepts it; then it is theirs alone."""
    done(web.post("/tasks", {"text": "for anyone"}))
    claimed = done(web.post("/tasks/1/accept", {"by": "a"}))["task"]
    assert (claimed["assignee"], claimed["epoch"]) == ("a", 2)
    assert refusal(web.post("/tasks/1/accept", {"by": "b"})) == (409, "not_holder")
    assert refusal(web.post("/tasks/1/complete", {"by": "b", "result": "mine"})) == (409, "not_holder")
    assert refusal(web.post("/tasks/1/fail", {"by": "b", "reason": "mine"})) == (409, "not_holder")
    assert refusal(web.post("/tasks/1/progress", {"by": "b", "progress": 1})) == (409, "not_holder")


@both_engines
def test_a_late_report_is_refused(web: Web) -> None:
    """After a task changed hands, what is said of its old epoch is a conflict and changes nothing."""
    old = done(web.post("/tasks", {"text": "x", "to": NAME}))["task"]
    done(web.post("/tasks/1/accept", {"by": NAME}))
    moved = done(web.post("/tasks/1/reassign", {"to": NAME}))["task"]
    assert moved["epoch"] > old["epoch"]
    assert moved["attempt"] == 2
    answer = web.post("/tasks/1/complete", {"by": NAME, "epoch": old["epoch"], "result": "late"})
    assert refusal(answer) == (409, "conflict")
    assert "changed hands" in answer.json()["message"]
    assert done(web.get("/tasks/1"))["task"]["status"] == "delivered"


@both_engines
def test_failing_cancelling_and_retrying(web: Web) -> None:
    """A task fails with its reason, is tried again, and is cancelled; each where its status allows it."""
    done(web.post("/tasks", {"text": "x", "to": NAME, "ttl_seconds": 60}))
    failed = done(web.post("/tasks/1/fail", {"by": NAME, "reason": "no disk"}))["task"]
    assert (failed["status"], failed["result"]) == ("failed", "no disk")
    assert refusal(web.post("/tasks/1/cancel")) == (409, "invalid_transition")
    again = done(web.post("/tasks/1/retry", {"ttl_seconds": 30}))["task"]
    assert (again["status"], again["attempt"], again["expires_at"] - again["updated_at"]) == (
        "delivered",
        2,
        30_000,
    )
    cancelled = done(web.post("/tasks/1/cancel", {"reason": "changed my mind"}))["task"]
    assert (cancelled["status"], cancelled["result"]) == ("cancelled", "changed my mind")
    assert refusal(web.post("/tasks/1/complete", {"by": NAME})) == (409, "invalid_transition")


@both_engines
def test_tasks_are_listed_newest_first(web: Web) -> None:
    """Tasks can be narrowed by status, assignee and sender, and read page by page."""
    for number in range(1, 6):
        to = NAME if number % 2 else None
        done(web.post("/tasks", {"text": f"t{number}", "to": to, "sender": "boss" if number > 3 else "hub"}))

    def numbers(**query: object) -> list[int]:
        return [each["number"] for each in done(web.get("/tasks", **query))["tasks"]]

    assert numbers() == [5, 4, 3, 2, 1]
    assert numbers(limit=2) == [5, 4]
    assert numbers(limit=2, before=4) == [3, 2]
    assert numbers(assignee=NAME) == [5, 3, 1]
    assert numbers(sender="boss") == [5, 4]
    assert numbers(status="queued") == [4, 2]
    assert numbers(status=["queued", "delivered"]) == [5, 4, 3, 2, 1]


def test_a_child_names_its_parent(web: Web) -> None:
    """A task may name its parent by id or number, which must exist."""
    parent = done(web.post("/tasks", {"text": "all"}))["task"]
    child = done(web.post("/tasks", {"text": "part", "parent_id": "1"}))["task"]
    assert child["parent_id"] == parent["id"]
    assert refusal(web.post("/tasks", {"text": "part", "parent_id": str(uuid4())})) == (404, "not_found")


def test_a_number_needs_a_project(web: Web) -> None:
    """A member of several projects must say in which a number counts; an id says so by itself."""
    task = done(web.post("/tasks", {"text": "x"}))["task"]
    done(web.post("/projects", {"slug": "other"}))
    assert refusal(web.get("/tasks/1")) == (400, "project_required")
    assert refusal(web.post("/tasks", {"text": "y"})) == (400, "project_required")
    assert done(web.get("/tasks/1", project="default"))["task"]["id"] == task["id"]
    assert done(web.get(f"/tasks/{task['id']}"))["task"]["number"] == 1
    assert refusal(web.get("/tasks/1", project="other")) == (404, "not_found")


@pytest.mark.parametrize("ref", ["2", "0", "99999999999999999999999999", "nonsense", "0" * 32, "²"])
def test_a_task_that_does_not_exist_is_not_found(acting: Acting, ref: str) -> None:
    """Whatever names no task is not found."""
    web = acting()
    assert refusal(web.get(f"/tasks/{ref}")) == (404, "not_found")
    assert refusal(web.post(f"/tasks/{ref}/accept", {"by": "a"})) == (404, "not_found")


def test_what_belongs_to_another_project_is_not_found(hub: Hub, acting: Acting) -> None:
    """A task of another project is as one that does not exist."""
    task = done(acting().post("/tasks", {"text": "secret"}))["task"]
    stranger = acting(secret=hub.token(project=hub.other_project()))
    assert refusal(stranger.get(f"/tasks/{task['id']}")) == (404, "not_found")
    assert refusal(stranger.post(f"/tasks/{task['id']}/cancel")) == (404, "not_found")
    assert refusal(stranger.get("/tasks", project="default")) == (404, "project_denied")


# Doing it once


@both_engines
def test_the_same_key_is_done_once(web: Web) -> None:
    """A write sent again with its `Idempotency-Key` is answered alike and done once; another write is a conflict."""
    key = {"Idempotency-Key": "k"}
    first, again = (web.post("/tasks", {"text": "x", "to": NAME}, **key) for _ in range(2))
    assert (first.status_code, first.json()) == (again.status_code, again.json())
    assert len(done(web.get("/tasks"))["tasks"]) == 1
    assert refusal(web.post("/tasks", {"text": "y", "to": NAME}, **key)) == (409, "conflict")
    assert refusal(web.post("/tasks", {"text": "x"}, **{"Idempotency-Key": "k" * 257})) == (400, "invalid")


@both_engines
def test_a_step_is_done_once(web: Web) -> None:
    """A report that is sent again with its key gets its first answer, though the task has ended since."""
    done(web.post("/tasks", {"text": "x", "to": NAME}))
    answers = [
        web.post("/tasks/1/complete", {"by": NAME, "result": "r"}, **{"Idempotency-Key": "k"})
        for _ in range(2)
    ]
    assert done(answers[0]) == done(answers[1])
    assert len(done(web.get("/completions"))["completions"]) == 1


def test_a_secret_is_told_once(web: Web) -> None:
    """A token asked for again with its key is not made again, and its secret, which is not kept, not told again."""
    key = {"Idempotency-Key": "k"}
    done(web.post("/tokens", {"agent": NAME}, **key))
    before = len(done(web.get("/tokens"))["tokens"])
    assert refusal(web.post("/tokens", {"agent": NAME}, **key)) == (409, "conflict")
    assert len(done(web.get("/tokens"))["tokens"]) == before


# Messages, broadcasts, the log, the whole


def test_messages_are_sent_answered_and_listed(web: Web) -> None:
    """A message reaches the inbox, an answer links to what it answers, and the history is newest first."""
    first = done(web.post("/messages", {"to": NAME, "text": "hello", "sender": "boss"}))["message"]
    reply = {"to": "boss", "text": "hi", "sender": NAME, "in_reply_to": first["id"]}
    second = done(web.post("/messages", reply))["message"]
    assert (first["kind"], second["kind"], second["in_reply_to"]) == ("message", "reply", first["id"])
    assert [each["number"] for each in done(web.get("/messages"))["messages"]] == [2, 1]
    assert [each["number"] for each in done(web.get("/messages", before=2))["messages"]] == [1]
    assert refusal(web.post("/messages", {**reply, "in_reply_to": str(uuid4())})) == (404, "not_found")
    assert refusal(web.post("/messages", {"to": "nobody", "text": "x"})) == (404, "unknown_agent")


def test_a_broadcast_reaches_who_is_there(web: Web) -> None:
    """A broadcast, or a message, goes to all that are there, or in the condition or on the server named; not back."""
    for name, server in (("a", "s1"), ("b", "s2"), ("boss", "s1")):
        done(web.put(f"/agents/{name}/presence", {"instance": "x", "take": True, "server": server}))
    done(web.put("/agents/b/presence", {"instance": "x", "condition": "working"}))

    def reached(**narrowed: str) -> list[str]:
        sent = done(web.post("/broadcasts", {"text": "all", "sender": "boss", **narrowed}))
        return list(sent["recipients"])

    assert reached() == ["a", "b"]
    assert reached(server="s1") == ["a"]
    assert reached(condition="working") == ["b"]
    assert reached(condition="offline") == []
    assert done(web.post("/broadcasts", {"text": "read this"}))["message"]["kind"] == "broadcast"
    assert (
        done(web.post("/broadcasts", {"text": "read this", "kind": "message"}))["message"]["kind"]
        == "message"
    )
    assert refusal(web.post("/broadcasts", {"text": "read this", "kind": "task"})) == (400, "invalid")


@both_engines
def test_activity_is_read_both_ways(web: Web) -> None:
    """The log is read newest first before an id, oldest first after one, and narrowed to an agent or a task."""
    done(web.post("/tasks", {"text": "x", "to": NAME}))
    done(web.post("/tasks", {"text": "y", "to": NAME}))

    def ids(**query: object) -> list[int]:
        return [each["id"] for each in done(web.get("/activity", **query))["activity"]]

    everything = ids()
    assert everything == sorted(everything, reverse=True)
    assert ids(after=0) == sorted(everything)
    assert ids(before=everything[0], limit=1) == [everything[1]]
    assert ids(after=everything[1]) == [everything[0]]
    assert ids(after=10**15) == ids(before=1) == []
    assert ids(task="2") == [everything[0]]
    assert set(ids(agent=NAME)) < set(everything)
    assert refusal(web.get("/activity", after=1, before=2)) == (400, "invalid")


@both_engines
def test_status_counts(web: Web) -> None:
    """`/status` counts tasks by status, agents by condition, and the activities of the log, which is kept for ever."""
    done(web.post("/tasks", {"text": "x", "to": NAME}))
    done(web.post("/tasks", {"text": "y"}))
    done(web.put("/agents/a/presence", {"instance": "x", "take": True}))
    counts = done(web.get("/status"))
    assert {name: count for name, count in counts["tasks"].items() if count} == {"queued": 1, "delivered": 1}
    assert {name: count for name, count in counts["agents"].items() if count} == {"idle": 1, "offline": 1}
    told = done(web.get("/activity", limit=500))["activity"]
    assert counts["log"] == {"activities": len(told), "keep_days": None}


def test_a_backup_is_a_whole_database(hub: Hub, acting: Acting, tmp_path: Path) -> None:
    """The owner of the hub gets a copy of the SQLite database that is sound; nothing of it stays behind."""
    hub.meet(NAME)
    copy = tmp_path / "copy.db"
    copy.write_bytes(acting(secret=hub.owner_secret).get("/backup").content)
    with sqlite3.connect(copy) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert db.execute("SELECT name FROM agents").fetchall() == [(NAME,)]
    assert not list(hub.served.settings.data.glob(".backup*"))
    assert refusal(acting().get("/backup")) == (403, "forbidden")


@pytest.mark.parametrize("hub", ["postgres"], indirect=True)
def test_postgres_is_backed_up_elsewhere(hub: Hub, visit: Visit) -> None:
    """On PostgreSQL the answer names the tool that makes backups there."""
    answer = visit(hub, hub.owner_secret).get("/backup")
    assert refusal(answer) == (409, "conflict")
    assert "pg_dump" in answer.json()["message"]


# Who may, and what may be said


def test_viewers_only_look(hub: Hub, acting: Acting) -> None:
    """A viewer reads everything that is not private, and changes nothing."""
    hub.meet("a")
    done(acting().post("/tasks", {"text": "x", "to": "a"}))
    viewer = acting(role=Role.VIEWER)
    for path in (
        "/agents",
        "/agents/a",
        "/tasks",
        "/tasks/1",
        "/messages",
        "/completions",
        "/activity",
        "/status",
    ):
        done(viewer.get(path))
    writes: list[tuple[str, Json]] = [
        ("/tasks", {"text": "x"}),
        ("/tasks/1/accept", {"by": "a"}),
        ("/tasks/1/complete", {"by": "a"}),
        ("/tasks/1/cancel", {}),
        ("/tasks/1/progress", {"by": "a"}),
        ("/messages", {"to": "a", "text": "x"}),
        ("/broadcasts", {"text": "x"}),
        ("/tokens", {}),
        ("/users/invites", {}),
    ]
    for path, body in writes:
        assert refusal(viewer.post(path, body)) == (403, "forbidden"), path
    assert refusal(viewer.put("/agents/a/presence", {"instance": "x", "take": True})) == (403, "forbidden")
    assert done(acting().get("/tasks/1"))["task"]["status"] == "delivered"


def test_a_bound_token_acts_as_its_agent_only(acting: Acting) -> None:
    """A token bound to an agent speaks by that name; another name is refused."""
    web = acting("a")
    assert done(web.post("/tasks", {"text": "x", "to": "a"}))["task"]["sender"] == "a"
    assert refusal(web.post("/tasks", {"text": "x", "sender": "b"})) == (403, "wrong_identity")
    assert refusal(web.post("/tasks/1/accept", {"by": "b"})) == (403, "wrong_identity")
    assert refusal(web.put("/agents/b/presence", {"instance": "x", "take": True})) == (403, "wrong_identity")


WRONG: list[tuple[str, str, Json]] = [
    ("text is missing", "/tasks", {}),
    ("text is empty", "/tasks", {"text": "  "}),
    ("text is no text", "/tasks", {"text": 5}),
    ("text is too long", "/tasks", {"text": "x" * 65_537}),
    ("text holds NUL", "/tasks", {"text": "a\0b"}),
    ("title is too long", "/tasks", {"text": "x", "title": "t" * 201}),
    ("to is too long", "/tasks", {"text": "x", "to": "t" * 201}),
    ("priority is unknown", "/tasks", {"text": "x", "priority": "urgent"}),
    ("priority is a number", "/tasks", {"text": "x", "priority": 1}),
    ("ttl is zero", "/tasks", {"text": "x", "ttl_seconds": 0}),
    ("ttl is text", "/tasks", {"text": "x", "ttl_seconds": "60"}),
    ("ttl is endless", "/tasks", {"text": "x", "ttl_seconds": 1e300}),
    ("role is unknown", "/tokens", {"role": "king"}),
    ("token has expired", "/tokens", {"expires_seconds": -1}),
    ("agent holds NUL", "/tokens", {"agent": "a\0"}),
    ("condition is unknown", "/broadcasts", {"text": "x", "condition": "asleep"}),
    ("interval is too long", "/projects", {"slug": "s", "heartbeat_interval": 10**30}),
    ("interval is text", "/projects", {"slug": "s", "heartbeat_interval": "60"}),
    ("epoch is text", "/tasks/1/accept", {"by": "a", "epoch": "1"}),
    ("progress is beyond", "/tasks/1/progress", {"by": "a", "progress": 101}),
]


@pytest.mark.parametrize(("path", "body"), [each[1:] for each in WRONG], ids=[each[0] for each in WRONG])
def test_a_value_that_is_not_allowed_is_invalid(hub: Hub, acting: Acting, path: str, body: Json) -> None:
    """A wrong value is a 400 with one sentence that does not repeat the value, and nothing is done."""
    web = acting(secret=hub.owner_secret)
    done(web.post("/tasks", {"text": "first"}))
    before = done(web.get("/activity"))
    assert refusal(web.post(path, body)) == (400, "invalid")
    assert done(web.get("/activity")) == before


def test_values_at_their_limits_are_taken(acting: Acting) -> None:
    """The longest text, title and name are taken, and null is a member left out."""
    body = {
        "text": "x" * 65_536,
        "title": "t" * 200,
        "sender": "s" * 64,
        "context": None,
    }
    task = done(acting().post("/tasks", body))["task"]
    assert (len(task["description"]), len(task["title"]), len(task["sender"])) == (65_536, 200, 64)


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=501", "limit=x", "before=0", f"before={2**62 + 1}", "status=asleep", "assignee=%00"],
)
def test_a_query_that_is_not_allowed_is_invalid(acting: Acting, query: str) -> None:
    """A wrong value in a query is a 400 too, never clamped."""
    assert refusal(acting().get(f"/tasks?{query}")) == (400, "invalid")


@pytest.mark.parametrize(
    ("path", "body", "sentence"),
    [
        (
            "/tasks",
            {"text": "x", "assignee": "ann"},
            "assignee: this call has no such member; did you mean to?",
        ),
        ("/tasks/1/complete", {"reslt": "done"}, "reslt: this call has no such member; did you mean result?"),
        ("/messages", {"to": NAME, "body": "x"}, "body: this call has no such member; did you mean text?"),
        ("/tasks?projct=a", {"text": "x"}, "projct: this call has no such parameter; did you mean project?"),
        (
            "/tasks",
            {"text": "x", "colour": 1},
            "colour: this call has no such member; its members are text, ",
        ),
    ],
)
def test_a_call_with_an_unknown_member_does_nothing(
    acting: Acting, hub: Hub, path: str, body: Json, sentence: str
) -> None:
    """Nothing is lost without a word: a member that the call does not have is refused, with the one that was meant."""
    web = acting(secret=hub.owner_secret)
    done(web.post("/tasks", {"text": "first"}))
    before = done(web.get("/activity"))
    answer = web.post(path, body)
    assert refusal(answer) == (400, "invalid")
    assert answer.json()["message"].startswith(sentence)
    assert done(web.get("/activity")) == before


def test_a_call_without_its_body_says_what_to_send(acting: Acting) -> None:
    """A write without a body is refused by a sentence about bodies."""
    answer = acting().send("POST", "/tasks", b"")
    assert refusal(answer) == (400, "invalid")
    assert answer.json()["message"] == (
        "the body is missing: send a JSON object, as application/json; {} if it has no members"
    )


def test_an_unknown_filter_is_refused(acting: Acting) -> None:
    """A filter that the hub does not have is not left out, which would list everything."""
    answer = acting().get("/tasks?state=running&colour=blue")
    assert refusal(answer) == (400, "invalid")
    first, second = answer.json()["message"].split("; colour: ")
    assert first == "state: this call has no such parameter; did you mean status?"
    assert second.startswith("this call has no such parameter; its parameters are status, ended, assignee, ")


def test_a_refusal_repeats_no_more_than_a_name(acting: Acting) -> None:
    """A name that is not found is in the sentence, cut where it is longer than any name."""
    web, name = acting(), "n" * 3_000
    for answer in (web.get(f"/agents/{name}"), web.get("/tasks", project=name), web.get(f"/tasks/{name}")):
        assert answer.status_code == 404
        assert len(answer.json()["message"]) < 300
    assert re.fullmatch(
        r"nothing here is called 'n{99}n*… \(\d+ characters more\)'",
        web.get(f"/why/{name}").json()["message"],
    )


BODIES = {
    "no JSON": b"{",
    "not an object": b"[]",
    "a number": b"7",
    "nothing": b"",
    "broken UTF-8": b'{"text": "\xff\xfe"}',
    "half a surrogate pair": b'{"text": "\\ud800"}',
    "deep": b"[" * 200_000,
    "deep objects": b'{"text":' * 10_000,
    "not a number": b'{"text": "x", "ttl_seconds": NaN}',
    "a huge number": b'{"text": "x", "ttl_seconds": 1e999}',
    "a huge whole number": b'{"text": "x", "ttl_seconds": ' + b"9" * 5_000 + b"}",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_a_body_that_is_not_json_is_invalid(acting: Acting, body: bytes) -> None:
    """Whatever is sent as a body, the answer is a 400 with one sentence."""
    status, code = refusal(acting().send("POST", "/tasks", body))
    assert (status, code in ("invalid", "bad_request")) == (400, True)


def test_a_body_that_is_too_large_is_refused(acting: Acting) -> None:
    """A body of more than 1 MiB is a 413."""
    assert refusal(acting().send("POST", "/tasks", b" " * (1024 * 1024 + 1))) == (413, "too_large")


def test_other_paths_and_methods(hub: Hub, visit: Visit, acting: Acting) -> None:
    """An unknown path is a JSON 404, a wrong method a JSON 405, and without a token all are 401."""
    web = acting()
    assert refusal(web.get("/nothing")) == (404, "not_found")
    assert refusal(web.delete("/tasks")) == (405, "method_not_allowed")
    assert refusal(visit(hub).get("/tasks")) == (401, "unauthorized")


def test_the_interface_says_what_is_refused(hub: Hub, acting: Acting) -> None:
    """A value that keeps to the description of a key, a slug and a password is not refused for its form."""
    page = done(acting().get("/openapi.json"))
    bodies = {
        name: shape["properties"]
        for name, shape in page["components"]["schemas"].items()
        if "properties" in shape
    }
    keys = [
        each["schema"]
        for methods in page["paths"].values()
        for operation in methods.values()
        for each in operation.get("parameters", ())
        if each["name"] == "idempotency-key"
    ]

    assert keys
    assert {(each["minLength"], each["maxLength"]) for each in keys} == {(1, 256)}
    password = bodies["NewPassword"]["password"]
    assert (password["minLength"], password["maxLength"]) == (8, 1_000)
    assert bodies["NewTask"]["priority"]["default"] == "medium" in bodies["NewTask"]["priority"]["enum"]
    slug = re.compile(bodies["NewProject"]["slug"]["pattern"])
    web = acting(secret=hub.owner_secret)
    for given in ("a", "a-b", "0" * 64, "", "-a", "A", "a_b", "0" * 65):
        answer = web.post("/projects", {"slug": given})
        assert answer.is_success == bool(slug.search(given)), given


@pytest.mark.system
def test_the_words_of_the_interface_are_taken(hub: Hub, acting: Acting) -> None:
    """Every word that OpenAPI lists for a kind or a need is one that the call knows, and no other is."""
    page, web = done(acting().get("/openapi.json")), acting(secret=hub.owner_secret)

    for path in ("/activity", "/audit/entries"):
        (form,) = [
            each["schema"] for each in page["paths"][path]["get"]["parameters"] if each["name"] == "kind"
        ]
        words = form["anyOf"][0].get("items", form["anyOf"][0])["enum"]
        assert [
            word for word in words if not web.get(path, kind=word, project=hub.project.slug).is_success
        ] == []
        assert web.get(path, kind="no.such", project=hub.project.slug).status_code == 400
    needs = page["components"]["schemas"]["Needed"]["properties"]["need"]["enum"]
    path = f"/desk?project={hub.project.slug}"
    answers = {need: web.post(path, {"node": "box", "need": need}).text for need in HubRequest}
    assert {need for need, answer in answers.items() if "need: must be" not in answer} == {*needs}


@pytest.mark.system
@with_own_hub
def test_the_description_of_the_interface_is_made_once(
    acting: Acting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many ask for it at the same time, or later: making it takes a second."""
    made: list[FastAPI] = []
    make = FastAPI.openapi

    def counted(app: FastAPI) -> Json:
        made.append(app)
        return make(app)

    monkeypatch.setattr(FastAPI, "openapi", counted)
    web = acting()
    with ThreadPoolExecutor(4) as threads:
        pages = [done(each) for each in threads.map(lambda _: web.get("/openapi.json"), range(4))]
    assert all(page == pages[0] for page in pages)
    assert done(web.get("/openapi.json")) == pages[0]
    assert pages[0]["servers"] == [{"url": "/api/v1"}]
    assert len(made) == 1


def test_the_interface_describes_itself(acting: Acting) -> None:
    """OpenAPI lists every path, and says of every refusal what it looks like."""
    page = done(acting().get("/openapi.json"))
    operations = [each for methods in page["paths"].values() for each in methods.values()]
    assert all("HTTPBearer" in needed for each in operations for needed in each["security"])
    assert {"/me", "/projects", "/users", "/tokens", "/agents", "/tasks", "/messages"} <= page["paths"].keys()
    assert {"/runs", "/artifacts", "/artifacts/{artifact_id}", "/reviews"} <= page["paths"].keys()
    assert "/tasks/{ref}/complete" in page["paths"]
    for path, methods in page["paths"].items():
        for method, operation in methods.items():
            assert operation.keys() >= {"summary", "description"}, f"{method} {path}"
            assert "422" not in operation["responses"], f"{method} {path}"
            failure = operation["responses"]["4XX"]["content"]["application/json"]["schema"]
            assert failure == {"$ref": "#/components/schemas/Failure"}
