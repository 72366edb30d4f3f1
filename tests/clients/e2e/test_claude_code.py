"""Claude Code itself, installed by `hubbub install`: connected, woken while idle, pointed at mail, denied an edit."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

import pytest

from hubbub.clients import plugin
from hubbub.clients.install.client_installer import own_variable
from tests.clients.e2e.desk import Desk
from tests.clients.e2e.messages_api import Block, Script, ScriptedModel, Turn, call, say, serving
from tests.clients.e2e.programs import program
from tests.clients.e2e.screen import Screen, screen
from tests.support.waiting import until

KEY = "sk-ant-api03-" + "0" * 40
QUIET = {  # nothing leaves this machine
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
    "DISABLE_AUTOUPDATER": "1",
}
INBOX = "mcp__hubbub__inbox"
WAKE = "Read your hubbub inbox."
MONITOR = "<event>hubbub: 1 unread (M-1). " + WAKE  # as the client passes on what a monitor prints
STARTED = (
    'from command "SessionStart:startup": hubbub: 1 unread (M-1). ' + WAKE
)  # and what waiting hooks said
TURNED = 'from command "Stop": hubbub: 1 unread (M-2). ' + WAKE
BUSY, IDLE = "⟦◐", "⟦✳"  # how the title of its window begins
NOT_YET = "No such tool available"  # the client had not connected to its servers when it was woken


@pytest.fixture(scope="module")
def claude() -> Path:
    return program("@anthropic-ai/claude-code", "2.1.330", "claude")


@dataclass
class Person:
    """Somebody who uses Claude Code, and has done so before: it knows them, and they trust their folder."""

    claude: Path
    desk: Desk
    answers: dict[str, list[Block]] = field(
        default_factory=dict
    )  # what the model says where it is told these words
    scripts: dict[str, Script] = field(default_factory=dict)  # the same, where something happens meanwhile

    script: Script | None = None  # the whole model, where it serves others too

    def __post_init__(self) -> None:
        known = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
            "projects": {str(self.desk.work): {"hasTrustDialogAccepted": True}},
        }
        (self.desk.home / ".claude.json").write_text(json.dumps(known, indent=2), "utf-8")

    def model(self, turn: Turn) -> list[Block]:
        """The model's turn: the one agreed for the words that it was just told, else a plain answer."""
        if NOT_YET in turn.told:
            return [call(INBOX)]
        for words in [*self.scripts, *self.answers]:
            if words in turn.told:
                return self.scripts.pop(words)(turn) if words in self.scripts else self.answers.pop(words)
        return [say("Understood.")]

    @contextmanager
    def working(self, **more: str) -> Iterator[tuple[Screen, ScriptedModel]]:
        """The client in a terminal, ready for a prompt."""
        with serving(self.script or self.model) as model:
            environment = {
                **self.desk.environment,
                "ANTHROPIC_BASE_URL": model.url,
                "ANTHROPIC_API_KEY": KEY,
                **QUIET,
                **more,
            }
            with screen([self.claude], folder=self.desk.work, environment=environment) as shown:
                shown.shows(IDLE)
                yield shown, model

    def claude_says(self, *arguments: str, **more: str) -> str:
        """Return the client's output for a program, such as for one of its own commands; it must succeed."""
        done = subprocess.run(
            [self.claude, *arguments],
            cwd=self.desk.work,
            env={**self.desk.environment, **QUIET, **more},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def token(self, agent: str) -> dict[str, str]:
        """Return the token that a person exports for a project's install, as the install says."""
        [install] = json.loads((self.desk.home / ".config/hubbub/clients.json").read_text("utf-8"))[
            "installs"
        ]
        assert install["agent"] == agent
        return {own_variable(agent): Path(install["token_file"]).read_text("ascii").strip()}

    def acked(self, agent: str, times: int = 1) -> None:
        """Wait until the hub knows that the agent has taken so many letters."""
        self.desk.hub.until("message.acked", lambda event: event["agent"] == agent, times)


@pytest.fixture
def person(claude: Path, desk: Desk) -> Person:
    return Person(claude, desk)


def prompt(shown: Screen, text: str) -> None:
    """Type a prompt; the key that sends it comes by itself, or it would be taken for a pasted line's end."""
    seen = len(shown.shown)
    shown.type(text)
    shown.shows(text, after=seen)
    shown.type("\r")


def ended(shown: Screen, after: int = 0) -> int:
    """Wait until a turn has begun and ended since that place; where that was."""
    return shown.shows(IDLE, after=shown.shows(BUSY, after=after))


def reads_its_mail(wake: str, letter: str) -> dict[str, list[Block]]:
    """Return a model that reads its mail when it is woken, and acknowledges what it has read."""
    return {wake: [call(INBOX)], letter: [call(INBOX, ack=["all"])]}


def test_an_idle_client_is_woken_by_the_plugins_monitor(person: Person) -> None:
    """`hubbub install claude-code`, a client that nobody touches, one `hubbub send`: it reads its mail and acks it."""
    person.answers = reads_its_mail(MONITOR, "three files are left")
    person.desk.hubbub("install", "claude-code", "--as", "ember")
    with person.working() as (shown, model):
        shown.shows("1 monitor")
        person.desk.hubbub("send", "ember", "three files are left")
        woken = model.heard(MONITOR)
        model.heard("three files are left")
        person.acked("ember")

    assert "three files are left" not in woken.everything
    assert "NOT USER INPUT" in woken.told
    assert len([turn for turn in model.turns if MONITOR in turn.told]) == 1


def test_mail_that_is_there_already_wakes_a_client_that_starts(person: Person) -> None:
    """Mail that came while there was no client is not left to the first word of a person."""
    person.answers = reads_its_mail(MONITOR, "three files are left")
    person.desk.hubbub("install", "claude-code", "--as", "ember")
    person.desk.hubbub("send", "ember", "three files are left")
    with person.working() as (_, model):
        model.heard("three files are left")
        person.acked("ember")

    assert len([turn for turn in model.turns if MONITOR in turn.told]) == 1


def test_an_idle_client_is_woken_by_the_hook_of_a_project(person: Person) -> None:
    """In a project there is no plugin: a hook that waits wakes the client, again after a turn, once for each letter."""
    person.answers = {
        **reads_its_mail(STARTED, "three files are left"),
        **reads_its_mail(TURNED, "two files are left"),
    }
    person.desk.hubbub("install", "claude-code", "--scope", "project", "--as", "ember")
    with person.working(**person.token("ember")) as (shown, model):
        person.desk.hubbub("send", "ember", "three files are left")
        idle = ended(shown)
        person.desk.hubbub("send", "ember", "two files are left")
        ended(shown, after=idle)
        person.acked("ember", times=2)

    for wake in (STARTED, TURNED):
        assert len([turn for turn in model.turns if wake in turn.told]) == 1


def test_hooks_that_wait_do_not_pile_up(person: Person) -> None:
    """Every turn's end starts another; only the newest stays, and brings the letter once."""
    person.answers = reads_its_mail("M-1). " + WAKE, "three files are left")
    person.desk.hubbub("install", "claude-code", "--scope", "project", "--as", "ember")
    with person.working(**person.token("ember")) as (shown, model):
        idle = 0
        for words in ("say something", "say more"):
            prompt(shown, words)
            model.heard(words)
            idle = ended(shown, after=idle)
        person.desk.hubbub("send", "ember", "three files are left")
        person.acked("ember")
        ended(shown, after=idle)

    assert len([turn for turn in model.turns if "M-1). " + WAKE in turn.told]) == 1


def test_a_busy_client_is_pointed_at_its_mail_after_a_tool(person: Person) -> None:
    """The pointer comes with the result of the tool that ran, which is whole."""
    (person.desk.work / "plan.txt").write_text("the whole plan\n", "utf-8")
    person.desk.hubbub("install", "claude-code", "--as", "ember")

    def read_while_mail_comes(_: Turn) -> list[Block]:
        person.desk.hub.send("ember", "three files are left")
        return [call("Read", file_path=str(person.desk.work / "plan.txt"))]

    person.scripts = {"what is planned": read_while_mail_comes}
    with person.working() as (shown, model):
        prompt(shown, "what is planned")
        pointed = model.heard("the whole plan")

    assert "PostToolUse:Read hook additional context: hubbub: 1 unread (T-1)" in pointed.told


def test_a_turn_does_not_end_before_its_mail_is_known(person: Person) -> None:
    """Mail that came while the model spoke its last words makes it take another turn, and only one."""
    person.desk.hubbub("install", "claude-code", "--as", "ember")

    def end_while_mail_comes(_: Turn) -> list[Block]:
        person.desk.hub.send("ember", "three files are left")
        return [say("That is all.")]

    person.scripts = {"say something": end_while_mail_comes}
    with person.working() as (shown, model):
        prompt(shown, "say something")
        model.heard("Stop hook feedback", "hubbub: 1 unread (T-1)")
        ended(shown)
        prompt(shown, "go on")
        model.heard("go on")

    assert len([turn for turn in model.turns if "Stop hook feedback" in turn.told]) == 1


def test_an_edit_of_a_file_that_somebody_holds_is_denied(person: Person) -> None:
    """In a project that blocks, the model is told who holds the file, and the file stays as it was."""
    work = person.desk.work
    subprocess.run(["git", "init", "--quiet", work], check=True)
    (work / "plan.txt").write_text("the whole plan\n", "utf-8")
    person.desk.hubbub("project", "create", "shop", "--conflict-mode", "block")
    person.desk.hubbub("install", "claude-code", "--as", "ember", "--project", "shop")
    person.desk.holds("flint", work / "plan.txt", project="shop")
    person.answers = {
        "shorten the plan": [call("Read", file_path=str(work / "plan.txt"))],
        "the whole plan": [call("Write", file_path=str(work / "plan.txt"), content="no plan")],
    }
    with person.working() as (shown, model):
        prompt(shown, "shorten the plan")
        denied = model.heard("flint")

    assert "plan.txt" in denied.told
    assert (work / "plan.txt").read_text("utf-8") == "the whole plan\n"


def test_an_edit_of_a_file_that_somebody_holds_goes_on_with_a_warning(person: Person) -> None:
    """In a project that warns, the file is written, and the model is told who else works on it."""
    plan = person.desk.work / "plan.txt"
    subprocess.run(["git", "init", "--quiet", person.desk.work], check=True)
    person.desk.hubbub("project", "create", "shop")
    person.desk.hubbub("install", "claude-code", "--as", "ember", "--project", "shop")
    person.desk.holds("flint", plan, project="shop")
    person.answers = {"make a plan": [call("Write", file_path=str(plan), content="no plan")]}
    with person.working() as (shown, model):
        prompt(shown, "make a plan")
        warned = model.heard("flint")

    assert "PreToolUse:Write hook additional context" in warned.told
    assert plan.read_text("utf-8") == "no plan"


@pytest.mark.parametrize("scope", ["user", "project"])
def test_a_client_that_only_prints_is_not_held_up(person: Person, scope: str) -> None:
    """`claude -p` answers and ends, though there are hooks that wait; it is pointed at its mail with the prompt."""
    person.desk.hubbub("install", "claude-code", "--scope", scope, "--as", "ember")
    person.desk.hubbub("send", "ember", "three files are left")
    with serving(person.model) as model:
        given = {**person.token("ember"), "ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": KEY}
        assert person.claude_says("-p", "say something", **given) == "Understood.\n"

    assert "UserPromptSubmit hook additional context: hubbub: 1 unread (M-1)" in model.turns[0].told


@contextmanager
def asking(person: Person) -> Iterator[tuple[Screen, ScriptedModel]]:
    """The client at its own permission prompt, for a command that the model wants."""
    settings = person.desk.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"permissions": {"defaultMode": "default"}}', "utf-8")
    person.desk.hubbub("install", "claude-code", "--as", "ember")
    person.answers = {"begin": [call("Bash", command="touch made.txt", description="Make a file")]}
    with person.working() as (shown, model):
        prompt(shown, "begin")
        shown.shows("Do you want to")
        yield shown, model


def waiting(person: Person) -> str:
    """Return the id of the question that waits at the hub."""
    person.desk.hub.until("approval.asked", lambda event: event["agent"] == "ember")
    [asked] = json.loads(person.desk.hubbub("approve", "--json"))
    assert (asked["kind"], asked["who"], asked["shown"]) == ("prompt", "ember", "touch made.txt")
    return str(asked["id"])


def test_a_permission_prompt_is_answered_at_the_hub(person: Person) -> None:
    """`hubbub approve` lets the command run while the client shows its own prompt, which goes."""
    with asking(person) as (_, model):
        person.desk.hubbub("approve", waiting(person))
        until((person.desk.work / "made.txt").exists, "the file")
        until(lambda: len(model.turns) == 2, "the turn after the command")


def test_a_permission_prompt_is_denied_at_the_hub(person: Person) -> None:
    """After `hubbub deny` the model reads who said no, and nothing has run."""
    with asking(person) as (_, model):
        person.desk.hubbub("deny", waiting(person))
        model.heard("said no to this, at the hub")

    assert not (person.desk.work / "made.txt").exists()


@pytest.mark.parametrize("key", ["1", "\x1b"])
def test_a_permission_prompt_answered_at_the_client_is_withdrawn(person: Person, key: str) -> None:
    """A person at the client says yes there, or escapes: nothing waits at the hub any more."""
    with asking(person) as (shown, _):
        asked = waiting(person)
        shown.type(key)
        person.desk.hub.until("approval.withdrawn", lambda event: event["detail"]["approval_id"] == asked)

    assert (person.desk.work / "made.txt").exists() == (key == "1")


def test_a_person_may_call_for_the_mail(person: Person) -> None:
    """`/hubbub:inbox` has the agent read its mail, without a question whether it may."""
    person.desk.hubbub("install", "claude-code", "--as", "ember")
    person.answers = {"Read your messages at the hubbub hub": [call(INBOX)]}
    with person.working() as (shown, model):
        prompt(shown, "/hubbub:inbox")
        model.heard('"letters":[]')


def test_the_shipped_plugin_is_valid_and_installs_without_a_network(person: Person) -> None:
    """A person who does not use our installer gives the client the folder of the wheel."""
    folder = str(files(plugin))

    assert "Validation passed" in person.claude_says("plugin", "validate", folder)
    assert "Validation passed" in person.claude_says("plugin", "validate", f"{folder}/plugins/hubbub")
    person.claude_says("plugin", "marketplace", "add", folder)
    person.claude_says("plugin", "install", "hubbub@hubbub")
    assert "hubbub@hubbub" in person.claude_says("plugin", "list")


def test_the_client_says_itself_that_it_connects(person: Person) -> None:
    """The entry is read, and the token comes from the settings: nothing has to be exported."""
    person.desk.hubbub("install", "claude-code")

    assert f"{person.desk.hub.url}/mcp (HTTP) - ✔ Connected" in person.claude_says("mcp", "list")


@pytest.mark.parametrize("scope", ["user", "project"])
def test_nothing_is_left_of_an_install(person: Person, scope: str) -> None:
    """After the client worked with it, `--uninstall` leaves the settings and the folder as they were, to the byte."""
    settings = person.desk.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{\n\t"env": {"EDITOR": "ed"}, "permissions": {"allow": []}\n}', "utf-8")
    before = person.desk.files()
    known = person.desk.home / ".claude.json"
    person.desk.hubbub("install", "claude-code", "--scope", scope)
    with person.working() as (shown, model):
        prompt(shown, "say something")
        model.heard("say something")
    person.desk.hubbub("install", "claude-code", "--scope", scope, "--uninstall")

    after = person.desk.files()
    assert {path: after.get(path) for path in before if path != str(known)} == {
        path: content for path, content in before.items() if path != str(known)
    }
    assert b"hubbub" not in known.read_bytes()
