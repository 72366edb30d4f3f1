"""What machines need of their hub, each checked against what they were ordered: nothing is believed of who asks.

A request outlives its link: made again with the same id it is the same, and its reply goes over whichever link stands
by then. What it does is done once also where the hub, or another hub, is asked again after a restart: by the store.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from uuid import UUID

from hubbub.core import (
    access,
    approvals,
    dispatches,
    finding,
    idempotency,
    keys,
    loans,
    nodes,
    placements,
    seals,
)
from hubbub.dialects.call import Call, Site
from hubbub.dialects.cmdop.gated import Gated
from hubbub.dialects.cmdop.tongue import AGENT_HEADER, PROJECT_HEADER
from hubbub.dialects.dialect import digest
from hubbub.model import chains
from hubbub.model import link as language
from hubbub.model.dispatches import ENDED, Dispatch
from hubbub.model.errors import Conflict, Forbidden, HubError, Invalid, Unauthorized
from hubbub.model.given import number_of, object_of, text_of, text_or_none, word_of
from hubbub.model.ids import parse_id
from hubbub.model.lifecycle import OPEN
from hubbub.model.link import (
    Message,
    Need,
    answered_json,
    order_id,
    order_of,
    outcome_json,
    question_of,
)
from hubbub.model.machines import board_name
from hubbub.model.orders import Order, Question
from hubbub.model.records import Task
from hubbub.model.rights import HUB, SYSTEM, Actor
from hubbub.serve.desk import Desk
from hubbub.serve.fleet.fleet import Fleet
from hubbub.serve.fleet.link import Link
from hubbub.store.tx import Tx

log = logging.getLogger(__name__)

Value = Mapping[str, object]
MOST = 512  # requests of one machine that are under way
LONGEST_ID = 100
LONGEST_TEXT = 60_000
LONGEST_PATIENCE = approvals.PATIENCE.total_seconds()
FAILED = "the hub failed to do this; its log says why"


@dataclass(frozen=True, slots=True)
class _Request:
    """One request that is under way, or whose reply could not be said yet."""

    need: Need
    order: UUID | None
    task: "asyncio.Task[str | None]"

    @property
    def is_moot(self) -> bool:
        """Whether it has ended and there is nothing to say: asked again, it is another request."""
        return self.task.done() and (
            self.task.cancelled() or (self.task.exception() is None and self.task.result() is None)
        )


class Needs:
    """Does what machines ask for. `dialect` has the tools that machines send back to the hub."""

    def __init__(self, fleet: Fleet, desk: Desk, site: Site, dialect: Gated) -> None:
        self._fleet, self._desk, self._site, self._dialect = fleet, desk, site, dialect
        self._requests: dict[UUID, dict[str, _Request]] = {}  # by machine
        self._delegated: dict[str, UUID] = {}  # orders, by the tasks that go on for them in the background
        self._ways: Mapping[Need, Callable[[Link, str, Message], Awaitable[Value | None]]] = {
            Need.PUT: self._put,
            Need.ASK: self._ask,
            Need.ACT: self._act,
            Need.BEGIN_TASK: self._begin_task,
            Need.END_TASK: self._end_task,
            Need.SEAL: self._seal,
            Need.KEY: self._key,
            Need.CREDENTIALS: self._credentials,
            Need.LEND: self._lend,
        }

    def hear(self, link: Link, message: Message) -> None:
        """A request has come, perhaps again. Raises `Invalid` for what is none."""
        request_id, need = text_of(message, "id"), word_of(message, "need", Need)
        if not 0 < len(request_id) <= LONGEST_ID:
            raise Invalid(f"id: must have 1 to {LONGEST_ID} characters")
        requests = self._requests.setdefault(link.machine.id, {})
        known = requests.get(request_id)
        if known is not None:
            if known.task.done():
                self._say(link.machine.id, request_id)
            return
        if len(requests) >= MOST:
            link.say(language.refused(request_id, Conflict("too much is asked for at once; ask again later")))
            return
        task = asyncio.create_task(self._reply(link, request_id, need, message))
        order = parse_id(str(message.get("order")))
        requests[request_id] = _Request(need, order, task)
        task.add_done_callback(lambda _task: self._say(link.machine.id, request_id))

    def forget(self, dispatch: Dispatch) -> None:
        """An order has ended: what its machine wanted done for it is not wanted any more."""
        if dispatch.id in self._delegated.values():
            return
        for request in self._requests.get(dispatch.machine, {}).values():
            if request.need is Need.ACT and request.order == dispatch.id:
                request.task.cancel()

    def _say(self, machine_id: UUID, request_id: str) -> None:
        """Say the reply over the link that stands; where there is none, when the machine asks again."""
        link, requests = self._fleet.link_of(machine_id), self._requests.get(machine_id, {})
        request = requests.get(request_id)
        if request is not None and request.is_moot:
            del requests[request_id]
            return
        if link is None:
            later = 2 * self._fleet.pace.back.total_seconds()
            asyncio.get_running_loop().call_later(later, requests.pop, request_id, None)
            return
        if request is None:
            return
        del requests[request_id]
        error = request.task.exception()
        if error is not None:
            log.error("a machine's request broke off", exc_info=error)
        said = request.task.result() if error is None else None
        link.say(said or language.refused(request_id, HubError(FAILED)))

    async def _reply(self, link: Link, request_id: str, need: Need, message: Message) -> str | None:
        try:
            value = await self._ways[need](link, request_id, message)
        except HubError as error:
            return language.refused(request_id, error)
        return language.granted(request_id, value) if value is not None else None

    # ---- for an order --------------------------------------------------------------------------------------------

    async def _order(self, link: Link, message: Message) -> Dispatch:
        """The order for which something is needed. Raises `Forbidden` unless the machine is at work for it.

        It is until it has ended, and after that while a task goes on that was begun for whoever gave it.
        """
        wanted = order_id(message)
        held = self._fleet.held.get(wanted)
        if held is not None and held.machine == link.machine.id:
            return held
        found = await self._fleet.transactions.read(SYSTEM, lambda tx: _own(tx, link, wanted))
        if found is None:
            raise Forbidden("the machine is not at work on such an order")
        return found

    async def _question(self, link: Link, message: Message) -> tuple[UUID, Question, timedelta]:
        """The question that is put: its id, of whom by whom, and for how long the machine waits."""
        approval_id = parse_id(text_of(message, "approval_id"))
        patience = message.get("patience_seconds")
        if (
            approval_id is None
            or not isinstance(patience, int | float)
            or not 0 < patience <= LONGEST_PATIENCE
        ):
            raise Invalid(
                "approval_id: must be an id; patience_seconds: must be a number of seconds, a week at most"
            )
        asked = question_of(object_of(message, "question"))
        dispatch = await self._order(link, message)
        question = replace(asked, who=dispatch.order.who, node=link.machine.name)
        return approval_id, question, timedelta(seconds=patience)

    async def _put(self, link: Link, _request_id: str, message: Message) -> Value:
        approval_id, question, patience = await self._question(link, message)
        await self._desk.put(question, patience, approval_id=approval_id, machine=link.machine.id)
        return {}

    async def _ask(self, link: Link, _request_id: str, message: Message) -> Value | None:
        """The answer; None where the machine is gone, so that it asks again when it is back.

        One that is back by now may have repeated this already, which would not be heard again: the question goes on.
        """
        approval_id, question, patience = await self._question(link, message)
        machine = link.machine.id
        while (answered := await self._desk.take_up(approval_id, machine, question, patience)) is None:
            if self._fleet.link_of(machine) is None:
                return None
        return {**answered_json(answered), "digest": question.digest}

    async def _act(self, link: Link, request_id: str, message: Message) -> Value:
        """Do what is not the machine's to do, as whoever gave the order: with their rights, as they are now."""
        asked = order_of(object_of(message, "act"))
        dispatch = await self._order(link, message)
        given, said = dispatch.order.chain, chains.checked(asked.chain, "chain")
        begun = given or (dispatch.order.who.name,)
        chain = said if said[: len(begun)] == begun else given
        actor = await self._caller(dispatch)
        named = {PROJECT_HEADER: dispatch.order.who.project}
        if not (actor.is_person and dispatch.order.who.name == actor.user_name):
            named[AGENT_HEADER] = dispatch.order.who.name
        outcome = await self._dialect.carry_out(
            self._fleet.transactions,
            actor,
            Order(who=dispatch.order.who, tool=asked.tool, arguments=asked.arguments, chain=chain),
            f"{dispatch.id}/{request_id}",
            Call(site=self._site, headers=named, is_lasting=False),
        )
        return outcome_json(outcome)

    async def _begin_task(self, link: Link, request_id: str, message: Message) -> Value:
        title, description = text_of(message, "title"), text_of(message, "description")
        if len(title) > LONGEST_TEXT or len(description) > LONGEST_TEXT:
            raise Invalid(f"title and description have at most {LONGEST_TEXT} characters")
        dispatch = await self._order(link, message)
        await self._caller(dispatch)
        who = dispatch.order.who

        def begin(tx: Tx) -> Value:
            begun = nodes.begin_task(
                tx,
                link.project,
                sender=None if who.is_person else who.name,
                title=title,
                description=description,
                node=link.machine.name,
            )
            return {"task_id": str(begun.id)}

        same = digest(title, description, dispatch.id)
        once = idempotency.once(f"{link.machine.id}/{request_id}", same, begin)
        value = await self._fleet.transactions.write(SYSTEM, once)
        self._delegated[str(value["task_id"])] = dispatch.id
        return value

    async def _lend(self, link: Link, _request_id: str, message: Message) -> Value:
        """A token for the machine's agent, which works on an order, or on a task that was begun for who gave it."""
        dispatch, task_id = await self._order(link, message), text_or_none(message, "task_id")

        def lend(tx: Tx) -> str:
            begun = {str(task.id): task.id for task in _begun(tx, link, dispatch)}
            if task_id is not None and task_id not in begun:
                raise Forbidden("the machine is not at work on such a task")
            purpose = begun[task_id] if task_id is not None else dispatch.id
            who, node = dispatch.order.who, link.machine.name
            return loans.lend(tx, link.project, who, node=node, purpose=purpose)[1]

        return {"url": link.url, "token": await self._fleet.transactions.write(SYSTEM, lend)}

    async def _caller(self, dispatch: Dispatch) -> Actor:
        """Whoever gave the order. Raises `Unauthorized` if their token has ended since."""
        token_id = parse_id(dispatch.order.who.token_id or "")
        if token_id is None:
            raise Unauthorized
        return await self._fleet.transactions.read(SYSTEM, lambda tx: access.stand_in(tx, token_id))

    # ---- for the machine itself ----------------------------------------------------------------------------------

    async def _end_task(self, link: Link, _request_id: str, message: Message) -> Value:
        ref, text = text_of(message, "task_id"), text_of(message, "text")
        failed = message.get("failed") is True
        if len(text) > LONGEST_TEXT:
            raise Invalid(f"text: must have at most {LONGEST_TEXT} characters")
        end = partial(
            nodes.end_task,
            ref=ref,
            text=text,
            failed=failed,
            project=link.project,
            node=link.machine.name,
        )
        await self._fleet.transactions.write(SYSTEM, end)
        self._delegated.pop(ref, None)
        return {}

    async def _seal(self, link: Link, _request_id: str, message: Message) -> Value:
        seq, digest = number_of(message, "seq"), text_of(message, "digest")
        await self._fleet.transactions.write(
            SYSTEM, lambda tx: seals.keep(tx, link.project, link.machine.name, seq, digest)
        )
        return {}

    async def _key(self, link: Link, _request_id: str, _message: Message) -> Value:
        return {"key": await self._fleet.transactions.read(SYSTEM, lambda tx: keys.use(tx, link.project))}

    async def _credentials(self, link: Link, _request_id: str, message: Message) -> Value:
        agent = text_of(message, "agent")
        secret = await self._fleet.transactions.write(
            SYSTEM, lambda tx: placements.equip(tx, link.machine, agent)
        )
        return {"url": link.url, "token": secret}


def _own(tx: Tx, link: Link, wanted: UUID) -> Dispatch | None:
    """The machine's order, open or with a task that still goes on for whoever gave it."""
    found = dispatches.find(tx, wanted)
    if found is None or found.machine != link.machine.id:
        return None
    if found.status not in ENDED:
        return found
    return found if _begun(tx, link, found) else None


def _begun(tx: Tx, link: Link, dispatch: Dispatch) -> list[Task]:
    """The tasks that go on at the machine for whoever gave the order."""
    sender = HUB if dispatch.order.who.is_person else dispatch.order.who.name
    begun = finding.search(
        tx, [dispatch.project_id], status=OPEN, assignee=board_name(link.machine.name), limit=MOST
    )
    return [task for task in begun if task.sender == sender]
