"""Attacks by an owner of a token against another agent's wakes, claims and edits."""

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest

from hubbub.core.agents import file_claims
from hubbub.core.people import access
from hubbub.model.people.rights import Role
from hubbub.serve.fleet.timings import Timings
from hubbub.store.mail import wakes
from hubbub.store.tx import Tx
from tests.serve.served_hub import Hub, running_hub
from tests.serve.web_client import Json, Visit, Web, done

ASKED = {"instance": "run-1", "client": "codex", "method": "monitor"}
GLANCE = {"instance": "run-1", "client": "codex", "moment": "tool"}
EDIT: Json = {"instance": "run-1", "repository": "github.com/acme/shop", "path": "a.py", "moment": "before"}
Attack = Callable[[Web, str], int]

ATTACKS: dict[str, Attack] = {
    "waits for her": lambda web, _: web.post("/agents/ada/wakes", ASKED).status_code,
    "glances for her": lambda web, _: web.post("/agents/ada/glance", GLANCE).status_code,
    "has her tried": lambda web, _: web.post("/agents/ada/probe").status_code,
    "sends her waker away": lambda web, _: web.delete("/agents/ada/wakers/run-1").status_code,
    "says how she woke": lambda web, wake: web.post(f"/wakes/{wake}", {"result": "woken"}).status_code,
    "edits as she": lambda web, _: web.post("/edits", {**EDIT, "agent": "ada"}).status_code,
    "lets go for her": lambda web, _: (
        web.post("/edits/release", {"instance": "run-1", "agent": "ada"}).status_code
    ),
    "goes in her name": lambda web, _: web.delete("/agents/ada/presence", instance="run-1").status_code,
}


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    with running_hub(tmp_path_factory.mktemp("hub"), Timings(mail=timedelta())) as hub:
        hub.other_project()
        yield hub


@pytest.fixture
def wake(hub: Hub, visit: Visit) -> Iterator[str]:
    """Ada is waited for and holds a file; a wake of hers that nobody has taken yet."""
    ada = visit(hub, hub.token("ada"))
    done(ada.post("/agents/ada/wakes", ASKED))
    done(ada.post("/edits", EDIT))
    yield str(done(ada.post("/agents/ada/probe"))["wake"]["id"])
    hub.do(lambda tx: tx.run("UPDATE claims SET expires_at = 0"))


def _secret(hub: Hub, whose: str) -> str | None:
    if whose == "another agent's":
        return hub.token("bob")
    if whose == "a viewer's of her name":
        return hub.token("ada", role=Role.VIEWER)
    secret = hub.token("ada")
    hub.revoke(secret)
    return secret if whose == "one that was revoked" else None


def _facts(hub: Hub) -> object:
    """Return Ada's wakers, her claims, and the results of her wakes."""

    def look(tx: Tx) -> object:
        there = [(each.instance, each.method) for each in wakes.wakers(tx, hub.project.id, "ada")]
        stories = tx.all(
            "SELECT id, told_at, taken_at, ended_at FROM wakes WHERE project_id = :project_id ORDER BY id",
            project_id=hub.project.id,
        )
        return there, file_claims.held(tx, hub.project.id), [tuple(each.values()) for each in stories]

    return hub.do(look)


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize(
    "whose", ["another agent's", "a viewer's of her name", "one that was revoked", "nobody's"]
)
def test_nobody_else_wakes_claims_or_reports_as_an_agent(
    hub: Hub, visit: Visit, wake: str, attack: str, whose: str
) -> None:
    """Every token but her own, and those that may speak for anybody, is refused, and nothing changes."""
    before = _facts(hub)
    web = visit(hub, _secret(hub, whose))

    assert ATTACKS[attack](web, wake) == (
        403 if whose in ("another agent's", "a viewer's of her name") else 401
    )
    assert _facts(hub) == before


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_agent_of_another_project_is_another(hub: Hub, visit: Visit, wake: str, attack: str) -> None:
    """The same name in another project, with a token of that one, reaches nothing of the first."""
    before = _facts(hub)
    [other] = (each for each in hub.do(access.visible, hub.owner) if each.slug == "elsewhere")
    web = visit(hub, hub.token("ada", project=other))
    ATTACKS[attack](web, wake)

    assert _facts(hub) == before
    assert web.get(f"/wakes/{wake}").status_code == 404
    assert web.get("/dead-letters", project=hub.project.slug).status_code == 404
