"""Joining and removal of machines over the REST interface; their keys open nothing else."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from hubbub.core.fleet import dispatches, nodes
from hubbub.core.people.auth_attempts import TRIES
from hubbub.model.fleet.calls import NodeCall, Principal, RefusalCode, ToolResult
from hubbub.model.fleet.nodes import Machine
from hubbub.model.people.rights import Role
from tests.serve.dialect_apis.watchers import refused
from tests.serve.mcp.wire import call
from tests.serve.served_hub import Hub, running_hub
from tests.serve.web_client import Visit, Web, done, refusal

FACTS = {"machine_id": "m-1", "platform": "Linux 6.1", "version": "1.0", "sandbox": "bwrap"}
ECHO = call("echo", text="hello")
DENIED = ToolResult(value={"error": "hush", "code": RefusalCode.DENIED}, is_error=True)
FOUND_AT = "https://hub.example.org"


@pytest.fixture
def owner(hub: Hub, visit: Visit) -> Web:
    return visit(hub, hub.owner_secret)


def code_of(owner: Web, **body: Any) -> str:
    return str(done(owner.post("/nodes/invites", body))["code"])


def join(hub: Hub, visit: Visit, code: str | None, name: str = "web1", **facts: object) -> httpx2.Response:
    return visit(hub, code).post("/nodes/join", {"name": name, **FACTS, **facts})


def test_one_code_is_enough(hub: Hub, owner: Web, visit: Visit) -> None:
    """A code holds its secret and the hub's address; with it, and without the address too, a machine joins once."""
    invitation = owner.post("/nodes/invites", {"expires_in_seconds": 60})
    assert (invitation.status_code, set(invitation.json())) == (201, {"code", "expires_at"})
    code = invitation.json()["code"]
    secret, _, url = code.partition(".")
    assert secret.startswith("join_")
    assert "=" not in url
    assert base64.urlsafe_b64decode(url + "=" * (-len(url) % 4)).decode() == FOUND_AT
    answer = join(hub, visit, code)
    assert answer.status_code == 201
    assert {**answer.json(), "token": ""} == {"token": "", "project": "default", "node": "web1"}
    assert answer.json()["token"].startswith("ntok_")
    assert refusal(join(hub, visit, code, "web2")) == (401, "unauthorized")
    bare = code_of(owner).partition(".")[0]
    assert done(join(hub, visit, bare, "web2"))["node"] == "web2"


def test_a_hub_without_a_public_address_says_how_it_was_found(tmp_path: Path, visit: Visit) -> None:
    """Where the hub does not know its public address, a code holds the one by which it was asked."""
    with running_hub(tmp_path / "hub", public_url=None) as hub:
        url = code_of(visit(hub, hub.owner_secret)).partition(".")[2]
        assert base64.urlsafe_b64decode(url + "=" * (-len(url) % 4)).decode() == hub.url


def test_machines_join_by_a_persons_token(hub: Hub, owner: Web) -> None:
    """With a person's token a machine joins the project that is named; with that of an agent it does not."""
    asked = {"name": "web1", **FACTS}
    joined = done(owner.http.post("/nodes/join", params={"project": "default"}, json=asked))
    assert (joined["project"], joined["node"]) == ("default", "web1")
    other = hub.other_project().slug
    assert refusal(owner.post("/nodes/join", asked)) == (400, "project_required")
    assert refusal(owner.http.post("/nodes/join?project=nowhere", json=asked)) == (404, "project_denied")
    assert done(owner.http.post(f"/nodes/join?project={other}", json=asked))["project"] == other


def test_agents_bring_no_machines(hub: Hub, owner: Web, visit: Visit) -> None:
    """An agent's token, whatever its role, neither invites nor joins nor removes, nor reads what was ordered."""
    done(join(hub, visit, code_of(owner)))
    for role in (Role.OWNER, Role.ADMIN, Role.MEMBER, Role.VIEWER):
        agent = visit(hub, hub.token(role=role))
        for answer in (
            agent.post("/nodes/invites"),
            agent.post("/nodes/join", {"name": "web2", **FACTS}),
            agent.delete("/nodes/web1"),
            agent.get("/nodes/web1/dispatches"),
        ):
            assert refusal(answer) == (403, "forbidden")
    assert [each["name"] for each in done(owner.get("/nodes", project="default"))["nodes"]].count("web1") == 1


def test_bad_codes_are_all_alike(hub: Hub, owner: Web, visit: Visit) -> None:
    """A code that is used, unknown or no code at all, and none, is answered in the same words."""
    used = code_of(owner)
    done(join(hub, visit, used))
    answers = [
        join(hub, visit, bad, "web2") for bad in (used, "join_" + "0" * 32, "join_", "join_.", "x", None)
    ]
    assert {each.status_code for each in answers} == {401}
    assert len({each.text for each in answers}) == 1


def test_guessing_codes_is_slowed_down(hub: Hub, owner: Web, visit: Visit) -> None:
    """A machine with too many bad codes waits, and is told how long; machines with good ones need not."""
    codes = [code_of(owner) for _ in range(TRIES + 2)]
    assert all(join(hub, visit, code, f"web{number}").is_success for number, code in enumerate(codes))
    for _ in range(TRIES):
        assert refusal(join(hub, visit, "join_" + "0" * 32)) == (401, "unauthorized")
    slowed = join(hub, visit, "join_" + "0" * 32)
    assert refusal(slowed) == (429, "too_many")
    assert 0 < int(slowed.headers["Retry-After"]) <= 61


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": "a b"},
        {"name": "x" * 201},
        {"name": "a\0"},
        {"name": None},
        {"platform": 7},
        {"sandbox": "a\nb"},
        {"machine_id": ""},
        {"version": " "},
    ],
)
def test_what_is_no_machine_is_refused(hub: Hub, owner: Web, visit: Visit, wrong: dict[str, object]) -> None:
    """A machine's facts about itself are checked, and a refusal leaves the code good."""
    code = code_of(owner)
    assert refusal(visit(hub, code).post("/nodes/join", {"name": "web1", **FACTS, **wrong})) == (
        400,
        "invalid",
    )
    assert join(hub, visit, code).is_success


@pytest.mark.parametrize(
    "wrong",
    [
        {"expires_in_seconds": 59},
        {"expires_in_seconds": 604_801},
        {"expires_in_seconds": "60"},
        {"name": "a b"},
        {"name": ""},
    ],
)
def test_what_is_no_invitation_is_refused(owner: Web, wrong: dict[str, object]) -> None:
    """A code is good for a minute to seven days, and for what can be a name."""
    assert refusal(owner.post("/nodes/invites", wrong)) == (400, "invalid")


def test_a_name_is_one_machines(hub: Hub, owner: Web, visit: Visit) -> None:
    """Another machine does not get the name, and a code may be for one name only."""
    done(join(hub, visit, code_of(owner)))
    assert refusal(join(hub, visit, code_of(owner), "WEB1", machine_id="m-2")) == (409, "conflict")
    code = code_of(owner, name="web2")
    assert refusal(join(hub, visit, code, "web3")) == (403, "forbidden")
    assert refusal(join(hub, visit, code, "web3", chosen="no")) == (400, "invalid")
    assert done(join(hub, visit, code, "web3", chosen=False))["node"] == "web2"


def test_an_invitation_is_made_once(owner: Web) -> None:
    """The same request with the same key makes one code, which is told once."""
    assert owner.post("/nodes/invites", {}, **{"Idempotency-Key": "k"}).status_code == 201
    assert refusal(owner.post("/nodes/invites", {}, **{"Idempotency-Key": "k"})) == (409, "conflict")


def test_a_removed_machine_is_gone(hub: Hub, owner: Web, visit: Visit) -> None:
    """A machine that a person removes is not listed any more, and its key is no token any more."""
    key = done(join(hub, visit, code_of(owner)))["token"]
    shown = done(owner.get("/nodes/web1"))["node"]
    assert (shown["online"], shown["linked"], shown["runtime"]) == (False, False, None)
    assert done(owner.delete("/nodes/WEB1"))["node"]["name"] == "web1"
    assert refusal(owner.get("/nodes/web1")) == (404, "not_found")
    assert refusal(owner.delete("/nodes/web1")) == (404, "not_found")
    assert refusal(visit(hub, key).get("/nodes/link")) == (401, "unauthorized")


def test_people_see_what_a_machine_was_ordered(hub: Hub, owner: Web, visit: Visit) -> None:
    """They see which tool, for whom, when, and what became of it; nothing of what was said."""
    done(join(hub, visit, code_of(owner)))
    machine: Machine = hub.do(lambda tx: nodes.find(tx, hub.project, "web1"))
    order = NodeCall(
        who=Principal(project="default", name="ann"), tool="connect", arguments={"command": "hush"}
    )
    for sent in (True, False):
        dispatch, _is_new = hub.do(
            lambda tx, sent=sent: dispatches.begin(tx, hub.project, machine, order, sent=sent)
        )
    hub.do(lambda tx: dispatches.send(tx, dispatch.id))
    hub.do(lambda tx: dispatches.end(tx, dispatch.id, DENIED))
    answer = owner.get("/nodes/WEB1/dispatches")
    newest, oldest = done(answer)["dispatches"]
    assert (newest["tool"], newest["who"], newest["status"], newest["code"]) == (
        "connect",
        "ann",
        "ended",
        "denied",
    )
    assert newest["ended_at"] >= newest["created_at"]
    assert (oldest["status"], oldest["code"], oldest["ended_at"]) == ("sent", None, None)
    assert "hush" not in answer.text
    assert done(owner.get("/nodes/web1/dispatches", limit=1))["dispatches"] == [newest]
    assert refusal(owner.get("/nodes/web1/dispatches", limit=0)) == (400, "invalid")


def test_the_role_of_a_machine_is_not_given(owner: Web) -> None:
    """Nobody asks for a token, a person or an invitation of that role; the interface does not offer it."""
    asked = {"name": "eve", "project": "default", "role": "node"}
    for path in ("/tokens", "/users", "/users/invites"):
        assert refusal(owner.post(path, asked)) == (400, "invalid")
    bodies = done(owner.get("/openapi.json"))["components"]["schemas"]
    for body in ("NewToken", "NewUser", "NewInvite"):
        assert bodies[body]["properties"]["role"]["enum"] == ["owner", "admin", "member", "viewer"]


@pytest.fixture
def machine(hub: Hub, owner: Web, visit: Visit) -> Web:
    """A client with the key of a machine, of the whole hub."""
    return visit(hub, done(join(hub, visit, code_of(owner)))["token"], root="")


def routes(owner: Web) -> Iterator[tuple[str, str]]:
    """Return every method and path of the REST interface, with its parameters filled in."""
    for path, methods in done(owner.get("/openapi.json"))["paths"].items():
        plain = path
        while "{" in plain:
            plain = plain.partition("{")[0] + "web1" + plain.partition("}")[2]
        yield from ((method.upper(), f"/api/v1{plain}") for method in methods)


def test_a_machines_key_opens_no_route(machine: Web, owner: Web) -> None:
    """On every route of REST, whatever the method, a machine's key is refused."""
    walked = list(routes(owner))
    assert len(walked) > 50
    for method, path in walked:
        assert refusal(machine.http.request(method, path, json={})) == (403, "forbidden"), (method, path)


def test_a_machines_key_opens_nothing_else(hub: Hub, machine: Web) -> None:
    """Neither MCP, in any dialect, nor events, nor the live view, nor what clients of other hubs call."""
    dialects = ["/mcp", *(f"/mcp/{name}" for name in hub.served.dialects)]
    others = ["/api/auth/me", "/api/status", "/api/nodes", "/api/tasks", "/api/relay/session", "/metrics",
              "/_gxv/api/v1/checkin", "/api/v1/openapi.json", "/api/v1/nodes/link/", "/nowhere"]  # fmt: skip
    for path in [*dialects, "/events", "/events/node:web1", "/events/hub", "/ws", *others]:
        for answer in (machine.get(path), machine.post(path, ECHO)):
            assert refusal(answer) == (403, "forbidden"), path


@pytest.mark.parametrize("path", ["/ws", "/nowhere", "/api/v1/nodes/link/x"])
def test_a_machines_key_opens_no_other_stream(hub: Hub, machine: Web, path: str) -> None:
    """No WebSocket but the machines' own opens to it, the live view not more than any other."""
    key = machine.http.headers["Authorization"].removeprefix("Bearer ")
    assert refused(hub, key, path)[:2] == (403, "forbidden")


def test_a_machines_key_makes_no_other(hub: Hub, machine: Web) -> None:
    """It neither makes tokens nor ends any, its own among them."""
    key: Any = hub.do(lambda tx: nodes.find(tx, hub.project, "web1")).token_id
    assert refusal(machine.post("/api/v1/tokens", {})) == (403, "forbidden")
    assert refusal(machine.post("/api/auth/node-token", {})) == (403, "forbidden")
    assert refusal(machine.delete(f"/api/v1/tokens/{key}")) == (403, "forbidden")
