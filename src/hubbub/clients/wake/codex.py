"""Codex: an idle conversation is woken by `codex queue`, which gives it a prompt as if it had been typed.

Codex's own server, which all its windows on this machine share, names the open conversations: that needs no hooks, so
nobody has to have trusted any. It is reached by a socket in `CODEX_HOME`, and talks JSON-RPC.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, unix_connect

from hubbub.clients.hook.wake_poll import QUEUED, WOKEN
from hubbub.clients.wake.wake_channel import OpenConversation, WakeOutcome, cannot

SOCKET = Path("app-server-control", "app-server-control.sock")
MANAGED = Path("packages", "app-server-daemon", "current", "bin", "codex")
ANSWER_SECONDS = 5.0
QUEUE_SECONDS = 30.0
MOST_ROOMS = 50
MOST_LINES = 200  # of others' news that may precede an answer
LARGEST = 16 * 1024 * 1024  # bytes of an answer
WHO = {"clientInfo": {"name": "hubbub", "title": "hubbub", "version": "1"}}


class CodexChannel:
    """The channel to the Codex whose files are in `home`."""

    client = "codex"
    method = "queue"

    def __init__(self, home: Path, environment: Mapping[str, str]) -> None:
        self._home = home
        self._environment = environment

    @staticmethod
    def here(environment: Mapping[str, str]) -> "CodexChannel":
        """Return the person's own Codex, found in the same way as Codex finds its files."""
        return CodexChannel(Path(environment.get("CODEX_HOME") or "~/.codex").expanduser(), environment)

    def rooms(self) -> Sequence[OpenConversation]:
        """Return the conversations that Codex's server holds open, except subordinate ones that Codex started."""
        socket = self._home / SOCKET
        if not socket.exists():
            return ()
        try:
            with unix_connect(
                os.path.realpath(socket),
                uri="ws://localhost/",
                open_timeout=ANSWER_SECONDS,
                close_timeout=1,
                compression=None,
                max_size=LARGEST,
            ) as connection:
                return _rooms(connection)
        except (OSError, ValueError, LookupError, TypeError, WebSocketException):
            return ()  # a server that starts, ends, or has another version

    def knock(self, room: OpenConversation, text: str) -> WakeOutcome:
        program = self._program()
        if program is None:
            return cannot("codex is not on the PATH of hubbub ring")
        command = [program, "queue", "--thread", room.thread, "--message", text]
        try:
            ended = subprocess.run(  # noqa: S603, a client's program with the hub's own words
                command,
                env={**self._environment, "CODEX_HOME": str(self._home)},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=QUEUE_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return cannot(f"codex queue: {type(error).__name__}")
        if ended.returncode != 0:
            return cannot(_error(ended.stderr) or f"codex queue ended with code {ended.returncode}")
        return WakeOutcome(QUEUED if room.is_busy else WOKEN)

    def is_busy(self) -> bool:
        """Tell whether a conversation is in a turn."""
        return any(room.is_busy for room in self.rooms())

    def renewal(self) -> list[str] | None:
        """Return the command that makes Codex's server read its variables anew; None if none runs, or it is busy."""
        program = self._program()
        if program is None or not (self._home / SOCKET).exists() or self.is_busy():
            return None
        return [program, "app-server", "daemon", "restart"]

    def _program(self) -> str | None:
        """Return Codex as the person calls it, else the copy that its server runs from."""
        found = shutil.which("codex", path=self._environment.get("PATH"))
        managed = self._home / MANAGED
        return found or (str(managed) if managed.exists() else None)


def _rooms(connection: ClientConnection) -> list[OpenConversation]:
    _ask(connection, 1, "initialize", WHO)
    connection.send(json.dumps({"method": "initialized"}))
    threads = _ask(connection, 2, "thread/loaded/list", {})["data"]
    found = []
    for number, thread in enumerate(threads[:MOST_ROOMS], 3):
        with suppress(LookupError):  # closed meanwhile
            room = _room(_ask(connection, number, "thread/read", {"threadId": thread})["thread"])
            if room is not None:
                found.append(room)
    return found


def _room(thread: Mapping[str, Any]) -> OpenConversation | None:
    if thread["parentThreadId"] is not None or thread["ephemeral"] or thread["id"].startswith("-"):
        return None  # the last would be an option, and no name
    used_at = thread.get("recencyAt") or thread["updatedAt"]
    return OpenConversation(thread["id"], thread["cwd"], thread["status"]["type"] == "active", used_at)


def _ask(connection: ClientConnection, number: int, method: str, params: Mapping[str, object]) -> Any:
    """Return the result of a request. Raises `LookupError` if it is refused or no answer comes."""
    connection.send(json.dumps({"id": number, "method": method, "params": params}))
    for _ in range(MOST_LINES):
        told = json.loads(connection.recv(timeout=ANSWER_SECONDS))
        if told.get("id") == number and "method" not in told:
            return told["result"]
    raise LookupError(method)


def _error(text: str) -> str | None:
    """Return Codex's error without its backtrace; its sentence may name a file of ours, and stays here."""
    for line in text.splitlines():
        if line.startswith("Error: "):
            return line.removeprefix("Error: ")
    return None
