"""Orders over the link: recorded, done once behind this machine's gate, and reported until the reports are safe.

The loss of the link stops nothing. The hub's orders are bounded in number and in text; an excess one is
refused before it is recorded, and nothing of it is done.
"""

import asyncio
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from uuid import UUID

from hubbub.model.errors import Invalid
from hubbub.model.fleet import call_chain, link_protocol
from hubbub.model.fleet.calls import Node, NodeCall, Principal, RefusalCode, ToolResult, ToolSpec, refused
from hubbub.model.fleet.link_protocol import LARGEST, Message, MessageKind
from hubbub.node.link.async_journal import AsyncJournal
from hubbub.node.link.hub_requests import LinkHubClient, at_work
from hubbub.node.link.journal import CallStanding, Journal, JournalFailed, JournalLimits
from hubbub.node.link.websocket import LinkSender
from hubbub.node.tools import agent_arguments
from hubbub.processes.log import structlog

log = structlog.get_logger("hubbub")

LONGEST_NAME = 200  # characters of the caller's name
BUSY = "this machine has too much to do already; nothing was done, try again later"
CUT_OFF = "the machine stopped while it worked on this; whether it was done is not known"
CALLED_OFF = "the caller gave up while the machine worked on this; its effects so far stay"
STOPPED = "the machine was stopped while it worked on this; its effects so far stay"
BROKEN = "the machine could not go on with this; its log says why"
UNKEPT = "this has ended, but nobody came for its result while the machine could keep it"
PAST = "this order was here before, or is older than what this machine remembers; it is not done again"
UNTOLD = "this was done, but what came of it cannot be told: {}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLimits:
    """Limits of a machine's orders."""

    at_once: int = 64  # orders at work
    held: int = 1_000  # orders in all, waiting ones included
    characters: int = 2 * LARGEST  # of all of these
    journal: JournalLimits = field(default_factory=JournalLimits)


@dataclass(slots=True)
class _Held:
    """An order at hand; `work` carries it out, once that has begun."""

    size: int
    work: "asyncio.Task[ToolResult] | None" = None
    called_off: str | None = None  # the reason

    def call_off(self, why: str) -> None:
        self.called_off = why
        if self.work is not None:
            self.work.cancel()


class IncomingCalls:
    """The orders of the hub. Belongs to one event loop; `close` it in the end.

    `project` is the machine's, and `catalogue` the tools for orders beside the placing of agents.
    """

    def __init__(
        self,
        hub: LinkHubClient,
        voice: LinkSender,
        journal: Journal,
        *,
        project: str,
        catalogue: Sequence[ToolSpec],
        bounds: CallLimits,
    ) -> None:
        self._hub, self._voice, self._journal = hub, voice, journal
        self._project, self._catalogue = (
            project,
            {each.name: each for each in (*catalogue, *agent_arguments.SPECS)},
        )
        self._bounds = bounds
        self._held: dict[UUID, _Held] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._slots = asyncio.Semaphore(bounds.at_once)
        self._telling = asyncio.Lock()  # so that only one outcome is in memory at a time
        self._machine: asyncio.Future[Node] = asyncio.get_running_loop().create_future()
        self._scribe = AsyncJournal(journal)
        self._is_stopping = False

    # ---- the link ------------------------------------------------------------------------------------------------

    async def standing(self) -> tuple[list[UUID], list[UUID]]:
        """Return the orders at hand, and ended ones whose results the hub does not have yet."""
        ended = await self._scribe.do(self._journal.of_standing, CallStanding.ENDED)
        return list(self._held.keys() - set(ended)), ended

    async def take(self, message: Message, size: int) -> None:
        """Take an order, in a message of `size` characters. Raises `Invalid` if it has no id."""
        order_id = link_protocol.call_id(message)
        if self._is_stopping:
            return  # it was not recorded, and is sent again to the next process
        if order_id in self._held:
            await self._voice.say(link_protocol.message(MessageKind.TAKEN, order=str(order_id)))
            return
        in_all = size + sum(each.size for each in self._held.values())
        if len(self._held) >= self._bounds.held or in_all > self._bounds.characters:
            await self._voice.say(_ending(order_id, refused(RefusalCode.FAILED, BUSY)))
            return
        self._held[order_id] = _Held(size)
        task = asyncio.create_task(self._carry(order_id, message))
        self._tasks.add(task)
        task.add_done_callback(self._over)

    def cancel(self, message: Message) -> None:
        """Cancel an order that is no longer wanted. Raises `Invalid`."""
        held = self._held.get(link_protocol.call_id(message))
        if held is not None:
            held.call_off(CALLED_OFF)

    async def keep(self, message: Message) -> None:
        """Note that the hub has an order's result. Raises `Invalid`."""
        await self._scribe.do(self._journal.keep, link_protocol.call_id(message))

    async def repeat(self) -> None:
        """Send every result that the hub does not have, over a new line."""
        for order_id in await self._scribe.do(self._journal.of_standing, CallStanding.ENDED):
            await self._tell(order_id)

    # ---- the machine ---------------------------------------------------------------------------------------------

    async def settle(self) -> None:
        """End the orders that the end of an earlier process cut off. Call it first."""
        for order_id in await self._scribe.do(self._journal.of_standing, CallStanding.BEGUN):
            await self._scribe.do(
                self._journal.end, order_id, _ending(order_id, refused(RefusalCode.FAILED, CUT_OFF))
            )

    def open(self, machine: Node) -> None:
        """Begin to carry out orders; earlier ones have waited."""
        self._machine.set_result(machine)

    async def stop(self) -> None:
        """Stop the orders under way; their results are kept, and sent if the hub can hear them."""
        self._is_stopping = True
        for each in self._held.values():
            each.call_off(STOPPED)
        await asyncio.gather(*self._tasks)

    def close(self) -> None:
        """Close it for good."""
        self._machine.cancel()
        self._scribe.close()

    # ---- one order -----------------------------------------------------------------------------------------------

    async def _carry(self, order_id: UUID, message: Message) -> None:
        at_work.set(order_id)
        try:
            standing = await self._scribe.note(order_id)
            if standing is CallStanding.NEW:
                await self._voice.say(link_protocol.message(MessageKind.TAKEN, order=str(order_id)))
                await self._end(order_id, await self._outcome(order_id, message))
            else:
                await self._tell(order_id)
        except JournalFailed as error:
            log.critical("an order could not be noted", order=str(order_id), reason=str(error))
            await self._voice.say(
                _ending(order_id, refused(RefusalCode.FAILED, f"{error}; nothing was done"))
            )
        finally:
            del self._held[order_id]

    async def _end(self, order_id: UUID, outcome: ToolResult) -> None:
        """Store a result, then send it. If the disk does not take it, it is only sent."""
        told = _ending(order_id, outcome)
        try:
            await self._scribe.do(self._journal.end, order_id, told)
        except JournalFailed as error:
            log.critical("an outcome could not be kept", order=str(order_id), reason=str(error))
        await self._voice.say(told)

    async def _outcome(self, order_id: UUID, message: Message) -> ToolResult:
        """Return the result of an order, however it ends."""
        held = self._held[order_id]
        held.work = asyncio.create_task(self._perform(order_id, message))
        if held.called_off is not None:
            held.work.cancel()
        await asyncio.wait({held.work})
        if held.work.cancelled():
            return refused(RefusalCode.FAILED, held.called_off or BROKEN)
        error = held.work.exception()
        if error is None:
            return held.work.result()
        if isinstance(error, Invalid):
            return refused(RefusalCode.INVALID, str(error))
        log.error("an order broke off", exc_info=error)
        return refused(RefusalCode.FAILED, BROKEN)

    async def _perform(self, order_id: UUID, message: Message) -> ToolResult:
        order = self._checked(link_protocol.call_of(message))

        async def progress(text: str) -> None:
            await self._voice.mention(
                link_protocol.message(MessageKind.PROGRESS, order=str(order_id), text=text)
            )

        slot = nullcontext() if order.tool in agent_arguments.FOLLOWS else self._slots
        async with slot:
            machine = await asyncio.shield(self._machine)
            return await machine.perform(replace(order, progress=progress), self._hub.act)

    def _checked(self, order: NodeCall) -> NodeCall:
        """Return the order, with its arguments checked for the tool. Raises `Invalid`."""
        if order.who.project != self._project:
            raise Invalid("who: this machine works for another project")
        _check_name(order.who)
        tool = self._catalogue.get(order.tool)
        if tool is None:
            raise Invalid(f"this machine has no tool {order.tool[:LONGEST_NAME]}")
        chain = call_chain.checked(order.chain, "chain")
        return replace(order, arguments=tool.check(order.arguments), chain=chain)

    async def _tell(self, order_id: UUID) -> None:
        """Send the result of an ended order, or the reason why it is not done again."""
        async with self._telling:
            standing, told = await self._scribe.do(self._journal.find, order_id)
            if standing is not CallStanding.BEGUN:
                why = UNKEPT if standing is CallStanding.ENDED else PAST
                await self._voice.say(told or _ending(order_id, refused(RefusalCode.FAILED, why)))

    def _over(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("an order could not be told", exc_info=task.exception())


def _ending(order_id: UUID, outcome: ToolResult) -> str:
    """Make the message with a result, or with the reason why it cannot be sent."""
    try:
        return _as_ended(order_id, outcome)
    except Invalid as error:
        return _as_ended(order_id, refused(RefusalCode.FAILED, UNTOLD.format(error)))


def _as_ended(order_id: UUID, outcome: ToolResult) -> str:
    return link_protocol.message(
        MessageKind.ENDED, order=str(order_id), outcome=link_protocol.result_json(outcome)
    )


def _check_name(who: Principal) -> None:
    if not 1 <= len(who.name) <= LONGEST_NAME or len(who.token_id or "") > LONGEST_NAME:
        raise Invalid(f"who: a name has 1 to {LONGEST_NAME} characters")
