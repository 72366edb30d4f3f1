"""Approvals over the REST interface: programs beside agents ask, people answer."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from hubbub.core.fleet import nodes
from hubbub.core.people import tokens, users
from hubbub.model.fleet.calls import NodeInfo
from hubbub.model.people.rights import GIVEN, Role
from tests.serve.conftest import with_own_hub
from tests.serve.rest.fleet.desk_requests import asking, for_agent, granted, need, put
from tests.serve.served_hub import Hub
from tests.serve.web_client import Json, Visit, Web, done, not_refused, refusal
from tests.support.waiting import until

ABOUT = NodeInfo(name="Box", machine_id="m-1", platform="Linux 6.1", version="1.0", sandbox="bwrap")


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


def show(web: Web, asked: Json) -> Json:
    found: Json = done(web.get(f"/approvals/{asked['approval_id']}"))["approval"]
    return found


def ruling(web: Web, asked: Json) -> str:
    """Wait for and return the result of a question."""
    return str(granted(need(web, "ask", asked))["ruling"])


def test_a_question_is_asked_answered_and_spent(agent: Web, owner: Web) -> None:
    """A program asks, a person approves, and the one call goes on; each is told how far it is."""
    asked = put(agent)
    (waiting,) = done(owner.get("/approvals", status="pending"))["approvals"]
    assert (waiting["id"], waiting["who"], waiting["shown"]) == (asked["approval_id"], "ann", "git push")
    assert waiting["expires_at"] - waiting["created_at"] == 60_000
    assert asked["receipt"] not in str(waiting)

    approved = done(owner.post(f"/approvals/{waiting['id']}/approve"))["approval"]
    assert (approved["status"], approved["answered_by"]) == ("approved", "owner")
    assert done(owner.get("/approvals", status="pending"))["approvals"] == []
    assert granted(need(agent, "ask", asked)) == {
        "ruling": "approved",
        "approval_id": waiting["id"],
        "by": "owner",
        "signature": None,
        "digest": waiting["digest"],
    }
    assert show(agent, asked)["status"] == "spent"
    assert refusal(owner.post(f"/approvals/{waiting['id']}/deny")) == (409, "conflict")


def test_who_asks_waits_for_the_answer(agent: Web, owner: Web) -> None:
    """A waiting asker is told as soon as a person has answered."""
    asked = put(agent)
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(ruling, agent, asked)
        done(owner.post(f"/approvals/{asked['approval_id']}/deny"))
        assert waiting.result() == "denied"
    assert ruling(agent, asked) == "denied"


def test_who_asks_is_told_that_time_is_over(agent: Web) -> None:
    """A question that nobody answers has expired, for whoever waits and for whoever looks."""
    asked = put(agent, patience_seconds=0.2)
    assert ruling(agent, asked) == "expired"
    assert show(agent, asked)["status"] == "expired"


def test_a_wait_ends_by_itself(agent: Web, owner: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for longer than proxies do: who asks is told that nobody has answered yet, and asks again."""
    asked = put(agent)
    with monkeypatch.context() as impatient:
        impatient.setattr("hubbub.serve.rest.fleet.hub_services.LONGEST_WAIT", 0.1)
        assert granted(need(agent, "ask", asked)) is None
    done(owner.post(f"/approvals/{asked['approval_id']}/approve"))
    assert ruling(agent, asked) == "approved"


@pytest.mark.parametrize("role", sorted(GIVEN))
def test_no_agents_token_answers(hub: Hub, agent: Web, visit: Visit, role: Role) -> None:
    """Whatever its role and by whatever way: a token of the project approves nothing, nor lists what is asked."""
    asked = put(agent)
    for web in (visit(hub, hub.token(role=role)), agent):
        for verb in ("approve", "deny"):
            answer = web.post(f"/approvals/{asked['approval_id']}/{verb}")
            assert refusal(answer) == (403, "forbidden")
            assert "person" in answer.json()["message"]
        assert refusal(web.get("/approvals")) == (403, "forbidden")
    assert refusal(need(agent, "resolve", {**asked, "approved": True})) == (403, "forbidden")
    assert show(agent, asked)["status"] == "pending"


def test_an_agent_makes_itself_no_person(hub: Hub, agent: Web, visit: Visit) -> None:
    """The token that a person's own program made in their name is no person either."""
    made = hub.do(lambda tx: tokens.for_project(tx, hub.project, role=Role.OWNER, agent="ann"), hub.owner)
    delegate = visit(hub, str(made[1]))
    asked = put(agent)
    assert refusal(delegate.post(f"/approvals/{asked['approval_id']}/approve")) == (403, "forbidden")


@pytest.mark.parametrize(("role", "status"), [(Role.ADMIN, 200), (Role.MEMBER, 200), (Role.VIEWER, 403)])
def test_people_of_the_project_answer(hub: Hub, agent: Web, visit: Visit, role: Role, status: int) -> None:
    """People who may write in the project answer; who may only look on is refused."""
    asked = put(agent)
    answer = visit(hub, person(hub, role)).post(f"/approvals/{asked['approval_id']}/approve")
    assert answer.status_code == status


def test_what_is_asked_elsewhere_is_not_there(hub: Hub, agent: Web, visit: Visit) -> None:
    """Neither people nor agents of another project, nor other agents of this one, find the question."""
    asked = put(agent)
    stranger = visit(hub, hub.token(project=hub.other_project()))
    outsider = visit(
        hub, hub.do(lambda tx: users.create(tx, "eve", project=None, role=Role.MEMBER), hub.owner)[1]
    )
    for web in (stranger, outsider, visit(hub, hub.token("bob"))):
        assert refusal(web.get(f"/approvals/{asked['approval_id']}")) == (404, "not_found")
    assert refusal(outsider.post(f"/approvals/{asked['approval_id']}/approve")) == (404, "not_found")
    assert refusal(agent.get("/approvals/nonsense")) == (404, "not_found")


def test_an_agent_asks_in_its_own_name(hub: Hub, agent: Web, visit: Visit) -> None:
    """A bound token asks for its agent alone, any other for whom it says; a person asks as a person."""
    for_bob = asking(who=for_agent("bob"))
    assert refusal(need(agent, "put", for_bob)) == (403, "wrong_identity")
    anyone, owner = visit(hub, hub.token()), visit(hub, hub.owner_secret)
    assert show(anyone, put(anyone, who=for_agent("bob")))["who"] == "bob"
    assert show(owner, put(owner))["who"] == "owner"
    viewer = visit(hub, hub.token(role=Role.VIEWER))
    assert refusal(need(viewer, "put", asking())) == (403, "forbidden")


def test_the_client_answers_where_its_machine_lets_it(agent: Web) -> None:
    """An asker may report the answer of the call's client, if the question allowed that when it was put."""
    asked = put(agent, elicitation=True)
    told = granted(need(agent, "resolve", {**asked, "approved": True}))
    assert (told["ruling"], told["by"]) == ("approved", "elicitation")
    assert show(agent, asked)["status"] == "spent"


def test_a_token_asks_for_no_machine(hub: Hub, agent: Web, owner: Web) -> None:
    """Whatever machine is named, joined or made up, people and the log are told that the agent's own program asks."""
    hub.do(lambda tx: nodes.report(tx, hub.project, ABOUT))
    for name, kind in (("prod-db", "call"), ("Box", "call"), ("Box", "rule")):
        asked = show(agent, put(agent, name, kind=kind))
        assert (asked["node"], asked["said_node"]) == (f"ann@{name}", name)
        last = done(owner.get("/activity", limit=1))["activity"][0]
        assert (last["kind"], last["detail"]["node"], last["detail"]["said_node"]) == (
            "approval.asked", f"ann@{name}", name,
        )  # fmt: skip
    assert show(owner, put(owner, "Box"))["node"] == "owner@Box"


def test_no_client_answers_about_a_rule(agent: Web, owner: Web) -> None:
    """Whether a policy gets a rule is never put so that the client may answer."""
    assert refusal(need(agent, "put", asking(kind="rule", elicitation=True))) == (400, "invalid")
    assert done(owner.get("/approvals"))["approvals"] == []


def test_a_question_is_of_who_put_it(hub: Hub, agent: Web, owner: Web, visit: Visit) -> None:
    """Without the receipt, or with another token, be it of the same agent, nobody is told the answer or gives one."""
    asked = put(agent, elicitation=True)
    done(owner.post(f"/approvals/{put(agent)['approval_id']}/approve"))
    for web, content in (
        (agent, {**asked, "receipt": "0" * 32}),
        (visit(hub, hub.token("ann")), asked),
        (visit(hub, hub.token("bob")), asked),
        (owner, asked),
    ):
        for name in ("put", "ask", "resolve"):
            assert refusal(need(web, name, {**content, "approved": True})) == (409, "conflict")
    assert show(agent, asked)["status"] == "pending"


def test_what_is_no_question_is_refused(agent: Web, owner: Web) -> None:
    """A question that is not complete, or cannot be kept, is refused in a sentence."""
    whole = asking()
    changes: list[Json] = [
        {"digest": "x"},
        {"shown": ""},
        {"shown": " "},
        {"tool": ""},
        {"tool": "x" * 501},
        {"arguments": []},
        {"kind": "wish"},
        {"who": "ann"},
        {"dangerous": "yes"},
    ]
    questions = [{**whole["question"], **each} for each in changes]
    values: dict[str, tuple[object, ...]] = {
        "approval_id": ("", "nonsense", 7, None),
        "receipt": ("", "x" * 201, 7, None),
        "patience_seconds": (0, -1, 8 * 86_400, True, "60", None),
        "elicitation": ("yes", 1),
        "question": ([], "rm", None, *questions),
    }
    wrong: list[Json] = [{**whole, name: each} for name, wrongs in values.items() for each in wrongs]
    assert not_refused(lambda content: need(agent, "put", content), wrong) == []
    assert done(owner.get("/approvals"))["approvals"] == []


def test_a_question_that_is_put_again_is_the_same(agent: Web, owner: Web) -> None:
    """An asker whose reply was lost puts it again: there is one question, and its answer may be told again."""
    asked = put(agent)
    assert granted(need(agent, "put", asked)) == {}
    (waiting,) = done(owner.get("/approvals"))["approvals"]
    done(owner.post(f"/approvals/{waiting['id']}/approve"))
    assert [ruling(agent, asked) for _ in range(2)] == ["approved", "approved"]
    kinds = [each["kind"] for each in done(owner.get("/activity"))["activity"]]
    assert [kinds.count(f"approval.{each}") for each in ("asked", "approved", "spent")] == [1, 1, 1]


@with_own_hub
def test_a_wait_ends_with_the_token(hub: Hub, visit: Visit, owner: Web) -> None:
    """A waiting asker whose token is revoked hears no more of the answer."""
    secret = hub.token("ann")
    web = visit(hub, secret)
    asked = put(web)
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(need, web, "ask", asked)
        until(lambda: "hubbub_open_streams 0.0" not in owner.http.get(f"{hub.url}/metrics").text, "the wait")
        hub.revoke(secret)
        assert granted(waiting.result()) is None


def test_a_program_withdraws_its_own_question(agent: Web, owner: Web) -> None:
    """The asker takes a question back with its receipt; people are told that nobody waits for the answer."""
    before, asked = put(agent, kind="prompt"), put(agent, kind="prompt")
    own = {name: asked[name] for name in ("approval_id", "receipt")}
    assert refusal(need(agent, "withdraw", {**own, "receipt": "another"})) == (404, "not_found")
    assert granted(need(agent, "withdraw", own)) == {}

    found = done(owner.get(f"/approvals/{asked['approval_id']}"))
    assert (found["approval"]["status"], found["approval"]["kind"]) == ("withdrawn", "prompt")
    assert [each["id"] for each in found["lately"]] == [before["approval_id"]]
    assert refusal(owner.post(f"/approvals/{asked['approval_id']}/approve")) == (409, "conflict")
    assert done(agent.get(f"/approvals/{asked['approval_id']}"))["lately"] == []
