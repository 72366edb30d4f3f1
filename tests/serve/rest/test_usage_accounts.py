"""Accounts over real HTTP: who shares one, a limit that a program reached, and people who pause and resume."""

import pytest

from hubbub.core.people import users
from hubbub.model.people.rights import Role
from tests.serve.conftest import both_engines
from tests.serve.served_hub import Hub
from tests.serve.web_client import Visit, Web, done, refusal

WEEK = 7 * 24 * 3_600_000


@pytest.fixture
def web(hub: Hub, visit: Visit) -> Web:
    """A client that may act as any agent of the project."""
    return visit(hub, hub.token())


@pytest.fixture
def manager(hub: Hub, visit: Visit) -> Web:
    """A person who manages the project."""
    made = hub.do(lambda tx: users.create(tx, "eve", project=hub.project, role=Role.ADMIN), hub.owner)
    return visit(hub, str(made[1]))


@both_engines
def test_a_limit_from_its_notice_to_its_end(web: Web, manager: Web) -> None:
    """A program tells of a limit; all of the account begin nothing until a person resumes it, and the log says so."""
    done(manager.put("/accounts/max", {"agents": ["ann", "bob"]}))
    task = done(web.post("/tasks", {"to": "ann", "text": "count", "sender": "bob"}))["task"]
    now = done(web.get("/limits", agent="bob"))["now"]

    told = done(web.post("/limits", {"agent": "bob", "kind": "weekly", "until": now + WEEK}))

    assert told["account"]["paused_until"] == now + WEEK
    assert told["goes_on_at"] >= now + WEEK
    [listed] = done(web.get("/accounts"))["accounts"]
    assert (listed["account"]["limit_kind"], listed["agents"]) == ("weekly", ["ann", "bob"])
    start = f"/tasks/{task['id']}/start"
    assert refusal(web.post(start, {"by": "ann", "epoch": task["epoch"]})) == (409, "paused")

    done(manager.post("/accounts/max/resume", {}))

    assert done(web.get("/limits", agent="ann"))["goes_on_at"] is None
    done(web.post(start, {"by": "ann", "epoch": task["epoch"]}))
    assert refusal(manager.post("/accounts/max/resume", {})) == (409, "conflict")


def test_an_account_is_named_by_the_program_or_by_people(web: Web, manager: Web) -> None:
    """An account named by a program counts until people say who shares one."""
    told = done(web.post("/limits", {"agent": "ann", "account": "claude-1a2b3c4d"}))
    assert (told["account"]["name"], told["account"]["limit_kind"]) == ("claude-1a2b3c4d", "window")
    assert told["goes_on_at"] > told["now"]

    done(manager.put("/accounts/max", {"agents": ["ann"]}))

    assert (
        done(web.post("/limits", {"agent": "ann", "account": "claude-1a2b3c4d"}))["account"]["name"] == "max"
    )
    done(manager.delete("/accounts/max"))
    assert done(web.get("/limits", agent="ann"))["account"] is None


def test_people_pause_and_agents_do_not(web: Web, manager: Web) -> None:
    """An agent's token reports a limit of its own, and pauses, resumes or divides no account."""
    done(manager.put("/accounts/max", {"agents": ["ann"]}))
    for path in ("/accounts/max/pause", "/accounts/max/resume"):
        assert refusal(web.post(path, {})) == (403, "forbidden")
    assert refusal(web.put("/accounts/max", {"agents": ["bob"]})) == (403, "forbidden")

    assert done(manager.post("/accounts/max/pause", {}))["account"]["paused_until"] is None
    assert refusal(manager.post("/accounts/max/pause", {"until": 5})) == (400, "invalid")
    assert refusal(manager.post("/accounts/none/pause", {})) == (404, "not_found")
