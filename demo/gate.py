"""The gate: where a command waits halfway until the play lets it go, so that what is to happen meanwhile surely does.

A command that comes to the gate connects and says which task it is at; the line it then gets is the leave to go on. Its
end of the connection closes when its process ends, however that happens.
"""

import json
import os
import socket
from dataclasses import dataclass

VARIABLE = "DEMO_GATE"
HALFWAY = "stop halfway until you are let go"  # the context of a task that says so, or a line of its text


@dataclass(slots=True)
class Halt:
    """A command that stands at the gate."""

    task: str
    attempt: int
    connection: socket.socket

    def let_go(self) -> None:
        self.connection.sendall(b"go\n")

    def wait_until_gone(self) -> None:
        """Block until the command's process has ended."""
        while self.connection.recv(64):
            pass
        self.connection.close()


class Gate:
    """The play's side."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._here: dict[str, Halt] = {}

    @property
    def address(self) -> str:
        """The address, which a command finds in its environment."""
        return str(self._socket.getsockname()[1])

    def arrival(self, task: str) -> Halt:
        """Wait for and return the command at work on the task."""
        while task not in self._here:
            connection, _address = self._socket.accept()
            with connection.makefile(encoding="utf-8") as lines:
                who = json.loads(lines.readline())
            self._here[who["task"]] = Halt(who["task"], who["attempt"], connection)
        return self._here.pop(task)

    def close(self) -> None:
        for halt in self._here.values():
            halt.connection.close()
        self._socket.close()


def stop(task: str, attempt: int) -> socket.socket:
    """The command's side: wait for permission to go on. The result has to be kept until the process ends.

    Raises `SystemExit` if the play is over.
    """
    connection = socket.create_connection(("127.0.0.1", int(os.environ[VARIABLE])))
    connection.sendall(f"{json.dumps({'task': task, 'attempt': attempt})}\n".encode())
    if not connection.recv(64):
        raise SystemExit("the play is over")
    return connection
