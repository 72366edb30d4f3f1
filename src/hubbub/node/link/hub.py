"""The hub as a machine sees it that is linked to it: requests over the link, one reply to each.

A request outlives the line: it is repeated with its id over the next one, until its reply comes or the machine's own
clock says that it is over. What a reply says is believed as far as it concerns something that this process waits for:
a yes counts for the question that was put under that very id and digest, in time, and once.
"""

import asyncio
import math
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from datetime import timedelta
from uuid import UUID, uuid4

import structlog

from hubbub.model import link
from hubbub.model.errors import Conflict, HubError, Invalid, StoreUnavailable
from hubbub.model.given import text_of, text_or_none
from hubbub.model.ids import new_id
from hubbub.model.link import Kind, Message, Need
from hubbub.model.orders import Answered, Order, Outcome, Principal, Question, Ruling
from hubbub.model.placements import Credentials, Fares
from hubbub.model.shown import cut
from hubbub.model.versions import FIRST, LENDS
from hubbub.node.hub import TEXT_LENGTH, TITLE_LENGTH
from hubbub.node.link.line import Pace, Voice

log = structlog.get_logger("hubbub")

# The order for which something is done.
at_work: ContextVar[UUID | None] = ContextVar("at_work", default=None)


@dataclass(frozen=True, slots=True)
class _Pending:
    """A request, as it is said, and what will come of it."""

    text: str
    reply: "asyncio.Future[Message]"


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question that was put; `until` is the time of the event loop."""

    question: Question
    until: float


class LinkHub:
    """What a linked machine turns to. Belongs to one event loop.

    Each request names the order that its task works on, also in the background: `at_work`, which tasks inherit.
    """

    def __init__(self, voice: Voice, pace: Pace) -> None:
        self._voice, self._pace = voice, pace
        self._pending: dict[str, _Pending] = {}
        self._asked: dict[str, _Asked] = {}
        self._awaited: set[str] = set()  # questions whose answer somebody waits for
        self._is_closed = False
        self.version = FIRST  # of the language of links, that both ends speak
        self.fares: dict[str, Fares] = {}  # of the agents that were placed here, by name

    # ---- the link ------------------------------------------------------------------------------------------------

    def hear(self, reply: Message) -> None:
        """A reply has come. One that nobody waits for is nothing."""
        request_id = reply.get("id")
        pending = self._pending.get(request_id) if isinstance(request_id, str) else None
        if pending is not None and not pending.reply.done():
            pending.reply.set_result(reply)

    async def repeat(self) -> None:
        """Say again what has no reply yet, over a new line."""
        for each in list(self._pending.values()):
            if not each.reply.done():
                await self._voice.say(each.text)

    def close(self) -> None:
        """There will be no line any more: whoever waits for a reply is told that none comes."""
        self._is_closed = True
        for each in self._pending.values():
            each.reply.cancel()

    async def _request(
        self, need: Need, patience: timedelta, *, order: UUID | None = None, **content: object
    ) -> Message:
        """What the hub grants. Raises `StoreUnavailable` where no reply comes in time, a `HubError` if it refuses."""
        request_id = str(new_id())
        about = None if order is None else str(order)
        text = link.message(Kind.REQUEST, id=request_id, need=need, order=about, **content)
        if self._is_closed:
            raise StoreUnavailable("this machine is not linked to its hub any more")
        pending = _Pending(text, asyncio.get_running_loop().create_future())
        self._pending[request_id] = pending
        try:
            async with asyncio.timeout(patience.total_seconds()):
                await self._voice.say(text)
                await asyncio.wait({pending.reply})
        except TimeoutError:
            raise StoreUnavailable("the hub cannot be reached, or did not answer in time") from None
        finally:
            del self._pending[request_id]
        if pending.reply.cancelled():
            raise StoreUnavailable("this machine is not linked to its hub any more")
        return link.value_of(pending.reply.result())

    # ---- questions -----------------------------------------------------------------------------------------------

    async def ask(self, question: Question, patience: timedelta) -> Answered:
        """Put a question before people and wait for their answer, `patience` at most."""
        return await self.answer(self._noted(question, patience))

    async def put(self, question: Question, patience: timedelta, *, elicitation: bool = False) -> str:
        """Put a question before people without waiting: the id of its approval."""
        approval_id = self._noted(question, patience)
        try:
            await self._request(
                Need.PUT, self._pace.need, order=at_work.get(), **_as_put(approval_id, question, patience)
            )
        except HubError:
            self._asked.pop(approval_id, None)
            raise
        return approval_id

    @property
    def asked(self) -> tuple[UUID, ...]:
        """The questions to which an answer still counts here."""
        return tuple(map(UUID, {*self._asked, *self._awaited}))

    async def answer(self, approval_id: str) -> Answered:
        """What became of a question that was put here; waits until it is answered or its time is over."""
        asked = self._asked.pop(approval_id, None)
        if asked is None:
            raise Conflict("this machine does not know of such a question any more; make the call again")
        left = timedelta(seconds=asked.until - asyncio.get_running_loop().time())
        if left <= timedelta():
            return Answered(Ruling.EXPIRED, approval_id)
        self._awaited.add(approval_id)
        try:
            reply = await self._request(
                Need.ASK,
                left + self._pace.late,
                order=at_work.get(),
                **_as_put(approval_id, asked.question, left),
            )
        except StoreUnavailable:  # the hub was away for all of the time
            return Answered(Ruling.EXPIRED, approval_id)
        finally:
            self._awaited.discard(approval_id)
        answered = link.answered_of(reply)
        if (answered.approval_id, reply.get("digest")) != (approval_id, asked.question.digest):
            log.error("the hub brought the answer to another question", approval_id=approval_id)
            raise Invalid("what the hub brought is the answer to another question")
        return answered

    async def resolve(self, approval_id: str, *, approved: bool, by: str) -> Answered:
        """No client sits at a machine that is linked: nobody's answer comes this way."""
        raise Conflict("a machine that is linked has people answer at the hub alone")

    def _noted(self, question: Question, patience: timedelta) -> str:
        """The id of a question that is about to be put: ours, and of chance, since people type its beginning."""
        now = asyncio.get_running_loop().time()
        for over in [each for each, asked in self._asked.items() if asked.until < now]:
            del self._asked[over]  # nobody came back for it
        approval_id = str(uuid4())
        self._asked[approval_id] = _Asked(question, now + patience.total_seconds())
        return approval_id

    # ---- all else ------------------------------------------------------------------------------------------------

    async def act(self, order: Order) -> Outcome:
        """What is not the machine's to do, done by the hub for the caller of the order at work."""
        reply = await self._request(
            Need.ACT,
            self._pace.act,
            order=at_work.get(),
            act=link.order_json(order),
            approval_id=order.approval_id,
        )
        return link.outcome_of(reply)

    async def seal(self, node: str, seq: int, digest: str) -> None:
        """Keep the head of the machine's audit log; one that cannot be true is in the hub's log from then on."""
        await self._request(Need.SEAL, self._pace.need, seq=seq, digest=digest)

    async def key(self) -> str | None:
        """The project's API key, if the hub gives it to this machine."""
        return text_or_none(await self._request(Need.KEY, self._pace.need), "key")

    async def begin_task(self, who: Principal, title: str, description: str, assignee: str) -> str:
        """The id of a new task of whoever gave the order at work, begun by this machine."""
        reply = await self._request(
            Need.BEGIN_TASK,
            self._pace.need,
            order=at_work.get(),
            title=cut(title, TITLE_LENGTH),
            description=cut(description, TEXT_LENGTH),
        )
        return text_of(reply, "task_id")

    async def end_task(self, task_id: str, *, text: str, failed: bool) -> None:
        """End a task with its result, or with why there is none."""
        await self._request(
            Need.END_TASK, self._pace.need, task_id=task_id, text=cut(text, TEXT_LENGTH), failed=failed
        )

    async def lend(self, who: Principal, task_id: str | None = None) -> Credentials:
        """With what a program acts that is this machine's agent, while it works on the order at work, or on a task."""
        if self.version < LENDS:
            raise Conflict("the hub is older than this machine, and lends no tokens")
        reply = await self._request(Need.LEND, self._pace.need, order=at_work.get(), task_id=task_id)
        return Credentials(url=text_of(reply, "url"), token=text_of(reply, "token"))

    async def give_back(self, lent: Credentials) -> None:
        """Say nothing: the hub ends it with the order, or the task, of whose end it is told."""

    async def credentials(self, agent: str) -> Credentials:
        """With what an agent that was placed on this machine acts."""
        reply = await self._request(Need.CREDENTIALS, self._pace.need, order=at_work.get(), agent=agent)
        return Credentials(url=text_of(reply, "url"), token=text_of(reply, "token"))

    async def fare(self, agents: Sequence[Fares]) -> None:
        """Tell how the agents that were placed on this machine fare; the next hello tells it again."""
        self.fares |= {each.agent: each for each in agents}
        await self._voice.say(link.message(Kind.FARES, fares=[asdict(each) for each in agents]))


def _as_put(approval_id: str, question: Question, patience: timedelta) -> dict[str, object]:
    """A question, as it goes over the link."""
    return {
        "approval_id": approval_id,
        "patience_seconds": max(1, math.ceil(patience.total_seconds())),
        "question": link.question_json(question),
    }
