"""Open calls: the reasons that end one before its time, and waiting for a bell."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from starlette.requests import Request

from hubbub.model.people.rights import Actor
from hubbub.serve.live.activity_source import LiveActivitySource

Ends = Sequence["asyncio.Task[None]"]


@asynccontextmanager
async def ends_of(request: Request, news: LiveActivitySource, actor: Actor) -> AsyncIterator[Ends]:
    """Watch for an early end of a call: its caller hangs up, the caller's token ends, or the hub closes."""
    with news.followers.open(actor) as follower:
        ends = [asyncio.create_task(_hung_up(request)), asyncio.create_task(follower.ended())]
        try:
            yield ends
        finally:
            for each in ends:
                each.cancel()


def any_done(ends: Ends) -> bool:
    return any(each.done() for each in ends)


async def rung(bell: asyncio.Event, ends: Ends, seconds: float) -> None:
    """Wait until the bell is rung, the call is over, or that much time has passed."""
    ringing = asyncio.create_task(bell.wait())
    try:
        await asyncio.wait([ringing, *ends], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        ringing.cancel()
    bell.clear()


async def _hung_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
