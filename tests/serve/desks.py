"""A machine's way to its hub: the desk in the hub's own process, and the one of a machine elsewhere, over REST."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Protocol

from hubbub.core import approvals
from hubbub.core.transaction import Transactions
from hubbub.model.approvals import Approval, ApprovalStatus
from hubbub.model.orders import Principal, Question
from hubbub.node.hub import Hub as NodeHub
from hubbub.node.remote_hub import RemoteHub
from hubbub.serve.desk import Desk
from hubbub.serve.feed import Feed
from hubbub.serve.followers import Followers
from hubbub.serve.news import LiveNews
from tests.serve.hub import Hub

DIGEST = "0123456789abcdef" * 4
ANN = Principal(project="default", name="ann")


class Open(Protocol):
    """Opens one kind of way, for as long as the context lasts."""

    def __call__(self, hub: Hub) -> Any: ...


@asynccontextmanager
async def at_the_desk(hub: Hub) -> AsyncIterator[NodeHub]:
    feed, followers = Feed(hub.store), Followers()
    feed.listen(followers.hear)
    await feed.start()
    running = asyncio.create_task(feed.run())
    try:
        yield Desk(Transactions(hub.store), LiveNews(feed, followers), "default")
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


@asynccontextmanager
async def from_afar(hub: Hub) -> AsyncIterator[NodeHub]:
    remote = RemoteHub(lambda: hub.url, hub.token(), "box")
    try:
        yield remote
    finally:
        await remote.close()


def question(**more: Any) -> Question:
    told: dict[str, Any] = {
        "who": ANN,
        "node": "box",
        "tool": "execute_command",
        "arguments": {"command": "git push\0"},
        "folder": "/srv/app",
        "shown": "git push",
        "reason": "it changes what others have",
        "digest": DIGEST,
    }
    return Question(**{**told, **more})


async def answer(hub: Hub, approval_id: str, *, approved: bool) -> Approval:
    """What a person says."""
    return await hub.store.write(hub.owner, lambda tx: approvals.answer(tx, approval_id, approved=approved))


async def asked(hub: Hub) -> Approval:
    """The question that waits, as soon as there is one."""
    while True:
        found = await hub.store.read(
            hub.owner, lambda tx: approvals.search(tx, [hub.project.id], status=ApprovalStatus.PENDING)
        )
        if found:
            return found[0]
        await asyncio.sleep(0)  # the turn of others: the store is read at once


async def kept(hub: Hub, approval_id: str) -> Approval:
    """The approval as the hub has it."""
    return await hub.store.read(hub.owner, lambda tx: approvals.find(tx, [hub.project.id], approval_id))
