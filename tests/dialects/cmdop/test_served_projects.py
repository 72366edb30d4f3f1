"""The projects that the hub's own machine serves, tried by a person who made one for himself."""

import json
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

import httpx2
import pytest

from hubbub.core.people import members, projects
from tests.dialects.cmdop.workshop import PATH, Agent, Workshop, workshop
from tests.dialects.running_hub import NO_TLS
from tests.serve.web_client import Json, Web, done, refusal
from tests.support.waiting import patience, until

SENTENCE = "this machine does not serve the project {!r}, as its owner does not belong to it"
ASKING = '[rules]\nask = ["execute_command(echo *)"]'


@dataclass
class Ben:
    """A person with a project of his own, whose owner he is, and with a token of the hub."""

    shop: Workshop
    web: Web
    token: str
    project: str
    headers: Json

    @property
    def tools(self) -> Agent:
        return Agent(self.shop.hub.url, self.token, self.headers)

    def asked(self) -> list[Json]:
        """The questions that wait for him."""
        found: list[Json] = done(self.web.get("/approvals", project=self.project, status="pending"))[
            "approvals"
        ]
        return found


@pytest.fixture(scope="module")
def free(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    """A hub whose machine's operator has nothing asked."""
    with workshop(tmp_path_factory.mktemp("free"), 'mode = "bypass"') as made:
        yield made


@contextmanager
def ben_of(shop: Workshop) -> Iterator[Ben]:
    with closing(Web(shop.hub.url + "/api/v1", shop.hub.owner_secret).http) as http:
        name = f"ben{len(http.get('/users').json()['users'])}"
        token = http.post("/users", json={"name": name}).json()["token"]
    web = Web(shop.hub.url + "/api/v1", token)
    with closing(web.http):
        done(web.post("/projects", {"slug": name}))
        yield Ben(shop, web, token, name, {"x-hubbub-project": name})


@pytest.fixture
def ben(free: Workshop) -> Iterator[Ben]:
    """A person of the hub, whom its owner has put into no project, and who made himself one."""
    with ben_of(free) as made:
        yield made


@pytest.fixture
def asked_ben(own_machine: Workshop) -> Iterator[Ben]:
    """The same, where the machine's policy has commands asked."""
    own_machine.policy("", ASKING)
    with ben_of(own_machine) as made:
        yield made


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
@pytest.mark.parametrize("named", [None, "localhost"])
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_file", {"path": "secret.txt"}),
        ("execute_command", {"command": "touch seen"}),
        ("ask_agent", {"hostname": "localhost", "prompt": "hello"}),
        ("connect", {"operation": "exec", "hostname": "localhost", "command": "touch seen"}),
        ("connect", {"operation": "whoami"}),
    ],
)
def test_a_project_without_the_owner_of_the_hub_gets_nothing_done_there(
    ben: Ben, tool: str, arguments: Json, named: str | None, accept: str
) -> None:
    """It reads no file, runs no command and asks nobody, even where the machine's policy allows all."""
    (ben.shop.root / "secret.txt").write_text("42")
    ben.headers |= {"accept": accept, **({"x-hubbub-node": named} if named else {})}

    refused = _refusal(ben, tool, arguments)

    told = refused["error"].partition(";")[0]
    assert (refused["code"], told) == ("denied", SENTENCE.format(ben.project))
    assert f"hubbub project join {ben.project}" in refused["error"]
    assert ben.asked() == []
    assert not (ben.shop.root / "seen").exists()


def test_it_has_a_hub_without_a_machine(ben: Ben) -> None:
    """The hub's own tools work in such a project, no machine is listed, and by hand or by prompt it is not used."""
    assert ben.tools.issue_list() == []
    assert ben.tools.connect(operation="list") == []
    assert done(ben.web.get("/nodes", project=ben.project))["nodes"] == []
    asking = Agent(ben.shop.hub.url, ben.token, ben.headers, path="/mcp/hub")
    assert asking.wrong("ask", machine="localhost", command="id")["error"] == "forbidden"
    name = ben.shop.person().get("/nodes")["nodes"][0]["name"]
    assert refusal(ben.web.http.post(f"/nodes/{name}/run?project={ben.project}", json={"command": "id"})) == (
        404,
        "not_found",
    )


def test_the_owner_of_the_hub_joins_by_themselves_alone(ben: Ben) -> None:
    """Nobody else makes them a member; once they have joined, the machine is listed there and serves the project."""
    assert refusal(ben.web.put(f"/projects/{ben.project}/members/owner", {"role": "member"})) == (
        403,
        "forbidden",
    )
    assert refusal(ben.web.post(f"/projects/{ben.project}/join")) == (403, "forbidden")

    ben.shop.person().post(f"/projects/{ben.project}/join", {})

    until(lambda: done(ben.web.get("/nodes", project=ben.project))["nodes"], "the machine in the project")
    assert ben.tools.execute_command(command="echo hello")["stdout"] == "hello\n"


def test_a_project_that_the_owner_makes_is_served_at_once(free: Workshop) -> None:
    """The machine is among its machines without being used first."""
    person = free.person()
    person.post("/projects", {"slug": "website"})
    person.project = "website"
    (listed,) = until(lambda: person.get("/nodes")["nodes"], "the machine in the new project")
    assert (listed["own"], listed["online"]) == (True, True)


def test_a_yes_that_comes_after_the_owner_has_left_counts_no_more(asked_ben: Ben) -> None:
    """A question that waits while the project stops being served lets nothing through; the machine goes offline."""
    ben, hub = asked_ben, asked_ben.shop.hub
    hub.do(lambda tx: members.join(tx, ben.project), hub.owner)
    said: list[Json] = []
    call = threading.Thread(
        target=lambda: said.append(ben.tools.wrong("execute_command", command="echo hello"))
    )
    call.start()
    (question,) = until(ben.asked, "the question")
    bens = hub.do(lambda tx: projects.find(tx, ben.project))
    hub.do(lambda tx: members.remove(tx, bens, "owner"), hub.owner)

    done(ben.web.post(f"/approvals/{question['id']}/approve"))

    call.join()
    assert "stdout" not in said[0]
    assert not [line for line in ben.shop.audit() if line.get("event") == "done"]
    until(
        lambda: not any(each["online"] for each in done(ben.web.get("/nodes", project=ben.project))["nodes"]),
        "the machine to leave the project",
    )


def _refusal(ben: Ben, tool: str, arguments: Json) -> Json:
    """What the tool answers, as JSON or as the last of the events."""
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }
    headers = {"Authorization": f"Bearer {ben.token}", **ben.headers}
    told = httpx2.post(
        ben.shop.hub.url + PATH, json=message, headers=headers, timeout=patience(), verify=NO_TLS
    ).text
    result = json.loads(told.rpartition("data: ")[2])["result"]
    assert result["isError"], result
    return dict(result["structuredContent"])
