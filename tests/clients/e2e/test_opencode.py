"""opencode itself, installed by `hubbub install`: its permission prompts are answered at the hub, or there."""

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.clients.e2e.desk import Desk
from tests.clients.e2e.messages_api import Block, Turn, call, say, serving
from tests.clients.e2e.programs import program
from tests.support.waiting import until

QUIET = {
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
}
COMMAND = "touch made.txt"


@pytest.fixture(scope="module")
def opencode() -> Path:
    return program("opencode-ai", "1.18.33", "opencode")


@dataclass
class Served:
    """opencode as a server in the folder, with a conversation in which it asks before each command."""

    desk: Desk
    url: str
    answers: dict[str, list[Block]] = field(default_factory=dict)
    session: str = ""

    def ask(self, method: str, path: str, body: object = None) -> Any:
        answer = httpx2.request(
            method, f"{self.url}{path}", params={"directory": str(self.desk.work)}, json=body
        )
        assert answer.status_code < 400, answer.text
        return answer.json() if answer.content else None

    def prompt(self, text: str) -> None:
        self.session = self.ask("POST", "/session", {})["id"]
        self.ask("POST", f"/session/{self.session}/prompt_async", {"parts": [{"type": "text", "text": text}]})

    def prompts(self) -> list[dict[str, Any]]:
        """Return opencode's own open prompts."""
        found: list[dict[str, Any]] = self.ask("GET", "/permission")
        return found

    def waiting(self) -> str:
        """Return the id of the question that waits at the hub."""
        self.desk.hub.until("approval.asked", lambda event: event["agent"] == "ember")
        [asked] = json.loads(self.desk.hubbub("approve", "--json"))
        assert (asked["kind"], asked["who"], asked["tool"]) == ("prompt", "ember", "bash")
        assert asked["shown"] == COMMAND
        assert self.prompts()
        return str(asked["id"])

    @property
    def made(self) -> Path:
        return self.desk.work / "made.txt"


@pytest.fixture
def served(opencode: Path, desk: Desk) -> Iterator[Served]:
    def answer(turn: Turn) -> list[Block]:
        return (
            [call("bash", command=COMMAND, description="Make a file")]
            if "begin" in turn.told
            else [say("Done.")]
        )

    with serving(answer) as model:
        anthropic = {"options": {"baseURL": f"{model.url}/v1", "apiKey": "k"}, "models": {"scripted": {}}}
        settings = {
            "model": "anthropic/scripted",
            "permission": {"bash": "ask"},
            "provider": {"anthropic": anthropic},
        }
        file = desk.home / ".config" / "opencode" / "opencode.json"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(settings), "utf-8")
        desk.hubbub("install", "opencode", "--as", "ember")
        server = subprocess.Popen(
            [opencode, "serve", "--port", "0"],
            cwd=desk.work,
            env={**desk.environment, **QUIET},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert server.stdout is not None
        url = next(found[0] for line in server.stdout if (found := re.search(r"http://[\d.]+:\d+", line)))
        yield Served(desk, url)
        server.terminate()
        server.communicate()


def test_a_permission_prompt_is_answered_at_the_hub(served: Served) -> None:
    """`hubbub approve` lets the command run that opencode asks about, and its own prompt goes."""
    served.prompt("begin")
    served.desk.hubbub("approve", served.waiting())

    until(served.made.exists, "the file")
    assert not served.prompts()


def test_a_permission_prompt_is_denied_at_the_hub(served: Served) -> None:
    """After `hubbub deny` opencode's prompt is gone, and nothing has run."""
    served.prompt("begin")
    served.desk.hubbub("deny", served.waiting())

    until(lambda: not served.prompts(), "the end of the prompt")
    assert not served.made.exists()


@pytest.mark.parametrize("ending", ["once", "reject", "abort"])
def test_a_permission_prompt_answered_at_the_client_is_withdrawn(served: Served, ending: str) -> None:
    """When somebody answers at opencode, or ends the turn there, nothing waits at the hub any more."""
    served.prompt("begin")
    asked = served.waiting()
    [own] = served.prompts()
    if ending == "abort":
        served.ask("POST", f"/session/{served.session}/abort")
    else:
        served.ask("POST", f"/session/{served.session}/permissions/{own['id']}", {"response": ending})

    served.desk.hub.until("approval.withdrawn", lambda event: event["detail"]["approval_id"] == asked)
