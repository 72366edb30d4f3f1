"""The REST that CommHub's node clients call, through real HTTP."""

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from hubbub.core.actions import completion_reports
from hubbub.core.agents import agents
from hubbub.core.mail import messages
from hubbub.core.people import users
from hubbub.core.presence import presences
from hubbub.core.work import tasks
from hubbub.model.people.rights import Role
from hubbub.model.records import Condition, Profile, ReportedNode
from hubbub.serve.http import passwords
from hubbub.store.tx import Tx
from tests.serve.conftest import both_engines
from tests.serve.served_hub import Hub, anew, running_hub
from tests.serve.web_client import Json, Visit, Web

NAME = "代码1号"
PASSWORD = "correct horse battery"
ACCOUNT = {"username": "张三", "password": PASSWORD}


@pytest.fixture(scope="module")
def open_hub_for_all(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    with running_hub(tmp_path_factory.mktemp("open_hub"), open_registration=True, public_url=None) as running:
        yield running


@pytest.fixture
def open_hub(open_hub_for_all: Hub) -> Hub:
    """A hub where anyone may register, and which no proxy stands before."""
    return anew(open_hub_for_all)


@pytest.fixture
def anyone(open_hub: Hub, visit: Visit) -> Web:
    """Somebody without a token, at a hub where anyone may register."""
    return visit(open_hub, root="/api")


@pytest.fixture
def web(hub: Hub, visit: Visit) -> Web:
    """An unbound token of a project that knows an agent."""
    hub.meet(NAME)
    return visit(hub, hub.token(), root="/api")


def yes(response: httpx2.Response) -> Json:
    content: Json = response.json()
    assert (response.status_code, content["ok"]) == (200, True), content
    return content


def no(response: httpx2.Response) -> tuple[int, str]:
    """Status and error of a refusal in CommHub's form."""
    content = response.json()
    assert content["ok"] is False
    return response.status_code, content["error"]


def network(hub: Hub) -> str:
    return f"net_{hub.project.id.hex[-12:]}"


# Accounts


def test_who_registers_gets_a_token_and_a_network(open_hub: Hub, anyone: Web, visit: Visit) -> None:
    """Where registration is open, a person of any script gets a `utok_` and a network of their own."""
    made = yes(anyone.post("/auth/register", ACCOUNT))
    assert made["token"].startswith("utok_")
    assert made["user"]["username"] == "张三"
    me = yes(visit(open_hub, made["token"], root="/api").get("/auth/me"))
    assert me["user"] == made["user"]
    assert me["token_type"] == "user"
    assert [each["role"] for each in me["networks"]] == ["owner"]


def test_registering_needs_an_invitation(hub: Hub, visit: Visit) -> None:
    """Where registration is not open, it takes a code, which works once and leads into its network."""
    anyone = visit(hub, root="/api")
    assert no(anyone.post("/auth/register", ACCOUNT)) == (403, "permission_denied")
    code = hub.do(lambda tx: users.invite(tx, hub.project), hub.owner)
    made = yes(anyone.post("/auth/register", {**ACCOUNT, "invite_code": code}))
    assert [(each["network_id"], each["role"]) for each in made["networks"]] == [(network(hub), "member")]
    second = {"username": "second", "password": PASSWORD, "invite_code": code}
    assert no(anyone.post("/auth/register", second)) == (403, "permission_denied")


def test_wrong_codes_are_counted(hub: Hub, visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    """An address may try ten wrong codes a minute, none of which costs the work of hashing; good ones do not count."""
    monkeypatch.setattr(passwords.Passwords, "hash", None)
    anyone, wrong = visit(hub, root="/api"), {**ACCOUNT, "invite_code": "inv_0"}
    assert [no(anyone.post("/auth/register", each))[0] for each in [wrong, ACCOUNT] * 5] == [403] * 10

    code = hub.do(lambda tx: users.invite(tx, hub.project), hub.owner)
    answer = anyone.post("/auth/register", {**ACCOUNT, "invite_code": code})

    assert no(answer) == (429, "too_many")
    assert 0 < int(answer.headers["retry-after"]) <= 60


def test_a_username_is_taken_once(anyone: Web) -> None:
    """A username that somebody has is a conflict."""
    yes(anyone.post("/auth/register", ACCOUNT))
    assert no(anyone.post("/auth/register", ACCOUNT)) == (409, "conflict")


@pytest.mark.parametrize(
    ("username", "password"),
    [
        ("x", PASSWORD),
        ("x" * 51, PASSWORD),
        ("a b", PASSWORD),
        ("a/b", PASSWORD),
        ("a\0b", PASSWORD),
        ("ann", "short12"),
        ("ann", "x" * 1_001),
        ("ann", "password"),
        ("ann", "PassWord1"),
        ("annabella", "Annabella"),
        ("ann", None),
        (None, PASSWORD),
        (5, PASSWORD),
        ("ann", ["p"]),
    ],
)
def test_a_bad_account_is_refused(anyone: Web, username: Any, password: Any) -> None:
    """Usernames have 2 to 50 letters, digits, `_`, `-`; passwords at least 8 characters, and are not common ones."""
    answer = anyone.post("/auth/register", {"username": username, "password": password})
    assert no(answer) == (400, "invalid_arguments")


@pytest.mark.parametrize(("username", "password"), [("x_", "p" * 8), ("x-" * 25, "p" * 1_000)])
def test_an_account_at_the_limits_is_taken(anyone: Web, username: str, password: str) -> None:
    """The shortest and the longest of both are taken."""
    yes(anyone.post("/auth/register", {"username": username, "password": password}))
    yes(anyone.post("/auth/login", {"username": username, "password": password}))


def test_logging_in_gives_a_token(open_hub: Hub, anyone: Web, visit: Visit) -> None:
    """The right password gives a new token, which stands for the person."""
    made = yes(anyone.post("/auth/register", ACCOUNT))
    entered = yes(anyone.post("/auth/login", ACCOUNT))
    assert entered["token"] != made["token"]
    assert yes(visit(open_hub, entered["token"], root="/api").get("/auth/me"))["user"] == made["user"]


def test_a_wrong_password_and_an_unknown_name_are_refused_alike(anyone: Web) -> None:
    """One answer for every wrong login: a wrong password, nobody of that name, somebody without a password."""
    yes(anyone.post("/auth/register", ACCOUNT))
    wrong = [
        {**ACCOUNT, "password": "wrong one"},
        {**ACCOUNT, "username": "nobody"},
        {**ACCOUNT, "username": "owner"},
    ]
    answers = [anyone.post("/auth/login", account) for account in wrong]
    assert {(each.status_code, each.text) for each in answers} == {(401, answers[0].text)}
    assert no(answers[0]) == (401, "unauthorized")


def test_an_unknown_name_costs_as_much_work_as_a_wrong_password(
    anyone: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For a name that nobody has, a password is verified all the same, so that the time does not tell."""
    verified: list[bool] = []
    real = passwords.Passwords._verify

    def verify(self: passwords.Passwords, kept: str | None, password: str) -> bool:
        verified.append(kept is None)
        return real(self, kept, password)

    monkeypatch.setattr(passwords.Passwords, "_verify", verify)
    no(anyone.post("/auth/login", ACCOUNT))
    assert verified == [True]


def test_the_eleventh_try_in_a_minute_has_to_wait(anyone: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    """An address may try ten times a minute; then the answer says how long to wait."""
    monkeypatch.setattr(passwords.Passwords, "_verify", lambda _self, _kept, _password: False)
    assert [no(anyone.post("/auth/login", ACCOUNT))[0] for _ in range(10)] == [401] * 10
    answer = anyone.post("/auth/login", ACCOUNT, **{"X-Forwarded-For": "10.0.0.1"})
    assert no(answer) == (429, "too_many")
    assert 0 < int(answer.headers["retry-after"]) <= 60


def test_a_program_gets_a_token_for_its_network(hub: Hub, web: Web, visit: Visit) -> None:
    """A person gets an `ntok_` of role member for the network named, by which a node's agents act."""
    owner = visit(hub, hub.owner_secret, root="/api")
    made = yes(owner.post("/auth/node-token", {"network_id": network(hub), "node_name": "mac"}))
    assert made["token"].startswith("ntok_")
    assert (made["network_id"], made["node_name"]) == (network(hub), "mac")
    me = yes(visit(hub, made["token"], root="/api").get("/auth/me"))
    assert (me["token_type"], me["user"], me["networks"][0]["role"]) == ("network", None, "member")
    elsewhere = owner.post("/auth/node-token", {"network_id": "net_000000000000"})
    assert no(elsewhere) == (404, "access denied to requested network")


def test_viewers_get_no_token(hub: Hub, visit: Visit) -> None:
    """A viewer cannot make itself a member."""
    viewer = visit(hub, hub.token(role=Role.VIEWER), root="/api")
    assert no(viewer.post("/auth/node-token", {})) == (403, "permission_denied")


# Work


def test_a_task_is_sent_and_read(web: Web, hub: Hub) -> None:
    """`POST /api/task` sends like `send_task` and names the task; it is then in the list, and by itself."""
    body = {"alias": NAME, "task": "Sort it", "priority": "high", "from": "指挥室", "ttl_seconds": 60}
    sent = yes(web.post("/task", {**body, "network_id": network(hub)}))
    assert sent["task_id"] == sent["message_id"]
    listed = yes(web.get("/tasks", alias=NAME, limit=1))
    assert [each["task_id"] for each in listed["tasks"]] == [sent["task_id"]]
    task = yes(web.get(f"/task/{sent['task_id']}"))["task"]
    assert (task["from_name"], task["to_name"], task["priority"]) == ("指挥室", NAME, "high")
    child = yes(web.post("/task", {"alias": NAME, "task": "Part", "parent_task_id": sent["task_id"]}))
    assert yes(web.get(f"/task/{child['task_id']}"))["task"]["parent_task_id"] == sent["task_id"]


@both_engines
def test_a_task_sent_twice_with_a_key_is_sent_once(web: Web) -> None:
    """The header `Idempotency-Key` works here too."""
    body, key = {"alias": NAME, "task": "once"}, {"Idempotency-Key": "k"}
    assert yes(web.post("/task", body, **key)) == yes(web.post("/task", body, **key))
    assert yes(web.get("/tasks"))["count"] == 1


def test_the_status_of_all_is_shown(web: Web, hub: Hub) -> None:
    """`GET /api/status` is `get_all_status`, and `GET /api/nodes` the machines that agents described."""

    def come(tx: Any) -> None:
        profile = Profile(server="s1")
        ttl = timedelta(minutes=10)
        presences.report(
            tx,
            hub.project.id,
            NAME,
            instance="i",
            condition=Condition.IDLE,
            profile=profile,
            ttl=ttl,
        )
        node = ReportedNode(
            project_id=hub.project.id, key="n_1", name="mac", model="m", runtime="r", seen_at=tx.now
        )
        agents.describe_node(tx, node)

    hub.do(come)
    assert [each["alias"] for each in yes(web.get("/status"))["sessions"]] == [NAME]
    assert yes(web.get("/status", filter_server="s2"))["sessions"] == []
    node = yes(web.get("/nodes"))["nodes"][0]
    assert (node["node_id"], node["node_name"], node["network_id"]) == ("n_1", "mac", network(hub))


def test_completions_and_messages_are_listed(web: Web, hub: Hub) -> None:
    """`GET /api/completions` is `get_completions`; `GET /api/messages` the history, newest first."""
    hub.do(lambda tx: completion_reports.report(tx, hub.project.id, NAME, task="any", result="done"))
    assert yes(web.get("/completions", alias=NAME))["completions"][0]["result"] == "done"
    assert yes(web.post("/broadcast", {"message": "first"}))["recipients"] == 0
    yes(web.post("/broadcast", {"message": "second"}))
    assert [each["content"] for each in yes(web.get("/messages"))["messages"]] == ["second", "first"]
    assert [each["content"] for each in yes(web.get("/messages", limit=1))["messages"]] == ["second"]


def test_lists_are_narrowed_by_the_words_of_commhubs_clients(web: Web, hub: Hub) -> None:
    """Its clients ask for sessions by `status`, for tasks by `to_name`, and for messages from or to an `alias`."""

    def fill(tx: Tx) -> None:
        ttl, here = timedelta(minutes=10), hub.project.id
        for name, condition in ((NAME, Condition.IDLE), ("busy", Condition.WORKING)):
            presences.report(tx, here, name, instance="i", condition=condition, profile=Profile(), ttl=ttl)
            tasks.send(tx, here, sender="third", to=name, text=f"for {name}")
        for sender, to in ((NAME, "busy"), ("busy", NAME), ("third", "busy")):
            messages.send(tx, here, sender=sender, to=to, body=f"{sender} to {to}")

    hub.meet("busy")
    hub.do(fill)

    assert [each["alias"] for each in yes(web.get("/status", status="working"))["sessions"]] == ["busy"]
    assert [each["to_name"] for each in yes(web.get("/tasks", to_name=NAME))["tasks"]] == [NAME]
    said = [each["content"] for each in yes(web.get("/messages", alias=NAME))["messages"]]
    assert said == [f"busy to {NAME}", f"{NAME} to busy"]
    assert [each["content"] for each in yes(web.get("/messages", alias="busy", limit=1))["messages"]] == [
        "third to busy"
    ]
    assert len(yes(web.get("/messages", alias=""))["messages"]) == 3


REFUSED: list[tuple[str, Callable[[Web], httpx2.Response], tuple[int, str]]] = [
    ("unknown agent", lambda w: w.post("/task", {"alias": "nobody", "task": "x"}), (404, "alias_not_found")),
    ("no task", lambda w: w.post("/task", {"alias": NAME}), (400, "invalid_arguments")),
    ("not a text", lambda w: w.post("/task", {"alias": 5, "task": "x"}), (400, "invalid_arguments")),
    (
        "too long",
        lambda w: w.post("/task", {"alias": NAME, "task": "x" * 10_001}),
        (400, "invalid_arguments"),
    ),
    ("no such task", lambda w: w.get("/task/nonsense"), (404, "task not found")),
    ("a limit beyond", lambda w: w.get("/tasks", limit=101), (400, "invalid_arguments")),
    ("no limit at all", lambda w: w.get("/tasks", limit="many"), (400, "invalid_arguments")),
    ("an endless limit", lambda w: w.get("/tasks", limit="inf"), (400, "invalid_arguments")),
    ("an unknown filter", lambda w: w.get("/messages", to=NAME), (400, "invalid_arguments")),
    ("a misspelt filter", lambda w: w.get("/tasks", from_session=NAME), (400, "invalid_arguments")),
    ("a filter of one thing", lambda w: w.get("/nodes", limit=5), (400, "invalid_arguments")),
    ("what the path says", lambda w: w.get("/task/1", task_id="2"), (400, "invalid_arguments")),
    ("messages beyond", lambda w: w.get("/messages", limit=501), (400, "invalid_arguments")),
    (
        "another network",
        lambda w: w.get("/status", network_id="net_000000000000"),
        (404, "access denied to requested network"),
    ),
    ("broken JSON", lambda w: w.send("POST", "/task", b"{"), (400, "invalid_arguments")),
    ("deep JSON", lambda w: w.send("POST", "/task", b"[" * 200_000), (400, "invalid_arguments")),
    ("broken UTF-8", lambda w: w.send("POST", "/task", b'{"alias": "\xff"}'), (400, "invalid_arguments")),
    ("a list", lambda w: w.send("POST", "/task", b"[]"), (400, "invalid_arguments")),
    ("NUL in a query", lambda w: w.http.get("/tasks?alias=%00"), (400, "invalid_arguments")),
    ("NUL in a path", lambda w: w.http.get("/task/%00"), (400, "invalid_arguments")),
]


@pytest.mark.parametrize(
    ("call", "expected"), [each[1:] for each in REFUSED], ids=[each[0] for each in REFUSED]
)
def test_refusals_are_in_commhubs_words(
    hub: Hub, visit: Visit, call: Callable[[Web], httpx2.Response], expected: tuple[int, str]
) -> None:
    """A refusal has the words of the tool, and the status that fits."""
    hub.meet(NAME)
    assert no(call(visit(hub, hub.token(), root="/api"))) == expected


def test_viewers_send_nothing(hub: Hub, visit: Visit) -> None:
    """A viewer's writes are denied."""
    hub.meet(NAME)
    viewer = visit(hub, hub.token(role=Role.VIEWER), root="/api")
    assert no(viewer.post("/task", {"alias": NAME, "task": "x"})) == (403, "permission_denied")
    assert no(viewer.post("/broadcast", {"message": "x"})) == (403, "permission_denied")
    assert yes(viewer.get("/tasks"))["count"] == 0


def test_a_password_does_not_hold_up_others(
    open_hub: Hub, anyone: Web, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a password is being verified, other calls are answered."""
    verifying, go_on = threading.Event(), threading.Event()

    def verify(_self: object, _kept: str | None, _password: str) -> bool:
        verifying.set()
        return not go_on.wait(20)

    monkeypatch.setattr(passwords.Passwords, "_verify", verify)
    entering = threading.Thread(target=lambda: anyone.post("/auth/login", ACCOUNT))
    entering.start()
    assert verifying.wait(20)
    assert visit(open_hub, root="").get("/health").json()["ok"] is True
    go_on.set()
    entering.join(20)
