"""A machine's requests to its hub: people to ask, a place for its log's head, and tasks for its work.

Each is a request over a wire: a link (`link/hub.py`), a POST (`posting.py`), or a call in the hub's own process. A
reply is trusted only about things that this process waits for: a yes counts for the question that was
put under that very id and digest, in time, and once.
"""

import asyncio
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from typing import Protocol
from uuid import uuid4

from hubbub.model.cost.printed_usage import Used
from hubbub.model.errors import Conflict, Forbidden, HubError, Invalid, StoreUnavailable
from hubbub.model.fleet import link_protocol
from hubbub.model.fleet.call_chain import CallChain
from hubbub.model.fleet.calls import Answered, Principal, Question, Ruling
from hubbub.model.fleet.link_protocol import HubRequest, Message
from hubbub.model.fleet.managed_agents import AgentCredentials, ProcessStatus
from hubbub.model.json_fields import flag_of, number_of, text_of, text_or_none
from hubbub.model.limits.usage_limits import UsageLimit
from hubbub.model.visible_text import SHOWN_LENGTH, abridged, cut, visible
from hubbub.model.work.signatures import Answer
from hubbub.processes.log import structlog

TITLE_LENGTH, TEXT_LENGTH = 200, 50_000  # characters of a task's title, and of other texts, that a hub takes
KEEP_SECONDS = 60.0  # a question whose time is over, and whose end was not reported yet

log = structlog.get_logger("hubbub")


class RequestTransport(Protocol):
    """The wire of a request to the hub, and of its reply back."""

    async def request(self, need: HubRequest, content: Message, patience: timedelta | None = None) -> Message:
        """Return the hub's grant; `patience` is the people's time for a question.

        Raises `StoreUnavailable` without a reply in time, and a `HubError` if the hub refuses.
        """


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question that was put; `until` is the time of the event loop."""

    question: Question
    patience: timedelta
    until: float
    elicitation: bool
    receipt: str  # proves to the hub that the question is ours

    @property
    def left(self) -> timedelta:
        return timedelta(seconds=self.until - asyncio.get_running_loop().time())


@dataclass(frozen=True, slots=True, kw_only=True)
class Leave:
    """The hub's word on whether an agent may use its model."""

    stopped: str | None = None  # the reason, if it may not
    is_paused: bool = False  # because its account is paused, which will end
    now: int | None = None  # the hub's time; None: it was not asked


class HubClient:
    """The hub, seen from a machine with a gate of its own. Belongs to one event loop.

    A refusal of the hub is a `hubbub.model.errors.HubError` with one sentence; `StoreUnavailable` if it is out of
    reach, or cannot do it just now.
    """

    def __init__(self, wire: RequestTransport) -> None:
        self._wire = wire
        self._asked: dict[str, _Asked] = {}  # until they are reported, or nobody came back for them
        self._withdrawing: set[asyncio.Task[None]] = set()

    # ---- questions -----------------------------------------------------------------------------------------------

    async def ask(self, question: Question, patience: timedelta) -> Answered:
        """Put a question to people and wait for their answer, `patience` at most.

        An approval is used up when it is returned here: it lets one call through.
        """
        return await self.answer(await self.put(question, patience))

    async def put(self, question: Question, patience: timedelta, *, elicitation: bool = False) -> str:
        """Put a question to people without waiting; return the id of its approval.

        `elicitation` says that the calling client may answer it too, by `resolve`.
        """
        approval_id = self._noted(question, patience, elicitation=elicitation)
        try:
            await self._wire.request(HubRequest.PUT, self._as_put(approval_id))
        except HubError:
            del self._asked[approval_id]
            raise
        return approval_id

    async def answer(self, approval_id: str) -> Answered:
        """Wait for the answer to a question that was put here, until its time is over.

        The hub says when that is: it took the question a moment after we did, and takes a yes until then. If the wait
        is cancelled, the question is withdrawn.
        """
        left = max(self._known(approval_id).left, timedelta())
        try:
            return self._told(
                approval_id, await self._wire.request(HubRequest.ASK, self._as_put(approval_id), left)
            )
        except StoreUnavailable:  # the hub was away all the time
            return Answered(Ruling.EXPIRED, approval_id)
        except asyncio.CancelledError:
            self._withdraw(approval_id)
            raise
        finally:
            self._asked.pop(approval_id, None)

    def _withdraw(self, approval_id: str) -> None:
        """Begin to tell the hub that a question's call was cancelled, so that no person answers it in vain."""
        content = {"approval_id": approval_id, "receipt": self._known(approval_id).receipt}

        async def tell() -> None:
            with suppress(HubError):  # the question ends by itself, too
                await self._wire.request(HubRequest.WITHDRAW, content)

        telling = asyncio.create_task(tell())
        self._withdrawing.add(telling)
        telling.add_done_callback(self._withdrawing.discard)

    async def settle(self) -> None:
        """Wait until the hub has been told of all questions that are withdrawn."""
        await asyncio.gather(*self._withdrawing)

    async def resolve(self, approval_id: str, *, approved: bool) -> Answered:
        """Pass on the answer of the calling client; if a person was faster, return theirs."""
        self._known(approval_id)
        reply = await self._wire.request(
            HubRequest.RESOLVE, {"approved": approved, **self._as_put(approval_id)}
        )
        return self._told(approval_id, reply)

    def _noted(self, question: Question, patience: timedelta, *, elicitation: bool = False) -> str:
        """Note a question to be put; return its id: random, since people type its beginning."""
        now = asyncio.get_running_loop().time()
        for over in [each for each, asked in self._asked.items() if asked.until + KEEP_SECONDS < now]:
            del self._asked[over]  # nobody came back for it
        approval_id = str(uuid4())
        until = now + patience.total_seconds()
        self._asked[approval_id] = _Asked(question, patience, until, elicitation, secrets.token_hex(16))
        return approval_id

    def _known(self, approval_id: str) -> _Asked:
        asked = self._asked.get(approval_id)
        if asked is None:
            raise Conflict("this machine no longer knows this question; make the call again")
        return asked

    def _as_put(self, approval_id: str) -> dict[str, object]:
        """Shape a question for the hub: the parts that people will see."""
        asked = self._asked[approval_id]
        question = asked.question
        shown = replace(
            question,
            node=visible(question.node),
            tool=visible(question.tool),
            arguments={visible(name): abridged(each) for name, each in question.arguments.items()},
            folder=cut(visible(question.folder), TEXT_LENGTH),
            shown=cut(visible(question.shown, lines=True), SHOWN_LENGTH),
            reason=cut(visible(question.reason), TEXT_LENGTH),
        )
        return {
            "approval_id": approval_id,
            "receipt": asked.receipt,
            "patience_seconds": asked.patience.total_seconds(),
            "elicitation": asked.elicitation,
            "question": link_protocol.question_json(shown),
        }

    def _told(self, approval_id: str, reply: Message) -> Answered:
        """Return the answer to a question, once: other callers that wait for it here get nothing."""
        asked = self._asked.pop(approval_id, None)
        answered = link_protocol.answered_of(reply)
        if asked is None:
            return replace(answered, ruling=Ruling.EXPIRED)
        if (answered.approval_id, reply.get("digest")) != (approval_id, asked.question.digest):
            log.error("the hub brought the answer to another question", approval_id=approval_id)
            raise Invalid("the hub's answer belongs to another question")
        return answered

    # ---- other requests ------------------------------------------------------------------------------------------

    async def seal(self, seq: int, digest: str) -> None:
        """Report the head of the machine's audit log; an impossible one enters the hub's log.

        Beside a client the hub takes no head of a machine that reports the same log itself.
        """
        with suppress(Conflict, Forbidden):
            await self._wire.request(HubRequest.SEAL, {"seq": seq, "digest": digest})

    async def key(self) -> str | None:
        """Return the project's API key, if the hub gives it to this machine."""
        return text_or_none(await self._wire.request(HubRequest.KEY, {}), "key")

    async def begin_task(self, who: Principal, title: str, description: str) -> str:
        """Begin a task of `who` by this machine, on the board as `node:` and its name; return its id."""
        said = {
            "who": asdict(who),
            "title": _kept(title, TITLE_LENGTH),
            "description": _kept(description, TEXT_LENGTH),
        }
        return text_of(await self._wire.request(HubRequest.BEGIN_TASK, said), "task_id")

    async def end_task(self, task_id: str, *, text: str, failed: bool) -> None:
        """End a task with its result, or the reason why there is none."""
        end = {"task_id": task_id, "text": _kept(text, TEXT_LENGTH), "failed": failed}
        await self._wire.request(HubRequest.END_TASK, end)

    async def lend(
        self, who: Principal, task_id: str | None = None, chain: CallChain = ()
    ) -> AgentCredentials:
        """Borrow credentials for this machine's agent program, for its work for `who`, or on a task of theirs.

        The loan ends with the order or the task. `chain` is in it: the callers up to this program.
        """
        said = {"who": asdict(who), "task_id": task_id, "chain": list(chain)}
        return _credentials(await self._wire.request(HubRequest.LEND, said))

    async def give_back(self, lent: AgentCredentials) -> None:
        """Give back a loan that is not needed any more."""
        await self._wire.request(HubRequest.GIVE_BACK, {"token": lent.token})

    async def use(self, who: Principal, used: Sequence[Used], task_id: str | None = None) -> None:
        """Report the use of this machine's agent program, for `who`, or on a task of theirs."""
        said = {"who": asdict(who), "task_id": task_id, "used": [asdict(each) for each in used]}
        await self._wire.request(HubRequest.USE, said)

    async def leave(self, who: Principal, task_id: str | None = None) -> Leave:
        """Ask whether this machine's agent may use its model, for `who`, or on a task of theirs."""
        told = await self._wire.request(HubRequest.LEAVE, {"who": asdict(who), "task_id": task_id})
        now, is_paused = number_of(told, "now"), flag_of(told, "paused")
        return Leave(stopped=text_or_none(told, "stopped"), is_paused=is_paused, now=now)

    async def limit(self, who: Principal, limit: UsageLimit, program: str | None) -> bool:
        """Report a usage limit of this machine's agent, whose program it was; return whether its account is paused."""
        said = {"who": asdict(who), "limit": limit.kind, "until": limit.until, "program": program}
        told = await self._wire.request(HubRequest.LIMIT, said)
        return told.get("paused", True) is True  # an older hub paused it without saying so

    async def credentials(self, agent: str) -> AgentCredentials:
        """Issue credentials for an agent placed on this machine, revoking earlier ones."""
        return _credentials(await self._wire.request(HubRequest.CREDENTIALS, {"agent": agent}))

    async def signed(self, task_id: str, answer: Answer) -> None:
        """Return this machine's answer to a statement. A lost one is asked for again over the next link."""
        said = {"task_id": task_id, "signature": answer.signature, "refusal": answer.refusal}
        await self._wire.request(HubRequest.SIGNED, said)

    async def fare(self, agents: Sequence[ProcessStatus]) -> None:
        """Report the statuses of the agents placed on this machine. A failed report is repeated later."""
        await self._wire.request(HubRequest.FARE, {"fares": [asdict(each) for each in agents]})


def _credentials(reply: Message) -> AgentCredentials:
    return AgentCredentials(url=text_of(reply, "url"), token=text_of(reply, "token"))


def _kept(text: str, length: int) -> str:
    """Return `text` as the hub stores it: it may be any output of a program."""
    return cut(text.replace("\0", "").encode("utf-8", "replace").decode(), length)
