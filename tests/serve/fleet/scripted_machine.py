"""A scripted machine: it says to a hub what a test wants, over a real link, and tells what the hub said."""

import json
import socket
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Protocol
from uuid import uuid4

import httpx2
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from hubbub.core.fleet import enrolment
from hubbub.model.fleet.calls import NodeInfo, ToolResult
from hubbub.model.fleet.link_protocol import PATH, MessageAssembler, MessageKind, message, pieces, result_json
from hubbub.model.programs.proxy_trust import authorities
from hubbub.serve.fleet.timings import Timings
from tests.serve.mcp.wire import ENVELOPE, MODERN
from tests.serve.served_hub import Hub
from tests.support.waiting import patience

Json = dict[str, Any]


def quick(**other: timedelta) -> Timings:
    """Return short timings; where a machine has to be back in time, they stretch as all waiting of tests."""
    short = Timings(
        moment=timedelta(seconds=patience(0.2)),
        back=timedelta(seconds=patience(0.7)),
        look=timedelta(milliseconds=150),
        doubt=timedelta(milliseconds=50),
        certain=timedelta(milliseconds=200),
        gather=timedelta(milliseconds=20),
    )
    return replace(short, **other)


class Line:
    """One link of a machine, as it stands."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self._assembly = MessageAssembler()

    def raw(self, piece: str | bytes) -> None:
        self.socket.send(piece)

    def say(self, kind: MessageKind, **content: object) -> None:
        for piece in pieces(message(kind, **content)):
            self.socket.send(piece)

    def hear(self) -> Json:
        """The next message of the hub."""
        while True:
            piece = self.socket.recv(timeout=patience())
            assert isinstance(piece, str)
            found = self._assembly.add(piece)
            if found is not None:
                return dict(found)

    def the(self, kind: MessageKind) -> Json:
        """The next message, which is of that kind."""
        found = self.hear()
        assert found["kind"] == kind, found
        return found

    def take(self) -> Json:
        """The next order, noted."""
        order = self.the(MessageKind.ORDER)
        self.say(MessageKind.TAKEN, order=order["order"])
        return order

    def end(self, order: Json, value: object = None, *, is_error: bool = False) -> None:
        """Say what came of an order."""
        outcome = ToolResult(value=value if value is not None else {"ok": True}, is_error=is_error)
        self.say(MessageKind.ENDED, order=order["order"], outcome=result_json(outcome))

    def kept(self, order: Json) -> None:
        """The hub says that it has the outcome."""
        assert self.the(MessageKind.KEPT)["order"] == order["order"]

    def ask(self, need: str, order: Json | None = None, request: str = "r1", **content: object) -> None:
        about = order["order"] if order is not None else None
        self.say(MessageKind.REQUEST, id=request, need=need, order=about, **content)

    def reply(self, request: str) -> Json:
        """The reply to that request; one to an earlier, which came late, is passed over."""
        while (reply := self.the(MessageKind.REPLY))["id"] != request:
            pass
        return reply

    def granted(self, request: str = "r1") -> Json:
        """The value of the next reply."""
        reply = self.the(MessageKind.REPLY)
        assert (reply["id"], "error" in reply) == (request, False), reply
        value: Json = reply["value"]
        return value

    def refusal(self, request: str = "r1") -> tuple[str, str]:
        """Return code and sentence of the next reply, which is a refusal."""
        reply = self.the(MessageKind.REPLY)
        assert reply["id"] == request
        return reply["error"]["code"], reply["error"]["message"]

    def bye(self) -> str:
        """Return the hub's reason for ending the link, which it does then."""
        said = self.hear()
        while said["kind"] != MessageKind.BYE:
            said = self.hear()
        with suppress(ConnectionClosed):
            raise AssertionError(self.hear())
        return str(said["why"])

    def code(self) -> int | None:
        """The code by which the hub closes the connection."""
        with suppress(ConnectionClosed):
            raise AssertionError(self.hear())
        return self.socket.close_code

    def cut(self) -> None:
        """Lose the connection without a word."""
        self.socket.socket.close()


class Reached(Protocol):
    """A hub, as far as machines know it."""

    @property
    def url(self) -> str: ...


@dataclass
class Machine:
    """One that has joined; `linked` is a link of it."""

    hub: Reached
    key: str
    name: str
    closing: ExitStack
    instance: str = field(default_factory=lambda: str(uuid4()))

    def dial(self) -> Line:
        """A connection on which nothing was said yet."""
        url = f"{self.hub.url.replace('http', 'ws', 1)}{PATH}"
        bearer = {"Authorization": f"Bearer {self.key}"}
        opening = connect(url, additional_headers=bearer, proxy=None, max_size=None)
        return Line(self.closing.enter_context(opening))

    def linked(self, **holds: object) -> Line:
        """A link that stands; `holds` is what the machine says it holds."""
        line = self.dial()
        line.say(MessageKind.HELLO, **self.hello(**holds))
        line.the(MessageKind.WELCOME)
        return line

    def hello(self, **holds: object) -> Json:
        about = {
            "name": self.name,
            "machine_id": f"id-{self.name}",
            "platform": "Linux",
            "version": "1",
            "sandbox": "none",
        }
        return {"instance": self.instance, "about": about, "runtime": "claude", "labels": ["gpu"], **holds}

    def again(self) -> "Machine":
        """The same machine, after its process was started anew."""
        return replace(self, instance=str(uuid4()))


@dataclass
class Agent:
    """Calls tools over plain HTTP: cmdop's, or those at another path."""

    url: str
    secret: str
    pool: ThreadPoolExecutor
    headers: Json = field(default_factory=dict)
    path: str = "/mcp/cmdop"

    def on(self, node: str) -> "Agent":
        """The same caller, whose calls are all for that machine."""
        return replace(self, headers={**self.headers, "X-Hubbub-Node": node})

    def soon(
        self,
        tool: str,
        /,
        *,
        key: str | None = None,
        attempt: int | None = None,
        meta: Json | None = None,
        **arguments: object,
    ) -> "Future[Json]":
        """Begin a call; its result is the structured content."""
        return self.pool.submit(self.call, tool, key=key, attempt=attempt, meta=meta, **arguments)

    def call(
        self,
        tool: str,
        /,
        *,
        key: str | None = None,
        attempt: int | None = None,
        meta: Json | None = None,
        **arguments: object,
    ) -> Json:
        result = self.result(tool, arguments, key, meta, attempt)
        return dict(result["structuredContent"])

    def result(
        self,
        tool: str,
        arguments: Json,
        key: str | None = None,
        meta: Json | None = None,
        attempt: int | None = None,
    ) -> Json:
        headers = {"Idempotency-Key": key, "Idempotency-Attempt": attempt}
        said = {name: str(value) for name, value in headers.items() if value is not None}
        return read(self._posted(tool, arguments, meta, said))

    def error(self, tool: str, arguments: Json, meta: Json | None = None) -> str:
        """The sentence of the protocol's error that a call comes to."""
        return str(json.loads(self._posted(tool, arguments, meta, {}))["error"]["message"])

    def _posted(self, tool: str, arguments: Json, meta: Json | None, said: Json) -> str:
        headers = {"Authorization": f"Bearer {self.secret}", **self.headers, **said}
        params = {"name": tool, "arguments": arguments, **({"_meta": meta} if meta else {})}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        response = httpx2.post(
            f"{self.url}{self.path}",
            json=body,
            headers=headers,
            timeout=patience(),
            verify=authorities(self.url),
        )
        return response.text

    @contextmanager
    def leaving(self, tool: str, arguments: Json) -> Iterator[None]:
        """Begin a call whose caller leaves when the context ends, without waiting for the result."""
        body, headers = self._modern(tool, arguments)
        text = json.dumps(body)
        host = self.url.removeprefix("http://")
        lines = ["POST /mcp/cmdop HTTP/1.1", f"Host: {host}", f"Content-Length: {len(text)}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        name, port = host.split(":")
        with socket.create_connection((name, int(port))) as connection:
            connection.sendall("\r\n".join([*lines, "", text]).encode())
            yield

    def heard(self, tool: str, arguments: Json) -> tuple[list[str], Json]:
        """The pieces of text that come while a call is under way, and what comes of it in the end."""
        body, headers = self._modern(tool, arguments)
        response = httpx2.post(
            f"{self.url}/mcp/cmdop",
            json=body,
            headers=headers,
            timeout=patience(),
            verify=authorities(self.url),
        )
        told = [json.loads(line[6:]) for line in response.text.splitlines() if line.startswith("data: ")]
        pieces = [
            each["params"]["message"] for each in told if each.get("method") == "notifications/progress"
        ]
        return pieces, dict(told[-1]["result"]["structuredContent"])

    def _modern(self, tool: str, arguments: Json) -> tuple[Json, dict[str, str]]:
        """Return message and headers of a call that is answered by a stream."""
        headers = {
            "Authorization": f"Bearer {self.secret}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": MODERN,
            "Mcp-Method": "tools/call",
            "Mcp-Name": tool,
            **self.headers,
        }
        params = {"name": tool, "arguments": arguments, "_meta": {**ENVELOPE, "progressToken": "p"}}
        return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, headers


def read(text: str) -> Json:
    """The result in an answer, be it JSON or a stream of events."""
    last = [line[6:] for line in text.splitlines() if line.startswith("data: ")][-1:] or [text]
    result: Json = json.loads(last[0])["result"]
    return result


@dataclass
class Field:
    """A hub, machines that have joined it, and callers."""

    hub: Hub
    closing: ExitStack
    pool: ThreadPoolExecutor

    def machine(self, name: str = "web1", hub: Hub | None = None) -> Machine:
        """A machine that has just joined."""
        where = hub or self.hub
        about = NodeInfo(name=name, machine_id=f"id-{name}", platform="Linux", version="1", sandbox="none")
        joined = where.do(lambda tx: enrolment.join(tx, where.project, about), where.owner)
        return Machine(where, joined.token, name, self.closing)

    def agent(self, name: str = "ada", hub: Hub | None = None) -> Agent:
        where = hub or self.hub
        return Agent(where.url, where.token(name), self.pool)


@contextmanager
def field_of(hub: Hub) -> Iterator[Field]:
    with ThreadPoolExecutor(16) as pool, ExitStack() as closing:
        yield Field(hub, closing, pool)
