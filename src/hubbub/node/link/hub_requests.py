"""The hub for a linked machine: requests over the link, with one reply to each.

A request outlives the line: it is repeated with its id over the next one, until its reply comes or its time is over by
the machine's own clock.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from datetime import timedelta
from uuid import UUID

from hubbub.model.cost.printed_usage import Used
from hubbub.model.errors import Conflict, StoreUnavailable
from hubbub.model.fleet import link_protocol
from hubbub.model.fleet.call_chain import CallChain
from hubbub.model.fleet.calls import Answered, NodeCall, Principal, Question, ToolResult
from hubbub.model.fleet.link_protocol import HubRequest, Message, MessageKind
from hubbub.model.fleet.managed_agents import AgentCredentials, ProcessStatus
from hubbub.model.fleet.protocol_versions import FIRST, LENDS, LIMITS, METERS
from hubbub.model.ids import new_id
from hubbub.model.limits.usage_limits import UsageLimit
from hubbub.node.link.websocket import LinkSender, LinkTimings, SocketLost
from hubbub.node.requests.hub_client import HubClient, Leave

# The order that the current work belongs to.
at_work: ContextVar[UUID | None] = ContextVar("at_work", default=None)

FOR_THE_MACHINE = frozenset(
    {HubRequest.SEAL, HubRequest.KEY, HubRequest.END_TASK, HubRequest.SIGNED, HubRequest.WITHDRAW}
)  # without an order
REACHES_THE_HUB = frozenset({HubRequest.LEND, HubRequest.CREDENTIALS})  # by an address


@dataclass(frozen=True, slots=True)
class _Pending:
    """A request's text, and its future reply."""

    text: str
    reply: "asyncio.Future[Message]"


class LinkHubClient(HubClient):
    """The hub's client of a linked machine, and its wire. Belongs to one event loop.

    Each request names the order that its task works on, also in the background: `at_work`, which tasks inherit.
    """

    def __init__(
        self, voice: LinkSender, pace: LinkTimings, address: Callable[[], str] | None = None
    ) -> None:
        """`address` returns the hub's address, as this machine reaches it; its programs then use that, too."""
        super().__init__(self)
        self._voice, self._pace, self._address = voice, pace, address
        self._pending: dict[str, _Pending] = {}
        self._is_closed = False
        self.version = FIRST  # of the link protocol, that both ends speak
        self.fares: dict[str, ProcessStatus] = {}  # of the agents placed here, by name

    # ---- the wire ------------------------------------------------------------------------------------------------

    def hear(self, reply: Message) -> None:
        """Take a reply. One that nobody waits for is dropped."""
        request_id = reply.get("id")
        pending = self._pending.get(request_id) if isinstance(request_id, str) else None
        if pending is not None and not pending.reply.done():
            pending.reply.set_result(reply)

    async def repeat(self) -> None:
        """Repeat the requests without a reply over a new line."""
        for each in list(self._pending.values()):
            if not each.reply.done():
                await self._voice.say(each.text)

    def close(self) -> None:
        """Note that there will be no line any more, and tell everyone who waits for a reply."""
        self._is_closed = True
        for each in self._pending.values():
            each.reply.cancel()

    async def request(self, need: HubRequest, content: Message, patience: timedelta | None = None) -> Message:
        """Return the hub's grant. Raises `StoreUnavailable` without a reply in time, a `HubError` if refused."""
        request_id, order = str(new_id()), at_work.get() if need not in FOR_THE_MACHINE else None
        about = None if order is None else str(order)
        text = link_protocol.message(MessageKind.REQUEST, id=request_id, need=need, order=about, **content)
        if self._is_closed:
            raise StoreUnavailable("this machine is not linked to its hub any more")
        pending = _Pending(text, asyncio.get_running_loop().create_future())
        self._pending[request_id] = pending
        limit = self._pace.need if patience is None else patience + self._pace.late
        try:
            async with asyncio.timeout(limit.total_seconds()):
                await self._voice.say(text)
                await asyncio.wait({pending.reply})
        except TimeoutError:
            raise StoreUnavailable("the hub cannot be reached, or did not answer in time") from None
        finally:
            del self._pending[request_id]
        if pending.reply.cancelled():
            raise StoreUnavailable("this machine is not linked to its hub any more")
        value = link_protocol.value_of(pending.reply.result())
        return self._reachable(value) if need in REACHES_THE_HUB else value

    def _reachable(self, grant: Message) -> Message:
        """Return a grant with the address by which this machine itself reaches the hub, as far as that is known."""
        if self._address is not None:
            with suppress(SocketLost):  # a hub that is just starting again: what it said will do
                return {**grant, "url": self._address()}
        return grant

    # ---- requests that differ over a link ------------------------------------------------------------------------

    @property
    def asked(self) -> tuple[UUID, ...]:
        """Return the questions whose answers still count here."""
        return tuple(map(UUID, self._asked))

    async def ask(self, question: Question, patience: timedelta) -> Answered:
        """Put a question to people and wait for their answer, `patience` at most: by one request."""
        return await self.answer(self._noted(question, patience))

    async def resolve(self, approval_id: str, *, approved: bool) -> Answered:
        """Raise an error: a linked machine has no client whose answer could come this way."""
        raise Conflict("a machine that is linked has people answer at the hub alone")

    async def act(self, order: NodeCall) -> ToolResult:
        """Have the hub do its part of a call, for the caller of the order at work."""
        asked = {"act": link_protocol.call_json(order), "approval_id": order.approval_id}
        return link_protocol.result_of(await self.request(HubRequest.ACT, asked, self._pace.act))

    async def lend(
        self, who: Principal, task_id: str | None = None, chain: CallChain = ()
    ) -> AgentCredentials:
        """Borrow credentials for this machine's agent program, for the order at work, or for a task."""
        if self.version < LENDS:
            raise Conflict("the hub is older than this machine, and lends no tokens")
        return await super().lend(who, task_id, chain)

    async def use(self, who: Principal, used: Sequence[Used], task_id: str | None = None) -> None:
        """Report the use for the order at work; an older hub would not understand it."""
        if self.version >= METERS:
            await super().use(who, used, task_id)

    async def leave(self, who: Principal, task_id: str | None = None) -> Leave:
        """Ask for leave for the order at work; with an older hub it is given without being asked."""
        return await super().leave(who, task_id) if self.version >= LIMITS else Leave()

    async def limit(self, who: Principal, limit: UsageLimit, program: str | None) -> bool:
        """Report a limit, for the order at work; an older hub would not understand it."""
        return self.version >= LIMITS and await super().limit(who, limit, program)

    async def give_back(self, lent: AgentCredentials) -> None:
        """Do nothing: the hub ends the loan with the order, or the task, of whose end it hears."""

    async def fare(self, agents: Sequence[ProcessStatus]) -> None:
        """Report the statuses of the agents placed on this machine; the next hello repeats them."""
        self.fares |= {each.agent: each for each in agents}
        await self._voice.say(
            link_protocol.message(MessageKind.FARES, fares=[asdict(each) for each in agents])
        )
