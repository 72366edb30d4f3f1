"""Agents on machines over the REST interface, with the machine that the hub runs on."""

import json
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

from hubbub.core.fleet import managed_agents, nodes
from hubbub.model.fleet.calls import NodeInfo
from hubbub.model.people.rights import Role
from tests.serve.served_hub import Hub, running_hub
from tests.serve.web_client import Visit, Web, done, not_refused, refusal
from tests.support.waiting import until

COMMAND = "cat; sleep 1000"
POLICY = '[files]\nroots = ["../work"]\n'


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    for name in ("config", "work"):
        (tmp_path / name).mkdir()
    file = tmp_path / "config" / "node.toml"
    file.write_text(POLICY + '[rules]\nallow = ["agent_start(cat)", "agent_start(sleep *)"]\n')
    return file


@pytest.fixture
def hub(tmp_path: Path, policy: Path) -> Iterator[Hub]:
    with running_hub(tmp_path / "hub", config=policy.parent) as running:
        yield running


@pytest.fixture
def node(hub: Hub) -> str:
    """The name of the hub's own machine."""
    (only,) = hub.do(lambda tx: nodes.listed(tx, hub.project))
    return str(only.name)


@pytest.fixture
def person(hub: Hub, visit: Visit) -> Web:
    return visit(hub, hub.owner_secret)


@pytest.fixture
def agents(person: Web) -> Iterator[None]:
    """All agents that a test has placed are stopped in the end."""
    yield
    for each in done(person.get("/placements"))["placements"]:
        person.post(f"/agents/{each['agent']}/stop")


def start(person: Web, node: str, run: str = COMMAND, name: str = "coder", **more: Any) -> httpx2.Response:
    return person.post(f"/agents/{name}/start", {"node": node, "run": run, **more})


def follow(person: Web, *, until: str) -> list[Any]:
    """The lines of the agent's log, up to the first with these words."""
    found = []
    with person.http.stream("GET", "/agents/coder/logs", params={"follow": "true"}) as response:
        for event in httpx2.EventSource(response):
            found.append(json.loads(event.data))
            if until in found[-1].get("text", ""):
                return found
    raise AssertionError(found)


@pytest.mark.usefixtures("agents")
def test_an_agent_is_started_read_and_stopped(hub: Hub, person: Web, node: str) -> None:
    """It runs where it was ordered, once; its lines are numbered and come as they are said; then it is gone."""
    placed = done(start(person, node.upper()))["placement"]
    assert (placed["agent"], placed["node"], placed["status"]) == ("coder", node, "running")
    assert placed["pid"] > 0
    assert refusal(start(person, node)) == (409, "conflict")
    assert follow(person, until="ready")[0]["id"] == 1
    assert done(person.get("/agents/coder/logs", lines=1))["lines"][0]["text"].startswith("coder: ready")
    assert done(person.get("/placements"))["placements"][0]["command"] == COMMAND
    assert done(person.post("/agents/coder/stop"))["placement"]["status"] == "stopped"
    assert refusal(person.get("/agents/nobody/logs")) == (404, "not_found")


@pytest.mark.usefixtures("agents")
def test_a_start_on_the_hubs_own_machine_is_repeated_with_its_key(person: Web, node: str) -> None:
    """The same call with the same key gets the same answer, and starts nothing again."""
    body, key = {"node": node, "run": COMMAND}, {"Idempotency-Key": "k"}

    def keyed(body: dict[str, str]) -> httpx2.Response:
        return person.post("/agents/coder/start", body, **key)

    first, again = (done(keyed(body))["placement"] for _ in range(2))
    assert (again["pid"], again["status"]) == (first["pid"], "running")
    assert refusal(keyed({**body, "run": "cat"})) == (409, "conflict")
    assert refusal(start(person, node)) == (409, "conflict")


def test_a_refused_start_may_be_tried_again_with_its_key(person: Web, node: str, policy: Path) -> None:
    """What was not done at all leaves its key free."""
    policy.write_text(POLICY + '[rules]\ndeny = ["agent_start(cat)"]\n')
    key = {"Idempotency-Key": "k"}

    for _ in range(2):
        assert refusal(person.post("/agents/coder/start", {"node": node, "run": "cat"}, **key)) == (
            403,
            "forbidden",
        )


@pytest.mark.usefixtures("agents")
def test_who_follows_may_leave(hub: Hub, person: Web, node: str) -> None:
    """A reader that goes ends nothing but the reading; one that stays hears how it ended."""
    done(start(person, node))
    follow(person, until="ready")
    told: list[str] = []
    with (
        ThreadPoolExecutor(1) as threads,
        person.http.stream("GET", "/agents/coder/logs", params={"follow": "true"}) as response,
    ):
        events = iter(httpx2.EventSource(response))
        told.append(next(events).event)
        stopping = threads.submit(person.post, "/agents/coder/stop")
        told += [each.event for each in events]
        done(stopping.result())
    assert told[-1] == "end"


@pytest.mark.usefixtures("agents")
def test_the_machines_gate_asks_a_person(hub: Hub, person: Web, node: str, tmp_path: Path) -> None:
    """Where the policy does not say, a person is asked, with the command; nothing runs before they said yes."""
    with ThreadPoolExecutor(1) as threads:
        starting: Future[Any] = threads.submit(start, person, node, "tee made")
        asked = pending(person)
        assert (asked["tool"], asked["shown"], asked["arguments"]["agent"]) == (
            "agent_start",
            "tee made",
            "coder",
        )
        assert done(person.get("/placements"))["placements"][0]["status"] == "starting"
        assert refusal(start(person, node)) == (409, "conflict")
        done(person.post(f"/approvals/{asked['id']}/approve"))
        assert done(starting.result())["placement"]["status"] == "running"


@pytest.mark.parametrize("answer", ["deny", None])
def test_without_a_yes_nothing_runs(
    hub: Hub, person: Web, node: str, policy: Path, answer: str | None
) -> None:
    """A no, or no answer in time, and there is no agent, no key and no placement."""
    policy.write_text(POLICY if answer else 'approval_timeout = "1s"\n' + POLICY)
    with ThreadPoolExecutor(1) as threads:
        starting = threads.submit(start, person, node)
        if answer is not None:
            done(person.post(f"/approvals/{pending(person)['id']}/{answer}"))
        code = (403, "forbidden") if answer else (409, "needs_approval")
        assert refusal(starting.result()) == code
    assert done(person.get("/placements"))["placements"] == []
    assert not [each for each in done(person.get("/tokens"))["tokens"] if each["agent"] == "coder"]


def pending(person: Web) -> Any:
    """The question that waits, as soon as there is one."""
    return until(lambda: done(person.get("/approvals", status="pending"))["approvals"], "the machine to ask")[
        0
    ]


def test_what_is_denied(hub: Hub, person: Web, node: str) -> None:
    """Nobody can order what the floor denies; the sentence says why."""
    answer = start(person, node, "cat ~/.ssh/id_rsa")
    assert refusal(answer) == (403, "forbidden")
    assert "gate denies it" in answer.json()["message"]
    assert done(person.get("/placements"))["placements"] == []


def test_what_cannot_be_started(hub: Hub, person: Web, node: str, policy: Path) -> None:
    """A program that is not there, a folder that is not there: one sentence, and the name is free again."""
    policy.write_text(POLICY + '[rules]\nallow = ["agent_start"]\n')
    missing = start(person, node, "no-such-program -p")
    assert missing.json()["message"] == f"there is no program 'no-such-program' on {node}"
    nowhere = start(person, node, folder="nowhere")
    assert nowhere.json()["message"] == "the folder 'nowhere' is not there"
    assert done(person.get("/placements"))["placements"] == []


def test_only_people_do_so(hub: Hub, person: Web, node: str, visit: Visit) -> None:
    """An agent's token, whatever its role, starts, stops and reads no agent; who may only look does not either."""
    for role in (Role.OWNER, Role.MEMBER, Role.VIEWER):
        agent = visit(hub, hub.token(role=role))
        assert refusal(start(agent, node)) == (403, "forbidden")
        assert refusal(agent.post("/agents/coder/stop"))[0] in (403, 404)
        assert refusal(agent.get("/agents/coder/logs"))[0] in (403, 404)
    assert done(visit(hub, hub.token()).get("/placements"))["placements"] == []


def test_a_machine_that_is_away(hub: Hub, person: Web) -> None:
    """An order for a machine without a link is refused at once as offline, and leaves nothing."""
    about = NodeInfo(name="away", machine_id="m", platform="Linux", version="1", sandbox="none")
    away = hub.do(lambda tx: nodes.report(tx, hub.project, about))
    assert refusal(start(person, "away")) == (409, "offline")
    assert refusal(start(person, "unheard-of")) == (404, "not_found")
    assert done(person.get("/placements"))["placements"] == []
    order = {"agent": "coder", "machine": away, "command": "cat"}
    hub.do(lambda tx: managed_agents.order(tx, hub.project, **order), hub.owner)
    for answer in (person.post("/agents/coder/stop"), person.get("/agents/coder/logs")):
        assert refusal(answer) == (409, "offline")


def test_what_makes_no_sense(person: Web) -> None:
    """A missing, empty or excessive value is said in one sentence."""
    table: list[dict[str, Any]] = [
        {"run": "cat"},
        {"node": "x"},
        {"node": "x", "run": " "},
        {"node": "x", "run": "cat\0"},
        {"node": "x", "run": "cat", "concurrency": 0},
        {"node": "x", "run": "cat", "concurrency": 65},
        {"node": "x", "run": "cat", "folder": 7},
    ]
    assert not_refused(lambda body: person.post("/agents/coder/start", body), table) == []
