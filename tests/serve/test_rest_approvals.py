"""Approvals over the REST interface: machines ask, people answer."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from hubbub.core import nodes, tokens, users
from hubbub.model.orders import About
from hubbub.model.rights import GIVEN, Role
from tests.serve.conftest import with_own_hub
from tests.serve.hub import Hub
from tests.serve.web import Json, Visit, Web, done, not_refused, refusal

ABOUT = About(name="Box", machine_id="m-1", platform="Linux 6.1", version="1.0", sandbox="bwrap")
DIGEST = "0123456789abcdef" * 4
QUESTION = {
    "node": "box",
    "tool": "execute_command",
    "arguments": {"command": "git push"},
    "folder": "/srv/app",
    "shown": "git push",
    "reason": "it changes what others have",
    "digest": DIGEST,
}


@pytest.fixture
def agent(hub: Hub, visit: Visit) -> Web:
    return visit(hub, hub.token("ann"))


@pytest.fixture
def owner(hub: Hub, visit: Visit) -> Web:
    return visit(hub, hub.owner_secret)


def person(hub: Hub, role: Role, name: str = "somebody") -> str:
    """The token of a new person with that role in the project."""
    made = hub.do(lambda tx: users.create(tx, name, project=hub.project, role=role), hub.owner)
    return str(made[1])


def ask(web: Web, **more: object) -> tuple[Json, str]:
    """A question, and its receipt."""
    made = done(web.post("/approvals", {**QUESTION, **more}))
    return made["approval"], made["receipt"]


def show(web: Web, approval: Json, **query: Any) -> Json:
    found: Json = done(web.get(f"/approvals/{approval['id']}", **query))["approval"]
    return found


def test_a_question_is_asked_answered_and_spent(agent: Web, owner: Web) -> None:
    """A machine asks, a person approves, and the one call goes on; each is told how far it is."""
    asked, receipt = ask(agent)
    assert (asked["who"], asked["status"], asked["shown"]) == ("ann", "pending", "git push")
    assert asked["expires_at"] - asked["created_at"] == 60_000
    (waiting,) = done(owner.get("/approvals", status="pending"))["approvals"]
    assert waiting["id"] == asked["id"]
    assert receipt not in str(waiting)

    approved = done(owner.post(f"/approvals/{asked['id']}/approve"))["approval"]
    assert (approved["status"], approved["answered_by"]) == ("approved", "owner")
    assert done(owner.get("/approvals", status="pending"))["approvals"] == []
    body = {"digest": DIGEST, "receipt": receipt}
    assert done(agent.post(f"/approvals/{asked['id']}/spend", body))["approval"]["status"] == "spent"
    assert refusal(agent.post(f"/approvals/{asked['id']}/spend", body)) == (409, "conflict")
    assert refusal(owner.post(f"/approvals/{asked['id']}/deny")) == (409, "conflict")


def test_the_machine_waits_for_the_answer(agent: Web, owner: Web) -> None:
    """A machine that waits is told as soon as a person has answered."""
    asked, _receipt = ask(agent)
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(show, agent, asked, wait_seconds=45)
        done(owner.post(f"/approvals/{asked['id']}/deny"))
        assert waiting.result()["status"] == "denied"
    assert show(agent, asked, wait_seconds=45)["status"] == "denied"


def test_the_machine_is_told_that_time_is_over(agent: Web) -> None:
    """A question that nobody answers has expired, for whoever waits and for whoever looks."""
    asked, receipt = ask(agent, patience_seconds=0.2)
    assert show(agent, asked, wait_seconds=45)["status"] == "expired"
    body = {"digest": DIGEST, "receipt": receipt}
    assert refusal(agent.post(f"/approvals/{asked['id']}/spend", body)) == (409, "conflict")


def test_a_wait_ends_by_itself(agent: Web) -> None:
    """Whoever does not want to wait for longer is told that nobody has answered yet."""
    asked, _receipt = ask(agent)
    assert show(agent, asked, wait_seconds=0.1)["status"] == "pending"
    assert refusal(agent.get(f"/approvals/{asked['id']}", wait_seconds=46)) == (400, "invalid")


@pytest.mark.parametrize("role", sorted(GIVEN))
def test_no_agents_token_answers(hub: Hub, agent: Web, visit: Visit, role: Role) -> None:
    """Whatever its role and by whatever way: a token of the project approves nothing, nor lists what is asked."""
    asked, receipt = ask(agent)
    with_role = visit(hub, hub.token(role=role))
    for web in (with_role, agent):
        for verb in ("approve", "deny"):
            answer = web.post(f"/approvals/{asked['id']}/{verb}", {"receipt": receipt, "approved": True})
            assert refusal(answer) == (403, "forbidden")
            assert "person" in answer.json()["message"]
        assert refusal(web.get("/approvals")) == (403, "forbidden")
    body = {"approved": True, "receipt": receipt}
    assert refusal(agent.post(f"/approvals/{asked['id']}/resolve", body)) == (403, "forbidden")
    assert show(agent, asked)["status"] == "pending"


def test_an_agent_makes_itself_no_person(hub: Hub, agent: Web, visit: Visit) -> None:
    """The token that a person's own program made in their name is no person either."""
    made = hub.do(lambda tx: tokens.for_project(tx, hub.project, role=Role.OWNER, agent="ann"), hub.owner)
    asked, _receipt = ask(agent)
    delegate = visit(hub, str(made[1]))
    assert refusal(delegate.post(f"/approvals/{asked['id']}/approve")) == (403, "forbidden")


@pytest.mark.parametrize(("role", "status"), [(Role.ADMIN, 200), (Role.MEMBER, 200), (Role.VIEWER, 403)])
def test_people_of_the_project_answer(hub: Hub, agent: Web, visit: Visit, role: Role, status: int) -> None:
    """People who may write in the project answer; who may only look on is refused."""
    asked, _receipt = ask(agent)
    answer = visit(hub, person(hub, role)).post(f"/approvals/{asked['id']}/approve")
    assert answer.status_code == status


def test_what_is_asked_elsewhere_is_not_there(hub: Hub, agent: Web, visit: Visit) -> None:
    """Neither people nor agents of another project, nor other agents of this one, find the question."""
    asked, receipt = ask(agent)
    stranger = visit(hub, hub.token(project=hub.other_project()))
    outsider = visit(
        hub, hub.do(lambda tx: users.create(tx, "eve", project=None, role=Role.MEMBER), hub.owner)[1]
    )
    other = visit(hub, hub.token("bob"))
    for web in (stranger, outsider, other):
        assert refusal(web.get(f"/approvals/{asked['id']}")) == (404, "not_found")
        body = {"digest": DIGEST, "receipt": receipt}
        assert refusal(web.post(f"/approvals/{asked['id']}/spend", body)) == (404, "not_found")
    assert refusal(outsider.post(f"/approvals/{asked['id']}/approve")) == (404, "not_found")
    assert refusal(agent.get("/approvals/nonsense")) == (404, "not_found")


def test_an_agent_asks_in_its_own_name(hub: Hub, agent: Web, visit: Visit) -> None:
    """A bound token asks for its agent alone, any other for whom it says; a person asks as a person."""
    assert refusal(agent.post("/approvals", {**QUESTION, "who": "bob"})) == (403, "wrong_identity")
    assert ask(visit(hub, hub.token()), who="bob")[0]["who"] == "bob"
    assert ask(visit(hub, hub.owner_secret))[0]["who"] == "owner"
    viewer = visit(hub, hub.token(role=Role.VIEWER))
    assert refusal(viewer.post("/approvals", QUESTION)) == (403, "forbidden")


def test_the_client_answers_where_its_machine_lets_it(agent: Web) -> None:
    """With the receipt the machine tells what the client of the call said, if it said so when it asked."""
    asked, receipt = ask(agent, elicitation=True)
    wrong = {"approved": True, "receipt": "0" * 32}
    assert refusal(agent.post(f"/approvals/{asked['id']}/resolve", wrong)) == (404, "not_found")
    body = {"approved": True, "receipt": receipt}
    answered = done(agent.post(f"/approvals/{asked['id']}/resolve", body))["approval"]
    assert (answered["status"], answered["answered_by"]) == ("approved", "elicitation")


def test_a_token_asks_for_no_machine(hub: Hub, agent: Web, owner: Web) -> None:
    """Whatever machine is named, joined or made up, people and the log are told that the agent's own program asks."""
    hub.do(lambda tx: nodes.report(tx, hub.project, ABOUT))
    for name, kind in (("prod-db", "call"), ("Box", "call"), ("Box", "rule")):
        asked, _receipt = ask(agent, node=name, kind=kind)
        assert (asked["node"], asked["said_node"]) == (f"ann@{name}", name)
        last = done(owner.get("/activity", limit=1))["activity"][0]
        assert (last["kind"], last["detail"]["node"], last["detail"]["said_node"]) == (
            "approval.asked", f"ann@{name}", name,
        )  # fmt: skip
    assert ask(owner, node="Box")[0]["node"] == "owner@Box"


def test_no_client_answers_about_a_rule(agent: Web, owner: Web) -> None:
    """Whether a policy gets a rule is never put so that the client may answer."""
    refused = agent.post("/approvals", {**QUESTION, "kind": "rule", "elicitation": True})
    assert refusal(refused) == (400, "invalid")
    assert done(owner.get("/approvals"))["approvals"] == []


def test_the_client_answers_with_the_token_that_asked(hub: Hub, agent: Web, visit: Visit) -> None:
    """Whoever has the receipt but another token, be it of the same agent or a person's, answers nothing by it."""
    asked, receipt = ask(agent, elicitation=True)
    for secret in (hub.token("ann"), hub.owner_secret):
        for way, body in (("resolve", {"approved": True}), ("spend", {"digest": DIGEST})):
            tried = visit(hub, secret).post(f"/approvals/{asked['id']}/{way}", {**body, "receipt": receipt})
            assert refusal(tried) == (404, "not_found")
    assert show(agent, asked)["status"] == "pending"


def test_what_is_no_question_is_refused(agent: Web, owner: Web) -> None:
    """A question that is not complete, or cannot be kept, is refused in a sentence."""
    table: list[Json] = [
        {"digest": "x"},
        {"shown": ""},
        {"shown": " "},
        {"tool": ""},
        {"node": "a\0"},
        {"patience_seconds": 0},
        {"patience_seconds": 8 * 86_400},
        {"arguments": []},
        {"kind": "wish"},
        {"elicitation": "yes"},
    ]
    assert not_refused(lambda wrong: agent.post("/approvals", {**QUESTION, **wrong}), table) == []
    assert done(owner.get("/approvals"))["approvals"] == []


def test_the_receipt_is_told_once(agent: Web, owner: Web) -> None:
    """With the same Idempotency-Key there is no second question, and its receipt is not told again."""
    done(agent.post("/approvals", QUESTION, **{"Idempotency-Key": "k"}))
    assert refusal(agent.post("/approvals", QUESTION, **{"Idempotency-Key": "k"})) == (409, "conflict")
    assert len(done(owner.get("/approvals"))["approvals"]) == 1


def test_a_yes_is_spent_once_however_many_try(agent: Web, owner: Web) -> None:
    """Of many that use one yes at once, one goes on."""
    asked, receipt = ask(agent)
    done(owner.post(f"/approvals/{asked['id']}/approve"))
    start = threading.Barrier(6)

    def spend() -> int:
        start.wait()
        body = {"digest": DIGEST, "receipt": receipt}
        return agent.post(f"/approvals/{asked['id']}/spend", body).status_code

    with ThreadPoolExecutor(6) as threads:
        statuses = sorted(each.result() for each in [threads.submit(spend) for _ in range(6)])
    assert statuses == [200] + [409] * 5


@with_own_hub
def test_a_wait_ends_with_the_token(hub: Hub, visit: Visit, owner: Web) -> None:
    """Whoever waits with a token that is revoked hears no more of the answer."""
    secret = hub.token("ann")
    web = visit(hub, secret)
    asked, _receipt = ask(web)
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(show, web, asked, wait_seconds=45)
        while "hubbub_open_streams 0.0" in owner.http.get(f"{hub.url}/metrics").text:
            pass
        hub.revoke(secret)
        assert waiting.result()["status"] == "pending"
