"""An editor: an agent that says which files it touches. A scene plays its part, through a `hubbub mcp golemxv`."""

import json
from itertools import count
from typing import Any

from demo.planner import ENVELOPE
from demo.processes import Process


class Editor:
    """One editor at the end of a pipe. Project and token are in its server's environment, so no call names them."""

    def __init__(self, name: str, process: Process) -> None:
        self.name = name
        self.process = process
        self._ids = count(1)

    def call(self, tool: str, **arguments: object) -> Any:
        """What a tool answers, be it yes or no."""
        params = {"name": tool, "arguments": arguments, "_meta": ENVELOPE}
        request = {"jsonrpc": "2.0", "id": next(self._ids), "method": "tools/call", "params": params}
        self.process.tell(json.dumps(request))
        return json.loads(self.process.line())["result"]["structuredContent"]

    def dismiss(self) -> int:
        """Have no more calls. Returns the exit code of its server."""
        self.process.hush()
        return self.process.end()
