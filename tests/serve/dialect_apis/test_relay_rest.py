"""The REST that Relay's clients call, through real HTTP."""

import pytest

from hubbub.model.people.rights import Role
from tests.serve.conftest import both_engines
from tests.serve.dialect_apis.watchers import Team
from tests.serve.served_hub import Hub
from tests.serve.web_client import Visit, Web


@pytest.fixture
def team(hub: Hub) -> Team:
    """Those who speak Relay."""
    return Team(hub, hub.token())


@pytest.fixture
def web(hub: Hub, visit: Visit) -> Web:
    """A viewer of the same project."""
    return visit(hub, hub.token(role=Role.VIEWER), root="/api/relay")


def create(team: Team, title: str) -> str:
    made = team.do("create_task", "lead", run=None, title=title, priority="medium")
    return str(made["task_id"])


def test_the_session_says_what_is_current(web: Web, team: Team) -> None:
    """`session` gives the id of the current run, which hub it is, and how much there is in the run."""
    team.do("start_session", "lead", session_id="first")
    create(team, "old")
    team.do("start_session", "lead", session_id="second")
    create(team, "new")
    team.do("send_message", "lead", content="x")
    team.do("send_message", "lead", content="y")
    server = team.do("get_server_info", "lead")

    answer = web.get("/session")

    assert answer.status_code == 200
    assert answer.json() == {
        "success": True,
        "sessionId": "second",
        "instanceId": server["instanceId"],
        "port": server["port"],
        "counts": {"tasks": 1, "messages": 2, "artifacts": 0, "reviews": 0},
    }


def test_looking_names_no_run(web: Web) -> None:
    """While nobody has named the current run its id is null, however often it is asked for."""
    assert [web.get("/session").json()["sessionId"] for _ in range(2)] == [None, None]


@both_engines
def test_completion_counts_what_is_done(web: Web, team: Team) -> None:
    """`completion-check` counts the tasks of a run, and lists those that are not done."""
    team.do("start_session", "lead", session_id="r")
    first, second = create(team, "first"), create(team, "second")
    team.do("claim_task", "worker", task_id=first)
    path = "/sessions/r/completion-check"
    assert web.get(path).json() == {
        "all_done": False,
        "done_count": 0,
        "total_count": 2,
        "pending_tasks": [
            {"id": first, "title": "first", "status": "in_progress", "assignee": "worker"},
            {"id": second, "title": "second", "status": "todo", "assignee": None},
        ],
    }
    for each in (first, second):
        team.do("update_task", "worker" if each == first else "lead", task_id=each, status="done")
    everything = {"all_done": True, "done_count": 2, "total_count": 2, "pending_tasks": []}
    assert web.get(path).json() == everything


def test_what_was_cancelled_is_not_done(web: Web, team: Team) -> None:
    """A task that was cancelled elsewhere is listed with that status, and keeps the run from being done."""
    team.do("start_session", "lead", session_id="r")
    team.hub.cancel_task(create(team, "t"))
    checked = web.get("/sessions/r/completion-check").json()
    assert (checked["all_done"], checked["done_count"]) == (False, 0)
    assert [each["status"] for each in checked["pending_tasks"]] == ["cancelled"]


def test_a_run_without_tasks_is_not_done(web: Web, team: Team) -> None:
    """Where nothing has been asked for yet, nothing is done."""
    team.do("start_session", "lead", session_id="r")
    nothing = {"all_done": False, "done_count": 0, "total_count": 0, "pending_tasks": []}
    assert web.get("/sessions/r/completion-check").json() == nothing


@pytest.mark.parametrize("name", ["nowhere", "%00", "代码", "%20"])
def test_a_run_that_is_not_there_is_not_found(web: Web, name: str) -> None:
    """An unknown session is a 404 in Relay's envelope."""
    answer = web.get(f"/sessions/{name}/completion-check")
    assert (answer.status_code, answer.json()) == (404, {"success": False, "error": "session not found"})


def test_refusals_are_in_relays_envelope(hub: Hub, visit: Visit) -> None:
    """A project of others is a 404; several and none named a 400, whose sentence names them."""
    hub.other_project()
    stranger = visit(hub, hub.token(), root="/api/relay")
    for path in ("/session", "/sessions/r/completion-check"):
        foreign = stranger.get(path, project="elsewhere")
        assert (foreign.status_code, foreign.json()["success"]) == (404, False)
        unsaid = visit(hub, hub.owner_secret, root="/api/relay").get(path)
        assert (unsaid.status_code, unsaid.json()["success"]) == (400, False)
        assert "default, elsewhere" in unsaid.json()["error"]


def test_a_token_is_needed(hub: Hub, visit: Visit) -> None:
    """Without a token the answer is 401."""
    assert visit(hub, root="/api/relay").get("/session").status_code == 401
