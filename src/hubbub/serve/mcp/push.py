"""Telling followers that a resource changed, in both revisions of the protocol.

Clients up to 2025-11-25 subscribe address by address and hear of it on their transport session's GET stream; clients
of 2026-07-28 open a stream of its own for a set of addresses. Either way a follower stands behind it, with a task of
its own that writes: whoever reads slowly, or not at all, makes nobody wait.
"""

import asyncio
from functools import partial
from typing import Any

from mcp import types
from mcp.server.connection import Connection
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY

from hubbub.core.transaction import Transactions
from hubbub.model.rights import Actor
from hubbub.serve import resources
from hubbub.serve.followers import Follower, Followers
from hubbub.serve.mcp.context import Context, caller, connection, resource_not_found

FOLLOWER = "hubbub/follower"  # where a connection keeps its follower
MOST = 100  # resources that one stream, or one transport session, may follow


class Push:
    """The handlers of subscriptions, of whatever dialect."""

    def __init__(self, transactions: Transactions, followers: Followers) -> None:
        self.transactions = transactions
        self.followers = followers

    async def subscribe(self, ctx: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        """Up to 2025-11-25: tell this transport session when the resource changes."""
        uri = str(params.uri)
        line = connection(ctx)
        if not line.has_standalone_channel:
            raise MCPError(types.INVALID_REQUEST, "subscribing needs a transport session: initialize first")
        actor = caller(ctx)
        with resource_not_found(ctx, uri):
            topics = await self.transactions.read(actor, partial(resources.topics, address=uri))
        follower = self._follower(line, actor, ctx.session)
        _check_number(len({*follower.topics.values(), uri}))
        self.followers.want(follower, topics, uri)
        return types.EmptyResult()

    async def unsubscribe(self, ctx: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        """Up to 2025-11-25: tell no more of it. Nothing happens if there was no subscription."""
        follower = connection(ctx).state.get(FOLLOWER)
        if isinstance(follower, Follower):
            self.followers.drop(follower, str(params.uri))
        return types.EmptyResult()

    async def listen(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """From 2026-07-28: this request's response is the stream, until the client leaves or the follower ends."""
        actor = caller(ctx)
        meta: dict[str, Any] = {SUBSCRIPTION_ID_META_KEY: ctx.request_id}
        uris = list(dict.fromkeys(params.notifications.resource_subscriptions or ()))
        _check_number(len(uris))
        with self.followers.open(actor) as follower:
            for uri in uris:
                with resource_not_found(ctx, uri):
                    topics = await self.transactions.read(actor, partial(resources.topics, address=uri))
                self.followers.want(follower, topics, uri)
            await self._say(ctx, _acknowledgement(uris, meta))
            async for uri in follower.changes():
                update = types.ResourceUpdatedNotificationParams(uri=uri, _meta=meta)
                await self._say(ctx, types.ResourceUpdatedNotification(params=update))
        return types.SubscriptionsListenResult(_meta=meta)

    async def _say(self, ctx: Context, notification: types.ServerNotification) -> None:
        await ctx.session.send_notification(notification, related_request_id=ctx.request_id)

    def _follower(self, line: Connection, actor: Actor, session: ServerSession) -> Follower:
        """The transport session's follower; with the first subscription it begins, and with the session it ends."""
        known = line.state.get(FOLLOWER)
        if isinstance(known, Follower):
            return known
        follower = line.exit_stack.enter_context(self.followers.open(actor))
        line.state[FOLLOWER] = follower
        line.exit_stack.callback(asyncio.create_task(_tell(follower, session)).cancel)
        return follower


def _check_number(followed: int) -> None:
    if followed > MOST:
        raise MCPError(types.INVALID_PARAMS, f"at most {MOST} resources can be followed at once")


async def _tell(follower: Follower, session: ServerSession) -> None:
    async for uri in follower.changes():
        await session.send_resource_updated(uri)


def _acknowledgement(uris: list[str], meta: dict[str, Any]) -> types.SubscriptionsAcknowledgedNotification:
    """What the stream will tell of: the resources asked for. The lists of tools, prompts, resources never change."""
    honoured = types.SubscriptionFilter(resource_subscriptions=uris or None)
    params = types.SubscriptionsAcknowledgedNotificationParams(notifications=honoured, _meta=meta)
    return types.SubscriptionsAcknowledgedNotification(params=params)
