"""The ways of a machine to its hub: in the hub's own process, over a link, and by a POST with an agent's token."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, Protocol
from uuid import UUID, uuid4

from hubbub.core import access, approvals, dispatches, joins, nodes
from hubbub.core.askers import OwnMachine
from hubbub.core.transaction import Transactions
from hubbub.model import link
from hubbub.model.approvals import Approval, ApprovalStatus
from hubbub.model.link import Hello, Kind
from hubbub.model.orders import About, Order, Principal, Question
from hubbub.model.versions import VERSIONS
from hubbub.node.hub import Hub as NodeHub
from hubbub.node.link import line
from hubbub.node.link.hub import LinkHub, at_work
from hubbub.node.link.line import LineLost, Pace, Voice
from hubbub.node.posting import PostWire
from hubbub.serve.desk import CallWire, Desk
from hubbub.serve.feed import Feed
from hubbub.serve.followers import Followers
from hubbub.serve.news import LiveNews
from hubbub.store.tx import Tx
from tests.serve.hub import Hub

ABOUT = About(name="box", machine_id="m-1", platform="Linux 6.1", version="1.0", sandbox="bwrap")
DIGEST = "0123456789abcdef" * 4
ANN = Principal(project="default", name="ann")


class Open(Protocol):
    """Opens one kind of way, for as long as the context lasts; over a link for an order of `who`."""

    def __call__(self, hub: Hub, who: Principal = ANN) -> Any: ...


@asynccontextmanager
async def at_the_desk(hub: Hub, who: Principal = ANN) -> AsyncIterator[NodeHub]:
    feed, followers = Feed(hub.store), Followers()
    feed.listen(followers.hear)
    await feed.start()
    hub.do(lambda tx: nodes.report(tx, hub.project, ABOUT))
    running = asyncio.create_task(feed.run())
    try:
        desk = Desk(Transactions(hub.store), LiveNews(feed, followers))
        yield NodeHub(CallWire(desk, OwnMachine(project="default", node="box", instance="h-1"), hub.url))
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


@asynccontextmanager
async def by_post(hub: Hub, who: Principal = ANN) -> AsyncIterator[NodeHub]:
    wire = PostWire(lambda: hub.url, hub.token(), "box")
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
    voice: Voice = field(default_factory=Voice)
    instance: str = field(default_factory=lambda: str(uuid4()))

    def __post_init__(self) -> None:
        self.to = LinkHub(self.voice, Pace())

    async def once(self, stands: "asyncio.Future[None]") -> None:
        """One line, until it is lost."""
        async with line.opened(self.hub.url, self.key, Pace()) as opened:
            hello = Hello(instance=self.instance, about=ABOUT, running=(self.order,), asked=self.to.asked)
            await opened.say(link.message(Kind.HELLO, versions=VERSIONS, **link.hello_json(hello)))
            async for message, _size in opened.hear():
                if message["kind"] == Kind.WELCOME:
                    self.to.version, self.voice.line = VERSIONS[-1], opened
                    stands.set_result(None)
                elif message["kind"] == Kind.REPLY:
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
            with suppress(asyncio.CancelledError, LineLost):
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
        came = joins.join(tx, hub.project, ABOUT)
        order = Order(who=replace(who, token_id=token_id), tool="ask_agent")
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
    """What a person says."""
    return await hub.store.write(hub.owner, lambda tx: approvals.answer(tx, approval_id, approved=approved))


async def asked(hub: Hub) -> Approval:
    """The question that waits, as soon as there is one."""
    while True:
        found = await hub.store.read(
            hub.owner, lambda tx: approvals.search(tx, [hub.project.id], status=ApprovalStatus.PENDING)
        )
        if found:
            return found[0]
        await asyncio.sleep(0)  # the turn of others: the store is read at once


async def kept(hub: Hub, approval_id: str) -> Approval:
    """The approval as the hub has it."""
    return await hub.store.read(hub.owner, lambda tx: approvals.find(tx, [hub.project.id], approval_id))
