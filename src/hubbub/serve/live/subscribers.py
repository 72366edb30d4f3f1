"""Open responses: their holders, the topics they follow, and the reasons for their end.

A follower never makes anyone wait: it keeps the *set* of resources that changed since it last looked, so a slow
reader hears of each once instead of queueing them all. It ends when its token is revoked or expires, when its reader
leaves, and when the hub closes.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from uuid import UUID

from hubbub.core.people.quotas import Limits, Quota, Quotas
from hubbub.model.people.rights import Actor
from hubbub.model.records import Activity
from hubbub.serve.live.resources import Topic, changed_by

ENDINGS = frozenset({"token.revoked", "login.ended"})  # the kinds of activity that end a token
RENAMED = "agent.renamed"  # its tokens stand for another name from then on
MEMBERSHIPS = frozenset({"member.put", "member.removed"})  # after these a person may see more, or less


class Subscriber:
    """One open response. Iterate over `changes`, or wait until it has `ended`."""

    def __init__(self, actor: Actor) -> None:
        self.actor = actor
        self.topics: dict[Topic, str] = {}  # with the names that the reader knows them by
        self._waiting = asyncio.Event()
        self._has_ended = False
        self._end: asyncio.Event | None = None  # made only if needed: an idle stream is to be small
        self._changed: dict[str, None] = {}

    def tell(self, name: str) -> None:
        """Note that something changed, by the follower's own name for it."""
        self._changed[name] = None
        self._waiting.set()

    def end(self) -> None:
        """End the follower; its reader still gets the changes noted before."""
        self._has_ended = True
        self._waiting.set()
        if self._end is not None:
            self._end.set()

    @property
    def has_ended(self) -> bool:
        return self._has_ended

    async def ended(self) -> None:
        """Wait until there is nothing more to hear."""
        if not self._has_ended:
            self._end = self._end or asyncio.Event()
            await self._end.wait()

    async def changes(self) -> AsyncIterator[str]:
        """Yield the changes, each once however often it happened meanwhile, until the follower ends."""
        while True:
            await self._waiting.wait()
            self._waiting.clear()
            changed, self._changed = self._changed, {}
            for name in changed:
                yield name
            if self._has_ended:
                return


class Subscribers:
    """All open responses of the hub. Belongs to one event loop."""

    def __init__(self, quotas: Quotas | None = None) -> None:
        self._quotas = quotas or Quotas(Limits())
        self._quotas.hold(Quota.STREAMS, self.number_of)
        self._open: dict[UUID | None, set[Subscriber]] = {}
        self._wanted: dict[Topic, set[Subscriber]] = {}
        self._revoked: set[UUID | None] = set()
        self._closed = False

    @contextmanager
    def open(self, actor: Actor) -> Iterator[Subscriber]:
        """Open a follower while the context lasts, at the longest until the actor's token expires.

        Raises `TooMany` for a token that has too many open already: a faulty client does not use up the hub.
        """
        self._quotas.require_stream(actor, self.number_of(actor.token_id))
        follower = Subscriber(actor)
        self._open.setdefault(actor.token_id, set()).add(follower)
        expiry = self._end_at(follower, actor.expires_at) if actor.expires_at is not None else None
        if self._closed or actor.token_id in self._revoked:  # since the token was looked up
            follower.end()
        try:
            yield follower
        finally:
            if expiry is not None:
                expiry.cancel()
            self._forget(follower)

    def want(self, follower: Subscriber, topics: Iterable[Topic], name: str) -> None:
        """Tell the follower `name` from now on when one of the topics changes."""
        for topic in topics:
            follower.topics[topic] = name
            self._wanted.setdefault(topic, set()).add(follower)

    def are_wanting(self, topic: Topic) -> bool:
        """Tell whether the topic has a follower."""
        return topic in self._wanted

    def drop(self, follower: Subscriber, name: str) -> None:
        """Stop telling the follower that name."""
        for topic in [topic for topic, known_as in follower.topics.items() if known_as == name]:
            self._drop(follower, topic)

    def hear(self, activities: Iterable[Activity]) -> None:
        """Pass on activities: tell their followers, and end those of a revoked token."""
        for activity in activities:
            for topic in changed_by(activity) if self._wanted else ():
                for follower in self._wanted.get(topic, ()):
                    follower.tell(follower.topics[topic])
            if activity.kind in ENDINGS:
                self._revoke(UUID(str(activity.detail["token_id"])))
            if activity.kind == RENAMED:
                self._end_of_agent(activity)
            if activity.kind in MEMBERSHIPS:
                self._ask_again(UUID(str(activity.detail["user_id"])))

    def _end_of_agent(self, renamed: Activity) -> None:
        """End the followers by tokens that stood for the old name."""
        for followers in self._open.values():
            for follower in followers:
                bound = follower.actor.project_id, follower.actor.agent
                if bound == (renamed.project_id, renamed.detail["old"]):
                    follower.end()

    def close(self) -> None:
        """End every follower, and from now on every new one at once."""
        self._closed = True
        for followers in self._open.values():
            for follower in followers:
                follower.end()

    @property
    def are_closed(self) -> bool:
        """Tell whether the hub has closed all of them."""
        return self._closed

    def __len__(self) -> int:
        return sum(map(len, self._open.values()))

    def number_of(self, token_id: UUID | None) -> int:
        """Count the responses that the token holds open."""
        return len(self._open.get(token_id, ()))

    def _end_at(self, follower: Subscriber, expires_at: int) -> asyncio.TimerHandle:
        remaining = max(0.0, expires_at / 1000 - time.time())
        return asyncio.get_running_loop().call_later(remaining, follower.end)

    def _drop(self, follower: Subscriber, topic: Topic) -> None:
        del follower.topics[topic]
        interested = self._wanted[topic]
        interested.discard(follower)
        if not interested:
            del self._wanted[topic]

    def _forget(self, follower: Subscriber) -> None:
        for topic in list(follower.topics):
            self._drop(follower, topic)
        siblings = self._open[follower.actor.token_id]
        siblings.discard(follower)
        if not siblings:
            del self._open[follower.actor.token_id]

    def _ask_again(self, user_id: UUID) -> None:
        """End a person's open responses: when they reconnect, they see what they now may."""
        for followers in self._open.values():
            for follower in followers:
                if follower.actor.user_id == user_id and follower.actor.is_person:
                    follower.end()

    def _revoke(self, token_id: UUID) -> None:
        self._revoked.add(token_id)  # for those that are just opening
        for follower in self._open.get(token_id, ()):
            follower.end()
