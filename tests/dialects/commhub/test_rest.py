"""The REST that CommHub's node clients call beside the tools: the same world, by other addresses."""

from typing import Any
from uuid import uuid4

import httpx2

from hubbub.core.people import users
from hubbub.model.people.rights import Role
from tests.dialects.commhub.callers import Fleet
from tests.dialects.commhub.requirements import requires
from tests.dialects.every_row import every_row
from tests.dialects.running_hub import NO_TLS, Json
from tests.support.waiting import patience

PASSWORD = "正确的马电池订书钉"
REFUSED: list[tuple[str, str, object, int]] = [
    ("GET", "/api/task/none", None, 404),
    ("GET", "/api/tasks?limit=101", None, 400),
    ("GET", "/api/status?network_id=net_000000000000", None, 404),
    ("POST", "/api/task", {"alias": "nobody", "task": "t"}, 404),
    ("POST", "/api/task", {"alias": "coder-1", "task": "t" * 10_001}, 400),
    ("POST", "/api/task", {"alias": "coder-1", "task": "t", "parent_task_id": "none"}, 404),
    ("POST", "/api/task", [], 400),
    ("POST", "/api/broadcast", {}, 400),
]


def _ask(fleet: Fleet, method: str, path: str, secret: str | None = None, **more: Any) -> httpx2.Response:
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    url = f"{fleet.hub.url}{path}"
    return httpx2.request(method, url, headers=headers, timeout=patience(), verify=NO_TLS, **more)


def _get(fleet: Fleet, path: str, **query: str) -> Json:
    answer = _ask(fleet, "GET", path, fleet.program(Role.VIEWER).secret, params=query)
    assert answer.status_code == 200, answer.text
    content: Json = answer.json()
    assert content["ok"] is True
    return content


def _code(fleet: Fleet) -> str:
    return fleet.hub.do(lambda tx: users.invite(tx, fleet.project))


def _register(fleet: Fleet, username: object, password: object, code: str | None) -> httpx2.Response:
    account = {"username": username, "password": password, "invite_code": code}
    return _ask(fleet, "POST", "/api/auth/register", json=account)


@requires("rest.health")
def test_health_names_nobody(fleet: Fleet) -> None:
    """A caller without a token learns that the hub lives, and nothing of the agents that work there."""
    fleet.online("secret-agent")

    answer = _ask(fleet, "GET", "/health")

    assert (answer.status_code, answer.json()["ok"]) == (200, True)
    assert "secret-agent" not in answer.text
    assert fleet.project.slug not in answer.text


@requires("rest.register.invited", "rest.register.argon2id", "rest.login", "rest.login.one_error", "rest.login.tries",
          "rest.me")  # fmt: skip
def test_an_invited_person_registers_and_logs_in(fleet: Fleet) -> None:
    """A code lets one person in, as a member; then the password does, ten wrong tries a minute, one text for all."""
    fleet.later(minutes=2)  # what other tests tried is over
    name, code = f"小明-{uuid4().hex[:6]}", _code(fleet)
    assert _register(fleet, name, PASSWORD, None).status_code == 403

    registered = _register(fleet, name, PASSWORD, code)
    assert registered.status_code == 200, registered.text
    assert registered.json()["token"].startswith("utok_")
    assert _register(fleet, f"{name}2", PASSWORD, code).status_code == 403
    kept = fleet.hub.look(lambda tx: users.by_name(tx, name))
    assert kept is not None
    assert kept.password is not None
    assert kept.password.startswith("$argon2id$")

    right = {"username": name, "password": PASSWORD}
    secret = _ask(fleet, "POST", "/api/auth/login", json=right).json()["token"]
    me = _ask(fleet, "GET", "/api/auth/me", secret).json()
    assert me["user"]["username"] == name
    assert [each["network_id"] for each in me["networks"]] == [fleet.network_id]

    wrong = [{**right, "password": "wrong password"}, {**right, "username": "nobody-at-all"}] * 5
    refused = [_ask(fleet, "POST", "/api/auth/login", json=each) for each in wrong]
    assert {(each.status_code, each.text) for each in refused} == {(401, refused[0].text)}
    eleventh = _ask(fleet, "POST", "/api/auth/login", json=right)
    assert eleventh.status_code == 429
    assert int(eleventh.headers["Retry-After"]) > 0
    fleet.later(minutes=2)  # or others could not log in


@requires("rest.register.username", "rest.register.password")
def test_an_account_has_its_limits(fleet: Fleet) -> None:
    """A name of 2 to 50 letters, digits, _ and -, a password of 8 and more that nobody guesses; else nothing."""
    code = _code(fleet)
    assert _register(fleet, "somebody", PASSWORD, "inv_x").status_code == 403  # tries are counted from now on

    with fleet.unchanged():
        for username in ("a", "a" * 51, "a b", "a.b", "", "<b>", 7):
            answer = _register(fleet, username, PASSWORD, code)
            assert answer.status_code == 400, username
            assert answer.json()["ok"] is False
        for password in ("x7!aq2p", "password", "12345678", "", 12345678):
            assert _register(fleet, "somebody", password, code).status_code == 400, password
    for username in (f"é-_{uuid4().hex[:6]}", uuid4().hex[:2] + "名" * 48):
        assert _register(fleet, username, "x7!aq2p9", _code(fleet)).status_code == 200


@requires("rest.node_token", "tokens.shape")
def test_a_person_gets_a_token_for_a_node(fleet: Fleet) -> None:
    """A member gets a token of the network, with which a program reports; a viewer gets none."""
    member, viewer = (fleet.person((fleet.project, role)) for role in (Role.MEMBER, Role.VIEWER))
    asked = {"network_id": fleet.network_id, "node_name": "盒子"}

    answer = _ask(fleet, "POST", "/api/auth/node-token", member.secret, json=asked).json()
    with fleet.unchanged():
        assert _ask(fleet, "POST", "/api/auth/node-token", viewer.secret, json=asked).status_code == 403

    secret = next(value for value in answer.values() if str(value).startswith("ntok_"))
    assert _ask(fleet, "GET", "/api/auth/me", secret).json()["networks"][0]["network_id"] == fleet.network_id
    sent = {"alias": "hub", "task": "t"}
    assert _ask(fleet, "POST", "/api/task", secret, json=sent).status_code == 404


@requires("rest.task", "rest.reads", "rest.broadcast")
def test_the_same_world_over_rest(fleet: Fleet) -> None:
    """Mail sent over REST is seen by the tools, and the other way round."""
    coder = fleet.online("代码1号", node_id="n_1")
    secret = fleet.program().secret
    parent = fleet.agent("指挥室").send_task(alias="代码1号", task="whole")["message_id"]
    sent = {
        "alias": "代码1号", "task": "写", "priority": "high", "from": "指挥室", "network_id": fleet.network_id,
        "parent_task_id": parent, "ttl_seconds": 60,
    }  # fmt: skip

    answer = _ask(fleet, "POST", "/api/task", secret, json=sent).json()
    assert answer["ok"] is True
    assert answer["task_id"] == answer["message_id"]
    task = fleet.task(answer["task_id"])
    assert (task["content"], task["priority"], task["from_name"], task["parent_task_id"]) == (
        "写", "high", "指挥室", parent,
    )  # fmt: skip
    assert _get(fleet, f"/api/task/{answer['task_id']}")["task"] == task
    assert _ask(fleet, "POST", "/api/broadcast", secret, json={"message": "b"}).json()["recipients"] == 1
    coder.report_completion(alias="代码1号", task=answer["task_id"], result="r")

    program = fleet.program()
    assert _get(fleet, "/api/tasks", alias="代码1号", limit="1") == program.list_tasks(
        alias="代码1号", limit=1
    )
    assert _get(fleet, "/api/status") == program.get_all_status()
    assert _get(fleet, "/api/completions") == program.get_completions()
    assert len(_get(fleet, "/api/nodes")["nodes"]) == 1
    assert {"b", "r"} <= {row["content"] for row in _get(fleet, "/api/messages")["messages"]}


@requires("rest.task", "rest.reads")
def test_a_refusal_over_rest(fleet: Fleet) -> None:
    """A refusal has its HTTP status and CommHub's words, and leaves no trace."""
    fleet.online("coder-1")
    secret = fleet.program().secret

    with fleet.unchanged(), every_row() as row:
        for method, path, body, status in REFUSED:
            answer = _ask(fleet, method, path, secret, **({} if body is None else {"json": body}))
            with row(method, path, str(body)[:60]):
                assert answer.status_code == status, answer.text
                assert answer.json()["ok"] is False
                assert answer.json()["error"]
