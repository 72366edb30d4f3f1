"""Machines' reports on their orders. A report counts only for an order of that machine."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import cast
from uuid import UUID

from hubbub.core.fleet import dispatches, managed_agents, nodes
from hubbub.model.errors import Invalid, StoreUnavailable
from hubbub.model.fleet.calls import RefusalCode, ToolResult, refused
from hubbub.model.fleet.dispatches import Dispatch
from hubbub.model.fleet.link_protocol import CloseReason, Message, MessageKind, call_id, load_of, result_of
from hubbub.model.fleet.managed_agents import ProcessStatus, fares_of
from hubbub.model.json_fields import text_or_none
from hubbub.model.people.rights import SYSTEM
from hubbub.serve.fleet.linked_nodes import LinkedNodes
from hubbub.serve.fleet.node_link import NodeLink
from hubbub.serve.fleet.node_requests import NodeRequests
from hubbub.store.tx import Tx

UNREADABLE = "the machine has done this, but its report of the result is malformed"
LONGEST_PIECE = 1024 * 1024  # characters of progress at a time


class NodeReports:
    """Receives the machines' reports. No report delays the ones after it."""

    def __init__(self, fleet: LinkedNodes, needs: NodeRequests, count: Callable[[ToolResult], None]) -> None:
        """Set up the receiver; `count` is told every result of an order."""
        self._fleet, self._needs, self._count = fleet, needs, count
        self._taken: dict[UUID, set[UUID]] = {}  # by machine, not in the store yet
        self._kinds: Mapping[MessageKind, Callable[[NodeLink, Message], None]] = {
            MessageKind.TAKEN: self._take,
            MessageKind.PROGRESS: self._progress,
            MessageKind.ENDED: self._end,
            MessageKind.FARES: self._fare,
            MessageKind.LOAD: self._load,
            MessageKind.REQUEST: needs.hear,
        }

    def hear(self, link: NodeLink, message: Message) -> None:
        """Take a message of a machine. Raises `Invalid` for a malformed one."""
        kind = self._kinds.get(MessageKind(str(message["kind"])))
        if kind is None:
            raise Invalid(f"a machine does not send messages of kind {message['kind']}")
        kind(link, message)

    def taken(self, link: NodeLink) -> frozenset[UUID]:
        """Return the orders that the machine has taken and the store does not know of; the caller stores them."""
        return frozenset(self._taken.pop(link.machine.id, ()))

    def _own(self, link: NodeLink, message: Message) -> Dispatch | None:
        """Return the order of a message, if the machine holds it."""
        found = self._fleet.held.get(call_id(message))
        return found if found is not None and found.machine == link.machine.id else None

    def _take(self, link: NodeLink, message: Message) -> None:
        dispatch = self._own(link, message)
        if dispatch is None:
            return
        if link.machine.id not in self._taken:
            self._taken[link.machine.id] = set()
            pause = self._fleet.pace.gather.total_seconds()
            asyncio.get_running_loop().call_later(pause, lambda: self._fleet.soon(self._note(link)))
        self._taken[link.machine.id].add(dispatch.id)

    async def _note(self, link: NodeLink) -> None:
        if taken := self.taken(link):
            await self._fleet.transactions.write(SYSTEM, lambda tx: dispatches.take(tx, taken))

    def _progress(self, link: NodeLink, message: Message) -> None:
        dispatch, text = self._own(link, message), message.get("text")
        if not isinstance(text, str) or len(text) > LONGEST_PIECE:
            raise Invalid(f"text: must be a text of up to {LONGEST_PIECE} characters")
        if dispatch is not None:
            self._fleet.waiters.hear(dispatch.id, text)

    def _end(self, link: NodeLink, message: Message) -> None:
        dispatch_id = call_id(message)
        given = message.get("outcome")
        try:
            outcome = result_of(cast(Message, given) if isinstance(given, dict) else {})
        except Invalid as error:
            outcome = refused(RefusalCode.FAILED, f"{UNREADABLE}: {error}")
        self._taken.get(link.machine.id, set()).discard(dispatch_id)
        if self._own(link, message) is not None:
            del self._fleet.held[dispatch_id]  # so that the activity of its end is no news
            if not outcome.is_undone:  # else the key has to be free before the caller repeats the call
                self._fleet.waiters.settle(dispatch_id, outcome)  # its machine keeps it until it is safe here
        link.busy(self._fleet.soon(self._keep(link, dispatch_id, outcome)))

    async def _keep(self, link: NodeLink, dispatch_id: UUID, outcome: ToolResult) -> None:
        """Store an order's result, if it is the machine's. Any order is confirmed, so the machine learns nothing."""

        def keep(tx: Tx) -> Dispatch | None:
            known = dispatches.find(tx, dispatch_id)
            if known is None or known.machine != link.machine.id:
                return None
            return dispatches.end(tx, dispatch_id, outcome) or known

        try:
            ended = await self._fleet.transactions.write(SYSTEM, keep)
        except StoreUnavailable:
            link.part(CloseReason.CLOSING)  # the machine repeats the report when it comes back
            raise
        if ended is not None:
            self._count(outcome)
            self._fleet.settle(ended)
            self._needs.forget(ended)
        link.keep(dispatch_id)

    def _load(self, link: NodeLink, message: Message) -> None:
        load, fault = load_of(message), text_or_none(message, "policy_fault")

        def note(tx: Tx) -> None:
            nodes.note_load(tx, link.machine.id, load)
            if "policy_fault" in message:  # not from machines of older versions
                nodes.note_policy_fault(tx, link.machine.id, fault)

        async def tell() -> None:
            await self._fleet.transactions.write(SYSTEM, note)

        link.busy(self._fleet.soon(tell()))

    def _fare(self, link: NodeLink, message: Message) -> None:
        self.fare(link, fares_of(message))

    def fare(self, link: NodeLink, fares: Sequence[ProcessStatus]) -> None:
        """Store the statuses of the agents on a machine, as it reports them."""

        async def tell() -> None:
            await self._fleet.transactions.write(
                SYSTEM, lambda tx: managed_agents.update_status(tx, link.machine, fares)
            )

        if fares:
            link.busy(self._fleet.soon(tell()))
