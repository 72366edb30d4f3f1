"""The hub's services for machines' work: asking people, storing a log's head, beginning tasks, lending tokens.

One table of requests serves every asker and every wire: over a link (`serve/fleet/node_requests.py`), by a POST
(`serve/rest/fleet/hub_services.py`), or from this very process (`InProcessWire`). The asker's rights are in
`core/fleet/requesters.py`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta

from hubbub.core.actions import next_tool
from hubbub.core.agents import agents
from hubbub.core.cost import meter
from hubbub.core.fleet import approvals, nodes, own_machine
from hubbub.core.fleet.requesters import Delegation, Requester
from hubbub.core.limits import accounts
from hubbub.core.people import lent_tokens
from hubbub.core.transaction import Transactions
from hubbub.core.work import machine_keys
from hubbub.model.cost.prices import Prices
from hubbub.model.cost.printed_usage import used_of
from hubbub.model.errors import (
    AccountPaused,
    Conflict,
    Invalid,
    MayNotBegin,
    NotFound,
    StoreUnavailable,
)
from hubbub.model.fleet import call_chain
from hubbub.model.fleet.approvals import Approval, ApprovalStatus
from hubbub.model.fleet.calls import Answered, Principal, Ruling
from hubbub.model.fleet.link_protocol import (
    HubRequest,
    Message,
    answered_json,
    principal_of,
    question_of,
    require_shallow,
)
from hubbub.model.fleet.managed_agents import fares_of
from hubbub.model.fleet.nodes import board_name
from hubbub.model.ids import parse_id
from hubbub.model.json_fields import (
    flag_of,
    number_of,
    number_or_none,
    object_of,
    prose_of,
    seconds_of,
    text_of,
    text_or_none,
    word_of,
)
from hubbub.model.limits.usage_limits import LimitKind, UsageLimit
from hubbub.model.people.rights import SYSTEM, Actor
from hubbub.model.work.signatures import Answer
from hubbub.serve.fleet.signature_check import is_signed
from hubbub.serve.live.activity_source import LiveActivitySource
from hubbub.store.tx import Operation, Tx

MOMENT = timedelta(milliseconds=20)  # after a question's time, so that it is over for every reader
LONGEST_TEXT = 60_000
LONGEST_RECEIPT = 200

Value = Mapping[str, object]
Once = Callable[[Operation[Value]], Operation[Value]]


class HubServices:
    """The service for machines and for programs beside agents."""

    def __init__(
        self, transactions: Transactions, news: LiveActivitySource, prices: Prices | None = None
    ) -> None:
        """Set up the services. `prices` are those of models, for budgets in money; None: the usual ones."""
        self._transactions, self._news, self._prices = transactions, news, prices

    async def do(
        self,
        asker: Requester,
        need: HubRequest,
        message: Message,
        *,
        once: Once = lambda operation: operation,
        longest: timedelta = approvals.PATIENCE,
    ) -> Value | None:
        """Serve a request; None for a question that still waits, to be asked again: after `longest`, a loss, a restart.

        `once` wraps the parts that must not be done twice. Raises `HubError`.
        """
        if need is HubRequest.ASK:
            return await self._ask(asker, message, longest)
        way = HANDLERS.get(need) if need is not HubRequest.USE else self._use
        if way is None:
            raise Invalid(f"need: must be one of {', '.join(SERVED)}")

        def operation(tx: Tx) -> Value:
            return way(tx, asker, message)

        if need in READS:
            return await self._transactions.read(asker.actor, operation)
        return await self._transactions.write(
            asker.actor, once(operation) if need is HubRequest.BEGIN_TASK else operation
        )

    def _use(self, tx: Tx, asker: Requester, message: Message) -> Value:
        """Count the use of a machine's agent, under its name on the board; or of the token's agent."""
        delegation = asker.delegation(tx, _who(message))
        agent, task = _met(tx, delegation), text_or_none(message, "task_id")
        told = [
            reading
            for each in used_of(message)
            for reading in meter.readings(each, tx.now, agent=agent, task=task, machine=delegation.node)
        ]
        meter.note(tx, delegation.project, told, self._prices)
        return {}

    async def _ask(self, asker: Requester, message: Message, longest: timedelta) -> Value | None:
        """Put a question, unless it is there, and wait until it is answered or its time is over."""

        def put(tx: Tx) -> tuple[Approval, str, timedelta]:
            approval, receipt = _put(tx, asker, message)
            return approval, receipt, timedelta(milliseconds=approval.expires_at - tx.now)

        approval, receipt, left = await self._transactions.write(asker.actor, put)
        loop = asyncio.get_running_loop()
        over = loop.time() + left.total_seconds()
        if approval.status is ApprovalStatus.SPENT:  # the asker has not been told
            return _answered(Ruling.APPROVED, approval)

        async def look() -> Approval:
            return await self._transactions.read(
                SYSTEM, lambda tx: approvals.find(tx, [approval.project_id], str(approval.id))
            )

        found = await _until_answered(look, self._news, asker.actor, approval, min(left + MOMENT, longest))
        if found.is_forsaken or (found.status is ApprovalStatus.PENDING and loop.time() < over):
            return None

        def tell(tx: Tx) -> Value:
            if not asker.serves(tx, found.project_id):  # any more: a person may have taken long
                raise own_machine.not_served(tx, found.project_id)
            return _told(tx, found, receipt)

        return await self._transactions.write(asker.actor, tell)


# ---- the requests --------------------------------------------------------------------------------------------------


def _put(tx: Tx, asker: Requester, message: Message) -> tuple[Approval, str]:
    """Put a question in the name of its true principal; return it with the receipt for using it."""
    approval_id = parse_id(text_of(message, "approval_id"))
    if approval_id is None:
        raise Invalid("approval_id: must be an id")
    require_shallow(message)
    said = question_of(object_of(message, "question"))
    delegation = asker.delegation(tx, said.who)
    return approvals.put(
        tx,
        delegation.project,
        replace(said, who=delegation.principal, node=delegation.node),
        seconds_of(message, "patience_seconds", approvals.PATIENCE),
        elicitation=asker.link is None and flag_of(message, "elicitation"),
        approval_id=approval_id,
        machine=asker.link,
        hub=asker.hub,
        receipt=_receipt(asker, message),
    )


def _receipt(asker: Requester, message: Message) -> str | None:
    """Return the asker's proof that the question is theirs; a machine proves that by its link."""
    if asker.link is not None and message.get("receipt") is None:
        return None
    receipt = text_of(message, "receipt")
    if not 0 < len(receipt) <= LONGEST_RECEIPT:
        raise Invalid(f"receipt: must have 1 to {LONGEST_RECEIPT} characters")
    return receipt


def _put_only(tx: Tx, asker: Requester, message: Message) -> Value:
    _put(tx, asker, message)
    return {}


def _resolve(tx: Tx, asker: Requester, message: Message) -> Value:
    """Take the answer of the calling client; if a person was faster, theirs counts."""
    approval, receipt = _put(tx, asker, message)
    with suppress(Conflict):
        approval = approvals.resolve(tx, approval.id, receipt=receipt, approved=flag_of(message, "approved"))
    return _told(tx, approval, receipt)


def _withdraw(tx: Tx, asker: Requester, message: Message) -> Value:
    """Take back the asker's question."""
    approval_id, receipt = parse_id(text_of(message, "approval_id")), _receipt(asker, message)
    if approval_id is None or receipt is None:
        raise Invalid("who asked a question withdraws it by approval_id and receipt")
    approvals.take_back(tx, approval_id, receipt=receipt)
    return {}


def _told(tx: Tx, approval: Approval, receipt: str) -> Value:
    """Return the answer to a question; a yes is used up by this."""
    ruling = Ruling.DENIED if approval.status is ApprovalStatus.DENIED else Ruling.EXPIRED
    if approval.status is ApprovalStatus.APPROVED:
        # Another may have been told of it or have taken it up, or its minute is over.
        with suppress(Conflict, NotFound):
            approvals.spend(tx, approval.id, approval.digest, receipt=receipt)
            ruling = Ruling.APPROVED
    return _answered(ruling, approval)


def _answered(ruling: Ruling, approval: Approval) -> Value:
    told = Answered(ruling, str(approval.id), approval.answered_by, approval.signature)
    return {**answered_json(told), "digest": approval.digest}


def _begin_task(tx: Tx, asker: Requester, message: Message) -> Value:
    delegation = asker.delegation(tx, _who(message))
    begun = nodes.begin_task(
        tx,
        delegation.project,
        sender=delegation.sender,
        title=prose_of(message, "title", LONGEST_TEXT),
        description=prose_of(message, "description", LONGEST_TEXT),
        node=delegation.node,
    )
    return {"task_id": str(begun.id)}


def _end_task(tx: Tx, asker: Requester, message: Message) -> Value:
    text = prose_of(message, "text", LONGEST_TEXT)
    asker.end_task(tx, text_of(message, "task_id"), text=text, failed=flag_of(message, "failed"))
    return {}


def _seal(tx: Tx, asker: Requester, message: Message) -> Value:
    asker.seal(tx, number_of(message, "seq"), text_of(message, "digest"))
    return {}


def _key(tx: Tx, asker: Requester, _message: Message) -> Value:
    return {"key": asker.key(tx)}


def _lend(tx: Tx, asker: Requester, message: Message) -> Value:
    chain = call_chain.checked(message.get("chain", ()), "chain")
    return {"token": asker.lend(tx, _who(message), text_or_none(message, "task_id"), chain)}


def _give_back(tx: Tx, _asker: Requester, message: Message) -> Value:
    lent_tokens.give_back(tx, text_of(message, "token"))
    return {}


def _leave(tx: Tx, asker: Requester, message: Message) -> Value:
    """Tell whether a machine's agent may use its model, for its caller, or on a task of theirs."""
    delegation = asker.delegation(tx, _who(message))
    task_id = parse_id(text_or_none(message, "task_id") or "")
    callers = [delegation.principal.name] if not delegation.principal.is_person else []
    try:
        for agent in (_name(tx, delegation), *callers):
            next_tool.require_going(tx, delegation.project, agent, task_id)
    except MayNotBegin as error:
        return {"stopped": str(error), "paused": isinstance(error, AccountPaused), "now": tx.now}
    return {"stopped": None, "paused": False, "now": tx.now}


def _limit(tx: Tx, asker: Requester, message: Message) -> Value:
    """Pause the account of a machine's agent, whose program reported a limit.

    Beside a client its name is the client's: the account is the same only if both programs are of one maker.
    """
    delegation = asker.delegation(tx, _who(message))
    limit = UsageLimit(word_of(message, "limit", LimitKind), number_or_none(message, "until"))
    name = _met(tx, delegation)
    if name != board_name(delegation.node):
        program, presence = text_or_none(message, "program"), agents.presence(tx, delegation.project.id, name)
        runtime = presence.runtime if presence is not None else None
        if program is None or runtime is None or not runtime.startswith(program):
            return {"paused": False}
    accounts.reached(tx, delegation.project, name, limit)
    return {"paused": True}


def _name(tx: Tx, delegation: Delegation) -> str:
    """Return the agent under whose name a machine's agent uses its model."""
    return tx.actor.agent or board_name(delegation.node)


def _met(tx: Tx, delegation: Delegation) -> str:
    """Return that agent, which the project knows from then on."""
    name = _name(tx, delegation)
    agents.meet(tx, delegation.project.id, name, is_machine=True)
    return name


def _credentials(tx: Tx, asker: Requester, message: Message) -> Value:
    return {"token": asker.equip(tx, text_of(message, "agent"))}


def _fare(tx: Tx, asker: Requester, message: Message) -> Value:
    asker.fare(tx, fares_of(message))
    return {}


def _signed(tx: Tx, asker: Requester, message: Message) -> Value:
    """Take a machine's answer to a statement."""
    task_id = parse_id(text_of(message, "task_id"))
    if task_id is None:
        raise Invalid("task_id: must be an id")
    answer = Answer(text_or_none(message, "signature"), text_or_none(message, "refusal"))
    machine_keys.take_answer(tx, asker.itself(tx).id, task_id, answer, is_signed)
    return {}


def _who(message: Message) -> Principal:
    """Return the claimed principal of the request; a joined machine need not name one, and is not believed."""
    return principal_of(object_of(message, "who")) if "who" in message else Principal(project="", name="")


READS = frozenset({HubRequest.KEY, HubRequest.LEAVE})
HANDLERS: Mapping[HubRequest, Callable[[Tx, Requester, Message], Value]] = {
    HubRequest.PUT: _put_only,
    HubRequest.RESOLVE: _resolve,
    HubRequest.WITHDRAW: _withdraw,
    HubRequest.BEGIN_TASK: _begin_task,
    HubRequest.END_TASK: _end_task,
    HubRequest.SEAL: _seal,
    HubRequest.KEY: _key,
    HubRequest.LEND: _lend,
    HubRequest.GIVE_BACK: _give_back,
    HubRequest.CREDENTIALS: _credentials,
    HubRequest.FARE: _fare,
    HubRequest.LEAVE: _leave,
    HubRequest.LIMIT: _limit,
    HubRequest.SIGNED: _signed,
}
SERVED = (HubRequest.ASK, *HANDLERS, HubRequest.USE)


async def _until_answered(
    look: Callable[[], Awaitable[Approval]],
    news: LiveActivitySource,
    actor: Actor,
    approval: Approval,
    patience: timedelta,
) -> Approval:
    """Return the approval that `look` finds once it is answered, or after `patience`.

    It looks again after each activity about the question. It ends early, with the question as it is, when the actor's
    token ends or the hub closes.
    """
    with suppress(TimeoutError):
        async with (
            asyncio.timeout(patience.total_seconds()),
            news.follow(actor, approval.project_id) as batches,
        ):
            approval = await look()  # for activities before we followed
            while approval.status is ApprovalStatus.PENDING:
                happened = await anext(batches, None)
                if happened is None:
                    return approval
                if any(each.detail.get("approval_id") == str(approval.id) for each in happened):
                    approval = await look()
    return approval if approval.status is not ApprovalStatus.PENDING else await look()


@dataclass(frozen=True, slots=True)
class InProcessWire:
    """The wire from the hub's own machine to these services, in the hub's process. `url` is the hub's address."""

    services: HubServices
    asker: Requester
    url: str

    async def request(self, need: HubRequest, content: Message, patience: timedelta | None = None) -> Message:
        """Return the granted value; people may take as long as the question allows."""
        value = await self.services.do(self.asker, need, content)
        if value is None:
            raise StoreUnavailable("the hub stops")
        return {"url": self.url, **value}
