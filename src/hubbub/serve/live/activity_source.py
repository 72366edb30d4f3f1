"""Waiting for activities: the tail of the log, for calls that are held open until something happens."""

from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from uuid import UUID

from hubbub.model.mail.wakes import DeliveryChannel
from hubbub.model.people.rights import Actor
from hubbub.model.records import Activity
from hubbub.serve.live.log_tail import LogTail
from hubbub.serve.live.resources import Resource, ResourceKind
from hubbub.serve.live.subscribers import Subscribers

NEWS = "news"


class LiveActivitySource:
    """The source of activities for tools that wait."""

    def __init__(self, feed: LogTail, followers: Subscribers) -> None:
        self.feed = feed
        self.followers = followers
        self._waiting: Counter[tuple[UUID, str | None]] = Counter()
        self._waking: Counter[tuple[UUID, str]] = Counter()

    def way_to(self, project_id: UUID, agent: str) -> DeliveryChannel | None:
        """Return the way in which an agent would hear of a letter now from this hub; None: it looks by itself."""
        inbox = project_id, Resource(ResourceKind.INBOX, agent)
        waiting = self._waiting[project_id, agent]
        others = waiting + self._waking[project_id, agent]
        if self.feed.number_of_readings(project_id, agent) > others or self.followers.are_wanting(inbox):
            return DeliveryChannel.STREAM
        return DeliveryChannel.WAIT if waiting else None

    @contextmanager
    def wakes(self, project_id: UUID, agent: str) -> Iterator[None]:
        """Note that the agent's activities are read only to wake it, and that it hears nothing by that itself."""
        self._waking[project_id, agent] += 1
        try:
            yield
        finally:
            self._waking[project_id, agent] -= 1
            self._waking += Counter()

    @asynccontextmanager
    async def follow(
        self, actor: Actor, project_id: UUID, agent: str | None = None
    ) -> AsyncIterator[AsyncIterator[Sequence[Activity]]]:
        """Follow the project's activities from now on, or those that concern `agent`, in batches.

        It ends when the actor's token does, and when the hub closes.
        """
        with self.followers.open(actor) as follower:
            wake = partial(follower.tell, NEWS)

            async def batches() -> AsyncIterator[Sequence[Activity]]:
                async for _change in follower.changes():
                    while activities := await reading.take():
                        yield activities

            now = await self.feed.end()  # the log's end; the tail may be a little behind
            with self.feed.reading(wake, frozenset({project_id}), agent, now) as reading:
                wake()  # for activities before anybody waited
                self._waiting[project_id, agent] += 1
                try:
                    yield batches()
                finally:
                    self._waiting[project_id, agent] -= 1
                    self._waiting += Counter()  # drops the zeros
