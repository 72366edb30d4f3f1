"""Tools that agents call over MCP are evidence of them: noted many at once, and apart from the calls."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from hubbub.core.agents import last_activity
from hubbub.model.fleet.managed_agents import LastActivity
from hubbub.serve.background.last_tools import LastTools
from hubbub.store.tx import unix_ms
from tests.serve.conftest import with_own_hub
from tests.serve.mcp.wire import call, post
from tests.serve.served_hub import Hub
from tests.support.waiting import patience

Noted = Callable[[str], LastActivity]

pytestmark = with_own_hub  # what was called elsewhere may be written down here


@pytest.fixture
def noted(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> Noted:
    """Return the record of an agent, once the last sightings have been written down, which is done at once here."""
    written = threading.Event()
    write = LastTools._write

    async def at_once(self: LastTools) -> None:
        await write(self)
        written.set()

    def wait(agent: str) -> LastActivity:
        assert written.wait(patience())
        written.clear()
        found: LastActivity = hub.do(lambda tx: last_activity.of(tx, hub.project.id, agent))
        return found

    monkeypatch.setattr("hubbub.serve.background.last_tools.GATHER", timedelta())
    monkeypatch.setattr(LastTools, "_write", at_once)
    return wait


def test_a_call_by_a_bound_token_is_its_agents(hub: Hub, noted: Noted) -> None:
    """The last tool is told with its dialect and its time, though it changes nothing and says no name."""
    before = unix_ms()
    post(hub, hub.token("ann"), call("echo", text="hello"))

    seen = noted("ann")
    assert seen.last_tool == "tiny.echo"
    assert before <= (seen.last_tool_at or 0) <= unix_ms()


@pytest.mark.parametrize("alias", ["ann", "代码1号"])
def test_a_call_by_another_token_is_that_of_the_agent_by_whose_name_it_acts(
    hub: Hub, noted: Noted, alias: str
) -> None:
    """A token of the whole project may be any agent: whoever it says that it is has called."""
    hub.meet(alias)
    post(
        hub,
        hub.token(),
        call("report_status", resume_id="r", alias=alias, status="idle"),
        path="/mcp/commhub",
    )

    assert noted(alias).last_tool == "commhub.report_status"


def test_a_call_that_is_refused_was_made(hub: Hub, noted: Noted) -> None:
    """An agent that calls tools in vain is at work all the same."""
    post(hub, hub.token("ann"), call("note", to="nobody", text="hello"))

    assert noted("ann").last_tool == "tiny.note"


def test_a_call_of_nobody_is_no_evidence(hub: Hub, noted: Noted) -> None:
    """A call without a name is noted for nobody, and so is one of an unknown tool."""
    hub.meet("bob")
    post(hub, hub.token(), call("note", to="bob", text="from the hub itself"))
    post(hub, hub.token("bob"), call("no_such_tool"))
    post(hub, hub.token("ann"), call("echo", text="hello"))

    assert noted("bob") == LastActivity(agent="bob")


def test_agents_are_shown_with_what_they_were_seen_to_do(hub: Hub, noted: Noted, visit: Any) -> None:
    """The list and the page of an agent tell of its evidence beside its heartbeat, and of the task it began last."""
    web = visit(hub, hub.owner_secret)
    hub.meet("ann")
    task = web.post("/tasks", {"text": "count", "to": "ann"}).json()["task"]
    web.post(f"/tasks/{task['id']}/start", {"by": "ann"})
    hub.do(
        lambda tx: last_activity.note(
            tx, hub.project.id, "ann", node="web1", runtime="claude", output="one\ntwo"
        )
    )
    post(hub, hub.token("ann"), call("echo", text="hello"))
    noted("ann")

    (listed,) = web.get("/agents").json()["agents"]
    shown = web.get("/agents/ann").json()["agent"]
    assert listed | {"now": 0} == shown | {"now": 0}
    assert (shown["machine"], shown["runtime"], shown["placed"]) == ("web1", "claude", None)
    assert (shown["last_tool"], shown["last_output"], shown["seen_at"]) == ("tiny.echo", "two", None)
    assert (shown["work"]["number"], shown["work"]["title"]) == (task["number"], "count")
    (on_board,) = web.get("/tasks").json()["tasks"]
    assert on_board["machine"] == web.get("/tasks/1").json()["task"]["machine"] == "web1"
