"""Proof over REST: the requirements of tasks, the reports of hooks, and the right to waive it."""

import base64
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hubbub.model.people.rights import Role
from hubbub.serve.rest.work import dsse
from tests.serve.served_hub import Hub
from tests.serve.web_client import Json, Visit, Web, done, refusal

PAGE = Path(__file__).parents[2] / "docs/proof.md"
TREE, HEAD = "a" * 40, "b" * 40
STEP: Json = {"deed": "shell", "instance": "run", "place": "here", "command": "make test", "code": 0}


@pytest.fixture
def bob(hub: Hub, visit: Visit) -> Web:
    return visit(hub, hub.token("bob"))


@pytest.fixture
def manager(hub: Hub, visit: Visit) -> Web:
    return visit(hub, hub.token(role=Role.ADMIN))


@pytest.fixture
def owner(hub: Hub, visit: Visit) -> Web:
    """A person."""
    return visit(hub, hub.owner_secret)


def rules(manager: Web, hub: Hub, *done_when: str) -> Json:
    body = {"done_when": done_when, "tests": "make test", "test_files": ["tests"], "unproven": "refuse"}
    told: Json = done(manager.put(f"/projects/{hub.project.slug}/proof", body))["rules"]
    return told


def test_a_task_from_its_contract_to_its_proof(hub: Hub, bob: Web, manager: Web) -> None:
    """The project's demands are told, refused with the missing ones, and met by a hook's sightings."""
    assert rules(manager, hub, "clean", "tests")["test_files"] == ["tests"]
    path = f"/tasks/{hub.send_task('bob')}"
    done(bob.post(f"{path}/start", {}))
    refused = bob.post(f"{path}/complete", {"result": "done"})
    assert refusal(refused) == (409, "unproven")
    assert "tests (not seen): no hook saw any work on it" in refused.json()["message"]

    assert done(bob.post("/sightings", {**STEP, "asks": True}))["looks"]
    made = {"moves": [[HEAD, 1, "commit"]], "commits": [[HEAD, TREE, ["a"]]]}
    done(bob.post("/sightings", {**STEP, "tree": {"tree": TREE, "head": HEAD, "head_tree": TREE, **made}}))
    done(bob.post(f"{path}/complete", {"result": "done"}))

    shown = done(bob.get(f"{path}/proof"))
    assert [(each["demand"], each["verdict"]) for each in shown["findings"]] == [
        ("clean", "met"),
        ("tests", "met"),
    ]
    assert (shown["is_proven"], shown["claim"]) == (True, "done")
    assert [(each["command"], each["code"], each["tree"]) for each in shown["sightings"]] == [
        ("make test", 0, TREE)
    ]


def test_a_person_waives_and_an_agent_does_not(hub: Hub, bob: Web, owner: Web) -> None:
    """A task's holder can neither set its demands nor waive them; a person can, and is named."""
    path = f"/tasks/{hub.send_task('bob')}"
    done(bob.post(f"{path}/start", {}))
    assert refusal(bob.put(f"{path}/done-when", {"done_when": []})) == (403, "forbidden")
    done(owner.put(f"{path}/done-when", {"done_when": ["pushed"]}))
    assert refusal(bob.post(f"{path}/waive", {"reason": "please"})) == (403, "forbidden")
    waived = done(owner.post(f"{path}/waive", {"reason": "only a draft"}))["contract"]
    assert (waived["waived_why"], bool(waived["waived_by"])) == ("only a draft", True)
    done(bob.post(f"{path}/complete", {"result": "done"}))


def test_a_task_is_sent_with_what_it_asks_for(hub: Hub, bob: Web) -> None:
    """A sender says in the same call which proof a task asks for; with nonsense it is not sent."""
    hub.meet("ann")
    sent = done(bob.post("/tasks", {"text": "x", "to": "ann", "done_when": ["clean", "clean"]}))["task"]
    assert done(bob.get(f"/tasks/{sent['id']}/proof"))["done_when"] == ["clean"]
    assert refusal(bob.post("/tasks", {"text": "x", "to": "ann", "done_when": ["tidy"]})) == (400, "invalid")
    assert len(done(bob.get("/tasks"))["tasks"]) == 1


def test_who_may_say_what_a_project_asks_for(hub: Hub, bob: Web, manager: Web) -> None:
    """A role that manages the project says it; nonsense is refused in one sentence."""
    path = f"/projects/{hub.project.slug}/proof"
    assert done(bob.get(path))["rules"]["done_when"] == []
    assert refusal(bob.put(path, {"done_when": ["clean"]})) == (403, "forbidden")
    assert refusal(manager.put(path, {"done_when": ["tidy"]})) == (400, "invalid")


@pytest.fixture
def exported(hub: Hub, bob: Web, tmp_path: Path) -> tuple[Path, Path]:
    """The statement of a proven task, and the hub's key, as files."""
    hub.meet("bob")
    path = f"/tasks/{hub.send_task('bob')}"
    done(bob.post(f"{path}/start", {}))
    done(
        bob.post(
            "/sightings", {**STEP, "repository": "example.org/shop", "tree": {"tree": TREE, "head": HEAD}}
        )
    )
    assert refusal(bob.post(f"{path}/proof/statement", {})) == (409, "conflict")
    done(bob.post(f"{path}/complete", {"result": "Mended."}))
    assert refusal(bob.get("/proof/key")) == (409, "conflict")
    statement, key = tmp_path / "T-1.json", tmp_path / "hub.pem"
    statement.write_text(json.dumps(done(bob.post(f"{path}/proof/statement", {}))))
    key.write_text(done(bob.get("/proof/key"))["public_key"])
    return statement, key


def checked(statement: Path, key: Path) -> subprocess.CompletedProcess[str]:
    """Run the program by which the page of proof says that statements are checked."""
    (program,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    return subprocess.run(
        [sys.executable, "-c", program, statement, key], capture_output=True, text=True, check=False
    )


def test_a_proof_is_checked_without_us(exported: tuple[Path, Path]) -> None:
    """A proof is exported as an in-toto statement in a DSSE envelope; in-toto's own verifier finds it is the hub's."""
    told = json.loads(checked(*exported).stdout)

    assert told["_type"] == "https://in-toto.io/Statement/v1"
    assert told["subject"] == [
        {"name": "example.org/shop@HEAD", "digest": {"gitCommit": HEAD}},
        {"name": "example.org/shop@HEAD^{tree}", "digest": {"gitTree": TREE}},
    ]
    assert (told["predicate"]["agent"], told["predicate"]["claim"]) == ("bob", "Mended.")


@pytest.mark.parametrize("part", ["payload", "payloadType", "signature", "key"])
def test_a_proof_that_was_touched_is_found_out(exported: tuple[Path, Path], part: str) -> None:
    """A statement of which a word was changed, or that another key signed, is refused by that verifier."""
    statement, key = exported
    envelope = json.loads(statement.read_text())
    if part == "payload":
        told = base64.b64decode(envelope["payload"]).replace(b"Mended.", b"Mended!")
        envelope["payload"] = base64.b64encode(told).decode()
    elif part == "payloadType":
        envelope["payloadType"] += "x"
    elif part == "signature":
        envelope["signatures"][0]["sig"] = base64.b64encode(bytes(64)).decode()
    else:
        key.write_text(dsse.public_key(dsse.new_key()).public_key)
    statement.write_text(json.dumps(envelope))

    refused = checked(statement, key)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "VerificationError" in refused.stderr
