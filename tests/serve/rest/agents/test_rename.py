"""Renaming an agent over real HTTP: a token, a letter and the picture follow the agent to its new name."""

import pytest

from hubbub.core.people import users
from hubbub.model.people.rights import Role
from tests.serve.conftest import both_engines
from tests.serve.served_hub import Hub
from tests.serve.web_client import Visit, Web, done, refusal


@pytest.fixture
def manager(hub: Hub, visit: Visit) -> Web:
    """A person who manages the project."""
    made = hub.do(lambda tx: users.create(tx, "eve", project=hub.project, role=Role.ADMIN), hub.owner)
    return visit(hub, str(made[1]))


@both_engines
def test_an_agent_goes_on_under_its_new_name(hub: Hub, visit: Visit, manager: Web) -> None:
    """Its program keeps its token, which stands for the new name from the next call on, and reads its mail there."""
    own = visit(hub, done(manager.post("/tokens", {"agent": "codre"}))["secret"])
    come = {"instance": "i", "take": True, "hostname": "tower"}
    done(own.put("/agents/codre/presence", come))
    done(manager.post("/messages", {"to": "codre", "text": "hello"}))
    assert refusal(manager.post("/agents/codre/rename", {"to": "coder"})) == (409, "conflict")
    done(own.http.delete("/agents/codre/presence", params={"instance": "i"}))

    assert refusal(own.post("/agents/codre/rename", {"to": "coder"})) == (403, "forbidden")
    assert refusal(manager.post("/agents/codre/rename", {"to": "a b"})) == (400, "invalid")
    answer = done(manager.post("/agents/codre/rename", {"to": "coder"}))

    assert answer == {"renamed": "codre", "to": "coder", "machines": ["tower"]}
    (letter,) = done(own.get("/agents/coder/inbox"))["letters"]
    assert letter["text"] == "hello"
    assert done(own.put("/agents/coder/presence", come))["unread"] == 1
    assert refusal(own.put("/agents/codre/presence", come))[0] == 403
    assert refusal(manager.post("/messages", {"to": "codre", "text": "hello"})) == (404, "unknown_agent")
    assert done(manager.get("/agents/codre"))["agent"]["name"] == "coder"
    assert [each["name"] for each in done(manager.get("/agents"))["agents"]] == ["coder"]
