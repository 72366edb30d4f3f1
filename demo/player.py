"""A player: an agent whose part a scene plays, through the server of its dialect on standard input and output."""

import json
from itertools import count
from typing import Any

from demo.planner import ENVELOPE
from demo.processes import Process


class Player:
    """One agent at the end of a pipe. Project and token are in its server's environment, so no call names them."""

    def __init__(self, name: str, process: Process) -> None:
        self.name = name
        self.process = process
        self._ids = count(1)

    def give(self, tool: str, **arguments: object) -> None:
        """Call a tool, whose answer may take some time."""
        params = {"name": tool, "arguments": arguments, "_meta": ENVELOPE}
        request = {"jsonrpc": "2.0", "id": next(self._ids), "method": "tools/call", "params": params}
        self.process.tell(json.dumps(request))

    def answer(self) -> Any:
        """Return the answer to the oldest call, a success or a failure."""
        return json.loads(self.process.line())["result"]["structuredContent"]

    def call(self, tool: str, **arguments: object) -> Any:
        self.give(tool, **arguments)
        return self.answer()

    def dismiss(self) -> int:
        """Have no more calls. Returns the exit code of its server."""
        self.process.hush()
        return self.process.end()
