"""A machine that has joined, for as long as its process lives: linked to its hub, again and again, and doing orders.

`serve` is all that a command needs. It makes the machine, keeps the link, and comes back only when it is cancelled, or
by `LinkRefused` when the hub does not want this machine any more.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn
from uuid import uuid4

import structlog

from hubbub.model import link
from hubbub.model.errors import Invalid
from hubbub.model.given import word_of
from hubbub.model.link import FINAL, Hello, Kind, Message, Parting
from hubbub.model.orders import ToolSpec
from hubbub.model.versions import FIRST, VERSIONS, disagreement, versions_of
from hubbub.node.hub import Hub
from hubbub.node.link import journal, line
from hubbub.node.link.hub import LinkHub
from hubbub.node.link.journal import Journal, JournalFailed
from hubbub.node.link.line import Line, LineLost, LinkRefused, Pace, Voice
from hubbub.node.link.orders import Bounds, Orders
from hubbub.node.load import measured
from hubbub.node.node import LocalNode

log = structlog.get_logger("hubbub")

PARTINGS = {
    Parting.TAKEN: "another machine is linked to the hub under this name",
    Parting.REVOKED: "this machine's key is not valid any more: it was removed from the hub, or joined anew elsewhere",
    Parting.CLOSING: "the hub stops",
    Parting.BROKEN: "the hub could make nothing of what this machine said",
}


async def serve(
    *,
    url: Callable[[], str] | str,
    token: str,
    project: str,
    machine: Callable[[Hub], LocalNode],
    data: Path,
    catalogue: Sequence[ToolSpec],
    labels: Sequence[str] = (),
    ready: Callable[[], object] = lambda: None,
    pace: Pace | None = None,
    bounds: Bounds | None = None,
) -> None:
    """Be the machine of `project` that `token`, a key of the role `node`, belongs to.

    `machine` makes the node, with the hub that it turns to. `data` is its own folder, where the journal of orders lies.
    `catalogue` is the tool set that may be ordered, beside the placing of agents. `ready` is called whenever the link
    stands. Raises `LinkRefused` with a sentence, where coming back would be in vain, and `JournalFailed`.
    """
    pace, bounds, voice = pace or Pace(), bounds or Bounds(), Voice()
    hub = LinkHub(voice, pace)
    diary = await asyncio.to_thread(Journal, data / journal.FILE, bounds.journal)
    orders = Orders(hub, voice, diary, project=project, catalogue=catalogue, bounds=bounds)
    node = machine(hub)
    kept = _Link(
        url=(lambda: url) if isinstance(url, str) else url,
        token=token,
        labels=tuple(labels),
        ready=ready,
        pace=pace,
        node=node,
        hub=hub,
        voice=voice,
        orders=orders,
    )
    try:
        await orders.settle()
        async with _standing(kept) as linking:
            await _first(linking, kept.linked.wait())
            async with node.alive():
                orders.open(node)
                try:
                    await asyncio.wait({linking})
                finally:
                    kept.part()
                    await orders.stop()
        linking.result()
    finally:
        orders.close()
        await asyncio.to_thread(diary.close)


async def _first(linking: "asyncio.Task[None]", linked: Coroutine[None, None, object]) -> None:
    """Wait for the first line: before that a machine has nothing to do. Raises what ends the link for good."""
    waiting = asyncio.ensure_future(linked)
    try:
        await asyncio.wait({linking, waiting}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
    if linking.done():
        linking.result()


@asynccontextmanager
async def _standing(kept: "_Link") -> AsyncIterator["asyncio.Task[None]"]:
    """The task that keeps the link while this machine lives."""
    linking = asyncio.create_task(kept.keep())
    try:
        yield linking
    finally:
        linking.cancel()
        with suppress(asyncio.CancelledError, LinkRefused):
            await linking


@dataclass(slots=True, kw_only=True)
class _Link:
    """The link of one machine, over one line after the other."""

    url: Callable[[], str]
    token: str
    labels: tuple[str, ...]
    ready: Callable[[], object]
    pace: Pace
    node: LocalNode
    hub: LinkHub
    voice: Voice
    orders: Orders
    instance: str = field(default_factory=lambda: str(uuid4()))
    linked: asyncio.Event = field(default_factory=asyncio.Event)  # once at least

    async def keep(self) -> None:
        """Open the line, and open it again whenever it is lost. Raises `LinkRefused`."""
        pauses, loop = line.pauses(self.pace), asyncio.get_running_loop()
        try:
            while True:
                began = loop.time()
                try:
                    await self._once()
                except (LineLost, JournalFailed) as error:
                    log.warning("this machine is not linked to its hub", reason=str(error))
                if loop.time() - began > self.pace.steady.total_seconds():
                    pauses = line.pauses(self.pace)
                await asyncio.sleep(next(pauses))
        finally:
            self.hub.close()

    def part(self) -> None:
        """This machine stops: say what is left to say, for as long as there is a line and the hub is quick."""
        patience = self.pace.parting.total_seconds() if self.voice.line is not None else 0
        loop = asyncio.get_running_loop()
        loop.call_later(patience, self.voice.hush)
        loop.call_later(patience, self.hub.close)

    async def _once(self) -> None:
        """One line, for as long as it stands. Ends by `LineLost`, `LinkRefused` or `JournalFailed`."""
        async with line.opened(self.url(), self.token, self.pace) as opened:
            heard = opened.hear()
            await self._meet(opened, heard)
            self.voice.line = opened
            log.info("this machine is linked to its hub", node=self.node.name)
            self.linked.set()
            self.ready()
            beside = [asyncio.create_task(self._repeat()), asyncio.create_task(self._tell_load())]
            try:
                async for message, size in heard:
                    await self._heard(message, size)
            except Invalid as error:
                raise LineLost(f"the hub does not speak the language of links: {error}") from None
            finally:
                self.voice.line = None
                for each in beside:
                    each.cancel()
                await asyncio.gather(*beside, return_exceptions=True)

    async def _meet(self, opened: Line, heard: AsyncIterator[tuple[Message, int]]) -> None:
        """Say who this machine is and what it holds, and be welcome."""
        running, ended = await self.orders.standing()
        hello = Hello(
            instance=self.instance,
            about=self.node.about,
            runtime=self.node.runtime,
            labels=self.labels,
            running=tuple(running),
            ended=tuple(ended),
            fares=tuple(self.hub.fares.values()),
            asked=self.hub.asked,
        )
        try:
            async with asyncio.timeout(self.pace.opening.total_seconds()):
                await opened.say(link.message(Kind.HELLO, versions=VERSIONS, **link.hello_json(hello)))
                message, _ = await anext(heard)
        except TimeoutError:
            raise LineLost("the hub does not answer") from None
        if message["kind"] == Kind.BYE:
            _part(message)
        if message["kind"] != Kind.WELCOME:
            raise LineLost("the hub does not speak the language of links")
        version = message.get("version", FIRST)
        if type(version) is not int or version not in VERSIONS:
            raise LineLost(_other_version(version))
        self.hub.version = version

    async def _repeat(self) -> None:
        """Over a new line, say again what the hub may not have heard."""
        await self.hub.repeat()
        try:
            await self.orders.repeat()
        except JournalFailed as error:
            log.critical("what came of orders cannot be told", reason=str(error))

    async def _tell_load(self) -> None:
        """Say how busy this machine is, now and then; where its system tells."""
        while (load := measured()) is not None:
            await self.voice.say(link.message(Kind.LOAD, **link.load_json(load)))
            await asyncio.sleep(self.pace.load.total_seconds())

    async def _heard(self, message: Message, size: int) -> None:
        """What the hub says. Never waits for what comes of it. Raises `Invalid` for what no hub says."""
        match message["kind"]:
            case Kind.ORDER:
                await self.orders.take(message, size)
            case Kind.CANCEL:
                self.orders.cancel(message)
            case Kind.KEPT:
                await self.orders.keep(message)
            case Kind.REPLY:
                self.hub.hear(message)
            case Kind.BYE:
                _part(message)
            case other:
                raise Invalid(f"a machine is not told {other!r}")


def _other_version(*spoken: object) -> str:
    """Why this machine and a hub that speaks these versions do not understand each other."""
    try:
        return disagreement(hub=versions_of({"versions": [*spoken]}), machine=VERSIONS)
    except Invalid:
        return "the hub does not speak the language of links"


def _part(message: Message) -> NoReturn:
    """The hub ends the line. Raises `LinkRefused` if for good, else `LineLost`."""
    try:
        why = word_of(message, "why", Parting)
        if why is Parting.VERSION:
            raise LineLost(disagreement(hub=versions_of(message), machine=VERSIONS))
    except Invalid:
        raise LineLost("the hub ended it") from None
    raise (LinkRefused if why in FINAL else LineLost)(PARTINGS[why])
