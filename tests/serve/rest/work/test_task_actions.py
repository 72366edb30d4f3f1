"""A person's actions on tasks, conversations and scopes over the REST interface, and their view of them."""

from collections.abc import Iterator

import pytest

from hubbub.core.agents import agents, scopes
from hubbub.core.mail import messages
from hubbub.core.mail.messages import Thread
from hubbub.core.work import tasks
from hubbub.model.agents.scopes import Scope
from hubbub.model.lifecycle import Event, Status
from hubbub.model.people.rights import Role
from tests.serve.served_hub import Hub, running_hub
from tests.serve.web_client import Json, Web, done, refusal


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    """One hub for all tests here, whose project knows two agents; each test has tasks of its own."""
    with running_hub(tmp_path_factory.mktemp("steering") / "hub") as running:
        for name in ("ann", "bob"):
            running.meet(name)
        yield running


@pytest.fixture(scope="module")
def person(hub: Hub) -> Iterator[Web]:
    web = Web(hub.url + "/api/v1", hub.owner_secret)
    yield web
    web.http.close()


def sent(person: Web, *steps: str, **fields: object) -> Json:
    """A task of bob's after these steps of his."""
    task: Json = done(person.post("/tasks", {"text": "count the lines", "to": "bob", **fields}))["task"]
    for step in steps:
        task = done(person.post(f"/tasks/{task['id']}/{step}", {"by": "bob"}))["task"]
    return task


def hand_in(hub: Hub, task: Json) -> None:
    """Hand in a task as bob, with the tools of a dialect."""
    hub.do(lambda tx: tasks.step(tx, tasks.find(tx, [hub.project.id], task["id"]), Event.SUBMIT, actor="bob"))


def letters(person: Web, name: str = "bob") -> list[str]:
    return [each["text"] for each in done(person.get(f"/agents/{name}/inbox?limit=500"))["letters"]]


def log(person: Web, task: Json) -> list[tuple[str, str]]:
    """Return the events of a task and their actors, newest first."""
    shown = done(person.get(f"/tasks/{task['id']}"))["activity"]
    return [(each["kind"], each["actor"]) for each in shown]


def test_a_person_completes_a_task(person: Web) -> None:
    """A person's completion is theirs in the log; it is no completion of the agent's, who hears of it."""
    task = sent(person, "accept", "start")
    told = done(person.post(f"/tasks/{task['number']}/complete", {"result": "x" * 5_000}))
    assert (told["task"]["status"], told["completion_id"], told["truncated"]) == ("completed", None, True)
    assert ("task.completed", "owner") in log(person, task)
    assert any(text.startswith(f"owner completed T-{task['number']}") for text in letters(person))


def test_a_person_says_yes_for_nobody(person: Web) -> None:
    """Another's task is theirs to accept and to begin; a free task is had by somebody with a name."""
    task = sent(person)
    for step in ("accept", "start"):
        assert refusal(person.post(f"/tasks/{task['id']}/{step}")) == (409, "not_holder")
    assert [kind for kind, _actor in log(person, task)] == ["task.sent"]
    assert task["title"] in letters(person)
    free = person.post(f"/tasks/{sent(person, to=None)['id']}/accept")
    assert refusal(free) == (409, "unavailable")
    assert free.json()["message"] == "the task cannot be claimed: it is free; say who claims it"


@pytest.mark.parametrize("step", ["accept", "start"])
def test_who_gets_on_with_a_task_has_read_it(person: Web, step: str) -> None:
    """A task that its agent accepts, or begins at once, is in its inbox no more."""
    text = f"read by {step}"
    task = done(person.post("/tasks", {"text": text, "to": "ann"}))["task"]
    assert text in letters(person, "ann")
    done(person.post(f"/tasks/{task['id']}/{step}", {"by": "ann"}))
    assert text not in letters(person, "ann")


def test_a_person_blocks_unblocks_and_releases(person: Web) -> None:
    """Each step answers with the task as it is now; what has no reason is refused."""
    task = sent(person, "accept", "start")
    path = f"/tasks/{task['id']}"
    assert refusal(person.post(f"{path}/block", {})) == (400, "invalid")
    assert done(person.post(f"{path}/block", {"reason": "no disk"}))["task"]["status"] == "blocked"
    assert done(person.post(f"{path}/unblock"))["task"]["status"] == "working"
    assert refusal(person.post(f"{path}/unblock")) == (409, "invalid_transition")
    assert refusal(person.post(f"{path}/release", {"reason": " "})) == (400, "invalid")
    released = done(person.post(f"{path}/release", {"reason": "bob sleeps"}))["task"]
    assert (released["status"], released["assignee"]) == ("queued", None)
    assert ("task.released", "owner") in log(person, task)


def test_work_in_review_is_sent_back_and_approved(hub: Hub, person: Web) -> None:
    """A person asks for changes, and approves; the comment is in the task's thread."""
    task = sent(person, "accept", "start")
    path = f"/tasks/{task['id']}"
    assert refusal(person.post(f"{path}/approve")) == (409, "invalid_transition")
    hand_in(hub, task)
    assert refusal(person.post(f"{path}/request-changes", {})) == (400, "invalid")
    again = done(person.post(f"{path}/request-changes", {"comment": "the empty ones too"}))["task"]
    assert (again["status"], again["assignee"]) == ("working", "bob")
    hand_in(hub, task)
    approved = done(person.post(f"{path}/approve", {"comment": "good"}))["task"]
    assert approved["status"] == "completed"
    said = [each["body"] for each in done(person.get(path))["messages"]]
    assert [text.rpartition(": ")[2] for text in said] == ["the empty ones too", "good"]


def test_a_description_is_changed_and_commented(person: Web) -> None:
    """A description can be another; a comment reaches whoever has the task, and shows its author."""
    task = sent(person)
    path = f"/tasks/{task['id']}"
    changed = done(person.put(f"{path}/description", {"text": "count the words"}))["task"]
    assert (changed["description"], changed["title"]) == ("count the words", "count the lines")
    said = done(person.post(f"{path}/comments", {"text": "any news?"}))["message"]
    assert (said["recipient"], said["author"], said["in_reply_to"]) == ("bob", "owner", task["id"])
    free = sent(person, to=None)
    assert done(person.post(f"/tasks/{free['id']}/comments", {"text": "who?"}))["message"] is None


def test_whoever_works_hears_of_the_end(person: Web) -> None:
    """An agent whose task is cancelled, failed or given away is told so by the person's name; else nothing is."""
    for step, body, words in (
        ("cancel", {"reason": "not needed"}, "owner cancelled"),
        ("fail", {"reason": "too hard"}, "owner gave up"),
        ("reassign", {"to": "ann"}, "owner gave ann"),
    ):
        task = sent(person, "accept", "start")
        done(person.post(f"/tasks/{task['id']}/{step}", body))
        assert any(text.startswith(f"{words} T-{task['number']}") for text in letters(person))
    unread = sent(person)
    done(person.post(f"/tasks/{unread['id']}/cancel", {"reason": "x"}))
    assert not any(f"T-{unread['number']} " in text for text in letters(person))


def test_a_task_is_shown_whole(person: Web) -> None:
    """A task is shown with its thread, each message with its deliveries, what it needs, and what was made for it."""
    need = sent(person)
    parent = sent(person)
    task = sent(person, depends_on=[need["id"]], parent_id=parent["id"])
    done(person.post(f"/tasks/{need['id']}/comments", {"text": "hurry"}))
    done(person.post("/artifacts", {"name": "plan", "content": "…", "task": str(need["number"])}))
    whole = done(person.get(f"/tasks/{need['number']}"))
    assert [each["number"] for each in whole["needed_by"]] == [task["number"]]
    assert [each["name"] for each in whole["artifacts"]] == ["plan"]
    assert [each["recipient"] for each in whole["deliveries"]] == ["bob"]
    (message,) = whole["messages"]
    assert [each["recipient"] for each in message["deliveries"]] == ["bob"]
    assert [message["deliveries"][0][name] for name in ("seen_at", "acked_at")] == [None, None]
    shown = done(person.get(f"/tasks/{task['number']}"))
    assert [each["id"] for each in shown["needs"]] == [need["id"]]
    above = done(person.get(f"/tasks/{parent['number']}"))
    assert [(each["number"], each["status"]) for each in above["children"]] == [(task["number"], "queued")]


def test_texts_come_as_html_where_that_is_asked_for(person: Web) -> None:
    """With `render=html` each text of agents comes as HTML too, and only then."""
    task = sent(person, text="make it **fast** <script>alert(1)</script>", title="x", context="see #1")
    done(person.post(f"/tasks/{task['id']}/comments", {"text": "[x](javascript:alert(1))"}))
    plain = done(person.get(f"/tasks/{task['id']}"))
    assert (plain["task"]["description_html"], plain["messages"][0]["body_html"]) == (None, None)
    whole = done(person.get(f"/tasks/{task['id']}", render="html"))
    assert "<strong>fast</strong> &lt;script&gt;" in whole["task"]["description_html"]
    assert 'href="/t/1"' in whole["task"]["context_html"]
    assert whole["task"]["result_html"] is None
    assert "<a" not in whole["messages"][0]["body_html"]
    assert refusal(person.get(f"/tasks/{task['id']}", render="pdf")) == (400, "invalid")


def test_tasks_are_found_by_their_words(person: Web) -> None:
    """`q` finds tasks by words of title and description, or by number, page by page."""
    first = sent(person, text="the purple parser")
    second = sent(person, text="another PURPLE thing")
    found = done(person.get("/tasks", q="purple"))["tasks"]
    assert [each["number"] for each in found] == [second["number"], first["number"]]
    page = done(person.get("/tasks", q="purple", limit=1, before=second["number"]))["tasks"]
    assert [each["number"] for each in page] == [first["number"]]
    by_number = done(person.get("/tasks", q=f"T-{first['number']}"))["tasks"]
    assert [each["id"] for each in by_number] == [first["id"]]


def test_conversations_are_listed_and_read(hub: Hub, person: Web) -> None:
    """A message begins a conversation; a reply without `to` goes to the other end; reading acknowledges nothing."""
    asked = done(person.post("/messages", {"to": "ann", "text": "how are *you*?"}))["message"]
    answer = {"sender": "ann", "text": "fine", "in_reply_to": asked["id"]}
    answered = done(person.post("/messages", answer))["message"]
    assert (answered["recipient"], answered["addressee"]) == ("hub", "owner")
    more = done(person.post("/messages", {"text": "good", "in_reply_to": asked["id"]}))["message"]
    assert (more["recipient"], more["author"]) == ("ann", "owner")
    thread = done(person.get("/threads", limit=1))["threads"][0]
    assert (thread["id"], thread["title"], thread["count"]) == (asked["id"], "how are *you*?", 3)
    assert (thread["kind"], thread["participants"], thread["unread_by"]) == (
        "message",
        ["ann", "owner"],
        ["ann", "hub"],
    )
    shown = done(person.get(f"/threads/{more['id']}", render="html", limit=2))
    assert shown["earlier"] is True
    assert [each["body"] for each in shown["messages"]] == ["fine", "good"]
    first = done(person.get(f"/threads/{asked['id']}", before=shown["messages"][0]["number"], render="html"))
    assert first["earlier"] is False
    assert first["messages"][0]["body_html"] == "<p>how are <em>you</em>?</p>\n"
    assert done(person.get("/threads", limit=1))["threads"][0]["unread_by"] == ["ann", "hub"]


def test_conversations_go_on_page_by_page(person: Web) -> None:
    """`next` is the number with which the following page begins, and null at the end; each is on one page."""
    for number in range(3):
        done(person.post("/messages", {"to": "ann", "text": f"page {number}"}))
    seen: list[str] = []
    before: dict[str, int] = {}
    while True:
        page = done(person.get("/threads", limit=2, **before))
        seen += [each["id"] for each in page["threads"]]
        if page["next"] is None:
            break
        before = {"before": page["next"]}
    assert len(seen) == len(set(seen)) > 2
    assert refusal(person.get("/threads/nonsense")) == (404, "not_found")


def test_a_conversation_may_have_any_name(hub: Hub, person: Web) -> None:
    """A name that agents gave a conversation finds it, whatever is in it; a person may write there too."""
    name = "plan/2 %20?ü"
    hub.do(
        lambda tx: messages.send(
            tx, hub.project.id, sender="ann", to="bob", body="begin", thread=Thread(name=name)
        )
    )
    done(person.post("/messages", {"to": "bob", "text": "go on", "thread": name}))
    listed = done(person.get("/threads", limit=1))["threads"][0]
    assert (listed["id"], listed["kind"], listed["count"]) == (name, None, 2)
    shown = done(person.get("/threads/plan%2F2%20%2520%3F%C3%BC"))
    assert [each["thread"] for each in shown["messages"]] == [name, name]


@pytest.mark.parametrize("body", [{"text": "x"}, {"text": "x", "in_reply_to": "nonsense"}])
def test_a_message_needs_a_receiver(person: Web, body: Json) -> None:
    """A message that is no reply has to say to whom it is, and a reply what it answers."""
    assert refusal(person.post("/messages", body)) in {(400, "invalid"), (404, "not_found")}


def test_what_an_agent_declared_is_released(hub: Hub, person: Web) -> None:
    """A person frees files; agents and viewers do not; what is not declared is a conflict."""
    present = done(person.put("/agents/ann/presence", {"instance": "x", "take": True}))["presence"]
    assert present["files"] is None
    assert refusal(person.post("/agents/ann/release-scope", {"reason": "tidy"})) == (409, "conflict")

    ann = hub.do(lambda tx: agents.presence(tx, hub.project.id, "ann"))
    hub.do(lambda tx: scopes.declare(tx, hub.project, ann, Scope.of(None, ["src/a.py"])))
    agent = Web(hub.url + "/api/v1", hub.token(role=Role.ADMIN))
    assert refusal(agent.post("/agents/ann/release-scope", {"reason": "mine"})) == (403, "forbidden")
    agent.http.close()
    freed = done(person.post("/agents/ann/release-scope", {"reason": "bob needs it"}))
    assert freed == {"agent": "ann", "area": None, "files": ["src/a.py"]}
    assert done(person.get("/scopes"))["scopes"] == []
    assert any("owner released" in text and "bob needs it" in text for text in letters(person, "ann"))


def test_how_an_agent_hears_of_letters(hub: Hub, person: Web) -> None:
    """An agent follows its inbox, is run by `hubbub work`, or hears nothing by itself; and when it last heard."""

    def wake(name: str) -> Json:
        told: Json = done(person.get(f"/agents/{name}"))["agent"]["wake"]
        return told

    hub.meet("cat")
    assert wake("cat") == {
        "method": "none",
        "wake": "none",
        "likely_seen": False,
        "note": "It is offline: it sees this when it starts.",
        "last": None,
        "last_wake": None,
    }
    done(person.put("/agents/cat/presence", {"instance": "w", "take": True, "runtime": "work"}))
    assert wake("cat")["method"] == "worker"
    with person.http.stream("GET", hub.url + "/events/cat") as stream:
        lines = stream.iter_lines()
        assert next(lines)
        assert wake("cat")["method"] == "stream"
        listed = {each["name"]: each["wake"] for each in done(person.get("/agents"))["agents"]}
        assert listed["cat"]["method"] == "stream"
    cat = Web(hub.url + "/api/v1", hub.token("cat"))
    done(person.post("/messages", {"to": "cat", "text": "hello"}))
    (letter,) = done(cat.get("/agents/cat/inbox"))["letters"]
    assert wake("cat")["last"]["kind"] == "seen"
    done(cat.post(f"/agents/cat/inbox/{letter['id']}/ack"))
    cat.http.close()
    last = wake("cat")["last"]
    assert (last["kind"], last["after_ms"]) == ("acked", last["at"] - letter["stored_at"])


def test_a_viewer_steers_nothing(hub: Hub, person: Web) -> None:
    """A viewer sees all of it and changes nothing."""
    task = sent(person, "accept", "start")
    viewer = Web(hub.url + "/api/v1", hub.token(role=Role.VIEWER))
    done(viewer.get(f"/tasks/{task['id']}", render="html"))
    done(viewer.get("/threads"))
    path = f"/tasks/{task['id']}"
    for answer in (
        viewer.post(f"{path}/complete", {"result": "x"}),
        viewer.post(f"{path}/block", {"reason": "x"}),
        viewer.post(f"{path}/unblock"),
        viewer.post(f"{path}/approve"),
        viewer.post(f"{path}/request-changes", {"comment": "x"}),
        viewer.post(f"{path}/release", {"reason": "x"}),
        viewer.post(f"{path}/comments", {"text": "x"}),
        viewer.put(f"{path}/description", {"text": "x"}),
    ):
        assert refusal(answer) == (403, "forbidden")
    viewer.http.close()
    assert done(person.get(path))["task"]["status"] == "working"


PATHS = {"comment": "comments", "describe": "description"}  # of the verbs whose path has another word
BODIES = {
    "approve": {}, "request-changes": {"comment": "tests?"}, "unblock": {}, "retry": {}, "reassign": {"to": "ann"},
    "cancel": {}, "release": {"reason": "on leave"}, "complete": {}, "comment": {"text": "hello"},
    "describe": {"text": "count the words"},
}  # fmt: skip


def brought(hub: Hub, person: Web, status: Status) -> Json:
    """A task of bob's that has come to be so."""
    task = sent(person, to=None) if status is Status.QUEUED else sent(person)
    for event in WAYS[status]:
        hub.do(lambda tx, event=event: tasks.step(tx, tasks.find(tx, [hub.project.id], task["id"]), event))
    return task


E = Event
WAYS: dict[Status, tuple[Event, ...]] = {
    Status.QUEUED: (), Status.DELIVERED: (), Status.ACCEPTED: (E.ACCEPT,), Status.WORKING: (E.START,),
    Status.BLOCKED: (E.ACCEPT, E.BLOCK), Status.IN_REVIEW: (E.START, E.SUBMIT), Status.COMPLETED: (E.COMPLETE,),
    Status.FAILED: (E.FAIL,), Status.CANCELLED: (E.CANCEL,), Status.EXPIRED: (E.EXPIRE,),
}  # fmt: skip


@pytest.mark.parametrize("status", Status)
def test_what_may_be_done_is_done_and_nothing_else(hub: Hub, person: Web, status: Status) -> None:
    """Every verb that a task offers people is done, and every other one is refused, but new words for what is done."""
    for verb, body in BODIES.items():
        task = done(person.get(f"/tasks/{brought(hub, person, status)['id']}"))["task"]
        assert task["status"] == status
        path = f"/tasks/{task['id']}/{PATHS.get(verb, verb)}"
        answer = person.put(path, body) if verb == "describe" else person.post(path, body)
        is_late = verb == "describe" and status is Status.COMPLETED
        assert (verb, answer.is_success) == (verb, verb in task["may"] or is_late)
    assert set(task["may"]) <= BODIES.keys()


def test_how_a_task_and_its_agent_stand_is_told(hub: Hub, person: Web) -> None:
    """A task and an agent tell their state and need as their cards do; the list of needs has both the need and card."""
    task = sent(person, "accept", "start")
    done(person.post(f"/tasks/{task['id']}/block", {"reason": "no key"}))
    whole = done(person.get(f"/tasks/{task['id']}"))["task"]
    (listed,) = [each for each in done(person.get("/needs"))["needs"] if each["key"] == task["id"]]
    card = done(person.get("/snapshot"))["picture"]["tasks"][task["id"]]
    assert (whole["state"], whole["need"]["kind"]) == ("blocked", "question")
    assert {name: whole[name] for name in ("state", "need", "may")} == {
        name: card[name] for name in ("state", "need", "may")
    }
    assert (listed["noun"], listed["card"]) == ("tasks", card)
    assert (listed["kind"], listed["since"]) == ("question", whole["updated_at"])
    bob = done(person.get("/agents/bob"))["agent"]
    assert bob["state"] == done(person.get("/snapshot"))["picture"]["agents"]["bob"]["state"]


def test_tasks_that_are_over_are_found_apart(person: Web) -> None:
    """A filter for ended tasks narrows the list as a status does, whichever way they ended."""
    over, going = sent(person), sent(person)
    done(person.post(f"/tasks/{over['id']}/cancel"))

    def found(ended: str) -> set[str]:
        return {each["id"] for each in done(person.get("/tasks", ended=ended, limit="500"))["tasks"]}

    assert (over["id"] in found("true"), over["id"] in found("false")) == (True, False)
    assert (going["id"] in found("true"), going["id"] in found("false")) == (False, True)


def test_tasks_are_found_and_counted_by_when_they_ended(person: Web) -> None:
    """A time finds the tasks that ended in it; the throughput of its hour counts them, and their wait is not known."""
    over, going = sent(person), sent(person)
    ended_at = done(person.post(f"/tasks/{over['id']}/cancel"))["task"]["ended_at"]

    def found(**time: int) -> set[str]:
        asked = {name: str(moment) for name, moment in time.items()}
        return {each["id"] for each in done(person.get("/tasks", **asked, limit="500"))["tasks"]}

    assert {over["id"], going["id"]} & found(ended_since=ended_at) == {over["id"]}
    assert over["id"] not in found(ended_before=ended_at)
    hour = {"since": str(ended_at), "until": str(ended_at + 1)}
    told = done(person.get("/throughput", **hour))
    (step,) = told["steps"]
    assert (told["since"], step["at"]) == (ended_at, ended_at - ended_at % 3_600_000)
    assert (step["ended"] >= 1, step["waited_ms"]) == (True, None)
    assert done(person.get("/throughput", step="day"))["until"] - ended_at < 86_400_000
    assert refusal(person.get("/throughput", step="minute")) == (400, "invalid")
