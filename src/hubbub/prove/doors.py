"""Doors as an agent of any make sees them: a call goes in, and an answer comes out, or nobody knows.

They speak HTTP/1.1 and JSON by the standard library, or start `hubbub mcp` and write to it. A call without an answer
is repeated with its idempotency key and the number of the attempt, at another address if there are several, until there
is one.
"""

import http.client
import json
import os
import random
import re
import select
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Event
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from hubbub.model.programs.launching import program

Json = dict[str, Any]

PATIENCE = 15.0  # seconds for an answer, until the call is repeated
PAUSE = 0.1  # seconds between two tries
AT_ANOTHER = 20  # one of so many tries begins anew, at whichever hub
KEY, ATTEMPT = "hubbub/idempotency-key", "hubbub/idempotency-attempt"  # in `_meta`
RESULT = "done"  # of every task: a letter to its sender with this text is the hub's own, and was not sent
MOST = 100  # letters read at once
AWAY = re.compile(
    r"store_unavailable|database server|the database took|the hub is closing"
)  # statuses that leave the result unknown


class Unanswered(Exception):
    """The result of a call is unknown."""


class Reply(NamedTuple):
    """The answer to a call: whether it was yes, and its content."""

    is_yes: bool
    said: Json


@dataclass
class Wire:
    """HTTP to any of several addresses, by the token of one agent."""

    urls: Sequence[str]
    token: str
    chance: random.Random
    given_up: Event
    broken: list[str] = field(default_factory=list)  # answers that no hub may give
    _attempts: Counter[str] = field(default_factory=Counter)  # by key
    _line: http.client.HTTPConnection | None = None

    def ask(self, method: str, path: str, body: object, key: str | None) -> tuple[int, Json]:
        """Return status and JSON of an answer. Raises `Unanswered` if the time is over before there is one."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        headers |= {"Accept": "application/json, text/event-stream"}
        while True:
            if key:
                headers |= {"Idempotency-Key": key, "Idempotency-Attempt": str(self._number(key))}
            elif isinstance(body, dict):
                self.number(body.get("params", {}))
            with suppress(OSError, http.client.HTTPException, ValueError):
                status, said = self._try(method, path, json.dumps(body) if body is not None else "", headers)
                if status == http.client.INTERNAL_SERVER_ERROR:
                    self.broken.append(f"{method} {path}: {said}")
                if status < http.client.INTERNAL_SERVER_ERROR and status != http.client.TOO_MANY_REQUESTS:
                    return status, said
            self.hang_up()
            if self.given_up.wait(PAUSE):
                raise Unanswered

    def number(self, params: Json) -> None:
        """Number the attempt at a call of a tool, if it has a key."""
        meta = params.get("_meta", {})
        if KEY in meta:
            meta[ATTEMPT] = self._number(meta[KEY])

    def _number(self, key: str) -> int:
        self._attempts[key] += 1
        return self._attempts[key]

    def _try(self, method: str, path: str, body: str, headers: Mapping[str, str]) -> tuple[int, Json]:
        if self._line is None:
            address = urlsplit(self.chance.choice(self.urls)).netloc
            self._line = http.client.HTTPConnection(address, timeout=PATIENCE)
        self._line.request(method, path, body, dict(headers))
        answer = self._line.getresponse()
        return answer.status, json.loads(answer.read() or b"{}")

    def hang_up(self) -> None:
        if self._line is not None:
            self._line.close()
        self._line = None


class Bridge:
    """`hubbub mcp` beside an agent, restarted whenever it has ended."""

    def __init__(self, wire: Wire, environment: Mapping[str, str], died: Callable[[], None]) -> None:
        self._wire, self._died = wire, died
        self._environment = {**os.environ, **environment, "HUBBUB_TOKEN": wire.token}
        self._process: subprocess.Popen[bytes] | None = None
        self._number = 0
        self._read = b""

    def call(self, params: Json) -> Json:
        """Return the result of a tool. Raises `Unanswered`."""
        while True:
            with suppress(OSError, ValueError):
                if self._process is None or self._process.poll() is not None:
                    self._start()
                self._wire.number(params)
                answer = self._exchange("tools/call", params)
                if "result" in answer and not _is_away(answer["result"]):
                    return dict(answer["result"])
                if self._wire.given_up.wait(PAUSE):
                    raise Unanswered
                if self._wire.chance.randrange(AT_ANOTHER):
                    continue  # the same bridge finds the hub again
            self.kill()
            if self._wire.given_up.wait(PAUSE):
                raise Unanswered

    def _start(self) -> None:
        url = self._wire.chance.choice(self._wire.urls)
        self._read = b""
        self._process = subprocess.Popen(
            [*program(), "mcp"],
            env={**self._environment, "HUBBUB_URL": url},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        about = {"name": "prove", "version": "1"}
        self._exchange(
            "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about}
        )
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _exchange(self, method: str, params: Json) -> Json:
        self._number += 1
        self._write({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        while True:
            said = self._line()
            if said.get("id") == self._number:
                return said

    def _write(self, message: Json) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def _line(self) -> Json:
        """Return its next message. Raises `OSError` if that takes too long, or it has ended."""
        assert self._process is not None
        assert self._process.stdout is not None
        while b"\n" not in self._read:
            ready, _, _ = select.select([self._process.stdout], [], [], PATIENCE)
            more = os.read(self._process.stdout.fileno(), 1 << 16) if ready else b""
            if not more:
                raise TimeoutError
            self._read += more
        line, _, self._read = self._read.partition(b"\n")
        return dict(json.loads(line))

    def kill(self) -> bool:
        """Kill the bridge; return whether there was one."""
        if self._process is None:
            return False
        self._died()
        self._process.kill()
        self._process.communicate()
        self._process = None
        return True


@dataclass
class Door:
    """All calls of one agent through its door; calls that the door has no tool for go by REST."""

    kind: str
    name: str
    wire: Wire
    bridge: Bridge | None = None
    shows: bool = False  # whether the last call showed that the agent is there, as the hub's own tools do
    _stay: str | None = None  # of GolemXV

    # ---- coming

    @property
    def must_come(self) -> bool:
        """Tell whether the agent has to check in before it can send."""
        return self.kind == "golemxv" and self._stay is None

    def come(self) -> Reply:
        """Check in as somebody new, who finds the work again that the last one had begun."""
        reply = self._tool("golemxv", "checkin", None, agent_name=self.name)
        self._stay = reply.said.get("session_token")
        return reply

    # ---- mail

    @property
    def sends_work(self) -> bool:
        """Tell whether its letters are work: its acknowledgement accepts it."""
        return self.kind == "cmdop"

    def send(self, to: str, text: str, key: str) -> Reply:
        match self.kind:
            case "commhub":
                return self._tool("commhub", "send_message", key, alias=to, message=text)
            case "relay":
                return self._tool("relay", "send_message", key, agent_id=self.name, content=text, to=to)
            case "golemxv":
                return self._golemxv("send_message", key, to=to, content=text)
            case "cmdop":
                return self._tool("cmdop", "issue_create", key, title=text, assignee=to)
            case "rest":
                return self._rest("POST", "messages", key, to=to, text=text)
            case _:
                return self._tool("hub", "send", key, to=to, text=text)

    def look(self) -> tuple[list[tuple[str, str]], bool] | None:
        """Return the letters of the inbox, id and text, and whether there are no more; None if that was refused."""
        match self.kind:
            case "commhub":
                reply = self._tool("commhub", "get_inbox", None, alias=self.name, limit=50)
                found, most, text = reply.said.get("messages", []), 50, "content"
            case "hub" | "stdio":
                reply = self._tool("hub", "inbox", None, limit=MOST)
                found, most, text = reply.said.get("letters", []), MOST, "text"
            case _:
                reply = self._rest("GET", f"agents/{quote(self.name)}/inbox?limit={MOST}", None)
                found, most, text = reply.said.get("letters", []), MOST, "text"
        return ([(each["id"], each[text]) for each in found], len(found) < most) if reply.is_yes else None

    def acknowledge(self, letter: str, key: str) -> Reply:
        match self.kind:
            case "commhub":
                return self._tool("commhub", "ack_inbox", key, alias=self.name, message_id=letter)
            case "hub" | "stdio":
                return self._tool("hub", "inbox", key, ack=[letter], limit=1)
            case _:
                return self._rest("POST", f"agents/{quote(self.name)}/inbox/{quote(letter)}/ack", key)

    # ---- work and things

    def offer(self, text: str, key: str) -> Reply:
        """Put a task into the open queue."""
        return self._rest("POST", "tasks", key, text=text)

    def claim(self, task: Json, key: str) -> Reply:
        match self.kind:
            case "commhub":
                reply = self._tool("commhub", "send_ack", key, task_id=task["id"])
                return Reply(reply.is_yes and reply.said.get("updated") == 1, reply.said)
            case "relay":
                reply = self._tool("relay", "claim_task", key, agent_id=self.name, task_id=task["id"])
                return Reply(reply.is_yes and reply.said.get("claimed") is True, reply.said)
            case "rest":
                return self._rest("POST", f"tasks/{task['id']}/accept", key)
            case _:
                return self._tool("hub", "task", key, action="claim", task=task["id"])

    def finish(self, task: Json, key: str) -> Reply:
        match self.kind:
            case "rest":
                return self._rest("POST", f"tasks/{task['id']}/complete", key, result=RESULT)
            case "cmdop":
                return self._tool("cmdop", "issue_close", key, id=str(task["number"]))
            case _:
                return self._tool("hub", "task", key, action="complete", task=task["id"], text=RESULT)

    def take(self, thing: str, key: str) -> Reply:
        """Take a thing as a lease, or be refused at once."""
        return self._tool("hub", "files", key, action="claim", things=[thing])

    def give(self, thing: str, key: str) -> Reply:
        return self._tool("hub", "files", key, action="release", things=[thing])

    def order(self, machine: str, command: str, key: str) -> Reply:
        given = {"operation": "exec", "hostname": machine, "command": command}
        return self._tool("cmdop", "connect", key, **given)

    # ---- protocols

    def _golemxv(self, tool: str, key: str, **given: object) -> Reply:
        reply = self._tool("golemxv", tool, key, session_token=self._stay, **given)
        if not reply.is_yes:
            self._stay = None  # it may have ended
        return reply

    def _rest(self, method: str, path: str, key: str | None, **body: object) -> Reply:
        self.shows = False
        status, said = self.wire.ask(method, f"/api/v1/{path}", body if method == "POST" else None, key)
        return Reply(status < http.client.BAD_REQUEST, said)

    def _tool(self, dialect: str, tool: str, key: str | None, **given: object) -> Reply:
        self.shows = dialect == "hub"
        meta = {"_meta": {KEY: key}} if key else {}
        params = {"name": tool, "arguments": given, **meta}
        if self.kind == "stdio" and dialect == "hub" and self.bridge is not None:
            return _reply(self.bridge.call(params))
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        while True:
            _status, said = self.wire.ask("POST", f"/mcp/{dialect}", message, None)
            if "result" not in said:
                self.wire.broken.append(f"{dialect}.{tool}: {said}")
                raise Unanswered
            if not _is_away(said["result"]):
                return _reply(said["result"])
            if self.wire.given_up.wait(PAUSE):
                raise Unanswered


def _is_away(result: Json) -> bool:
    said = result.get("structuredContent") or {}
    return AWAY.search(f"{said.get('error')} {said.get('code')}") is not None


def _reply(result: Json) -> Reply:
    said = result.get("structuredContent") or {}
    is_no = result.get("isError") or said.get("ok") is False or said.get("success") is False
    return Reply(not is_no, said)


KINDS = ("hub", "stdio", "commhub", "relay", "golemxv", "cmdop", "rest")
