"""Clients whose model reads nothing before a tool but a denial: warnings come beside the tool's result."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.clients.hook.hook_workbench import Answer, Json, Workbench, run


@dataclass(frozen=True)
class Client:
    """A kind of client: its calls of hooks around an edit, and the place where its model reads their answers."""

    name: str
    before: str
    after: str
    told: Callable[[Path, Path], Json]
    heard: Callable[[Json], str]
    denied: Callable[[Json], str]


GEMINI = Client(
    "gemini",
    "BeforeTool",
    "AfterTool",
    lambda folder, file: {
        "session_id": "run-1",
        "cwd": str(folder),
        "tool_name": "replace",
        "tool_input": {"file_path": str(file)},
    },
    lambda answer: str(answer["hookSpecificOutput"]["additionalContext"]),
    lambda answer: str(answer["reason"]),
)
CURSOR = Client(
    "cursor",
    "preToolUse",
    "postToolUse",
    lambda folder, file: {
        "conversation_id": "run-1",
        "workspace_roots": [str(folder)],
        "tool_name": "Write",
        "tool_input": {"file_path": str(file)},
        "file_path": str(file),
    },
    lambda answer: str(answer["additional_context"]),
    lambda answer: str(answer["agent_message"]),
)
OPENCODE = Client(
    "opencode",
    "before",
    "after",
    lambda folder, file: {"instance": "run-1", "cwd": str(folder), "tool": "edit", "path": str(file)},
    lambda answer: str(answer["text"]),
    lambda answer: str(answer["deny"]),
)


@pytest.fixture(params=[GEMINI, CURSOR, OPENCODE], ids=lambda client: client.name)
def client(request: pytest.FixtureRequest) -> Client:
    found: Client = request.param
    return found


@dataclass(frozen=True)
class Deaf:
    """An agent under such a client, about to edit a file."""

    client: Client
    environment: dict[str, str]
    told: bytes

    def before(self) -> Answer:
        return self.hook(self.client.before)

    def after(self) -> Answer:
        return self.hook(self.client.after)

    def hook(self, name: str) -> Answer:
        return run([self.client.name, name], self.told, self.environment)

    def hears(self) -> str:
        """Return the text that the model reads beside the result of its edit."""
        return self.client.heard(json.loads(self.after().stdout))


def deaf(client: Client, bench: Workbench, folder: Path, file: Path) -> Deaf:
    name = f"deaf-{client.name}"
    return Deaf(client, bench.environment(name), json.dumps(client.told(folder, file)).encode())


def test_a_warning_is_read_beside_the_result_of_the_edit(
    client: Client, bench: Workbench, shop: Path
) -> None:
    """An agent that edits a held file reads once, with the edit's result, who holds it."""
    bench.editor("ada", shop).edit(shop / "a.txt", "two\n")
    bob = deaf(client, bench, shop, shop / "a.txt")

    assert bob.before().is_silent
    assert bob.hears().startswith("hubbub: a.txt is held by 'ada' since ")
    assert bob.after().is_silent
    assert bob.before().is_silent
    assert bob.after().is_silent


def test_that_a_file_was_changed_is_read_there_as_well(client: Client, bench: Workbench, shop: Path) -> None:
    """An agent that edits a file changed since it read it reads so with the edit's result."""
    bob = deaf(client, bench, shop, shop / "b.txt")
    bob.after()
    (shop / "b.txt").write_text("two\n")

    assert bob.before().is_silent
    assert "b.txt was changed since you read it" in bob.hears()


def test_mail_is_pointed_at_beside_a_warning(client: Client, bench: Workbench, shop: Path) -> None:
    """A kept warning and the pointer to mail come together, each on a line of its own."""
    bench.editor("ada", shop).edit(shop / "a.txt", "two\n")
    bob = deaf(client, bench, shop, shop / "a.txt")
    bench.hub.meet(f"deaf-{client.name}")
    bench.hub.send_task(f"deaf-{client.name}")
    bob.before()

    warning, pointer = bob.hears().split("\n")

    assert "'ada'" in warning
    assert pointer.endswith("Read your hubbub inbox.")


def test_a_denial_is_read_at_once(client: Client, bench: Workbench, shop: Path) -> None:
    """Where the project blocks, the edit is denied with the sentence, and nothing is left to say later."""
    bench.mode("block")
    bench.editor("ada", shop).edit(shop / "a.txt", "two\n")
    bob = deaf(client, bench, shop, shop / "a.txt")

    assert "'ada'" in client.denied(json.loads(bob.before().stdout))
    assert bob.after().is_silent


def test_a_hook_that_the_model_does_not_hear_uses_nothing_up(bench: Workbench, shop: Path) -> None:
    """Cursor's hook of an edit only tells: the warning and the mail wait for the one whose answer is read."""
    bench.editor("ada", shop).edit(shop / "a.txt", "two\n")
    bob = deaf(CURSOR, bench, shop, shop / "a.txt")
    bench.hub.meet("deaf-cursor")
    bench.hub.send_task("deaf-cursor")
    bob.before()

    assert bob.hook("afterFileEdit").is_silent

    assert "Read your hubbub inbox." in bob.hears()
