"""The machines linked to this hub, those just lost, and their orders.

All modules of this folder share this; `remote_nodes` show the machines to callers.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Collection, Coroutine
from contextlib import asynccontextmanager, suppress
from functools import partial
from uuid import UUID

from hubbub.core.fleet import approvals, dispatches, nodes
from hubbub.core.transaction import Transactions
from hubbub.model.errors import HubError, Invalid
from hubbub.model.fleet.calls import RefusalCode, ToolResult, refused
from hubbub.model.fleet.dispatches import Dispatch
from hubbub.model.fleet.link_protocol import CloseReason
from hubbub.model.fleet.nodes import Machine
from hubbub.model.people.rights import SYSTEM
from hubbub.serve.fleet.node_link import NodeLink
from hubbub.serve.fleet.pending_results import PendingResults, result_of
from hubbub.serve.fleet.timings import Timings
from hubbub.store.tx import Tx

log = logging.getLogger(__name__)


class LinkedNodes:
    """The linked machines of one hub. Belongs to one event loop; `alive` has to be entered while it is used."""

    def __init__(self, transactions: Transactions, instance: str, pace: Timings | None = None) -> None:
        self.transactions, self.instance = transactions, instance
        self.pace = pace or Timings()
        self.waiters = PendingResults()
        self.held: dict[UUID, Dispatch] = {}  # orders of the machines that are linked here, by id
        self._links: dict[UUID, NodeLink] = {}
        self._names: dict[tuple[str, str], UUID] = {}
        self._lost: dict[UUID, float] = {}  # when a link was lost, by the clock of the event loop
        self._leaving: set[UUID] = set()  # machines whose loss the store does not know yet
        self._gone = asyncio.Event()  # some link
        self._contested: dict[
            UUID, tuple[str, float]
        ] = {}  # other processes that claim a machine, and since when
        self._work: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._links)

    # ---- presence ------------------------------------------------------------------------------------------------

    def is_elsewhere(self, machine: Machine, now: int) -> bool:
        """Tell whether another hub of the store is known to hold the machine's link."""
        return nodes.is_linked(machine, now) and machine.hub != self.instance

    def was_just_lost(self, machine_id: UUID) -> bool:
        """Tell whether the machine was linked here a moment ago, so that it may be back at once."""
        return 0 < self.lost_for(machine_id) < self.pace.moment.total_seconds()

    def link_of(self, machine_id: UUID) -> NodeLink | None:
        return self._links.get(machine_id)

    def links(self) -> list[NodeLink]:
        return list(self._links.values())

    def link_to(self, project: str, name: str) -> NodeLink | None:
        """Return the link of the machine with that name, in any case, in the project with that slug."""
        machine_id = self._names.get((project, name.casefold()))
        return self._links.get(machine_id) if machine_id is not None else None

    def named(self, project_id: UUID, name: str) -> NodeLink | None:
        """Return the link of a machine by the project's id."""
        found = (each for each in self._links.values() if each.project.id == project_id)
        return next((each for each in found if each.machine.name.casefold() == name.casefold()), None)

    def lost_for(self, machine_id: UUID) -> float:
        """Return for how many seconds the machine's link has been lost; 0 if it was not lost here."""
        now = asyncio.get_running_loop().time()
        return now - self._lost.get(machine_id, now)

    # ---- links come and go ---------------------------------------------------------------------------------------

    async def admit(self, link: NodeLink) -> CloseReason | None:
        """Use this link for the machine's orders; or return the reason why another one stays.

        A returning machine is the same if its process is. Another process has to wait until pings have shown
        whether the first is there; only then it is told not to come back.
        """
        loop, other = asyncio.get_running_loop(), self._links.get(link.machine.id)
        if other is not None and other.instance != link.instance:
            who, began = self._contested.get(link.machine.id, (link.instance, loop.time()))
            began = began if who == link.instance else loop.time()
            self._contested[link.machine.id] = link.instance, began
            with suppress(TimeoutError):
                async with asyncio.timeout(self.pace.doubt.total_seconds()):
                    await other.ended()
            if not other.has_ended:
                is_sure = loop.time() - began >= self.pace.certain.total_seconds()
                return CloseReason.TAKEN if is_sure else CloseReason.CLOSING
        return self._replace(link)

    def _replace(self, link: NodeLink) -> CloseReason | None:
        before = self._links.get(link.machine.id)
        if before is not None and before.instance != link.instance and not before.has_ended:
            return CloseReason.CLOSING  # another link was faster
        if before is not None:
            before.part(CloseReason.CLOSING)
        self._drop_held(link.machine.id)
        self._links[link.machine.id] = link
        self._names[link.project.slug, link.machine.name.casefold()] = link.machine.id
        self._lost.pop(link.machine.id, None)
        self._contested.pop(link.machine.id, None)
        return None

    def lose(self, link: NodeLink) -> None:
        """Note that the link is gone. Callers of the machine keep waiting; if it stays away, the store is told."""
        link.part(None)
        if self._links.get(link.machine.id) is not link:
            return
        del self._links[link.machine.id]
        self._gone.set()
        self._drop_held(link.machine.id)
        self._names.pop((link.project.slug, link.machine.name.casefold()), None)
        self._lost[link.machine.id] = asyncio.get_running_loop().time()
        self.soon(self._unlink(link))

    async def _unlink(self, link: NodeLink) -> None:
        """Tell the store that a machine is gone, unless it is back in a moment."""
        self._leaving.add(link.machine.id)
        await asyncio.sleep(self.pace.moment.total_seconds())
        self._leaving.discard(link.machine.id)
        if self.link_of(link.machine.id) is None:
            await self._let_go([link.machine.id])

    async def _let_go(self, machine_ids: Collection[UUID]) -> None:
        links = [(each, self.instance) for each in machine_ids]
        await self.transactions.write(SYSTEM, partial(_settle_all, links))

    async def close(self) -> None:
        """Wait a moment until the machines are told that the hub closes; their followers know it already."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self.pace.farewell.total_seconds()):
                while self._links:
                    self._gone.clear()
                    await self._gone.wait()

    # ---- orders --------------------------------------------------------------------------------------------------

    def hand_over(self, dispatch: Dispatch) -> None:
        """Send an order that is recorded as sent over the machine's link, if there is one.

        Without one, or if it breaks, both sides compare their orders when the machine comes back.
        """
        link = self.link_of(dispatch.machine)
        if link is None:
            return
        self.held[dispatch.id] = dispatch
        try:
            link.order(dispatch)
        except Invalid as error:
            self.soon(self.end(dispatch, refused(RefusalCode.INVALID, str(error))))

    def _drop_held(self, machine_id: UUID) -> None:
        """Forget the orders that the machine holds; it reports them again over its next link."""
        for each in [each.id for each in self.held.values() if each.machine == machine_id]:
            del self.held[each]

    async def end(self, dispatch: Dispatch, outcome: ToolResult) -> None:
        """Store an order's result and tell its callers; if it had ended before, the stored result counts."""

        def keep(tx: Tx) -> Dispatch:
            return dispatches.end(tx, dispatch.id, outcome) or dispatches.find(tx, dispatch.id) or dispatch

        self.held.pop(dispatch.id, None)
        self.settle(await self.transactions.write(SYSTEM, keep))

    def settle(self, dispatch: Dispatch) -> None:
        """Note that an order has ended."""
        self.held.pop(dispatch.id, None)
        self.waiters.settle(dispatch.id, result_of(dispatch))

    # ---- background work -----------------------------------------------------------------------------------------

    def soon(self, work: Coroutine[None, None, None]) -> "asyncio.Task[None]":
        """Start work that nobody waits for. If the store fails now, the machine reports again."""

        async def done() -> None:
            try:
                await work
            except HubError as error:
                log.warning("what became of a machine's order could not be kept: %s", error)

        task = asyncio.create_task(done())
        self._work.add(task)
        task.add_done_callback(self._work.discard)
        task.add_done_callback(lambda _: work.close())  # it has not begun, if the task was cancelled at once
        return task

    @asynccontextmanager
    async def alive(self) -> AsyncIterator[None]:
        """Report the present machines to the store; at the end, that none is linked here any more."""
        beating = [asyncio.create_task(self._beat()), asyncio.create_task(self._miss_hubs())]
        try:
            yield
        finally:
            for each in beating:
                each.cancel()
            leaving = {*self._links, *self._leaving}
            for link in list(self._links.values()):
                link.part(CloseReason.CLOSING)
            for task in self._work:
                task.cancel()
            await asyncio.gather(*self._work, return_exceptions=True)
            with suppress(HubError):
                await self._let_go(leaving)
                await self.transactions.write(SYSTEM, partial(_ask_no_more, self.instance))

    async def _miss_hubs(self) -> None:
        """Report the losses of a dead hub to the store: its links, and the questions of its own machine.

        A hub counts as dead at the second look: one that has just lost its connection to the store, and regained it,
        was there all the time.
        """
        missed: frozenset[tuple[UUID, str]] = frozenset()
        while True:
            with suppress(HubError):  # the store is away, and perhaps all hubs with it
                found = frozenset(await self.transactions.read(SYSTEM, partial(_left, self.instance)))
                if gone := found & missed:
                    await self.transactions.write(SYSTEM, partial(_settle_all, gone))
                missed = found - gone
            await asyncio.sleep(self.pace.moment.total_seconds())

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self.pace.beat.total_seconds())
            if there := frozenset(self._links):
                beat = partial(nodes.beat, machine_ids=there, ttl=self.pace.ttl)
                with suppress(HubError):  # the store is away; the next report tells it
                    await self.transactions.write(SYSTEM, beat)


def _left(asking: str, tx: Tx) -> list[tuple[UUID, str]]:
    """Return the machines and the questions of ended hubs, with these."""
    return nodes.of_ended_hubs(tx, asking) + approvals.of_ended_hubs(tx, asking)


def _settle_all(left: Collection[tuple[UUID, str]], tx: Tx) -> None:
    for each, hub in sorted(left):
        nodes.unlink(tx, each, hub)
        approvals.outlive(tx, each)


def _ask_no_more(hub: str, tx: Tx) -> None:
    for each in approvals.of_hub(tx, hub):
        approvals.outlive(tx, each)
