"""Codex as the ringer sees it: a server on a socket in `CODEX_HOME`, and a program that records its arguments."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from websockets.sync.server import ServerConnection, unix_serve

from hubbub.clients.wake.codex import SOCKET, CodexChannel

PROGRAM = """#!/bin/sh
for each in "$@"; do printf '%s\\n' "$each" >> "{home}/said"; done
[ -e "{home}/refuses" ] && echo 'Error: no \a thread' >&2 && exit 1
[ -p "{home}/rang" ] && echo rang > "{home}/rang"
exit 0
"""


@dataclass
class CodexServer:
    """Codex as seen from outside; `threads` are the conversations that it holds open."""

    home: Path
    threads: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def door(self) -> CodexChannel:
        return CodexChannel(self.home, {"PATH": f"{self.home}/bin:/usr/bin:/bin"})

    @property
    def said(self) -> list[str]:
        """The arguments of the calls of its program."""
        file = self.home / "said"
        return file.read_text("utf-8").splitlines() if file.exists() else []

    def open(self, thread: str, folder: Path | str, *, used_at: int = 1, **more: object) -> None:
        """Have a conversation open."""
        self.threads[thread] = {
            "id": thread,
            "cwd": str(folder),
            "parentThreadId": None,
            "ephemeral": False,
            "status": {"type": "idle"},
            "updatedAt": used_at,
            **more,
        }

    def answer(self, connection: ServerConnection) -> None:
        for line in connection:
            asked = json.loads(line)
            if "id" not in asked:
                continue
            connection.send(json.dumps({"method": "somethingElse", "params": {}}))  # others' news
            thread = self.threads.get(asked.get("params", {}).get("threadId", ""))
            told = {
                "initialize": {"userAgent": "codex"},
                "thread/loaded/list": {"data": [*self.threads]},
                "thread/read": {"thread": thread} if thread else None,
            }[asked["method"]]
            answer = {"error": {"code": -1}} if told is None else {"result": told}
            connection.send(json.dumps({"id": asked["id"], **answer}))


@contextmanager
def codex_server(home: Path) -> Iterator[CodexServer]:
    """Codex with these files, until the end."""
    codex = CodexServer(home)
    program = home / "bin" / "codex"
    program.parent.mkdir(parents=True)
    program.write_text(PROGRAM.format(home=home), "utf-8")
    program.chmod(0o700)
    socket = home / SOCKET
    socket.parent.mkdir()
    with unix_serve(codex.answer, str(socket)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield codex
        server.shutdown()
        thread.join()
