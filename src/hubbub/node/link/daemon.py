"""The process of a joined machine: linked to its hub, again and again, and carrying out orders.

A command only needs `serve`. It builds the machine, keeps the link, and returns only when it is cancelled, or by
`LinkRefused` when the hub rejects this machine for good.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn
from uuid import uuid4

from hubbub.model.errors import HubError, Invalid
from hubbub.model.fleet import link_protocol
from hubbub.model.fleet.calls import ToolSpec
from hubbub.model.fleet.link_protocol import FINAL, CloseReason, Hello, Message, MessageKind
from hubbub.model.fleet.protocol_versions import FIRST, VERSIONS, disagreement, versions_of
from hubbub.model.json_fields import text_of, word_of
from hubbub.model.work.signatures import Witness
from hubbub.node.link import journal, websocket
from hubbub.node.link.hub_requests import LinkHubClient
from hubbub.node.link.incoming_calls import CallLimits, IncomingCalls
from hubbub.node.link.journal import Journal, JournalFailed
from hubbub.node.link.websocket import HubSocket, LinkRefused, LinkSender, LinkTimings, SocketLost
from hubbub.node.local_node import LocalNode
from hubbub.node.requests.hub_client import HubClient
from hubbub.node.system.load import measure
from hubbub.processes.log import structlog

log = structlog.get_logger("hubbub")

PARTINGS = {
    CloseReason.TAKEN: "another machine is linked to the hub under this name",
    CloseReason.REVOKED: (
        "this machine's key is not valid any more: it was removed from the hub, or joined anew elsewhere"
    ),
    CloseReason.CLOSING: "the hub stops",
    CloseReason.BROKEN: "the hub could not understand this machine's message",
}


async def serve(
    *,
    url: Callable[[], str] | str,
    token: str,
    project: str,
    machine: Callable[[HubClient], LocalNode],
    data: Path,
    catalogue: Sequence[ToolSpec],
    labels: Sequence[str] = (),
    witness: Witness | None = None,
    ready: Callable[[], object] = lambda: None,
    pace: LinkTimings | None = None,
    bounds: CallLimits | None = None,
) -> None:
    """Run the machine of `project` that `token`, a key of the role `node`, belongs to.

    `machine` makes the node, given its hub. `data` is its own folder, with the journal of orders. `catalogue` is
    the tool set for orders, beside the placing of agents. `ready` is called whenever the link stands. Raises
    `LinkRefused` with a sentence, if a new attempt would be in vain, and `JournalFailed`.
    """
    pace, bounds, voice = pace or LinkTimings(), bounds or CallLimits(), LinkSender()
    address = (lambda: url) if isinstance(url, str) else url
    hub = LinkHubClient(voice, pace, address)
    diary = await asyncio.to_thread(Journal, data / journal.FILE, bounds.journal)
    orders = IncomingCalls(hub, voice, diary, project=project, catalogue=catalogue, bounds=bounds)
    node = machine(hub)
    kept = _Link(
        url=address,
        token=token,
        labels=tuple(labels),
        witness=witness,
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
    """Wait for the first line: before that a machine has nothing to do. Raises the link's final failure."""
    waiting = asyncio.ensure_future(linked)
    try:
        await asyncio.wait({linking, waiting}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
    if linking.done():
        linking.result()


@asynccontextmanager
async def _standing(kept: "_Link") -> AsyncIterator["asyncio.Task[None]"]:
    """Yield the task that keeps the link while this machine lives."""
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
    witness: Witness | None
    ready: Callable[[], object]
    pace: LinkTimings
    node: LocalNode
    hub: LinkHubClient
    voice: LinkSender
    orders: IncomingCalls
    instance: str = field(default_factory=lambda: str(uuid4()))
    linked: asyncio.Event = field(default_factory=asyncio.Event)  # at least once
    signing: dict[str, "asyncio.Task[None]"] = field(default_factory=dict)  # statements at work, by task

    async def keep(self) -> None:
        """Open the line, and open it again whenever it is lost. Raises `LinkRefused`."""
        pauses, loop = websocket.pauses(self.pace), asyncio.get_running_loop()
        try:
            while True:
                began = loop.time()
                try:
                    await self._once()
                except (SocketLost, JournalFailed) as error:
                    log.warning("this machine is not linked to its hub", reason=str(error))
                if loop.time() - began > self.pace.steady.total_seconds():
                    pauses = websocket.pauses(self.pace)
                await asyncio.sleep(next(pauses))
        finally:
            self.hub.close()

    def part(self) -> None:
        """Stop this machine: send the remaining messages, as long as there is a line and the hub is quick."""
        patience = self.pace.parting.total_seconds() if self.voice.line is not None else 0
        loop = asyncio.get_running_loop()
        loop.call_later(patience, self.voice.hush)
        loop.call_later(patience, self.hub.close)

    async def _once(self) -> None:
        """Keep one line while it stands. Ends by `SocketLost`, `LinkRefused` or `JournalFailed`."""
        async with websocket.opened(self.url(), self.token, self.pace) as opened:
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
                raise SocketLost(f"the hub does not speak the protocol of links: {error}") from None
            finally:
                self.voice.line = None
                for each in beside:
                    each.cancel()
                await asyncio.gather(*beside, return_exceptions=True)

    async def _meet(self, opened: HubSocket, heard: AsyncIterator[tuple[Message, int]]) -> None:
        """Send this machine's hello with its orders, and wait for the welcome."""
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
            signing_key=self.witness.public if self.witness is not None else None,
        )
        try:
            async with asyncio.timeout(self.pace.opening.total_seconds()):
                await opened.say(
                    link_protocol.message(
                        MessageKind.HELLO, versions=VERSIONS, **link_protocol.hello_json(hello)
                    )
                )
                message, _ = await anext(heard)
        except TimeoutError:
            raise SocketLost("the hub does not answer") from None
        if message["kind"] == MessageKind.BYE:
            _part(message)
        if message["kind"] != MessageKind.WELCOME:
            raise SocketLost("the hub does not speak the protocol of links")
        version = message.get("version", FIRST)
        if type(version) is not int or version not in VERSIONS:
            raise SocketLost(_other_version(version))
        self.hub.version = version

    async def _repeat(self) -> None:
        """Repeat over a new line the messages that the hub may have missed."""
        await self.hub.repeat()
        try:
            await self.orders.repeat()
        except JournalFailed as error:
            log.critical("what came of orders cannot be told", reason=str(error))

    async def _tell_load(self) -> None:
        """Report this machine's load now and then, if its system knows it."""
        while (load := measure()) is not None:
            await self.voice.say(
                link_protocol.message(
                    MessageKind.LOAD,
                    **link_protocol.load_json(load),
                    policy_fault=self.node.about.policy_fault,
                )
            )
            await asyncio.sleep(self.pace.load.total_seconds())

    async def _heard(self, message: Message, size: int) -> None:
        """Take a message of the hub, without waiting for its effect. Raises `Invalid` for a malformed one."""
        match message["kind"]:
            case MessageKind.ORDER:
                await self.orders.take(message, size)
            case MessageKind.CANCEL:
                self.orders.cancel(message)
            case MessageKind.KEPT:
                await self.orders.keep(message)
            case MessageKind.REPLY:
                self.hub.hear(message)
            case MessageKind.SIGN:
                self._sign(text_of(message, "task_id"), text_of(message, "payload"))
            case MessageKind.BYE:
                _part(message)
            case other:
                raise Invalid(f"a machine does not take messages of kind {other!r}")

    def _sign(self, task_id: str, payload: str) -> None:
        """Answer a statement, unless that is under way."""
        if self.witness is None or task_id in self.signing:
            return
        self.signing[task_id] = asyncio.create_task(self._answer(self.witness, task_id, payload))
        self.signing[task_id].add_done_callback(lambda _: self.signing.pop(task_id))

    async def _answer(self, witness: Witness, task_id: str, payload: str) -> None:
        try:
            await self.hub.signed(task_id, await asyncio.to_thread(witness.answer, payload))
        except HubError as error:
            log.warning("a statement could not be answered", task=task_id, reason=str(error))


def _other_version(*spoken: object) -> str:
    """Return why this machine and a hub that speaks these versions do not understand each other."""
    try:
        return disagreement(hub=versions_of({"versions": [*spoken]}), machine=VERSIONS)
    except Invalid:
        return "the hub does not speak the protocol of links"


def _part(message: Message) -> NoReturn:
    """Note that the hub ends the line. Raises `LinkRefused` if for good, else `SocketLost`."""
    try:
        why = word_of(message, "why", CloseReason)
        if why is CloseReason.VERSION:
            raise SocketLost(disagreement(hub=versions_of(message), machine=VERSIONS))
    except Invalid:
        raise SocketLost("the hub ended it") from None
    raise (LinkRefused if why in FINAL else SocketLost)(PARTINGS[why])
