"""A team that works in one folder, each agent over a `hubbub mcp relay` of its own."""

import json
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Self

import httpx2
from watchfiles import watch

from hubbub.model.programs.proxy_trust import authorities
from tests.cli.processes import RunningHub, hubbub
from tests.cli.stdio_peers import MODERN, StdioPeer
from tests.support.waiting import patience

Json = dict[str, Any]
RUN = "2026-03-14-007"

LOOK, LOOKS = 100, 600  # for so many milliseconds at most we wait before we look again, and so often

CALM = ("RELAY_SESSION_ID", "RELAY_DIR", "RELAY_PROJECT_ROOT")  # of this machine, and nothing of the test's


class Agent(StdioPeer):
    """An agent, and the MCP server that it has started."""

    def __init__(self, hub: RunningHub, name: str, cwd: Path, revision: str, **environment: str) -> None:
        self.name, self.cwd = name, cwd
        super().__init__(hub, revision, "relay", **{**dict.fromkeys(CALM, ""), **environment})

    def soon(self, tool: str, **arguments: object) -> int:
        """Call a tool and do not wait; gives the number of the request."""
        return self.request("tools/call", {"name": tool, "arguments": {"agent_id": self.name, **arguments}})

    def reply(self, number: int) -> Json:
        """Return the reply to the call of that number; its text says the same."""
        result = self.answer(number)["result"]
        content: Json = result["structuredContent"]
        assert [json.loads(each["text"]) for each in result["content"]] == [content]
        return content

    def does(self, tool: str, **arguments: object) -> Json:
        """Return a tool's reply, a success or a failure."""
        return self.reply(self.soon(tool, **arguments))

    def cancel(self, number: int) -> None:
        """Give up a request."""
        self.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})

    def task(self, title: str = "t", **more: object) -> str:
        """A task that was created; its id."""
        return str(self.does("create_task", title=title, priority="medium", **more)["task_id"])

    def row(self, task_id: str) -> Json:
        """A task, as get_all_tasks shows it."""
        (row,) = [each for each in self.does("get_all_tasks")["tasks"] if each["id"] == task_id]
        found: Json = row
        return found


@dataclass
class Team:
    """A project of a hub, and the folder where its agents work."""

    hub: RunningHub
    root: Path
    closing: ExitStack
    environment: dict[str, str] = field(default_factory=dict)  # of its agents, beside the usual

    @classmethod
    @contextmanager
    def at(cls, hub: RunningHub, root: Path, **environment: str) -> Iterator[Self]:
        """Set up a team in a new folder, whose agents all leave in the end."""
        root.mkdir()
        with ExitStack() as closing:
            yield cls(hub, root, closing, environment)

    def agent(self, name: str, revision: str = MODERN, *, run: str = RUN, **environment: str) -> Agent:
        """An agent that has started its server in the folder."""
        more = {"RELAY_SESSION_ID": run, **self.environment, **environment}
        agent = Agent(self.hub, name, self.root, revision, **more)
        self.closing.callback(agent.close)
        agent.connect()
        return agent

    def over_http(self, name: str, tool: str, /, dialect: str = "relay", **arguments: Any) -> Json:
        """Return a tool's reply to an agent that calls it over HTTP."""
        secret = self.hub.client().post("/tokens", {"agent": name})["secret"]
        who = {"relay": {"agent_id": name}, "commhub": {}}[dialect]
        params = {"name": tool, "arguments": {**who, **arguments}}
        response = httpx2.post(
            f"{self.hub.url}/mcp/{dialect}",
            json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params},
            headers={"Authorization": f"Bearer {secret}", "X-Relay-Session": RUN},
            timeout=patience(),
            verify=authorities(self.hub.url),
        )
        content: Json = response.json()["result"]["structuredContent"]
        return content

    def soon_over_http(self, name: str, tool: str, /, **arguments: Any) -> Callable[[], Json]:
        """Call a tool over HTTP without waiting; the result waits for the reply."""
        background = self.closing.enter_context(ThreadPoolExecutor(1))
        return background.submit(partial(self.over_http, name, tool, **arguments)).result

    @property
    def relay_folder(self) -> Path:
        folder = self.root / ".relay"
        folder.mkdir(exist_ok=True)
        return folder

    def pool(self, **agents: Json) -> None:
        """Write the pool's file, as JSON, which is YAML."""
        (self.relay_folder / "agents.pool.yml").write_text(pool(**agents))
        if any("hooks" in said for said in agents.values()):
            self.trust()

    def hooks(self, name: str = "fe", **hooks: object) -> None:
        """Write a pool of one agent that has these hooks."""
        self.pool(**{name: {"hooks": hooks}})

    def trust(self) -> None:
        """Trust all hooks that exist now, as a person does."""
        done = hubbub("trust", str(self.root), "--yes", data=self.hub.data)
        assert done.returncode == 0, done.stderr

    def pipe(self, name: str) -> Path:
        """A named pipe in the folder: who opens it waits until somebody does at the other end."""
        os.mkfifo(self.root / name)
        return self.root / name


def pool(**agents: Json) -> str:
    """A pool's file with these agents, of whom only what matters is said."""
    usual = {"name": "N", "emoji": "🤖", "tools": ["Read"], "systemPrompt": "You are here."}
    return json.dumps(
        {"agents": {name: {**usual, **said} for name, said in agents.items()}}, ensure_ascii=False
    )


def until(file: Path, is_wanted: Callable[[str], bool]) -> str:
    """Wait until the file's content is as wanted and return it."""
    place = next(folder for folder in file.parents if folder.exists())
    for look, _change in enumerate(watch(place, rust_timeout=LOOK, yield_on_timeout=True)):
        if file.exists() and is_wanted(text := file.read_text()):
            return text
        assert look < LOOKS, "the file never said it"
    raise AssertionError("nobody watches any more")


def edit(file: Path, text: str) -> None:
    """Write a file as most editors do: whole, and then in the place of the old one."""
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name}~")
    draft.write_text(text)
    draft.replace(file)
