"""Waiting wakers: a call is held open until there is a wake for its caller.

Nothing polls for mail here, and the store is not read while nobody waits: a call follows the log's activities
about its agent, and looks again when one came, when letters that belong together have gathered, or when another waker
is gone.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from functools import partial
from uuid import UUID

from starlette.requests import Request

from hubbub.core.presence import wakes
from hubbub.core.presence.wakes import PollResult
from hubbub.core.transaction import Transactions
from hubbub.model.mail.wakes import Wake, Waker
from hubbub.model.people.rights import Actor
from hubbub.serve.live.activity_source import LiveActivitySource
from hubbub.serve.live.log_tail import LogReader
from hubbub.serve.live.long_polls import any_done, ends_of, rung
from hubbub.store.tx import Tx

AgentKey = tuple[UUID, str]  # a project and an agent in it


class WakeWaiters:
    """The wakers that wait at this hub. Belongs to one event loop."""

    def __init__(self, transactions: Transactions, news: LiveActivitySource, gather: timedelta) -> None:
        self._transactions = transactions
        self._news = news
        self._gather = gather
        self._bells: dict[AgentKey, set[asyncio.Event]] = {}

    async def wait(self, request: Request, actor: Actor, waker: Waker, seconds: float) -> Wake | None:
        """Return the wake that the waker is to bring, as soon as there is one; None after that many seconds.

        It ends when the actor's token does, and when the hub closes. A caller that hangs up is no longer a waker.
        """
        loop, bell = asyncio.get_running_loop(), asyncio.Event()
        ends_at = loop.time() + seconds
        async with self._reading(waker, bell) as reading, ends_of(request, self._news, actor) as over:
            found, asked_at = await self._transactions.write(actor, partial(self._begin, waker, seconds))
            now = asked_at
            while found.wake is None and (left := ends_at - loop.time()) > 0 and not any_done(over):
                pause = left if found.again_at is None else min(left, max(0, found.again_at - now) / 1000)
                await rung(bell, over, pause)
                while await reading.take():
                    pass
                found, now = await self._transactions.read(actor, partial(self._look, waker))
            hung_up, _ended = over
            if hung_up.done() and found.wake is None:
                await self._transactions.write(actor, lambda tx: wakes.hang_up(tx, waker, asked_at))
                self._ring(waker.project_id, waker.agent)
            return found.wake

    async def leave(self, actor: Actor, project_id: UUID, agent: str, instance: str) -> bool:
        """Remove the instance as a waker: the others check whether it is their turn. False if it was none."""
        was_there = await self._transactions.write(
            actor, lambda tx: wakes.leave(tx, project_id, agent, instance)
        )
        self._ring(project_id, agent)
        return was_there

    def _ring(self, project_id: UUID, agent: str) -> None:
        for bell in self._bells.get((project_id, agent), ()):
            bell.set()

    def _begin(self, waker: Waker, seconds: float, tx: Tx) -> tuple[PollResult, int]:
        wakes.register(tx, waker, timedelta(seconds=seconds))
        return self._look(waker, tx)

    def _look(self, waker: Waker, tx: Tx) -> tuple[PollResult, int]:
        return wakes.take(tx, waker, gather=self._gather), tx.now

    @asynccontextmanager
    async def _reading(self, waker: Waker, bell: asyncio.Event) -> AsyncIterator[LogReader]:
        """Ring the bell for each activity that concerns the agent, from now on."""
        feed, place = self._news.feed, (waker.project_id, waker.agent)
        now = await feed.end()
        ours = frozenset({waker.project_id})
        with (
            self._news.wakes(*place),
            self._ringing(place, bell),
            feed.reading(bell.set, ours, waker.agent, now) as reading,
        ):
            await reading.take()  # it reports new activities only after it has found nothing
            yield reading

    @contextmanager
    def _ringing(self, place: AgentKey, bell: asyncio.Event) -> Iterator[None]:
        self._bells.setdefault(place, set()).add(bell)
        try:
            yield
        finally:
            self._bells[place].discard(bell)
            if not self._bells[place]:
                del self._bells[place]
