"""Edits over REST: what hooks ask and tell, and who is believed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hubbub.core.agents import file_claims
from hubbub.core.people import projects
from tests.serve.served_hub import Hub, running_hub
from tests.serve.web_client import Json, Visit, Web, done, refusal

HERE = "github.com/acme/shop"
EDIT: Json = {"instance": "run-1", "repository": HERE, "path": "src/a.py", "moment": "before"}


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    with running_hub(tmp_path_factory.mktemp("edits")) as hub:
        yield hub


@pytest.fixture
def ada(hub: Hub, visit: Visit) -> Iterator[Web]:
    yield visit(hub, hub.token("ada"))
    hub.do(lambda tx: tx.run("UPDATE claims SET expires_at = 0"))


@pytest.fixture
def bob(hub: Hub, visit: Visit) -> Web:
    return visit(hub, hub.token("bob"))


def edit(web: Web, **more: object) -> Json:
    return done(web.post("/edits", {**EDIT, **more}))


def held(hub: Hub) -> list[str]:
    found = hub.do(lambda tx: file_claims.held(tx, hub.project.id))
    return [f"{each.agent} {each.entry}" for each in found]


def test_a_free_file_is_claimed(hub: Hub, ada: Web) -> None:
    """An agent that asks before an edit holds the file from then on, and hears nothing else."""
    assert edit(ada) == {"decision": "allow", "sentence": None, "holder": None, "since": None}
    assert held(hub) == ["ada src/a.py"]


def test_a_held_file_is_told(ada: Web, bob: Web) -> None:
    """An agent that edits a held file is warned: by whom, since when, and in a sentence for the model."""
    edit(ada)

    answer = edit(bob)

    assert (answer["decision"], answer["holder"]) == ("warn", "ada")
    assert isinstance(answer["since"], int)
    assert "'ada'" in answer["sentence"]


def test_a_blocking_project_denies(hub: Hub, ada: Web, bob: Web) -> None:
    """Where the project blocks, the edit is denied, and of several files none is claimed."""
    change = {"conflict_mode": "block"}
    hub.do(lambda tx: projects.change(tx, projects.find(tx, "default"), change))
    edit(ada)

    answer = edit(bob, path=None, files=[{"path": "src/b.py"}, {"path": "src/a.py"}])

    assert answer["decision"] == "deny"
    assert held(hub) == ["ada src/a.py"]
    hub.do(lambda tx: projects.change(tx, projects.find(tx, "default"), {"conflict_mode": "warn"}))


def test_claims_are_seen_among_the_scopes(ada: Web, bob: Web) -> None:
    """Claims are listed with declared scopes, and checked with them."""
    edit(ada)

    scopes = done(bob.get("/scopes"))["scopes"]
    assert [(each["agent"], each["files"]) for each in scopes] == [("ada", ["src/a.py"])]
    conflicts = done(bob.post("/scopes/check", {"files": ["src/"]}))["conflicts"]
    assert [each["agent"] for each in conflicts] == ["ada"]


def test_what_was_claimed_is_released(hub: Hub, ada: Web) -> None:
    """An instance lets go of some paths, or of everything, and hears what it was."""
    edit(ada)
    edit(ada, path="src/b.py")
    asked = {"instance": "run-1", "repository": HERE, "why": "committed"}

    assert done(ada.post("/edits/release", {**asked, "paths": ["src/b.py", "src/c.py"]})) == {
        "released": ["src/b.py"]
    }
    assert done(ada.post("/edits/release", {"instance": "of another", "why": "ended"})) == {"released": []}
    assert done(ada.post("/edits/release", {"instance": "run-1", "why": "ended"})) == {
        "released": ["src/a.py"]
    }
    assert held(hub) == []


def test_a_bound_token_edits_as_its_agent_only(ada: Web) -> None:
    """Nobody claims or releases in another's name."""
    assert refusal(ada.post("/edits", {**EDIT, "agent": "bob"}))[1] == "wrong_identity"
    assert refusal(ada.post("/edits/release", {"instance": "x", "agent": "bob"}))[1] == "wrong_identity"


@pytest.mark.parametrize(
    "wrong",
    [
        {"path": None},
        {"path": "../a.py"},
        {"path": "/etc/passwd"},
        {"path": "a\0b"},
        {"path": "x" * 1_025},
        {"files": [{"path": "a"}] * 201},
        {"digest": "not a digest"},
        {"moment": "never"},
        {"repository": "a b"},
        {"repository": "x" * 301},
        {"instance": ""},
        {"branch": "x\0"},
    ],
)
def test_what_is_no_edit_is_refused(hub: Hub, ada: Web, wrong: Json) -> None:
    """A call that makes no sense is refused by one sentence, and claims nothing."""
    assert refusal(ada.post("/edits", {**EDIT, **wrong})) == (400, "invalid")
    assert held(hub) == []


def test_a_hub_is_told_how_long_claims_last(tmp_path: Path, visit: Visit) -> None:
    """A file stays claimed for as many minutes after the last edit as the setting says."""
    with running_hub(tmp_path, claim_minutes=5) as hub:
        edit(visit(hub, hub.token("ada")))
        (claim,) = hub.do(lambda tx: file_claims.held(tx, hub.project.id))

    assert claim.expires_at - claim.edited_at == 5 * 60 * 1000
