"""One server for all tests, and for each test somebody at a machine who may go there and knows it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from hubbub.model.fleet.calls import NodeCall, Principal, ToolResult
from hubbub.node.ssh.remote_shells import RemoteShells
from hubbub.node.tools.ssh import TOOLS
from hubbub.node.tools.tool_context import ToolContext
from tests.node.file_calls import refusal
from tests.node.ssh.ssh_server import Server, User, key, served
from tests.node.tool_contexts import SOMEBODY, place
from tests.support.waiting import patience


@dataclass
class Desk:
    """A machine whose agents go to others by SSH."""

    place: ToolContext
    user: User
    seen: dict[str, str] = field(default_factory=dict)  # what was read of each shell

    def with_shells(self, shells: RemoteShells) -> "Desk":
        """The same machine, with other shells."""
        return Desk(replace(self.place, shells=shells), self.user)

    async def call(self, operation: str, who: Principal = SOMEBODY, **arguments: object) -> ToolResult:
        """Return the result of a call that the gate lets through."""
        given = {"operation": operation, **arguments}
        return await TOOLS["ssh_session"](self.place, NodeCall(who=who, tool="ssh_session", arguments=given))

    async def ask(self, operation: str, who: Principal = SOMEBODY, **arguments: object) -> Any:
        """Return the value of a call that must succeed."""
        outcome = await self.call(operation, who, **arguments)
        assert not outcome.is_error, outcome.value
        return outcome.value

    async def wrong(self, operation: str, who: Principal = SOMEBODY, **arguments: object) -> tuple[str, str]:
        """The code and the sentence of a call that must not be done."""
        return refusal(await self.call(operation, who, **arguments))

    async def open(self, hostname: str, who: Principal = SOMEBODY) -> str:
        """The id of a new shell."""
        return str((await self.ask("open", who, hostname=hostname))["session_id"])

    async def send(self, shell_id: str, command: str) -> None:
        assert await self.ask("send", session_id=shell_id, command=command) == {"sent": True}

    async def read_until(self, shell_id: str, has_come: Callable[[str], bool]) -> str:
        """Read the shell's output until enough of it has come and return it."""
        async with asyncio.timeout(patience()):
            while not has_come(self.seen.get(shell_id, "")):
                found = await self.ask("read", session_id=shell_id)
                self.seen[shell_id] = self.seen.get(shell_id, "") + found["output"]
                assert found["output"] or found["status"] == "open", self.seen
        return self.seen[shell_id]

    async def printed(self, shell_id: str, command: str, expected: str) -> str:
        """Send a command and read until its output has come."""
        await self.send(shell_id, command)
        return await self.read_until(shell_id, lambda text: expected in text)

    async def ended(self, shell_id: str) -> dict[str, Any]:
        """Return the answer of a read once the shell has ended."""
        async with asyncio.timeout(patience()):
            while (found := await self.ask("read", session_id=shell_id))["status"] == "open":
                pass
        return dict(found)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A machine that can be reached by SSH."""
    with served(tmp_path_factory.mktemp("sshd") / "server") as running:
        yield running


@pytest.fixture
async def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desk]:
    """A machine whose user has no key, and knows no host."""
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    desk = Desk(place(tmp_path), User(tmp_path / "home"))
    desk.user.folder.mkdir(mode=0o700)
    yield desk
    await desk.place.shells.close()


@pytest.fixture
def desk(stranger: Desk, server: Server) -> Desk:
    """A machine whose user knows the server, and is let in there."""
    made = key()
    stranger.user.has_key(made)
    stranger.user.is_let_in(server, made)
    stranger.user.knows(server)
    return stranger
