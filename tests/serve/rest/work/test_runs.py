"""The contents of a run, over the REST interface: dependent tasks, artifacts, reviews."""

from uuid import uuid4

import pytest

from hubbub.model.people.rights import Role
from tests.serve.conftest import both_engines
from tests.serve.dialect_apis.watchers import Team
from tests.serve.served_hub import Hub
from tests.serve.web_client import Json, Visit, Web, done, refusal

NAME = "代码1号"
LONGEST = 524_288  # characters of an artifact's content


@pytest.fixture
def web(hub: Hub, visit: Visit) -> Web:
    """An unbound token of a project that knows an agent."""
    hub.meet(NAME)
    return visit(hub, hub.token())


@pytest.fixture
def team(hub: Hub) -> Team:
    """Those who speak Relay in the same project."""
    return Team(hub, hub.token())


def new_task(web: Web, **more: object) -> Json:
    task: Json = done(web.post("/tasks", {"text": "work", **more}))["task"]
    return task


def post(web: Web, **more: object) -> Json:
    made = done(web.post("/artifacts", {"name": "spec", "content": "all of it", **more}))
    artifact: Json = made["artifact"]
    return artifact


# Tasks that depend on others


@both_engines
def test_a_task_waits_for_what_it_depends_on(web: Web) -> None:
    """Named by id or number, what must come first is kept in order; the task reaches its inbox when it is done."""
    first, second = new_task(web), new_task(web)
    held = new_task(web, to=NAME, depends_on=[str(second["number"]), first["id"], second["id"]])
    assert (held["status"], held["ready"]) == ("queued", False)
    assert held["depends_on"] == [second["id"], first["id"]]
    assert refusal(web.post(f"/tasks/{held['id']}/start", {"by": NAME})) == (409, "unavailable")

    for each in (first, second):
        done(web.post(f"/tasks/{each['id']}/start", {"by": NAME}))
        done(web.post(f"/tasks/{each['id']}/complete", {"by": NAME}))

    shown = done(web.get(f"/tasks/{held['id']}"))["task"]
    assert (shown["status"], shown["ready"]) == ("delivered", True)
    assert shown["depends_on"] == held["depends_on"]


def test_a_list_shows_what_tasks_depend_on(web: Web) -> None:
    """So does each task of a list; one that depends on nothing is ready."""
    first = new_task(web)
    new_task(web, depends_on=[first["id"]])
    listed = done(web.get("/tasks"))["tasks"]
    assert [(each["depends_on"], each["ready"]) for each in listed] == [([first["id"]], False), ([], True)]


def test_a_task_depends_on_tasks_of_its_project(hub: Hub, web: Web, visit: Visit) -> None:
    """A task that needs an unknown task, or one of another project, is not made."""
    other = visit(hub, hub.token(project=hub.other_project()))
    theirs = new_task(other)
    for ref in (theirs["id"], str(uuid4()), "7", "nonsense"):
        assert refusal(web.post("/tasks", {"text": "x", "depends_on": [ref]})) == (404, "not_found")
    assert refusal(web.post("/tasks", {"text": "x", "depends_on": ["1"] * 33})) == (400, "invalid")
    assert done(web.get("/tasks"))["tasks"] == []


def test_a_task_shows_its_place(web: Web, team: Team) -> None:
    """A task shows its run, how deep it lies below its ancestors, why, and what its maker calls it."""
    whole = new_task(web)
    part = new_task(web, parent_id=str(whole["number"]))
    assert (part["parent_id"], part["depth"], part["reason"]) == (whole["id"], 1, None)
    more = {"parent_task_id": whole["id"], "derived_reason": "too large", "idempotency_key": "k-1"}
    team.do("create_task", "lead", run=None, title="t", priority="low", **more)
    derived = done(web.get("/tasks/3"))["task"]
    assert (derived["depth"], derived["reason"], derived["external_id"]) == (1, "too large", "k-1")
    assert derived["run_id"] == whole["run_id"] == done(web.get("/runs"))["runs"][0]["id"]


# Runs


@both_engines
def test_runs_are_listed_newest_first(web: Web, team: Team) -> None:
    """A project has a run from its birth, nameless until it is named; the current one is marked."""
    (first,) = done(web.get("/runs"))["runs"]
    assert (first["name"], first["current"]) == (None, True)
    for name in ("one", "two", "one"):
        team.do("start_session", "lead", session_id=name)
    listed = done(web.get("/runs"))["runs"]
    assert [(each["name"], each["current"]) for each in listed] == [("two", False), ("one", True)]
    assert listed[1]["id"] == first["id"]


def test_runs_are_those_of_one_project(hub: Hub, visit: Visit) -> None:
    """A person of several projects has to name one."""
    hub.other_project()
    person = visit(hub, hub.owner_secret)
    assert refusal(person.get("/runs")) == (400, "project_required")
    assert len(done(person.get("/runs", project="elsewhere"))["runs"]) == 1


# Artifacts


def test_an_artifact_is_posted_listed_and_shown(web: Web, team: Team) -> None:
    """An artifact is listed without its content and shown with it; Relay's agents get it by its name."""
    made = post(web, by=NAME, kind="report", task="the parser")
    assert (made["creator"], made["kind"], made["task"], made["length"]) == (NAME, "report", "the parser", 9)
    assert done(web.get("/artifacts"))["artifacts"] == [made]
    assert done(web.get(f"/artifacts/{made['id']}")) == {"artifact": made, "content": "all of it"}
    theirs = team.do("get_artifact", "lead", name="spec")["artifact"]
    assert (theirs["id"], theirs["content"]) == (made["id"], "all of it")


@both_engines
def test_artifacts_are_paged(web: Web) -> None:
    """Pages of artifacts go on before a number, newest first, also where names repeat."""
    made = [post(web)["number"] for _ in range(5)]
    first = done(web.get("/artifacts", limit=2))["artifacts"]
    second = done(web.get("/artifacts", limit=2, before=first[-1]["number"]))["artifacts"]
    assert [each["number"] for each in (*first, *second)] == made[:0:-1]


def test_an_artifact_can_be_posted_in_a_run(web: Web, team: Team) -> None:
    """Without a run it belongs to the current one; a run that is not there is not made."""
    team.do("start_session", "lead", session_id="one")
    team.do("start_session", "lead", session_id="two")
    runs = {each["name"]: each["id"] for each in done(web.get("/runs"))["runs"]}
    assert post(web)["run_id"] == runs["two"]
    assert post(web, run="one")["run_id"] == runs["one"]
    assert refusal(web.post("/artifacts", {"name": "n", "content": "", "run": "x"})) == (404, "not_found")


@both_engines
def test_an_artifact_may_be_large(web: Web) -> None:
    """A content of 524,288 characters is kept whole, in whatever script; one more is refused."""
    content = "🦊" * LONGEST
    made = post(web, content=content)
    assert done(web.get(f"/artifacts/{made['id']}"))["content"] == content
    answer = web.post("/artifacts", {"name": "n", "content": "x" * (LONGEST + 1)})
    assert refusal(answer) == (400, "invalid")
    assert len(answer.text) < 200


def test_an_artifact_of_others_is_not_found(hub: Hub, web: Web, visit: Visit) -> None:
    """Artifacts of another project, and what is none, are not found."""
    other = visit(hub, hub.token(project=hub.other_project()))
    theirs = post(other)["id"]
    for ref in (theirs, str(uuid4()), "nonsense"):
        assert refusal(web.get(f"/artifacts/{ref}")) == (404, "not_found")
        assert refusal(web.post("/reviews", {"artifact": ref, "reviewer": NAME})) == (404, "not_found")


# Reviews


@both_engines
def test_a_review_is_asked_for_and_given_once(web: Web) -> None:
    """The reviewer is told by a message; the one verdict it gives is kept, and told to who asked."""
    web_post = done(web.post("/reviews", {"artifact": post(web)["id"], "reviewer": NAME, "by": "asker"}))
    review = web_post["review"]
    assert (review["requester"], review["reviewer"], review["verdict"]) == ("asker", NAME, None)
    assert review["id"] in done(web.get(f"/agents/{NAME}/inbox"))["letters"][0]["text"]

    verdict = {"verdict": "changes_requested", "comments": "too long", "by": NAME}
    given = done(web.post(f"/reviews/{review['id']}", verdict))["review"]

    assert (given["verdict"], given["comments"]) == ("changes_requested", "too long")
    assert given["submitted_at"] >= given["created_at"]
    assert "too long" in done(web.get("/agents/asker/inbox"))["letters"][0]["text"]
    assert refusal(web.post(f"/reviews/{review['id']}", verdict)) == (409, "conflict")
    assert done(web.get("/reviews"))["reviews"] == [given]


def test_only_who_was_asked_may_give_a_verdict(hub: Hub, web: Web, visit: Visit) -> None:
    """Another agent is refused, whether it says who it is or pretends."""
    asked = {"artifact": post(web)["id"], "reviewer": NAME}
    path = f"/reviews/{done(web.post('/reviews', asked))['review']['id']}"
    other = visit(hub, hub.token("other"))
    assert refusal(other.post(path, {"verdict": "approved"})) == (403, "not_reviewer")
    assert refusal(other.post(path, {"verdict": "approved", "by": NAME})) == (403, "wrong_identity")
    assert refusal(web.post(path, {"verdict": "perhaps", "by": NAME})) == (400, "invalid")
    assert refusal(web.post(f"/reviews/{uuid4()}", {"verdict": "approved"})) == (404, "not_found")
    assert refusal(web.post("/reviews", {**asked, "reviewer": "nobody"})) == (404, "unknown_agent")


def test_reviews_are_those_of_a_run(web: Web, team: Team) -> None:
    """Without a name those of the current run are listed, oldest first; with one those of that run."""
    team.do("start_session", "lead", session_id="one")
    for _ in range(2):
        done(web.post("/reviews", {"artifact": post(web)["id"], "reviewer": NAME}))
    team.do("start_session", "lead", session_id="two")
    assert done(web.get("/reviews"))["reviews"] == []
    old = done(web.get("/reviews", run="one"))["reviews"]
    assert [each["id"] for each in old] == sorted(each["id"] for each in old)
    assert len(old) == 2
    assert refusal(web.get("/reviews", run="three")) == (404, "not_found")


def test_viewers_look_and_change_nothing(hub: Hub, web: Web, visit: Visit) -> None:
    """A viewer sees runs, artifacts and reviews, and makes none."""
    made = post(web)
    viewer = visit(hub, hub.token(role=Role.VIEWER))
    for path in ("/runs", "/artifacts", "/reviews", f"/artifacts/{made['id']}"):
        done(viewer.get(path))
    for path, body in (
        ("/artifacts", {"name": "n", "content": "c"}),
        ("/reviews", {"artifact": made["id"], "reviewer": NAME}),
        (f"/reviews/{uuid4()}", {"verdict": "approved"}),
    ):
        assert refusal(viewer.post(path, body)) == (403, "forbidden")


@both_engines
@pytest.mark.parametrize("path", ["/artifacts", "/reviews"])
def test_what_is_made_twice_by_one_key_is_made_once(web: Web, path: str) -> None:
    """With the same Idempotency-Key a call is answered as before, and nothing new is made."""
    bodies: dict[str, Json] = {
        "/artifacts": {"name": "n", "content": "c"},
        "/reviews": {"artifact": post(web)["id"], "reviewer": NAME},
    }
    first, again = (done(web.post(path, bodies[path], **{"Idempotency-Key": "k"})) for _ in range(2))
    assert first == again
    made = done(web.get(path))[path[1:]]
    assert len(made) == (2 if path == "/artifacts" else 1)
