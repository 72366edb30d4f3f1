"""A person at the machine that the hub runs on, over the REST interface: its own gate decides."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

from hubbub.core.fleet import nodes
from hubbub.model.fleet.calls import NodeInfo
from hubbub.model.people.rights import Role
from tests.serve.served_hub import Hub, running_hub
from tests.serve.web_client import Json, Web, done, refusal
from tests.support.waiting import patience, until

POLICY = """[files]
roots = ["../work"]
[rules]
deny = ["execute_command(id *)"]
ask = ["execute_command(whoami)"]
allow = ["execute_command(echo *)", "execute_command(pwd)", "execute_command(sleep *)"]
"""


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    """One hub for all tests here, with a machine that has rules."""
    folder = tmp_path_factory.mktemp("terminal")
    for name in ("config", "work"):
        (folder / name).mkdir()
    (folder / "config" / "node.toml").write_text(POLICY)
    with running_hub(folder / "hub", config=folder / "config") as running:
        yield running


@pytest.fixture(scope="module")
def person(hub: Hub) -> Iterator[Web]:
    web = Web(hub.url + "/api/v1", hub.owner_secret)
    yield web
    web.http.close()


@pytest.fixture(scope="module")
def node(hub: Hub) -> str:
    """The name of the hub's own machine."""
    (only,) = hub.do(lambda tx: nodes.listed(tx, hub.project))
    return str(only.name)


def run(web: Web, node: str, command: str, **more: object) -> httpx2.Response:
    return web.post(f"/nodes/{node}/run", {"command": command, **more})


def inputs(person: Web) -> list[Json]:
    entries: list[Json] = done(person.get("/audit/entries", kind="terminal"))["entries"]
    return entries


def test_a_command_runs_where_the_gate_lets_it(person: Web, node: str) -> None:
    """The command's output and exit code come back; the log has the command, and the person who gave it."""
    ran = done(run(person, node.upper(), "echo hello"))
    assert ran == {"status": "ended", "stdout": "hello\n", "stderr": "", "exit_code": 0, "task_id": None}
    entry = inputs(person)[0]
    assert (entry["kind"], entry["actor"]) == ("terminal.input", "owner")
    assert entry["detail"] == {"node": node, "command": "echo hello"}


def test_what_the_gate_denies_is_not_done(person: Web, node: str) -> None:
    """A refusal says the gate's reason, and the attempt is in the log all the same."""
    answer = run(person, node, "id -u")
    assert refusal(answer) == (403, "forbidden")
    assert "execute_command(id *)" in answer.json()["message"]
    assert inputs(person)[0]["detail"]["command"] == "id -u"


def test_what_is_asked_waits_for_a_person(person: Web, node: str) -> None:
    """A command that a rule asks about goes on when a person says yes."""
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(run, person, node, "whoami")
        pending = until(
            lambda: done(person.get("/approvals", status="pending"))["approvals"], "the machine to ask"
        )
        assert (pending[0]["who"], pending[0]["node"], pending[0]["shown"]) == ("owner", node, "whoami")
        done(person.post(f"/approvals/{pending[0]['id']}/approve"))
        assert done(coming.result())["exit_code"] == 0


def test_a_command_that_takes_too_long_is_ended(person: Web, node: str) -> None:
    """After its time a command is killed, which is told with what it had printed."""
    ran = done(run(person, node, "echo first; sleep 60", timeout_seconds=patience(0.5)))
    assert (ran["status"], ran["stdout"], ran["exit_code"]) == ("timeout", "first\n", None)


def test_a_command_runs_in_a_folder(hub: Hub, person: Web, node: str) -> None:
    """It runs where it is told to."""
    work = str(hub.served.settings.config.parent / "work")
    assert done(run(person, node, "pwd", folder=work))["stdout"].strip() == work


def test_secrets_do_not_come_into_the_log(person: Web, node: str) -> None:
    """The log keeps the beginning of a command, every character visible, without any likely secret."""
    secret = "ghp_" + "a1B2" * 10
    done(run(person, node, f"echo 'a\tb' {secret} {'x' * 1000}"))
    command = inputs(person)[0]["detail"]["command"]
    assert secret not in command
    assert "'a\\tb' [redacted]" in command
    assert len(command) <= 300


def test_the_same_key_is_one_command(person: Web, node: str) -> None:
    """A command that is given twice with the same key runs once, and is answered alike."""
    key = {"Idempotency-Key": "once"}
    ran = [done(person.post(f"/nodes/{node}/run", {"command": "echo $RANDOM$RANDOM"}, **key)) for _ in "12"]
    assert ran[0] == ran[1]


def test_a_machine_tells_its_rules(person: Web, node: str) -> None:
    """A person sees by what rules a machine decides, as they are written."""
    policy = done(person.get(f"/nodes/{node}/policy"))
    assert policy["node"] == node
    assert policy["rules"] == {
        "deny": ["execute_command(id *)"],
        "ask": ["execute_command(whoami)"],
        "allow": ["execute_command(echo *)", "execute_command(pwd)", "execute_command(sleep *)"],
    }
    assert policy["mode"] == "default"
    assert policy["fault"] is None
    assert [each.rpartition("/")[2] for each in policy["roots"]] == ["work"]


def test_only_people_use_a_machine_by_hand(hub: Hub, node: str) -> None:
    """No agent's token runs a command or reads the rules, whatever its role."""
    for role in (Role.OWNER, Role.MEMBER, Role.VIEWER):
        web = Web(hub.url + "/api/v1", hub.token(role=role))
        for answer in (run(web, node, "echo hello"), web.get(f"/nodes/{node}/policy")):
            assert refusal(answer) == (403, "forbidden")
        web.http.close()


def test_a_viewer_runs_nothing(hub: Hub, person: Web, node: str) -> None:
    """A person who only looks on neither runs a command nor reads the rules, and nothing is logged as theirs."""
    secret = done(person.post("/users", {"name": "looker", "project": "default", "role": "viewer"}))["token"]
    viewer = Web(hub.url + "/api/v1", secret)
    for answer in (run(viewer, node, "echo hello"), viewer.get(f"/nodes/{node}/policy")):
        assert refusal(answer) == (403, "forbidden")
    viewer.http.close()
    assert "looker" not in [each["actor"] for each in inputs(person)]


@pytest.mark.usefixtures("node")  # is named while it is the only one
def test_a_machine_that_is_not_there(hub: Hub, person: Web) -> None:
    """A machine that nobody knows is not found; one that is away is offline, and nothing is done."""
    about = NodeInfo(name="far", machine_id="m-far", platform="x", version="1", sandbox="none")
    hub.do(lambda tx: nodes.report(tx, hub.project, about))
    hub.do(lambda tx: nodes.leave(tx, hub.project, "far"))
    assert refusal(run(person, "nowhere", "echo hello")) == (404, "not_found")
    assert refusal(run(person, "far", "echo hello")) == (409, "offline")
    assert refusal(person.get("/nodes/far/policy")) == (409, "offline")


@pytest.mark.parametrize(
    "body", [{}, {"command": ""}, {"command": "x\0"}, {"command": "x", "timeout_seconds": 0}, {"command": 7}]
)
def test_what_is_no_command_is_refused(person: Web, node: str, body: Json) -> None:
    """A command is a text that is not empty, and its time is up to ten minutes."""
    before = len(inputs(person))
    assert refusal(person.post(f"/nodes/{node}/run", body)) == (400, "invalid")
    assert len(inputs(person)) == before
