"""Statements that machines sign: a real hub, a machine beside it, the program of the hooks, and in-toto's verifier."""

import base64
import json
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli.processes import PROGRAM, RunningHub, plain_environment
from tests.clients.hook.hook_workbench import Editor, git, repository
from tests.support import waiting

pytestmark = pytest.mark.system
PAGE = Path(__file__).parents[3] / "docs/proof.md"


@dataclass
class Box:
    """A machine with a data folder of its own, an agent on it, and its node, which may be away."""

    hub: RunningHub
    name: str
    folder: Path
    editor: Editor
    process: subprocess.Popen[str] | None = None

    def start(self, *options: str) -> None:
        """Start the node, and wait until it is linked."""
        self.process = subprocess.Popen(
            [*PROGRAM, "node", "run", *options],
            env=plain_environment(self.folder / "data"),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline()

    def stop(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGTERM)
            self.process.communicate()
            self.process = None

    def take(self) -> str:
        """The agent takes a new task, which asks for a clean checkout; return its number."""
        made = self.hub.json("task", "add", "work", "--to", self.editor.name, "--done-when", "clean")
        number = str(made.get("task", made)["number"])
        self.hub.client().step(number, "start", by=self.editor.name)
        return number

    def work(self, text: str) -> None:
        """The agent commits a change, and its client tells the hook."""
        (self.editor.folder / "a.txt").write_text(text)
        self.editor.shell("git add -A && git commit -qm work")

    def complete(self, number: str) -> None:
        done = self.hub.run("task", "complete", number, "Mended.")
        assert done.returncode == 0, done.stderr

    def answers(self, number: str) -> list[dict[str, Any]]:
        """Return the machines that were asked for their signature, with their answers."""
        found: list[dict[str, Any]] = self.hub.client().get(f"/tasks/{number}/proof/signatures")["machines"]
        return found

    def answered(self, number: str) -> dict[str, Any]:
        """Wait for the answer of the one machine that was asked."""

        def look() -> dict[str, Any]:
            (one,) = self.answers(number)
            return one if one["answered_at"] is not None else {}

        return waiting.until(look, "the answer of a machine")

    def checked(self, number: str) -> subprocess.CompletedProcess[str]:
        """Check the statement by the machine's key, with the program on the page of proof."""
        return verified(self.exported(number), self.hub.run("node", "keys", self.name).stdout, self.folder)

    def exported(self, number: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.hub.run("proof", number, "--statement").stdout)
        return found


def verified(envelope: dict[str, Any], key: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (program,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    statement, pem = folder / "statement.json", folder / "key.pem"
    statement.write_text(json.dumps(envelope))
    pem.write_text(key)
    return subprocess.run(
        [sys.executable, "-c", program, statement, pem], capture_output=True, text=True, check=False
    )


@pytest.fixture
def box(hub: RunningHub, tmp_path: Path) -> Iterator[Box]:
    """A machine that has joined the hub's project."""
    yield from _box(hub, tmp_path, tmp_path / "data")


def _box(hub: RunningHub, folder: Path, data: Path) -> Iterator[Box]:
    hub.meet("ada")
    checkout = repository(folder / "shop")
    environment = {
        **plain_environment(data),
        "HOME": str(folder),
        "HUBBUB_URL": hub.url,
        "HUBBUB_PROJECT": hub.project,
        "HUBBUB_TOKEN": hub.secret("token", "create", "--agent", "ada"),
        "HUBBUB_AGENT": "ada",
    }
    box = Box(hub, "web1", folder, Editor("ada", checkout, environment))
    if data == folder / "data":
        box.start("--name", "web1", "--join", hub.secret("node", "invite"))
    try:
        yield box
    finally:
        box.stop()


def test_the_machine_that_saw_the_work_signs(box: Box) -> None:
    """The machine's own key, which no hub has, signs what its hooks saw; in-toto's own verifier checks it."""
    number = box.take()
    box.work("two\n")
    box.complete(number)
    assert box.answered(number)["is_signed"]

    told = json.loads(box.checked(number).stdout)
    assert told["subject"][0]["digest"]["gitCommit"] == git(box.editor.folder, "rev-parse", "HEAD")
    assert [each["name"] for each in told["predicate"]["machines"]] == ["web1"]
    assert told["predicate"]["isProven"]
    assert len(box.exported(number)["signatures"]) == 2
    key = box.folder / "data" / "machine" / "key"
    assert (key.stat().st_mode & 0o777, key.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_a_statement_that_the_hub_altered_is_found_out(box: Box) -> None:
    """Whatever the hub changes in a signed statement, the verifier refuses it by the machine's key."""
    number = box.take()
    box.work("two\n")
    box.complete(number)
    box.answered(number)
    envelope = box.exported(number)
    told = base64.b64decode(envelope["payload"]).replace(b"Mended.", b"Proven.")
    altered = {**envelope, "payload": base64.b64encode(told).decode()}

    key = box.hub.run("node", "keys", "web1").stdout
    assert verified(envelope, key, box.folder).returncode == 0
    assert "VerificationError" in verified(altered, key, box.folder).stderr
    forged = {**envelope, "signatures": envelope["signatures"][1:]}
    assert "VerificationError" in verified(forged, key, box.folder).stderr


def _fake_exit(store: sqlite3.Connection) -> None:
    store.execute("UPDATE sightings SET command = 'make test', code = 0")


def _drop_step(store: sqlite3.Connection) -> None:
    store.execute("DELETE FROM sightings WHERE command LIKE '%rm%'")


def _fake_tree(store: sqlite3.Connection) -> None:
    store.execute(
        "UPDATE sightings SET tree = json_set(tree, '$.dirty', json_array('x'), '$.head_tree', tree ->> '$.head')"
    )


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (_fake_exit, "is not what this machine saw"),
        (_drop_step, "leaves out a step"),
        (_fake_tree, "finds 'clean' met"),
    ],
)
def test_a_machine_does_not_sign_altered_evidence(
    box: Box, fault: Callable[[sqlite3.Connection], None], why: str
) -> None:
    """A hub that alters a step, drops one, or judges another checkout gets no signature, and the reason is shown."""
    number = box.take()
    box.work("two\n")
    box.editor.shell("rm -f none.txt")
    box.editor.shell("git status")
    (file,) = box.hub.data.glob("*.db")
    with closing(sqlite3.connect(file, timeout=60)) as store, store:
        fault(store)
    box.complete(number)

    answer = box.answered(number)
    assert not answer["is_signed"]
    assert why in answer["refusal"]
    assert len(box.exported(number)["signatures"]) == 1


def test_a_machine_that_was_away_signs_when_it_is_back(box: Box) -> None:
    """A statement says which machines saw the work; one that is away signs the same statement later."""
    number = box.take()
    box.work("two\n")
    box.stop()
    box.complete(number)
    before = box.exported(number)
    assert len(before["signatures"]) == 1
    assert [(each["machine"], each["is_signed"]) for each in box.answers(number)] == [("web1", False)]

    box.start()
    assert box.answered(number)["is_signed"]
    assert box.exported(number)["payload"] == before["payload"]
    assert box.checked(number).returncode == 0


def test_an_old_key_still_verifies(box: Box) -> None:
    """A machine with a new key signs by that; its old signatures are checked by its old key, also when it has left."""
    first = box.take()
    box.work("two\n")
    box.complete(first)
    box.answered(first)
    old = box.hub.run("node", "keys", "web1").stdout
    box.stop()
    (box.folder / "data" / "machine" / "key").unlink()
    box.start()
    second = box.take()
    box.work("three\n")
    box.complete(second)
    assert box.answered(second)["is_signed"]
    assert box.checked(second).returncode == 0
    assert box.checked(first).returncode == 1
    assert verified(box.exported(first), old, box.folder).returncode == 0

    box.stop()
    box.hub.run("node", "remove", "web1")
    keys = [each for each in box.hub.json("node", "keys") if each["machine"] == "web1"]
    assert len(keys) == 2
    assert all(each["until"] is not None for each in keys)
    assert old.strip() in [each["public_key"].strip() for each in keys]


def test_the_hubs_own_machine_signs(hub: RunningHub, tmp_path: Path) -> None:
    """Work that was done beside the hub is signed by the key of that machine."""
    for box in _box(hub, tmp_path, hub.data):
        number = box.take()
        box.work("two\n")
        box.complete(number)
        answer = box.answered(number)
        assert answer["is_signed"]
        box.name = answer["machine"]
        assert box.checked(number).returncode == 0


def test_a_statement_that_no_machine_saw_says_so(box: Box) -> None:
    """Without a machine's record the hub alone signs, and the statement names no machine."""
    box.editor.environment["HUBBUB_DATA"] = str(box.folder / "elsewhere")
    number = box.take()
    box.work("two\n")
    box.complete(number)

    envelope = box.exported(number)
    assert json.loads(base64.b64decode(envelope["payload"]))["predicate"]["machines"] == []
    assert len(envelope["signatures"]) == 1
    assert box.answers(number) == []
