"""Proof over REST: what tasks ask for, what hooks tell, and who may let it pass."""

import pytest

from hubbub.model.people.rights import Role
from tests.serve.served_hub import Hub
from tests.serve.web_client import Json, Visit, Web, done, refusal

TREE, HEAD = "a" * 40, "b" * 40
STEP: Json = {"deed": "shell", "instance": "run", "place": "here", "command": "make test", "code": 0}


@pytest.fixture
def bob(hub: Hub, visit: Visit) -> Web:
    return visit(hub, hub.token("bob"))


@pytest.fixture
def manager(hub: Hub, visit: Visit) -> Web:
    return visit(hub, hub.token(role=Role.ADMIN))


@pytest.fixture
def owner(hub: Hub, visit: Visit) -> Web:
    """A person."""
    return visit(hub, hub.owner_secret)


def rules(manager: Web, hub: Hub, *done_when: str) -> Json:
    body = {"done_when": done_when, "tests": "make test", "test_files": ["tests"], "unproven": "refuse"}
    told: Json = done(manager.put(f"/projects/{hub.project.slug}/proof", body))["rules"]
    return told


def test_a_task_from_its_contract_to_its_proof(hub: Hub, bob: Web, manager: Web) -> None:
    """The project's demands are told, refused with the missing ones, and met by a hook's sightings."""
    assert rules(manager, hub, "clean", "tests")["test_files"] == ["tests"]
    path = f"/tasks/{hub.send_task('bob')}"
    done(bob.post(f"{path}/start", {}))
    refused = bob.post(f"{path}/complete", {"result": "done"})
    assert refusal(refused) == (409, "unproven")
    assert "tests (not seen): no hook saw any work on it" in refused.json()["message"]

    assert done(bob.post("/sightings", {**STEP, "asks": True}))["looks"]
    made = {"moves": [[HEAD, 1, "commit"]], "commits": [[HEAD, TREE, ["a"]]]}
    done(bob.post("/sightings", {**STEP, "tree": {"tree": TREE, "head": HEAD, "head_tree": TREE, **made}}))
    done(bob.post(f"{path}/complete", {"result": "done"}))

    shown = done(bob.get(f"{path}/proof"))
    assert [(each["demand"], each["verdict"]) for each in shown["findings"]] == [
        ("clean", "met"),
        ("tests", "met"),
    ]
    assert (shown["is_proven"], shown["claim"]) == (True, "done")
    assert [(each["command"], each["code"], each["tree"]) for each in shown["sightings"]] == [
        ("make test", 0, TREE)
    ]


def test_a_person_waives_and_an_agent_does_not(hub: Hub, bob: Web, owner: Web) -> None:
    """A task's holder can neither set its demands nor waive them; a person can, and is named."""
    path = f"/tasks/{hub.send_task('bob')}"
    done(bob.post(f"{path}/start", {}))
    assert refusal(bob.put(f"{path}/done-when", {"done_when": []})) == (403, "forbidden")
    done(owner.put(f"{path}/done-when", {"done_when": ["pushed"]}))
    assert refusal(bob.post(f"{path}/waive", {"reason": "please"})) == (403, "forbidden")
    waived = done(owner.post(f"{path}/waive", {"reason": "only a draft"}))["contract"]
    assert (waived["waived_why"], bool(waived["waived_by"])) == ("only a draft", True)
    done(bob.post(f"{path}/complete", {"result": "done"}))


def test_a_task_is_sent_with_what_it_asks_for(hub: Hub, bob: Web) -> None:
    """Who sends a task says in the same call what it asks for; with nonsense it is not sent."""
    hub.meet("ann")
    sent = done(bob.post("/tasks", {"text": "x", "to": "ann", "done_when": ["clean", "clean"]}))["task"]
    assert done(bob.get(f"/tasks/{sent['id']}/proof"))["done_when"] == ["clean"]
    assert refusal(bob.post("/tasks", {"text": "x", "to": "ann", "done_when": ["tidy"]})) == (400, "invalid")
    assert len(done(bob.get("/tasks"))["tasks"]) == 1


def test_who_may_say_what_a_project_asks_for(hub: Hub, bob: Web, manager: Web) -> None:
    """A role that manages the project says it; nonsense is refused in one sentence."""
    path = f"/projects/{hub.project.slug}/proof"
    assert done(bob.get(path))["rules"]["done_when"] == []
    assert refusal(bob.put(path, {"done_when": ["clean"]})) == (403, "forbidden")
    assert refusal(manager.put(path, {"done_when": ["tidy"]})) == (400, "invalid")
