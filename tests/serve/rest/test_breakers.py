"""Breakers over real HTTP: a hub that follows its log, the rules of a project, and people who let agents go on."""

import pytest

from hubbub.core.people import users
from hubbub.model.people.rights import Role
from tests.serve.conftest import both_engines
from tests.serve.served_hub import Hub
from tests.serve.web_client import Visit, Web, done, refusal
from tests.support.waiting import until


@pytest.fixture
def manager(hub: Hub, visit: Visit) -> Web:
    """A person who manages the project."""
    made = hub.do(lambda tx: users.create(tx, "eve", project=hub.project, role=Role.ADMIN), hub.owner)
    return visit(hub, str(made[1]))


@both_engines
def test_a_circle_from_its_first_message_to_its_end(hub: Hub, visit: Visit, manager: Web) -> None:
    """Two that only answer each other are stopped by the hub itself; a person sees why and lets them go on."""
    rules = done(manager.put("/breakers", {"answering": 4}))["rules"]
    assert (rules["answering"], rules["repeating"]) == (4, 30)
    web = visit(hub, hub.token())
    hub.meet("ann")
    hub.meet("bob")
    for turn in range(5):
        names = ("ann", "bob") if turn % 2 else ("bob", "ann")
        done(web.post("/messages", {"sender": names[0], "to": names[1], "text": "you are right"}))

    [stop] = until(lambda: done(manager.get("/breakers/stops"))["stops"], "a stop")

    assert stop["reason"].startswith("ann and bob answered each other 4 times in a row")
    assert stop["reason"] in done(web.post("/tools/judge", {"agent": "ann"}))["sentence"]
    [need] = [each for each in done(manager.get("/needs"))["needs"] if each["kind"] == "stopped"]
    assert (need["card"]["id"], need["card"]["may"]) == (stop["id"], ["lift"])
    assert refusal(web.post(f"/breakers/stops/{stop['id']}/lift", {})) == (403, "forbidden")
    done(manager.post(f"/breakers/stops/{stop['id']}/lift", {}))
    assert done(web.post("/tools/judge", {"agent": "ann"})) == {"sentence": None}
    assert refusal(manager.put("/breakers", {"answering": 1})) == (400, "invalid")
