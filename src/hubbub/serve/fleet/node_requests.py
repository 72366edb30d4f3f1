"""Machines' requests to their hub, each checked against their orders, since a machine's word is not trusted.

A request outlives its link: repeated with the same id it is the same request, and its reply goes over the present link.
Its effect happens once even if the hub, or another hub, is asked again after a restart: the store ensures that.
"""

import asyncio
import logging
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from hubbub.core.fleet import requesters
from hubbub.core.fleet.requesters import LinkedMachine
from hubbub.core.log import idempotency
from hubbub.core.people import access
from hubbub.dialects.call import Call, HubContext
from hubbub.dialects.cmdop.gated_dialect import GatedDialect
from hubbub.dialects.cmdop.tool_set import AGENT_HEADER, PROJECT_HEADER
from hubbub.dialects.dialect import digest
from hubbub.model.errors import Conflict, HubError, Invalid, Unauthorized
from hubbub.model.fleet import call_chain
from hubbub.model.fleet import link_protocol as language
from hubbub.model.fleet.calls import NodeCall
from hubbub.model.fleet.dispatches import Dispatch
from hubbub.model.fleet.link_protocol import HubRequest, Message, call_id, call_of, result_json
from hubbub.model.ids import parse_id
from hubbub.model.json_fields import object_of, text_of, word_of
from hubbub.model.people.rights import SYSTEM, Actor
from hubbub.serve.fleet.hub_services import HubServices, Value
from hubbub.serve.fleet.linked_nodes import LinkedNodes
from hubbub.serve.fleet.node_link import NodeLink

log = logging.getLogger(__name__)

MOST = 512  # requests of one machine that are under way
LONGEST_ID = 100
ONLY_ATTEMPT = idempotency.FIRST_ATTEMPT  # at a request: the next has another id
FOR_AN_ORDER = frozenset(
    {
        HubRequest.PUT,
        HubRequest.ASK,
        HubRequest.RESOLVE,
        HubRequest.ACT,
        HubRequest.BEGIN_TASK,
        HubRequest.LEND,
        HubRequest.USE,
        HubRequest.LEAVE,
        HubRequest.LIMIT,
    }
)
REACHES_THE_HUB = frozenset({HubRequest.LEND, HubRequest.CREDENTIALS})  # by address
FAILED = "the hub failed to do this; its log says why"


@dataclass(frozen=True, slots=True)
class _Request:
    """A request under way, or whose reply could not be sent yet."""

    need: HubRequest
    order: UUID | None
    task: "asyncio.Task[str | None]"

    @property
    def is_moot(self) -> bool:
        """Tell whether it has ended without a reply: asked again, it is another request."""
        return self.task.done() and (
            self.task.cancelled() or (self.task.exception() is None and self.task.result() is None)
        )


class NodeRequests:
    """Serves the machines' requests. `dialect` has the tools that machines send back to the hub."""

    def __init__(
        self, fleet: LinkedNodes, services: HubServices, site: HubContext, dialect: GatedDialect
    ) -> None:
        self._fleet, self._services, self._site, self._dialect = fleet, services, site, dialect
        self._requests: dict[UUID, dict[str, _Request]] = {}  # by machine
        self._delegated: dict[str, UUID] = {}  # orders, by the tasks that go on for them in the background

    def hear(self, link: NodeLink, message: Message) -> None:
        """Take a request, perhaps a repeated one. Raises `Invalid` for a malformed one."""
        request_id, need = text_of(message, "id"), word_of(message, "need", HubRequest)
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
        """Forget the requests of an order that has ended, as they are no longer needed."""
        if dispatch.id in self._delegated.values():
            return
        for request in self._requests.get(dispatch.machine, {}).values():
            if request.need is HubRequest.ACT and request.order == dispatch.id:
                request.task.cancel()

    def _say(self, machine_id: UUID, request_id: str) -> None:
        """Send the reply over the present link; without one, when the machine asks again."""
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

    async def _reply(self, link: NodeLink, request_id: str, need: HubRequest, message: Message) -> str | None:
        try:
            value = await self._value(link, request_id, need, message)
        except HubError as error:
            return language.refused(request_id, error)
        return language.granted(request_id, value) if value is not None else None

    async def _value(
        self, link: NodeLink, request_id: str, need: HubRequest, message: Message
    ) -> Value | None:
        """Return the granted value; None if the machine is gone, so that it asks again when it is back."""
        order = await self._order(link, message) if need in FOR_AN_ORDER else None
        if order is not None and need is HubRequest.ACT:
            return await self._act(order, request_id, message)
        if order is not None and need is HubRequest.BEGIN_TASK:
            await self._caller(order)
        asker = LinkedMachine(project=link.project, machine=link.machine, order=order)
        same = digest(message.get("title"), message.get("description"), order and order.id)
        once = partial(idempotency.once, f"{link.machine.id}/{request_id}", same)
        # A machine that is back by now may have repeated this in vain, so the question goes on.
        while (value := await self._services.do(asker, need, message, once=once)) is None:
            stands = self._fleet.link_of(link.machine.id)
            if stands is None or stands.has_ended:
                return None
        if order is not None and need is HubRequest.BEGIN_TASK:
            self._delegated[str(value["task_id"])] = order.id
        if need is HubRequest.END_TASK:
            self._delegated.pop(text_of(message, "task_id"), None)
        return {"url": link.url, **value} if need in REACHES_THE_HUB else value

    async def _order(self, link: NodeLink, message: Message) -> Dispatch:
        """Return the order of a request. Raises `Forbidden` unless the machine works on it.

        It works on it until the order has ended, and then while a task goes on that was begun for its caller.
        """
        wanted = call_id(message)
        held = self._fleet.held.get(wanted)
        if held is not None and held.machine == link.machine.id:
            return held
        return await self._fleet.transactions.read(
            SYSTEM, lambda tx: requesters.held_by(tx, link.machine, wanted)
        )

    async def _act(self, dispatch: Dispatch, request_id: str, message: Message) -> Value:
        """Do the hub's part of a call, as the caller of the order: with their rights, as they are now."""
        asked = call_of(object_of(message, "act"))
        given, said = dispatch.order.chain, call_chain.checked(asked.chain, "chain")
        begun = given or (dispatch.order.who.name,)
        chain = said if said[: len(begun)] == begun else given
        actor = await self._caller(dispatch)
        named = {PROJECT_HEADER: dispatch.order.who.project}
        if not (actor.is_person and dispatch.order.who.name == actor.user_name):
            named[AGENT_HEADER] = dispatch.order.who.name
        outcome = await self._dialect.carry_out(
            self._fleet.transactions,
            actor,
            NodeCall(who=dispatch.order.who, tool=asked.tool, arguments=asked.arguments, chain=chain),
            f"{dispatch.id}/{request_id}",
            Call(site=self._site, headers=named, attempt=ONLY_ATTEMPT),
        )
        return result_json(outcome)

    async def _caller(self, dispatch: Dispatch) -> Actor:
        """Return the caller of the order. Raises `Unauthorized` if their token has ended since."""
        token_id = parse_id(dispatch.order.who.token_id or "")
        if token_id is None:
            raise Unauthorized
        return await self._fleet.transactions.read(SYSTEM, lambda tx: access.stand_in(tx, token_id))
