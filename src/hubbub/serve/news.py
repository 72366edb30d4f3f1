"""Waiting for what happens: the tail of the log, for whoever holds a call open until there is something to say."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from uuid import UUID

from hubbub.model.records import Activity
from hubbub.model.rights import Actor
from hubbub.serve.feed import Feed
from hubbub.serve.followers import Followers

NEWS = "news"


class LiveNews:
    """What tools that wait are given."""

    def __init__(self, feed: Feed, followers: Followers) -> None:
        self.feed = feed
        self.followers = followers

    @asynccontextmanager
    async def follow(
        self, actor: Actor, project_id: UUID, agent: str | None = None
    ) -> AsyncIterator[AsyncIterator[Sequence[Activity]]]:
        """What happens in the project from now on, or what of it concerns `agent`, in batches.

        It ends when the actor's token does, and when the hub closes.
        """
        with self.followers.open(actor) as follower:
            wake = partial(follower.tell, NEWS)

            async def batches() -> AsyncIterator[Sequence[Activity]]:
                async for _change in follower.changes():
                    while activities := await reading.take():
                        yield activities

            now = await self.feed.end()  # where the log is; what was passed on may be a little behind
            with self.feed.reading(wake, frozenset({project_id}), agent, now) as reading:
                wake()  # for what came while nobody waited yet
                yield batches()
