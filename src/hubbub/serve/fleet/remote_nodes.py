"""A remote machine, as its callers see it: an order is stored, sent, and waited for.

It is done once, whatever breaks meanwhile. A caller that stops waiting gets the result later by the same key; if it
gives up, the machine is told that the order is no longer wanted.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, replace

from hubbub.core.fleet import dispatches, nodes
from hubbub.core.people import projects
from hubbub.model.errors import NotFound, StoreUnavailable
from hubbub.model.fleet.calls import Node, NodeCall, NodeInfo, PerformCall, RefusalCode, ToolResult, refused
from hubbub.model.fleet.dispatches import ENDED, Dispatch, DispatchStatus
from hubbub.model.fleet.nodes import Machine
from hubbub.model.people.rights import SYSTEM
from hubbub.model.records import Project
from hubbub.serve.fleet.linked_nodes import LinkedNodes
from hubbub.serve.fleet.pending_results import PendingResult, result_of
from hubbub.store.tx import Tx

GIVEN_UP = "the call was cancelled while its machine was away; whether it was done is not known"


@dataclass(frozen=True, slots=True)
class RemoteNode:
    """One machine that is linked to a hub of this store, or was a moment ago.

    One that is not there gets no orders; but it may have got the order of an earlier call with the same key.
    """

    fleet: LinkedNodes
    project: Project
    machine: Machine
    is_there: bool = True

    @property
    def name(self) -> str:
        return self.machine.name

    @property
    def about(self) -> NodeInfo:
        return self.machine.about

    @property
    def runtime(self) -> str | None:
        return self.machine.runtime

    async def perform(self, order: NodeCall, act: PerformCall | None = None) -> ToolResult:
        """Return the machine's result. The hub's part of a call comes back over its link, and not by `act`.

        `offline` if the machine cannot be reached, or stays away; the sentence says whether anything may have been
        done.
        """
        dispatch, is_new = await self._begin(order)
        if dispatch.status in ENDED:
            return result_of(dispatch)
        with self.fleet.waiters.waiting(dispatch.id, order.progress) as (awaited, ear):
            try:
                if is_new and dispatch.status is DispatchStatus.SENT:
                    self.fleet.hand_over(dispatch)
                outcome = await self._outcome(dispatch, awaited)
                await ear.heard()
            except asyncio.CancelledError:
                if len(awaited.ears) == 1:
                    self.fleet.soon(self._give_up(dispatch))
                raise
            return outcome

    async def _begin(self, order: NodeCall) -> tuple[Dispatch, bool]:
        """Store the order, and return whether it is new; it is marked as sent if it is to be sent at once."""
        is_linked = self.fleet.link_of(self.machine.id) is not None
        beginning = asyncio.ensure_future(
            self.fleet.transactions.write(
                SYSTEM,
                lambda tx: dispatches.begin(tx, self.project, self.machine, order, sent=is_linked),
            )
        )
        try:
            return await asyncio.shield(beginning)
        except asyncio.CancelledError:
            self.fleet.soon(self._take_back(beginning))
            raise

    async def _outcome(self, dispatch: Dispatch, awaited: PendingResult) -> ToolResult:
        pace, clock = self.fleet.pace, asyncio.get_running_loop().time
        if dispatch.status is DispatchStatus.QUEUED:
            patience = pace.moment.total_seconds() if self.is_there else 0
            await asyncio.wait({awaited.outcome}, timeout=patience)
            if not awaited.outcome.done() and await self._withdraw(dispatch):
                return result_of(replace(dispatch, status=DispatchStatus.WITHDRAWN))
        away_since: float | None = None
        while True:
            await asyncio.wait({awaited.outcome}, timeout=self._patience(away_since))
            if awaited.outcome.done():
                return awaited.outcome.result()
            known, is_there = await self._look(dispatch)
            if known.status in ENDED:
                return result_of(known)
            if is_there:
                away_since = None
            elif away_since is None:
                away_since = clock() - min(self.fleet.lost_for(self.machine.id), pace.look.total_seconds())
            elif clock() - away_since >= pace.back.total_seconds():
                return self._away(dispatch)

    def _patience(self, away_since: float | None) -> float:
        """Return the seconds until the order's status has to be looked up."""
        look = self.fleet.pace.look.total_seconds()
        if away_since is None:
            return look
        left = away_since + self.fleet.pace.back.total_seconds() - asyncio.get_running_loop().time()
        return max(0.0, min(look, left))

    async def _look(self, dispatch: Dispatch) -> tuple[Dispatch, bool]:
        """Return the order as it is, and whether the machine is linked to any hub."""
        is_here = self.fleet.link_of(self.machine.id) is not None
        if is_here and dispatch.id in self.fleet.held:
            return dispatch, True

        def look(tx: Tx) -> tuple[Dispatch, bool]:
            known = dispatches.find(tx, dispatch.id) or dispatch
            with suppress(NotFound):  # the machine was removed
                machine = nodes.find(tx, self.project, self.name)
                return known, is_here or self.fleet.is_elsewhere(machine, tx.now)
            return known, False

        try:
            return await self.fleet.transactions.read(SYSTEM, look)
        except StoreUnavailable:  # unknown; the order goes on meanwhile
            return dispatch, True

    def _away(self, dispatch: Dispatch) -> ToolResult:
        back = self.fleet.pace.back.total_seconds()
        sentence = (
            f"the machine {self.name!r} went away while it worked on the order {dispatch.id}, and was not back after "
            f"{back:g} s; what comes of it is kept, for the same call with the same idempotency key"
        )
        return refused(RefusalCode.OFFLINE, sentence, order=str(dispatch.id))

    async def _withdraw(self, dispatch: Dispatch) -> bool:
        return await self.fleet.transactions.write(SYSTEM, lambda tx: dispatches.withdraw(tx, dispatch.id))

    async def _take_back(self, beginning: "asyncio.Future[tuple[Dispatch, bool]]") -> None:
        """Call off an order whose caller left while it was stored.

        One marked as sent may be on its way over a newer link already, so only the machine can say that it is not done.
        """
        dispatch, is_new = await beginning
        if not is_new or await self._withdraw(dispatch):
            return
        self.fleet.hand_over(dispatch)
        await self._give_up(dispatch)

    async def _give_up(self, dispatch: Dispatch) -> None:
        """Give up the order: its machine is told now, or finds that it has ended when it is back."""
        link = self.fleet.link_of(self.machine.id)
        if link is not None:
            link.cancel(dispatch.id)
        elif not await self._withdraw(dispatch):
            await self.fleet.end(dispatch, refused(RefusalCode.FAILED, GIVEN_UP))


@dataclass(frozen=True, slots=True)
class RemoteNodes:
    """The machines that calls may name: those that are linked here, or to another hub of the store.

    The orders of the latter wait in the store for that hub.
    """

    fleet: LinkedNodes

    async def find(self, project: str, name: str, order: NodeCall | None = None) -> Node | None:
        """Find the machine as a `Fleet` does; None for the hub's own."""
        link = self.fleet.link_to(project, name)
        if link is not None:
            return RemoteNode(self.fleet, link.project, link.machine)

        def look(tx: Tx) -> RemoteNode | None:
            home = projects.find_by_slug(tx, project)
            if home is None:
                return None
            machine = nodes.find(tx, home, name)
            return RemoteNode(self.fleet, home, machine, self.fleet.is_elsewhere(machine, tx.now))

        with suppress(NotFound):
            known = await self.fleet.transactions.read(SYSTEM, look)
            if known is not None and self.fleet.was_just_lost(known.machine.id):
                return replace(known, is_there=True)
            if known is not None and (known.is_there or (order is not None and order.key is not None)):
                return known
        return None
