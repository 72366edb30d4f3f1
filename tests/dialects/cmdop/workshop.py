"""A hub with a machine of its own: real commands, files and people, in a folder that the test owns."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree
from typing import Any

import httpx2

from hubbub.client import Hub as Rest
from hubbub.core.log import idempotency
from hubbub.core.people import access
from hubbub.dialects.dialect import digest
from hubbub.model.people.rights import Role
from hubbub.model.records import Project
from tests.dialects.running_hub import NO_TLS, Json
from tests.serve.live.event_streams import Stream, following
from tests.serve.served_hub import Hub, running_hub
from tests.support.waiting import patience

PATH = "/mcp/cmdop"


@dataclass
class Workshop:
    """The hub, its machine's folders, and those who call."""

    hub: Hub
    home: Path
    root: Path
    config: Path
    closing: ExitStack
    _agents: dict[str, "Agent"] = field(default_factory=dict)

    def policy(self, text: str, tables: str = "") -> None:
        """Write the operator's policy into node.toml; the root stays the same."""
        write_policy(self.config, self.root, text, tables)

    def clear(self) -> None:
        """Leave nothing in the root."""
        for each in self.root.iterdir():
            if each.is_dir() and not each.is_symlink():
                rmtree(each)
            else:
                each.unlink()

    def agent(self, name: str = "ada", project: Project | None = None) -> "Agent":
        """An agent with a token of its own."""
        key = f"{project.slug if project else ''}/{name}"
        if key not in self._agents:
            self._agents[key] = Agent(self.hub.url, self.hub.token(name, project=project))
        return self._agents[key]

    def admin(self) -> "Agent":
        """A program that may manage the project."""
        return Agent(self.hub.url, self.hub.token(role=Role.ADMIN))

    def person(self) -> Rest:
        """The hub's owner, who may answer questions."""
        rest = Rest(self.hub.url, self.hub.owner_secret, project=self.hub.project.slug)
        self.closing.callback(rest.close)
        return rest

    def audit(self) -> list[Json]:
        """The lines of the machine's audit log."""
        file = self.hub.served.settings.data / "audit.jsonl"
        return [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.exists() else []

    @property
    def data(self) -> Path:
        """The machine's own folder."""
        return self.hub.served.settings.data

    def forget_end(self, agent: "Agent", key: str, tool: str, arguments: Json) -> None:
        """Leave things as a hub does that dies while it does the call with that key."""
        actor = self.hub.do(lambda tx: access.authenticate(tx, agent.secret))
        same = digest("cmdop", tool, arguments)
        self.hub.do(lambda tx: idempotency.begin(tx, key, same), actor)

    @contextmanager
    def hearing(self, kind: str) -> Iterator[Stream]:
        """Return the list of events of one kind from now on."""
        with following(self.hub.url, self.hub.owner_secret, kind=kind) as stream:
            yield stream

    @contextmanager
    def answering(self, *answers: str | Callable[[str], None]) -> Iterator[None]:
        """Let the owner answer the next question by `approve` or `deny`, after others did what they like."""
        *before, verb = answers
        with self.hearing("approval.asked") as questions:

            def answer() -> None:
                approval_id = questions.next().data["detail"]["approval_id"]
                for each in before:
                    assert callable(each)
                    each(approval_id)
                self.person().post(f"/approvals/{approval_id}/{verb}")

            person = threading.Thread(target=answer)
            person.start()
            yield
            person.join()


@dataclass
class Agent:
    """Calls tools with nothing but HTTP: `agent.read_file(path="a")`."""

    url: str
    secret: str
    headers: dict[str, str] = field(default_factory=dict)
    path: str = PATH

    def __getattr__(self, tool: str) -> Callable[..., Any]:
        if tool.startswith("_"):
            raise AttributeError(tool)

        def called(**arguments: object) -> Any:
            answer, is_error = self.ask(tool, arguments)
            assert not is_error, answer
            return answer["result"] if set(answer) == {"result"} else answer

        return called

    def wrong(self, tool: str, **arguments: object) -> Json:
        """The answer to a call that is refused."""
        answer, is_error = self.ask(tool, arguments)
        assert is_error, answer
        return answer

    def ask(self, tool: str, arguments: Json) -> tuple[Json, bool]:
        """The structured content of the answer, and whether it is an error."""
        result = self.result(tool, arguments)
        return dict(result["structuredContent"]), bool(result["isError"])

    def result(self, tool: str, arguments: Json) -> Json:
        """The whole result."""
        headers = {"Authorization": f"Bearer {self.secret}", **self.headers}
        params = {"name": tool, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        response = httpx2.post(
            self.url + self.path, json=message, headers=headers, timeout=patience(), verify=NO_TLS
        )
        result: Json = response.json()["result"]
        return result


def write_policy(config: Path, root: Path, text: str = "", tables: str = "") -> None:
    """The policy file of a machine whose only root is `root`."""
    file = config / "node.toml"
    file.write_text(f'{text}\n[files]\nroots = ["{root}"]\n{tables}\n', "utf-8")
    file.chmod(0o600)


@contextmanager
def workshop(folder: Path, text: str = "") -> Iterator[Workshop]:
    """A fresh hub with a machine that works in a folder of its own."""
    root, config = folder / "work", folder / "config"
    root.mkdir()
    config.mkdir()
    write_policy(config, root, text)
    with ExitStack() as closing, running_hub(folder / "data", config=config, no_node=False) as hub:
        yield Workshop(hub, folder, root, config, closing)
