"""The planner: the orchestrator of the Relay team. Its part is played by the scenes, through a `hubbub mcp relay`."""

import json
from contextlib import suppress
from itertools import count
from typing import Any, TypedDict

from demo.orders import Refused
from demo.processes import Process, Vanished

NAME = "planner"
REVISION = "2026-07-28"  # of the protocol, which needs no handshake
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientCapabilities": {},
}
WAIT = 45  # seconds, the longest that one call may


class Note(TypedDict):
    """A message, in Relay's terms; that of a result has the task's id as its thread."""

    seq: int
    from_agent: str
    content: str
    thread_id: str | None


class Planner:
    """One planner at the end of a pipe."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.notes: list[Note] = []
        self.promised: list[str] = []  # the tasks that the hub has said to have
        self._ids = count(1)

    def give(self, tool: str, **arguments: object) -> None:
        """Call a tool, whose answer may take some time."""
        params = {"name": tool, "arguments": {"agent_id": NAME, **arguments}, "_meta": ENVELOPE}
        request = {"jsonrpc": "2.0", "id": next(self._ids), "method": "tools/call", "params": params}
        self.process.tell(json.dumps(request))

    def answer(self) -> Any:
        """Return the answer to the oldest call. Raises `Refused`."""
        answer = json.loads(self.process.line())["result"]["structuredContent"]
        if not answer["success"]:
            raise Refused(answer["error"])
        return answer

    def call(self, tool: str, **arguments: object) -> Any:
        self.give(tool, **arguments)
        return self.answer()

    def task(self, title: str, *, to: str | None = None, needs: tuple[str, ...] = (), hint: str = "") -> str:
        """Make a task; the id that the hub gave it."""
        whose = {"assignee": to} if to else {}
        self.give("create_task", title=title, description=hint, priority="medium", depends_on=needs, **whose)
        return self.promise()

    def promise(self) -> str:
        """Return the id of the task that the oldest call made."""
        task_id: str = self.answer()["task_id"]
        self.promised.append(task_id)
        return task_id

    def result(self, task_id: str) -> Note:
        """Wait for and return the first message in the thread of a task."""
        while True:
            for note in self.notes:
                if note["thread_id"] == task_id:
                    return note
            self.read(wait=WAIT)

    def read(self, *, wait: int = 0) -> None:
        """Return the new messages."""
        last = self.notes[-1]["seq"] if self.notes else 0
        self.notes += self.call("get_messages", after_seq=last, wait_seconds=wait)["messages"]

    def dismiss(self) -> int:
        """Have no more calls. Returns the exit code of its server."""
        self.process.hush()
        with suppress(Vanished):
            while True:
                self.process.line()
        return self.process.end()
