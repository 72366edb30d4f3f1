"""An MCP client on the other end of `hubbub mcp`: lines in, lines out."""

import itertools
import json
import subprocess
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tests.cli.processes import PROGRAM, RunningHub, plain_environment

Message = dict[str, Any]
LEGACY, MODERN = "2025-11-25", "2026-07-28"


class StdioPeer:
    """A client that starts its server itself. Whatever the server writes must be JSON-RPC."""

    program: Sequence[str] = PROGRAM
    cwd: Path | None = None  # the folder where it works
    capabilities: Mapping[str, object] = MappingProxyType({})  # what it says that it can do

    def __init__(self, hub: RunningHub, revision: str, *arguments: str, **environment: str) -> None:
        self.revision = revision
        self.process = subprocess.Popen(
            [*self.program, "mcp", *(arguments or ("commhub",))],
            env=plain_environment(hub.data, **{"HUBBUB_PROJECT": hub.project, **environment}),
            cwd=self.cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._ids = itertools.count(1)
        self._unread: deque[Message] = deque()

    def connect(self) -> "StdioPeer":
        """Shake hands, where the revision asks for it."""
        if self.revision == LEGACY:
            about = {
                "protocolVersion": LEGACY,
                "capabilities": dict(self.capabilities),
                "clientInfo": {"name": "peer", "version": "1"},
            }
            assert "result" in self.ask("initialize", about)
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def send(self, message: Message) -> None:
        self.write(json.dumps(message))

    def write(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def request(self, method: str, params: Message | None = None) -> int:
        """Send a request and do not wait for its answer; gives its id."""
        content = dict(params or {})
        if self.revision == MODERN:
            content["_meta"] = {
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientCapabilities": dict(self.capabilities),
                **content.get("_meta", {}),
            }
        number = next(self._ids)
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": content})
        return number

    def answer(self, number: int) -> Message:
        """Wait for the answer to a request; notifications that come before it are kept."""
        kept: list[Message] = []
        while True:
            message = self._next()
            if message.get("id") == number and "method" not in message:
                self._unread.extend(kept)
                return message
            kept.append(message)

    def ask(self, method: str, params: Message | None = None) -> Message:
        return self.answer(self.request(method, params))

    def call(self, tool: str, **arguments: object) -> Any:
        """Return the answer of a tool."""
        return self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]["structuredContent"]

    def hear(self, method: str) -> Message:
        """Wait for a notification."""
        while True:
            message = self._next()
            if message.get("method") == method:
                return message

    def close(self) -> tuple[str, int]:
        """Close its input; return its remaining output and its exit code."""
        rest, _ = self.process.communicate()
        return rest, self.process.returncode

    def _next(self) -> Message:
        if self._unread:
            return self._unread.popleft()
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the server ended"
        message: Message = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message
