"""Codex itself, installed by `hubbub install`.

It is woken while idle though nobody trusted a hook, and denied an edit once somebody did.
"""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from hubbub.clients.hook.ringer_process import holder
from hubbub.clients.wake.codex import CodexChannel
from tests.cli.processes import PROGRAM
from tests.clients.e2e.desk import Desk
from tests.clients.e2e.programs import program
from tests.clients.e2e.responses_api import (
    Answers,
    Asked,
    Item,
    ScriptedModel,
    by_shell,
    call,
    patch,
    patch_by_shell,
    say,
    serving,
)
from tests.clients.e2e.screen import Screen, screen
from tests.support.waiting import until

WAKE = "hubbub: 1 unread (M-1). Read your hubbub inbox."
READY = "? for shortcuts"  # stands below the empty prompt
REVIEW = "hooks are new or changed"
OLDER, NEWER = (
    "gpt-5.5",
    "Meet GPT-6 Sol",
)  # a model that has the tool for patches; which one Codex would rather use
DOWN = "\x1b[B"
LETTER = "three files are left"
EDIT = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** End Patch\n"

CONFIGURATION = """# as a person has it
model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false
approval_policy = "on-request"
sandbox_mode = "danger-full-access"

[model_providers.scripted]
name = "scripted"
base_url = "{url}"
wire_api = "responses"

[projects."{folder}"]
trust_level = "trusted"
"""


@pytest.fixture(scope="module")
def codex() -> Path:
    return program("@openai/codex", "0.169.0", "codex")


@dataclass
class Person:
    """Somebody who uses Codex, and trusts their folder."""

    codex: Path
    desk: Desk

    @property
    def environment(self) -> dict[str, str]:
        path = f"{self.codex.parent}{os.pathsep}{self.desk.environment['PATH']}"
        return {**self.desk.environment, "PATH": path}

    @contextmanager
    def asking(self, answers: Answers) -> Iterator[ScriptedModel]:
        """Let Codex ask this model; the processes that it and the install left running are stopped at the end."""
        file = self.desk.home / ".codex" / "config.toml"
        file.parent.mkdir()
        with serving(answers) as model:
            file.write_text(CONFIGURATION.format(url=model.url, folder=self.desk.work), "utf-8")
            try:
                yield model
            finally:
                self.run(str(self.codex), "app-server", "daemon", "stop")
                if (ringer := holder(str(self.desk.home / ".config" / "hubbub"))) is not None:
                    os.kill(ringer, signal.SIGTERM)

    @contextmanager
    def window(self, *options: str) -> Iterator[Screen]:
        """A window of Codex, and its first words."""
        with screen([self.codex, *options], folder=self.desk.work, environment=self.environment) as shown:
            yield shown

    def has_opened(self) -> None:
        """Wait until Codex's server knows of the window: it draws before it has a conversation."""
        until(CodexChannel(self.desk.home / ".codex", {}).rooms, "the window's conversation", seconds=60)

    def chooses(self, shown: Screen, question: str, number: int) -> None:
        """Go down to a line of Codex's question, and take it. A key that comes too early is lost."""
        asked = shown.shows(question)

        def is_there() -> bool:
            if (chosen := shown.chosen(asked)) == number:
                return True
            shown.type(DOWN)
            shown.changes(lambda: shown.chosen(asked) != chosen)
            return False

        until(is_there, f"line {number} of {question!r}", seen=lambda: shown.chosen(asked))
        shown.type("\r")

    def hubbub(self, *arguments: str) -> str:
        return self.run(*PROGRAM, *arguments)

    def run(self, *command: str) -> str:
        """Return the output of a program here, which must succeed."""
        done = subprocess.run(
            command,
            cwd=self.desk.work,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture
def person(codex: Path, desk: Desk) -> Person:
    return Person(codex, desk)


def prompt(shown: Screen, asked: ScriptedModel, text: str) -> None:
    """Type a prompt and send it: the key for that is taken for a pasted line's end, if it comes too soon."""
    shown.type(text)

    def is_sent() -> bool:
        is_heard = shown.changes(lambda: bool(asked.asked))
        if not is_heard:
            shown.type("\r")
        return is_heard

    until(is_sent, "a prompt that is sent", seen=lambda: shown.shown[-3000:])


def reads_its_mail(asked: Asked) -> Item:
    """A model that reads its mail when it is woken, and acknowledges what it has read."""
    if WAKE in asked.last:
        return call("inbox")
    return call("inbox", ack=["all"]) if LETTER in asked.last else say("Done.")


def acked(person: Person) -> None:
    """Wait until the hub knows that the letter was taken."""
    person.desk.hub.until("message.acked", lambda event: event["agent"] == "ember", 1)


def test_a_window_that_was_open_before_the_install_is_woken(person: Person) -> None:
    """An idle Codex in which nobody ever said a word: one install, one `hubbub send`, and it reads its mail."""
    with person.asking(reads_its_mail) as model, person.window() as shown:
        shown.shows(READY)
        person.has_opened()
        person.hubbub("install", "codex", "--as", "ember")
        person.hubbub("send", "ember", LETTER)
        woken = model.heard(WAKE)
        model.heard(LETTER)
        acked(person)

    assert LETTER not in woken.said


def test_a_window_that_is_opened_after_the_install_is_woken_without_trusted_hooks(person: Person) -> None:
    """Codex asks whether the hooks are trusted; who says no is woken all the same."""
    with person.asking(reads_its_mail) as model:
        person.hubbub("install", "codex", "--as", "ember")
        with person.window() as shown:
            person.chooses(shown, REVIEW, 3)
            person.has_opened()
            person.hubbub("send", "ember", LETTER)
            model.heard(LETTER)
            acked(person)


@pytest.mark.parametrize(
    ("model", "edit"),
    [(OLDER, patch), ("scripted", patch_by_shell)],
    ids=["by the tool for it", "by the shell"],
)
def test_an_edit_of_a_file_that_somebody_holds_is_denied(
    person: Person, model: str, edit: Callable[[str], Item]
) -> None:
    """Once the hooks are trusted, in a project that blocks, the model is told who holds the file, which stays whole."""
    work = person.desk.work
    subprocess.run(["git", "init", "--quiet", work], check=True)
    (work / "a.txt").write_text("one\n", "utf-8")
    person.hubbub("project", "create", "shop", "--conflict-mode", "block")

    def edits(asked: Asked) -> Item:
        return edit(EDIT) if "shorten it" in asked.last else say("Done.")

    with person.asking(edits) as asked:
        person.hubbub("install", "codex", "--as", "ember", "--project", "shop")
        person.desk.holds("flint", work / "a.txt", project="shop")
        with person.window("--model", model) as shown:
            person.chooses(shown, REVIEW, 2)
            if model == OLDER:
                person.chooses(shown, NEWER, 2)
            person.has_opened()
            prompt(shown, asked, "shorten it")
            denied = asked.heard("flint")

    assert "a.txt" in denied.last
    assert (work / "a.txt").read_text("utf-8") == "one\n"


def test_a_permission_prompt_is_answered_at_the_hub(person: Person) -> None:
    """With trusted hooks the hub's people are asked before Codex shows its own prompt, and their yes lets it run."""

    def makes(asked: Asked) -> Item:
        more = {"sandbox_permissions": "require_escalated", "justification": "May it make a file?"}
        return by_shell("touch made.txt", **more) if "make it" in asked.last else say("Done.")

    with person.asking(makes) as asked:
        person.hubbub("install", "codex", "--as", "ember")
        with person.window("--sandbox", "read-only") as shown:
            person.chooses(shown, REVIEW, 2)
            person.has_opened()
            prompt(shown, asked, "make it")
            person.desk.hub.until("approval.asked", lambda event: event["agent"] == "ember")
            [waiting] = json.loads(person.hubbub("approve", "--json"))
            assert (waiting["kind"], "touch made.txt" in waiting["shown"]) == ("prompt", True)
            person.hubbub("approve", waiting["id"])
            shown.shows("Done.")

    assert (person.desk.work / "made.txt").exists()


def test_nothing_is_left_of_an_install(person: Person) -> None:
    """`--uninstall` leaves the files of Codex as they were, to the byte."""
    with person.asking(reads_its_mail):
        folder = person.desk.home / ".codex"
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
        person.hubbub("install", "codex", "--as", "ember")
        person.hubbub("install", "codex", "--uninstall")

        assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before
