"""The ways of a machine to its hub: in the hub's own process, over a link, and by a POST with an agent's token."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, Protocol
from uuid import UUID, uuid4

from hubbub.core.fleet import approvals, dispatches, enrolment, nodes
from hubbub.core.fleet.requesters import OwnMachine
from hubbub.core.people import access
from hubbub.core.transaction import Transactions
from hubbub.model.cost.prices import Prices
from hubbub.model.fleet import link_protocol
from hubbub.model.fleet.approvals import Approval, ApprovalStatus
from hubbub.model.fleet.calls import NodeCall, NodeInfo, Principal, Question
from hubbub.model.fleet.link_protocol import Hello, MessageKind
from hubbub.model.fleet.protocol_versions import VERSIONS
from hubbub.node.link import websocket
from hubbub.node.link.hub_requests import LinkHubClient, at_work
from hubbub.node.link.websocket import LinkSender, LinkTimings, SocketLost
from hubbub.node.requests.http_transport import HttpTransport
from hubbub.node.requests.hub_client import HubClient as NodeHub
from hubbub.serve.fleet.hub_services import HubServices, InProcessWire
from hubbub.serve.live.activity_source import LiveActivitySource
from hubbub.serve.live.log_tail import LogTail
from hubbub.serve.live.subscribers import Subscribers
from hubbub.store.tx import Tx
from tests.serve.served_hub import Hub
from tests.support.waiting import until_soon

ABOUT = NodeInfo(name="box", machine_id="m-1", platform="Linux 6.1", version="1.0", sandbox="bwrap")
DIGEST = "0123456789abcdef" * 4
ANN = Principal(project="default", name="ann")


class Open(Protocol):
    """Opens one kind of way, for as long as the context lasts; over a link for an order of `who`."""

    def __call__(self, hub: Hub, who: Principal = ANN) -> Any: ...


@asynccontextmanager
async def in_process(hub: Hub, who: Principal = ANN, owners: Prices | None = None) -> AsyncIterator[NodeHub]:
    feed, followers = LogTail(hub.store), Subscribers()
    feed.listen(followers.hear)
    await feed.start()
    hub.do(lambda tx: nodes.report(tx, hub.project, ABOUT))
    running = asyncio.create_task(feed.run())
    try:
        services = HubServices(Transactions(hub.store), LiveActivitySource(feed, followers), owners)
        yield NodeHub(
            InProcessWire(services, OwnMachine(project="default", node="box", instance="h-1"), hub.url)
        )
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


@asynccontextmanager
async def by_post(hub: Hub, who: Principal = ANN, token: str | None = None) -> AsyncIterator[NodeHub]:
    wire = HttpTransport(lambda: hub.url, token or hub.token(), "box")
    try:
        yield NodeHub(wire)
    finally:
        await wire.close()


@dataclass
class Linked:
    """A machine `box` that is linked, again and again, and works on an order that its hub knows of."""

    hub: Hub
    key: str
    order: UUID
    voice: LinkSender = field(default_factory=LinkSender)
    instance: str = field(default_factory=lambda: str(uuid4()))

    def __post_init__(self) -> None:
        self.to = LinkHubClient(self.voice, LinkTimings())

    async def once(self, stands: "asyncio.Future[None]") -> None:
        """One line, until it is lost."""
        async with websocket.opened(self.hub.url, self.key, LinkTimings()) as opened:
            hello = Hello(instance=self.instance, about=ABOUT, running=(self.order,), asked=self.to.asked)
            await opened.say(
                link_protocol.message(MessageKind.HELLO, versions=VERSIONS, **link_protocol.hello_json(hello))
            )
            async for message, _size in opened.hear():
                if message["kind"] == MessageKind.WELCOME:
                    self.to.version, self.voice.line = VERSIONS[-1], opened
                    stands.set_result(None)
                elif message["kind"] == MessageKind.REPLY:
                    self.to.hear(message)

    @asynccontextmanager
    async def line(self) -> AsyncIterator[None]:
        """A line that stands for as long as the context lasts."""
        stands: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        hearing = asyncio.create_task(self.once(stands))
        try:
            await asyncio.wait({hearing, stands}, return_when=asyncio.FIRST_COMPLETED)
            stands.result()
            await self.to.repeat()
            yield
        finally:
            self.voice.line = None
            hearing.cancel()
            with suppress(asyncio.CancelledError, SocketLost):
                await hearing


@asynccontextmanager
async def by_link(hub: Hub, who: Principal = ANN) -> AsyncIterator[NodeHub]:
    machine = joined(hub, who)
    before = at_work.set(machine.order)
    try:
        async with machine.line():
            yield machine.to
    finally:
        at_work.reset(before)


def joined(hub: Hub, who: Principal = ANN) -> Linked:
    """The machine `box`, which has joined and was given an order by a token of `who`."""
    secret = hub.owner_secret if who.is_person else hub.token(who.name)

    def join(tx: Tx) -> tuple[str, UUID]:
        token_id = str(access.authenticate(tx, secret).token_id)
        came = enrolment.join(tx, hub.project, ABOUT)
        order = NodeCall(who=replace(who, token_id=token_id), tool="ask_agent")
        return came.token, dispatches.begin(tx, hub.project, came.machine, order, sent=True)[0].id

    return Linked(hub, *hub.do(join, hub.owner))


def question(**more: Any) -> Question:
    told: dict[str, Any] = {
        "who": ANN,
        "node": "box",
        "tool": "execute_command",
        "arguments": {"command": "git push\0"},
        "folder": "/srv/app",
        "shown": "git push",
        "reason": "it changes what others have",
        "digest": DIGEST,
    }
    return Question(**{**told, **more})


async def answer(hub: Hub, approval_id: str, *, approved: bool) -> Approval:
    """Answer as a person."""
    return await hub.store.write(hub.owner, lambda tx: approvals.answer(tx, approval_id, approved=approved))


async def asked(hub: Hub) -> Approval:
    """The question that waits, as soon as there is one."""

    def pending() -> Sequence[Approval]:
        return hub.store.read_now(
            hub.owner, lambda tx: approvals.search(tx, [hub.project.id], status=ApprovalStatus.PENDING)
        )

    return (await until_soon(pending, "a question that waits"))[0]


async def kept(hub: Hub, approval_id: str) -> Approval:
    """The approval as the hub has it."""
    return await hub.store.read(hub.owner, lambda tx: approvals.find(tx, [hub.project.id], approval_id))
