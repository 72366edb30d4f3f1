"""Machines, their tasks on the board, and the lengths of their audit logs, over the REST interface."""

import os
from typing import Any

import pytest

from hubbub.core.fleet import nodes
from hubbub.core.work import todos
from hubbub.model.fleet.calls import NodeInfo
from hubbub.model.people.rights import Role
from hubbub.model.work.todos import TodoItem
from tests.serve.conftest import with_own_hub
from tests.serve.rest.fleet.desk_requests import for_agent, granted, need
from tests.serve.served_hub import Hub
from tests.serve.web_client import Json, Visit, Web, done, not_refused, refusal

ABOUT = NodeInfo(name="Box", machine_id="m-1", platform="Linux 6.1", version="1.0", sandbox="bwrap")


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
    """A machine shows its number of processors, and their load and its memory's."""
    (own,) = done(agent.get("/nodes"))["nodes"]
    load = own["load"]
    assert (load["load1"] >= 0, load["cpus"]) == (True, os.cpu_count())
    assert load["memory_total"] is None or 0 < load["memory_used"] < load["memory_total"]


def test_errands(hub: Hub, agent: Web, visit: Visit) -> None:
    """A program's work for an agent is that agent's task; others with a token of their own cannot end it."""
    begin = {"who": for_agent("ann"), "title": "count", "description": "count the lines"}
    task_id = granted(need(agent, "begin_task", begin))["task_id"]
    begun = done(agent.get(f"/tasks/{task_id}"))["task"]
    assert (begun["sender"], begun["assignee"], begun["status"]) == ("ann", "node:ann@box", "working")
    end = {"task_id": task_id, "text": "three"}
    bob, viewer = visit(hub, hub.token("bob")), visit(hub, hub.token(role=Role.VIEWER))
    assert refusal(need(bob, "end_task", end)) == (409, "not_holder")
    assert refusal(need(agent, "end_task", end, "other")) == (409, "not_holder")
    assert refusal(need(viewer, "end_task", end)) == (403, "forbidden")
    assert granted(need(agent, "end_task", end)) == {}
    assert done(agent.get(f"/tasks/{task_id}"))["task"]["result"] == "three"
    assert refusal(need(agent, "begin_task", {**begin, "who": for_agent("bob")})) == (403, "wrong_identity")


def test_an_errand_is_begun_once(hub: Hub, agent: Web) -> None:
    """Asked for again with the same key, it is the same task."""
    begin = {"title": "count", "description": "count the lines"}
    told = [need(agent, "begin_task", begin, **{"Idempotency-Key": "k"}) for _ in range(2)]
    assert granted(told[0]) == granted(told[1])
    assert len(done(agent.get("/tasks"))["tasks"]) == 1


def test_a_task_of_an_agent_is_no_errand(hub: Hub, agent: Web) -> None:
    """Nobody ends an agent's own work this way."""
    hub.meet("ann")
    end = {"task_id": hub.send_task("ann"), "text": "x"}
    assert refusal(need(agent, "end_task", end)) == (409, "not_holder")


def test_what_cannot_be_kept_is_no_errand(agent: Web) -> None:
    """A title and a text that no store can keep, or that are too long, are refused in a sentence."""
    wrong: list[Json] = [
        {"title": "t", "description": "d", **each}
        for each in (
            {"title": None},
            {"title": "\0"},
            {"title": "x" * 60_001},
            {"description": "\ud800"},
            {"description": 7},
            {"who": "ann"},
        )
    ]
    assert not_refused(lambda content: need(agent, "begin_task", content), wrong) == []
    assert done(agent.get("/tasks"))["tasks"] == []


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"need": "put"},
        {"node": "box"},
        {"node": "box", "need": "act", "content": {}},
        {"node": "box", "need": "wish", "content": {}},
        {"node": "box", "need": "key", "content": []},
        {"node": "", "need": "key"},
        {"node": "a\0", "need": "key"},
    ],
)
def test_what_is_no_need_is_refused(agent: Web, body: Json) -> None:
    """A need has a name, a machine, and what it takes; what only a machine that has joined may need is none."""
    assert refusal(agent.post("/desk", body)) == (400, "invalid")


def test_heads_of_audit_logs(hub: Hub, agent: Web, visit: Visit) -> None:
    """A program tells how far its log is; what cannot be true is shown to who manages the project."""
    for digest in ("a", "b"):
        assert granted(need(agent, "seal", {"seq": 5, "digest": digest * 64})) == {}
    assert refusal(agent.get("/audit/heads")) == (403, "forbidden")
    owner = visit(hub, hub.owner_secret)
    found = done(owner.get("/audit/heads", node="box"))["heads"]
    assert [(each["seq"], each["hash"][0], each["broken"]) for each in found] == [
        (5, "b", True),
        (5, "a", False),
    ]
    assert "audit.broken" in [each["kind"] for each in done(owner.get("/activity"))["activity"]]


@pytest.mark.parametrize("wrong", [{"seq": 0}, {"seq": 2**53 + 1}, {"seq": "5"}, {"digest": "x"}])
def test_what_is_no_head_is_refused(agent: Web, wrong: dict[str, object]) -> None:
    """A head has the number of a line and a hash."""
    assert refusal(need(agent, "seal", {"seq": 5, "digest": "a" * 64, **wrong})) == (400, "invalid")


def test_what_an_agent_has_set_out_to_do_is_shown_with_it(hub: Hub, agent: Web) -> None:
    """An agent is shown with its list; one that never wrote one has an empty one."""
    hub.meet("bob")
    items = [TodoItem("read", done=True), TodoItem("write", done=False)]
    hub.do(lambda tx: todos.write(tx, hub.project.id, "ann", items))
    shown = done(agent.get("/agents/ann"))["agent"]
    assert shown["todos"] == [{"text": "read", "done": True}, {"text": "write", "done": False}]
    assert done(agent.get("/agents/bob"))["agent"]["todos"] == []
