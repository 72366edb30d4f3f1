"""Budgets over real HTTP: set, told and removed; and the program that asks before its next tool."""

import pytest

from hubbub.core.people import users
from hubbub.model.people.rights import Role
from tests.serve.conftest import both_engines
from tests.serve.served_hub import Hub
from tests.serve.web_client import Visit, Web, done, not_refused, refusal

USED = {"id": "1", "conversation": "s-1", "model": "claude-sonnet-5", "input": 1_000_000}


@pytest.fixture
def coder(hub: Hub, visit: Visit) -> Web:
    return visit(hub, hub.token("coder-1"))


@pytest.fixture
def manager(hub: Hub, visit: Visit) -> Web:
    """A person who manages the project."""
    made = hub.do(lambda tx: users.create(tx, "eve", project=hub.project, role=Role.ADMIN), hub.owner)
    return visit(hub, str(made[1]))


@both_engines
def test_a_budget_from_setting_it_to_raising_it(coder: Web, manager: Web) -> None:
    """A client's report is charged to the agent's budget; at its end the next tool is denied, until it is raised."""
    made = done(manager.put("/budgets", {"kind": "agent", "whom": "coder-1", "usd": 2}))["budget"]
    assert (made["metered"], made["amount"], made["now_level"]) == (False, 2_000_000, "enough")
    assert done(coder.post("/tools/judge", {})) == {"sentence": None}
    task = done(coder.post("/tasks", {"to": "coder-1", "text": "count"}))["task"]

    done(coder.post("/cost/reports", {"used": [USED]}))

    assert "is spent ($2.00 of $2.00)" in done(coder.post("/tools/judge", {}))["sentence"]
    assert "is spent" in done(coder.post("/leases/judge", {"command": "make"}))["sentence"]
    edit = {"instance": "i", "repository": "example.org/a/b", "path": "a.py", "moment": "before"}
    assert done(coder.post("/edits", edit))["decision"] == "deny"
    assert refusal(coder.post(f"/tasks/{task['id']}/start", {"epoch": task["epoch"]})) == (409, "budget")
    [need] = done(manager.get("/needs"))["needs"]
    assert (need["kind"], need["card"]["level"]) == ("budget", "spent")

    raised = done(manager.put("/budgets", {"kind": "agent", "whom": "coder-1", "usd": 5}))["budget"]

    assert (raised["id"], raised["used"], raised["level"]) == (made["id"], 2_000_000, "enough")
    assert done(coder.post("/tools/judge", {})) == {"sentence": None}
    done(manager.delete(f"/budgets/{made['id']}"))
    assert done(manager.get("/budgets")) == {"budgets": []}


def test_what_is_no_budget_is_refused(coder: Web, manager: Web) -> None:
    """Without an amount, or with two, of nobody, or of who is not known, is no budget; agents set none."""
    table: list[dict[str, object]] = [
        {"kind": "project"},
        {"kind": "project", "usd": 1, "tokens": 1},
        {"kind": "project", "whom": "x", "usd": 1},
        {"kind": "agent", "usd": 1},
        {"kind": "project", "usd": -1},
        {"kind": "project", "tokens": 0},
    ]
    assert not_refused(lambda row: manager.put("/budgets", row), table) == []
    for kind in ("task", "token"):
        answer = manager.put("/budgets", {"kind": kind, "whom": "99", "usd": 1})
        assert refusal(answer) == (404, "not_found")
    assert refusal(coder.put("/budgets", {"kind": "project", "usd": 9})) == (403, "forbidden")
