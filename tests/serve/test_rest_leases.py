"""Leases over real HTTP: asked for, waited for, renewed, given back; how many there are; which commands need one."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection

import pytest

from hubbub.model.people.rights import Role
from tests.serve.conftest import both_engines
from tests.serve.served_hub import Hub
from tests.serve.web_client import Json, Visit, Web, done, not_refused, refusal
from tests.support.waiting import patience, until

GONE = "00000000-0000-7000-8000-000000000000"
LONG = 40  # seconds of waiting, which no test lives to see


@pytest.fixture
def web(hub: Hub, visit: Visit) -> Web:
    """A client that may act as any agent of the project."""
    return visit(hub, hub.token())


@pytest.fixture
def manager(hub: Hub, visit: Visit) -> Web:
    """A visitor who may set capacities."""
    return visit(hub, hub.token(role=Role.ADMIN))


def ask(web: Web, *things: str, agent: str = "ann", **more: object) -> Json:
    return done(web.post("/leases", {"things": things, "agent": agent, **more}))


def held(web: Web) -> list[tuple[str, str]]:
    return [(each["holder"], each["status"]) for each in done(web.get("/leases"))["leases"]]


@both_engines
def test_a_lease_from_its_beginning_to_its_end(web: Web) -> None:
    """A lease is asked for, renewed, shown and given back; then whoever waits has it, with a greater fence."""
    mine = ask(web, "db", purpose="make test", host="atlas", priority="high")["lease"]
    assert (mine["status"], mine["fence"], mine["holder"], mine["purpose"]) == ("held", 1, "ann", "make test")
    path = f"/leases/{mine['id']}"
    waiting = ask(web, "db", agent="bob")
    assert [each["holder"] for each in waiting["holders"]] == ["ann"]
    assert waiting["sentence"].startswith("db has been held by 'ann' on 'atlas' for ")
    assert done(web.get(path))["lease"]["things"] == ["db"]
    assert done(web.post(f"{path}/renew", {"agent": "ann"}))["lease"]["status"] == "held"
    assert held(web) == [("ann", "held"), ("bob", "waiting")]

    done(web.delete(path, agent="ann"))

    assert done(web.get(f"/leases/{waiting['lease']['id']}"))["lease"]["fence"] == 2
    assert refusal(web.post(f"{path}/renew", {"agent": "ann"})) == (404, "not_found")


@both_engines
def test_a_caller_may_choose_the_id(web: Web) -> None:
    """A lease has the id that its caller chose, so that it can be released unanswered; none is used twice."""
    assert ask(web, "db", id=GONE)["lease"]["id"] == GONE
    assert refusal(web.post("/leases", {"things": ["port"], "agent": "ann", "id": GONE})) == (409, "conflict")
    assert refusal(web.post("/leases", {"things": ["port"], "agent": "ann", "id": "x"})) == (400, "invalid")
    done(web.delete(f"/leases/{GONE}", agent="ann"))
    assert held(web) == []


@both_engines
def test_waiting_ends_with_the_grant(web: Web) -> None:
    """A call that waits is answered as soon as the lease is granted."""
    mine = ask(web, "db")["lease"]
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(ask, web, "db", agent="bob", wait_seconds=LONG)
        until(lambda: len(held(web)) == 2, "bob to wait")
        done(web.delete(f"/leases/{mine['id']}", agent="ann"))

        assert waiting.result(patience())["lease"]["status"] == "held"


def test_who_hangs_up_waits_no_more(web: Web, hub: Hub) -> None:
    """A caller that hangs up while it waits loses its place at once, whenever the lease would have ended."""
    ask(web, "db")
    body = {"things": ["db"], "agent": "bob", "wait_seconds": LONG, "ttl_seconds": 3600}
    asking = web.http.build_request("POST", "/leases", json=body)

    with closing(HTTPConnection(asking.url.host, asking.url.port, timeout=patience())) as line:
        line.request("POST", asking.url.path, asking.content, dict(asking.headers))
        until(lambda: len(held(web)) == 2, "bob to wait")

    until(lambda: held(web) == [("ann", "held")], "bob to wait no more")


def test_leases_are_counted(web: Web, hub: Hub, visit: Visit) -> None:
    """The numbers of the hub tell how many leases are held, and how many are waited for."""
    ask(web, "db")
    ask(web, "port:1")
    ask(web, "db", agent="bob")

    told = visit(hub, hub.token(), root="").get("/metrics").text

    assert 'hubbub_leases{status="held"} 2.0' in told
    assert 'hubbub_leases{status="waiting"} 1.0' in told


def test_who_does_not_wait_is_refused(web: Web) -> None:
    """With `waits` false, what is not free is a 409 that says who holds it; nothing waits."""
    ask(web, "db")
    answer = web.post("/leases", {"things": ["db"], "agent": "bob", "waits": False})

    assert refusal(answer) == (409, "taken")
    assert "'ann'" in answer.json()["message"]
    assert held(web) == [("ann", "held")]


def test_things_are_counted(web: Web, manager: Web, hub: Hub, visit: Visit) -> None:
    """A manager of the project sets capacities, and everybody sees them; then `gpu:2` means two of them."""
    assert done(manager.put("/leases/capacities/gpu", {"capacity": 4})) == {
        "capacity": {"thing": "gpu", "capacity": 4}
    }
    assert refusal(web.put("/leases/capacities/gpu", {"capacity": 9})) == (403, "forbidden")
    assert ask(web, "gpu:3")["lease"]["units"] == {"gpu": [0, 1, 2]}
    assert ask(web, "gpu:2", agent="bob")["lease"]["status"] == "waiting"
    assert [each["holder"] for each in done(web.get("/leases", thing="gpu"))["leases"]] == ["ann", "bob"]
    viewer = visit(hub, hub.token(role=Role.VIEWER))
    assert done(viewer.get("/leases/capacities"))["capacities"] == [{"thing": "gpu", "capacity": 4}]
    assert done(manager.delete("/leases/capacities/gpu")) == {"capacities": []}
    assert refusal(manager.delete("/leases/capacities/gpu")) == (404, "not_found")


def test_another_ones_lease(web: Web, hub: Hub, visit: Visit) -> None:
    """A lease is not renewed or given back by another agent; who may only look may not ask for one."""
    mine = ask(web, "db")["lease"]
    bob = visit(hub, hub.token("bob"))
    viewer = visit(hub, hub.token(role=Role.VIEWER))

    assert refusal(bob.post(f"/leases/{mine['id']}/renew", {})) == (403, "forbidden")
    assert refusal(bob.delete(f"/leases/{mine['id']}")) == (403, "forbidden")
    assert refusal(bob.post("/leases", {"things": ["x"], "agent": "ann"})) == (403, "wrong_identity")
    assert refusal(viewer.post("/leases", {"things": ["x"]})) == (403, "forbidden")


def test_bad_input_of_leases(web: Web, manager: Web) -> None:
    """A wrong thing, time or lease is refused in one sentence."""
    table: list[Json] = [
        {"things": []},
        {"things": ["a b"]},
        {"things": "db"},
        {"things": ["db"], "ttl_seconds": 1},
        {"things": ["db"], "ttl_seconds": 1e9},
        {"things": ["db"], "wait_seconds": 46},
        {"things": ["db"], "priority": "urgent"},
        {"things": [f"a{number}" for number in range(21)]},
        {},
    ]
    assert not_refused(lambda body: web.post("/leases", body), table) == []
    assert (
        not_refused(lambda count: manager.put("/leases/capacities/gpu", {"capacity": count}), [0, 1001, "4"])
        == []
    )
    assert (
        not_refused(lambda thing: manager.put(f"/leases/capacities/{thing}", {"capacity": 1}), ["a%20b", "-"])
        == []
    )
    rules = [
        {"command": "", "things": ["db"]},
        {"command": "a && b", "things": ["db"]},
        {"command": "a", "things": []},
    ]
    assert not_refused(lambda rule: manager.put("/leases/rules", rule), rules) == []
    for lease in (GONE, "x"):
        assert refusal(web.get(f"/leases/{lease}")) == (404, "not_found")
        assert refusal(web.delete(f"/leases/{lease}")) == (404, "not_found")


def test_commands_that_need_a_lease(web: Web, manager: Web) -> None:
    """A command with a rule may run under what it needs, and is refused otherwise with how to run it."""
    rule = {"command": "docker compose up", "things": ["port:5432"]}
    assert done(manager.put("/leases/rules", rule))["rule"] == rule
    assert done(web.get("/leases/rules"))["rules"] == [rule]

    def judged(command: str, **more: str) -> str | None:
        sentence: str | None = done(web.post("/leases/judge", {"command": command, "agent": "ann", **more}))[
            "sentence"
        ]
        return sentence

    assert judged("docker compose up -d") == (
        "hubbub: in this project `docker compose up` runs only while port:5432 is held. "
        "Run it so, which waits until that is free: hubbub with port:5432 -- docker compose up -d"
    )
    assert judged("hubbub with port:5432 -- docker compose up -d") is None
    mine = ask(web, "port:5432")["lease"]
    assert judged("docker compose up", within=mine["id"]) is None
    done(web.delete(f"/leases/{mine['id']}", agent="ann"))
    assert judged("docker compose up", within=mine["id"]) is not None
    assert done(manager.delete("/leases/rules", command="docker compose up")) == {"rules": []}
    assert judged("docker compose up") is None
    assert refusal(manager.delete("/leases/rules", command="docker compose up")) == (404, "not_found")
