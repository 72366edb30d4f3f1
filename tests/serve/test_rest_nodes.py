"""Machines, what they put on the board, and how far their audit logs are, over the REST interface."""

import os
from typing import Any

import pytest

from hubbub.core import nodes, todos
from hubbub.model.orders import About
from hubbub.model.rights import Role
from hubbub.model.todos import TodoItem
from tests.serve.conftest import with_own_hub
from tests.serve.hub import Hub
from tests.serve.web import Visit, Web, done, refusal

ABOUT = About(name="Box", machine_id="m-1", platform="Linux 6.1", version="1.0", sandbox="bwrap")


@pytest.fixture
def agent(hub: Hub, visit: Visit) -> Web:
    return visit(hub, hub.token("ann"))


def named(web: Web, name: str) -> Any:
    """The machine of that name among those that are listed."""
    (found,) = [each for each in done(web.get("/nodes"))["nodes"] if each["name"] == name]
    return found


def test_machines_are_listed(hub: Hub, agent: Web, visit: Visit) -> None:
    """Everyone of the project sees its machines, and one by its name, whatever the case; others do not."""
    hub.do(lambda tx: nodes.report(tx, hub.project, ABOUT, labels=["gpu"]))
    listed = named(agent, "Box")
    assert (listed["online"], listed["sandbox"], listed["labels"]) == (True, "bwrap", ["gpu"])
    assert done(agent.get("/nodes/BOX"))["node"] == listed
    hub.do(lambda tx: nodes.leave(tx, hub.project, "Box"))
    assert named(agent, "Box")["online"] is False
    other = visit(hub, hub.token(project=hub.other_project()))
    assert done(other.get("/nodes"))["nodes"] == []
    assert refusal(other.get("/nodes/Box")) == (404, "not_found")


@with_own_hub
def test_the_hubs_own_machine_tells_how_busy_it_is(agent: Web) -> None:
    """How many processors it has, and how much they and its memory have to do."""
    (own,) = done(agent.get("/nodes"))["nodes"]
    load = own["load"]
    assert (load["load1"] >= 0, load["cpus"]) == (True, os.cpu_count())
    assert load["memory_total"] is None or 0 < load["memory_used"] < load["memory_total"]


def test_errands(hub: Hub, agent: Web, visit: Visit) -> None:
    """What a machine sets about for an agent is that one's task; others with a token of their own cannot end it."""
    body = {"title": "count", "text": "count the lines"}
    task_id = done(agent.post("/nodes/box/tasks", body))["task_id"]
    begun = done(agent.get(f"/tasks/{task_id}"))["task"]
    assert (begun["sender"], begun["assignee"], begun["status"]) == ("ann", "node:ann@box", "working")
    path = f"/nodes/box/tasks/{task_id}/end"
    bob = visit(hub, hub.token("bob"))
    assert refusal(bob.post(path, {"text": "x"})) == (409, "not_holder")
    assert refusal(agent.post(f"/nodes/other/tasks/{task_id}/end", {"text": "x"})) == (409, "not_holder")
    assert refusal(visit(hub, hub.token(role=Role.VIEWER)).post(path, {"text": "x"})) == (403, "forbidden")
    assert done(agent.post(path, {"text": "three"}))["task_id"] == task_id
    assert done(agent.get(f"/tasks/{task_id}"))["task"]["result"] == "three"
    assert refusal(agent.post("/nodes/box/tasks", {**body, "who": "bob"})) == (403, "wrong_identity")


def test_a_task_of_an_agent_is_no_errand(hub: Hub, agent: Web) -> None:
    """By this way nobody ends what an agent holds."""
    hub.meet("ann")
    task_id = hub.send_task("ann")
    assert refusal(agent.post(f"/nodes/box/tasks/{task_id}/end", {"text": "x"})) == (409, "not_holder")


def test_heads_of_audit_logs(hub: Hub, agent: Web, visit: Visit) -> None:
    """A machine tells how far its log is; what cannot be true is refused and shown to who manages the project."""
    assert done(agent.post("/audit/heads", {"node": "box", "seq": 5, "hash": "a" * 64})) == {"kept": True}
    changed = {"node": "box", "seq": 5, "hash": "b" * 64}
    assert refusal(agent.post("/audit/heads", changed)) == (409, "conflict")
    assert refusal(agent.get("/audit/heads")) == (403, "forbidden")
    owner = visit(hub, hub.owner_secret)
    found = done(owner.get("/audit/heads", node="box"))["heads"]
    assert [(each["seq"], each["hash"][0], each["broken"]) for each in found] == [
        (5, "b", True),
        (5, "a", False),
    ]
    assert "audit.broken" in [each["kind"] for each in done(owner.get("/activity"))["activity"]]


@pytest.mark.parametrize(
    "wrong", [{"seq": 0}, {"seq": 2**53 + 1}, {"seq": "5"}, {"hash": "x"}, {"node": ""}, {"node": "a\0"}]
)
def test_what_is_no_head_is_refused(agent: Web, wrong: dict[str, object]) -> None:
    """A head has a machine, the number of a line and a hash."""
    body = {"node": "box", "seq": 5, "hash": "a" * 64, **wrong}
    assert refusal(agent.post("/audit/heads", body)) == (400, "invalid")


def test_what_an_agent_has_set_out_to_do_is_shown_with_it(hub: Hub, agent: Web) -> None:
    """An agent is shown with its list; one that never wrote one has an empty one."""
    hub.meet("bob")
    items = [TodoItem("read", done=True), TodoItem("write", done=False)]
    hub.do(lambda tx: todos.write(tx, hub.project.id, "ann", items))
    shown = done(agent.get("/agents/ann"))["agent"]
    assert shown["todos"] == [{"text": "read", "done": True}, {"text": "write", "done": False}]
    assert done(agent.get("/agents/bob"))["agent"]["todos"] == []
