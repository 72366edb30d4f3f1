"""A hub that a test speaks for, over a real WebSocket, and a machine that is linked to it: what it holds to is seen."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any
from uuid import UUID

from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from hubbub.dialects.cmdop import DIALECT
from hubbub.model.fleet import link_protocol
from hubbub.model.fleet.link_protocol import HubRequest, MessageAssembler, MessageKind
from hubbub.model.ids import new_id
from hubbub.node.factory import open_node
from hubbub.node.link import daemon
from hubbub.node.link.incoming_calls import CallLimits
from hubbub.node.link.journal import JournalFailed
from hubbub.node.link.websocket import LinkRefused, LinkTimings
from hubbub.node.local_node import LocalNode
from hubbub.node.policy.node_policy import FILE
from hubbub.node.requests.hub_client import HubClient
from tests.support.waiting import patience, until_soon

KEY = "ntok_the-key-of-this-machine"
PROJECT = "shop"
ADA: Mapping[str, object] = {"project": PROJECT, "name": "ada", "token_id": None, "is_person": False}
MOMENT = timedelta(milliseconds=10)
QUICK = LinkTimings(
    opening=timedelta(seconds=5),
    closing=MOMENT,
    shortest_pause=MOMENT,
    longest_pause=2 * MOMENT,
    need=timedelta(seconds=5),
    act=timedelta(seconds=5),
    late=timedelta(),
    parting=timedelta(milliseconds=200),
)

Message = dict[str, Any]


@dataclass(slots=True)
class Talk:
    """One line, as the hub has it; `hello` is the first that the machine said."""

    socket: ServerConnection
    hello: Message
    _assembly: MessageAssembler = field(default_factory=MessageAssembler)
    _heard: "asyncio.Queue[Message | None]" = field(default_factory=asyncio.Queue)
    _aside: list[Message] = field(default_factory=list)

    async def say(self, kind: str, **content: object) -> None:
        for piece in link_protocol.pieces(json.dumps({"kind": kind, **content})):
            await self.socket.send(piece)

    async def welcome(self) -> "Talk":
        await self.say(MessageKind.WELCOME)
        return self

    async def order(self, tool: str, order: UUID | str | None = None, /, **arguments: object) -> str:
        """Send the machine an order of ada's; return its id."""
        return await self.order_as(ADA, tool, order, **arguments)

    async def order_as(
        self, who: object, tool: str, order: UUID | str | None = None, /, **arguments: object
    ) -> str:
        order_id = str(order or new_id())
        await self.say(MessageKind.ORDER, order=order_id, who=who, tool=tool, arguments=arguments, chain=[])
        return order_id

    async def run(self, command: str, order: UUID | str | None = None) -> str:
        """Order a command."""
        return await self.order("execute_command", order, command=command)

    async def hear(self, kind: str, **having: object) -> Message:
        """The next message of that kind that holds what it has to; others wait for whoever asks for them."""
        for each in self._aside:
            if _fits(each, kind, having):
                self._aside.remove(each)
                return each
        async with asyncio.timeout(patience()):
            while (message := await self._heard.get()) is not None:
                if _fits(message, kind, having):
                    return message
                self._aside.append(message)
        raise AssertionError(f"the line ended before {kind} came")

    async def outcome(self, order_id: str) -> Any:
        """The value of an order's outcome."""
        return (await self.hear(MessageKind.ENDED, order=order_id))["outcome"]["value"]

    async def need(self, need: HubRequest) -> Message:
        """Return the machine's request to its hub."""
        return await self.hear(MessageKind.REQUEST, need=need)

    async def grant(self, request: Message, **value: object) -> None:
        await self.say(MessageKind.REPLY, id=request["id"], value=value)

    async def rule(self, request: Message, ruling: str, /, **other: object) -> None:
        """Answer a question as people would have."""
        question = request["question"]
        said = {"ruling": ruling, "approval_id": request["approval_id"], "by": "ann"}
        await self.grant(request, **{**said, "digest": question["digest"], **other})

    def heard(self, kind: str) -> list[Message]:
        """Return the messages that came while another one was awaited."""
        return [each for each in self._aside if each["kind"] == kind]

    async def ends(self) -> None:
        """Wait until the machine has let go of the line."""
        async with asyncio.timeout(patience()):
            await self.socket.wait_closed()

    async def cut(self) -> None:
        """Lose the line without a word."""
        self.socket.transport.abort()
        await self.ends()

    async def listen(self) -> None:
        """Take in what the machine says, for as long as the line stands."""
        with suppress(ConnectionClosed):
            async for piece in self.socket:
                assert isinstance(piece, str)
                message = self._assembly.add(piece)
                if message is not None and not await self._is_idle(message):
                    self._heard.put_nowait(dict(message))
        self._heard.put_nowait(None)

    async def _is_idle(self, message: Mapping[str, Any]) -> bool:
        """Tell whether it is a routine request of any machine, which tests ignore."""
        if message.get("need") not in (HubRequest.KEY, HubRequest.SEAL):
            return False
        await self.grant(dict(message), **({"key": None} if message["need"] == HubRequest.KEY else {}))
        return True


def _fits(message: Message, kind: str, having: Mapping[str, object]) -> bool:
    return message["kind"] == kind and all(message.get(name) == each for name, each in having.items())


class EvilHub:
    """Says what a test has it say, and nothing by itself."""

    def __init__(self) -> None:
        self.url = ""
        self.refuses: HTTPStatus | None = None  # with which it answers whoever comes
        self.leads_to: str | None = None  # where it sends whoever comes
        self.away = False  # whether it answers nobody
        self.keys: list[str | None] = []  # with which machines came
        self._talks: asyncio.Queue[Talk] = asyncio.Queue()

    async def linked(self) -> Talk:
        """The next line, once the machine was made welcome."""
        return await (await self.met()).welcome()

    async def met(self) -> Talk:
        """The next line, as it stands when the machine has said hello."""
        async with asyncio.timeout(patience()):
            return await self._talks.get()

    async def talk(self, socket: ServerConnection) -> None:
        assembly, hello = MessageAssembler(), None
        while hello is None:
            piece = await socket.recv()
            assert isinstance(piece, str)
            hello = assembly.add(piece)
        talk = Talk(socket, dict(hello))
        self._talks.put_nowait(talk)
        await talk.listen()

    def process(self, socket: ServerConnection, request: Request) -> Response | None:
        self.keys.append(request.headers.get("Authorization"))
        if self.away:
            socket.transport.abort()
        if self.leads_to is not None:
            where = Headers({"Location": self.leads_to, "Content-Length": "0"})
            return Response(HTTPStatus.TEMPORARY_REDIRECT, "", where)
        if self.refuses is None:
            return None
        body = json.dumps({"error": "unauthorized", "message": "this is no key"}).encode()
        return Response(self.refuses, "", Headers({"Content-Length": str(len(body))}), body)


@asynccontextmanager
async def evil_hub() -> AsyncIterator[EvilHub]:
    """A hub on a port of this machine."""
    hub = EvilHub()

    async def talk(socket: ServerConnection) -> None:
        with suppress(ConnectionClosed):
            await hub.talk(socket)

    async with serve(
        talk, "127.0.0.1", 0, process_request=hub.process, compression=None, max_size=None, ping_interval=None
    ) as server:
        (port,) = {each.getsockname()[1] for each in server.sockets}
        hub.url = f"http://127.0.0.1:{port}"
        yield hub
        server.close(close_connections=True)


@dataclass(slots=True)
class Machine:
    """A machine with a folder to work in; `serving` ends when it gives up."""

    folder: Path
    serving: "asyncio.Task[None]"
    nodes: list[LocalNode]

    @property
    def work(self) -> Path:
        return self.folder / "work"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def ran(self, marker: str = "ran") -> int:
        """Return the number of runs of the command of `mark`."""
        file = self.work / marker
        return len(file.read_text().splitlines()) if file.exists() else 0

    async def decided(self, decision: str) -> None:
        """Wait until that stands in its audit log."""
        await until_soon(
            lambda: any(each.get("decision") == decision for each in self.audited()),
            f"the decision {decision}",
            seen=self.audited,
        )

    def audited(self) -> list[Message]:
        """The lines of its audit log."""
        file = self.data / "audit.jsonl"
        lines = file.read_text().split("\n")[:-1] if file.exists() else []
        return [json.loads(each) for each in lines]


def mark(marker: str = "ran") -> str:
    """A command that leaves a line behind for each time that it is run."""
    return f"echo x >> {marker}"


@asynccontextmanager
async def machine(
    folder: Path,
    hub: EvilHub,
    *,
    policy: str = 'mode = "bypass"',
    pace: LinkTimings = QUICK,
    bounds: CallLimits | None = None,
    labels: Sequence[str] = (),
) -> AsyncIterator[Machine]:
    """A machine called `box` that is linked to the hub, with a policy."""
    for name in ("work", "data", "config", "home"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "config" / FILE).write_text(policy)
    made: list[LocalNode] = []

    def make(to: HubClient) -> LocalNode:
        made.append(
            open_node(
                data=folder / "data",
                log_file=folder / "data" / "daemon.jsonl",
                config=folder / "config",
                cwd=folder / "work",
                hub=to,
                catalogue=DIALECT.catalogue(),
                name="box",
                environment={"HOME": str(folder / "home"), "PATH": "/usr/bin:/bin"},
            )
        )
        return made[-1]

    serving = asyncio.create_task(
        daemon.serve(
            url=lambda: hub.url,
            token=KEY,
            project=PROJECT,
            machine=make,
            data=folder / "data",
            catalogue=DIALECT.catalogue(),
            labels=labels,
            pace=pace,
            bounds=bounds,
        )
    )
    try:
        yield Machine(folder, serving, made)
    finally:
        serving.cancel()
        with suppress(asyncio.CancelledError, LinkRefused, JournalFailed):
            await serving
