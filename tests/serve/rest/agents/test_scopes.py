"""REST for areas and scopes, on both engines."""

from typing import Any

import pytest

from hubbub.core.people import projects
from hubbub.core.presence import checkins
from hubbub.model.agents.scopes import Scope
from hubbub.model.people.rights import Role
from hubbub.store.tx import Tx
from tests.serve.conftest import both_engines
from tests.serve.served_hub import Hub
from tests.serve.web_client import Json, Visit, Web, done, refusal

BACKEND: Json = {"name": "Backend", "patterns": ["app/**", "./db/"], "description": "PHP"}
AREA = "/projects/default/areas/backend"


@pytest.fixture
def web(hub: Hub, visit: Visit) -> Web:
    """The owner of the hub."""
    return visit(hub, hub.owner_secret)


def come(hub: Hub, name: str, area: str | None, *files: str) -> None:
    """Have an agent check in."""

    def begin(tx: Tx) -> None:
        checkins.begin(tx, projects.find(tx, "default"), name, Scope.of(area, files))

    hub.do(begin)


def test_an_area_is_put_shown_and_listed(web: Web) -> None:
    """An area is made under its slug, and replaced there; it keeps its number, and its patterns are normal."""
    made = done(web.put(AREA, BACKEND))["area"]
    assert made == {**BACKEND, "patterns": ["app/**", "db/"], "slug": "backend", "number": 1}
    done(web.put("/projects/default/areas/frontend", {"name": "Frontend", "patterns": ["web/"]}))
    again = done(web.put(AREA, {"name": "Back", "patterns": ["x"]}))["area"]
    assert (again["number"], again["name"], again["description"]) == (1, "Back", None)
    assert done(web.get(AREA))["area"] == again
    assert [each["slug"] for each in done(web.get("/projects/default/areas"))["areas"]] == [
        "backend",
        "frontend",
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"name": "N"},
        {"name": "N", "patterns": []},
        {"name": "N", "patterns": ["../x"]},
        {"name": "N", "patterns": ["/etc"]},
        {"name": " ", "patterns": ["x"]},
        {"name": "N", "patterns": ["x"] * 1001},
        {"name": "N", "patterns": "x"},
    ],
)
def test_an_area_that_cannot_be_is_refused(web: Web, wrong: Any) -> None:
    """Without a name for people, or with what is no pattern inside of the repository, there is no area."""
    assert refusal(web.put(AREA, wrong)) == (400, "invalid")
    assert done(web.get("/projects/default/areas"))["areas"] == []


def test_who_may_see_and_change_areas(web: Web, hub: Hub, visit: Visit) -> None:
    """Everybody who may see a project sees its areas; only its managers change them; others find no project."""
    member = visit(hub, hub.token("ada"))
    assert refusal(member.put(AREA, BACKEND)) == (403, "forbidden")
    done(web.put(AREA, BACKEND))
    assert done(visit(hub, hub.token(role=Role.VIEWER)).get(AREA))["area"]["slug"] == "backend"
    done(web.post("/projects", {"slug": "other"}))
    assert refusal(member.get("/projects/other/areas"))[0] == 404
    assert refusal(web.get("/projects/default/areas/nothing")) == (404, "not_found")


@both_engines
def test_scopes_are_listed_with_their_conflicts(web: Web, hub: Hub) -> None:
    """Present agents with a scope are listed by agent, with those that they are in conflict with."""
    done(web.put(AREA, BACKEND))
    come(hub, "ada", "backend")
    come(hub, "bob", None, "app/a.php", "README.md")
    come(hub, "cleo", None, "docs/")
    come(hub, "dora", None)
    meeting = {"areas": ["backend"], "files": ["app/a.php"]}
    assert done(web.get("/scopes", project="default"))["scopes"] == [
        {"agent": "ada", "area": "backend", "files": [], "conflicts": [{"agent": "bob", **meeting}]},
        {
            "agent": "bob",
            "area": None,
            "files": ["app/a.php", "README.md"],
            "conflicts": [{"agent": "ada", **meeting}],
        },
        {"agent": "cleo", "area": None, "files": ["docs/"], "conflicts": []},
    ]


@both_engines
def test_a_declaration_outlives_what_made_it_legal(web: Web, hub: Hub) -> None:
    """An agent that declared any slug while the project had no areas is still listed when it has some."""
    come(hub, "ada", "anything")
    done(web.put(AREA, BACKEND))
    (listed,) = done(web.get("/scopes"))["scopes"]
    assert (listed["agent"], listed["area"], listed["conflicts"]) == ("ada", "anything", [])


def test_a_scope_is_checked_without_a_trace(web: Web, hub: Hub, visit: Visit) -> None:
    """A check says with whom a scope would be in conflict; a viewer may ask, and nothing is declared."""
    come(hub, "ada", None, "src/auth.ts")
    viewer = visit(hub, hub.token(role=Role.VIEWER))
    found = done(viewer.post("/scopes/check", {"files": ["src/**"]}))["conflicts"]
    assert found == [{"agent": "ada", "areas": [], "files": ["src/auth.ts"]}]
    assert done(viewer.post("/scopes/check", {"files": ["docs/"]}))["conflicts"] == []
    assert len(done(web.get("/scopes"))["scopes"]) == 1
    assert refusal(viewer.post("/scopes/check", {"files": ["../x"]})) == (400, "invalid")


def test_an_unknown_area_is_refused_with_those_that_there_are(web: Web) -> None:
    """A check of an area that the project does not have names those that it has."""
    done(web.put(AREA, BACKEND))
    response = web.post("/scopes/check", {"area": "front"})
    assert refusal(response) == (400, "invalid")
    assert response.json()["message"] == "the project has no area 'front'; it has backend"


def test_a_task_is_in_an_area_of_the_project(web: Web) -> None:
    """A task may name an area: any while the project has none, then one of those."""
    assert done(web.post("/tasks", {"text": "t", "area": "anything"}))["task"]["area"] == "anything"
    done(web.put(AREA, BACKEND))
    assert refusal(web.post("/tasks", {"text": "t", "area": "anything"})) == (400, "invalid")
    assert done(web.post("/tasks", {"text": "t", "area": "backend"}))["task"]["area"] == "backend"
    assert len(done(web.get("/tasks"))["tasks"]) == 2


def test_an_agent_shows_where_it_works(web: Web, hub: Hub) -> None:
    """An agent's row has the area and the files that it has declared."""
    come(hub, "ada", "core", "a.py", "b.py")
    shown = done(web.get("/agents/ada"))["agent"]
    assert (shown["area"], shown["files"]) == ("core", ["a.py", "b.py"])


def test_a_project_has_a_number_and_a_description(web: Web) -> None:
    """A project is made with a description for people, and counted in the hub."""
    made = done(web.post("/projects", {"slug": "web", "description": "The web"}))["project"]
    assert (made["number"], made["description"]) == (2, "The web")
    assert done(web.get("/projects/default"))["project"]["number"] == 1
