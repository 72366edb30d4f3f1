"""What machines say of the orders that they were sent. It counts only where an order is their own."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import cast
from uuid import UUID

from hubbub.core import dispatches, nodes, placements
from hubbub.model.dispatches import Dispatch
from hubbub.model.errors import Invalid, StoreUnavailable
from hubbub.model.link import Kind, Message, Parting, fares_of, load_of, order_id, outcome_of
from hubbub.model.orders import Code, Outcome, refused
from hubbub.model.placements import Fares
from hubbub.model.rights import SYSTEM
from hubbub.serve.fleet.fleet import Fleet
from hubbub.serve.fleet.link import Link
from hubbub.serve.fleet.needs import Needs
from hubbub.store.tx import Tx

UNREADABLE = "the machine has done this, but what it says came of it makes no sense"
LONGEST_PIECE = 1024 * 1024  # characters of progress at a time


class Hearing:
    """The ear of the hub for its machines. Nothing that is said holds up what comes after it."""

    def __init__(self, fleet: Fleet, needs: Needs, count: Callable[[Outcome], None]) -> None:
        """`count` is told of everything that comes of orders."""
        self._fleet, self._needs, self._count = fleet, needs, count
        self._taken: dict[UUID, set[UUID]] = {}  # by machine, not in the store yet
        self._kinds: Mapping[Kind, Callable[[Link, Message], None]] = {
            Kind.TAKEN: self._take,
            Kind.PROGRESS: self._progress,
            Kind.ENDED: self._end,
            Kind.FARES: self._fare,
            Kind.LOAD: self._load,
            Kind.REQUEST: needs.hear,
        }

    def hear(self, link: Link, message: Message) -> None:
        """Take what a machine says. Raises `Invalid` for what makes no sense."""
        kind = self._kinds.get(Kind(str(message["kind"])))
        if kind is None:
            raise Invalid(f"a machine does not say {message['kind']}")
        kind(link, message)

    def taken(self, link: Link) -> frozenset[UUID]:
        """What the machine has taken, as far as the store does not know; it will from now on."""
        return frozenset(self._taken.pop(link.machine.id, ()))

    def _own(self, link: Link, message: Message) -> Dispatch | None:
        """The order that is spoken of, if the machine holds it."""
        found = self._fleet.held.get(order_id(message))
        return found if found is not None and found.machine == link.machine.id else None

    def _take(self, link: Link, message: Message) -> None:
        dispatch = self._own(link, message)
        if dispatch is None:
            return
        if link.machine.id not in self._taken:
            self._taken[link.machine.id] = set()
            pause = self._fleet.pace.gather.total_seconds()
            asyncio.get_running_loop().call_later(pause, lambda: self._fleet.soon(self._note(link)))
        self._taken[link.machine.id].add(dispatch.id)

    async def _note(self, link: Link) -> None:
        if taken := self.taken(link):
            await self._fleet.transactions.write(SYSTEM, lambda tx: dispatches.take(tx, taken))

    def _progress(self, link: Link, message: Message) -> None:
        dispatch, text = self._own(link, message), message.get("text")
        if not isinstance(text, str) or len(text) > LONGEST_PIECE:
            raise Invalid(f"text: must be a text of up to {LONGEST_PIECE} characters")
        if dispatch is not None:
            self._fleet.waiters.hear(dispatch.id, text)

    def _end(self, link: Link, message: Message) -> None:
        dispatch_id = order_id(message)
        given = message.get("outcome")
        try:
            outcome = outcome_of(cast(Message, given) if isinstance(given, dict) else {})
        except Invalid as error:
            outcome = refused(Code.FAILED, f"{UNREADABLE}: {error}")
        self._taken.get(link.machine.id, set()).discard(dispatch_id)
        if self._own(link, message) is not None:
            del self._fleet.held[dispatch_id]  # what the log tells of its end is no news then
            if not outcome.is_undone:  # else the key has to be free before the caller comes back with it
                self._fleet.waiters.settle(dispatch_id, outcome)  # its machine keeps it until it is safe here
        link.busy(self._fleet.soon(self._keep(link, dispatch_id, outcome)))

    async def _keep(self, link: Link, dispatch_id: UUID, outcome: Outcome) -> None:
        """Keep what came of an order, if it is the machine's. It is told so of any, and learns nothing by it."""

        def keep(tx: Tx) -> Dispatch | None:
            known = dispatches.find(tx, dispatch_id)
            if known is None or known.machine != link.machine.id:
                return None
            return dispatches.end(tx, dispatch_id, outcome) or known

        try:
            ended = await self._fleet.transactions.write(SYSTEM, keep)
        except StoreUnavailable:
            link.part(Parting.CLOSING)  # it tells it again when it comes back
            raise
        if ended is not None:
            self._count(outcome)
            self._fleet.settle(ended)
            self._needs.forget(ended)
        link.keep(dispatch_id)

    def _load(self, link: Link, message: Message) -> None:
        load = load_of(message)

        async def tell() -> None:
            await self._fleet.transactions.write(
                SYSTEM, lambda tx: nodes.note_load(tx, link.machine.id, load)
            )

        link.busy(self._fleet.soon(tell()))

    def _fare(self, link: Link, message: Message) -> None:
        self.fare(link, fares_of(message))

    def fare(self, link: Link, fares: Sequence[Fares]) -> None:
        """Keep how the agents on a machine fare, as it says."""

        async def tell() -> None:
            await self._fleet.transactions.write(SYSTEM, lambda tx: placements.fare(tx, link.machine, fares))

        if fares:
            link.busy(self._fleet.soon(tell()))
