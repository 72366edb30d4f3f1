"""Updates of followed resources, in both revisions of the protocol.

Clients up to 2025-11-25 subscribe address by address and hear of changes on their transport session's GET stream, at
any hub (`update_stream`); clients of 2026-07-28 open a stream for a set of addresses. Both have a follower
behind them: a client that reads slowly, or not at all, makes nobody wait.
"""

from functools import partial
from typing import Any

from mcp import types
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY

from hubbub.core.agents import connections
from hubbub.core.transaction import Transactions
from hubbub.serve.live import resources
from hubbub.serve.live.subscribers import Subscribers
from hubbub.serve.mcp.connection_cache import ConnectionCache
from hubbub.serve.mcp.request_context import Context, caller, resource_not_found, session_id
from hubbub.serve.mcp.update_stream import update_of
from hubbub.store.tx import Tx

MOST = 100  # resources that one stream, or one transport session, may follow


class ResourceUpdates:
    """The handlers of subscriptions, for any dialect."""

    def __init__(self, transactions: Transactions, followers: Subscribers, known: ConnectionCache) -> None:
        self.transactions = transactions
        self.followers = followers
        self.known = known

    async def subscribe(self, ctx: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        """Subscribe this transport session to the resource, up to 2025-11-25."""
        uri = str(params.uri)
        name = session_id(ctx)
        if name is None:
            raise MCPError(types.INVALID_REQUEST, "subscribing needs a transport session: initialize first")
        with resource_not_found(ctx, uri):
            topics = await self.transactions.read(caller(ctx), partial(resources.topics, address=uri))
        await self.known.write(partial(_follow, name, uri))
        self.known.tell(name, update_of(uri, topics, self.known.hub))
        return types.EmptyResult()

    async def unsubscribe(self, ctx: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        """End a subscription, up to 2025-11-25. Nothing happens if there was none."""
        name, uri = session_id(ctx), str(params.uri)
        if name is not None:
            await self.known.write(partial(connections.unfollow, connection_id=name, address=uri))
            self.known.tell(name, {"drop": uri})
        return types.EmptyResult()

    async def listen(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Stream updates as this request's response, from 2026-07-28, until the client leaves or the follower ends."""
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


def _check_number(followed: int) -> None:
    if followed > MOST:
        raise MCPError(types.INVALID_PARAMS, f"at most {MOST} resources can be followed at once")


def _follow(name: str, address: str, tx: Tx) -> None:
    _check_number(len({*connections.followed(tx, name), address}))
    connections.follow(tx, name, address)


def _acknowledgement(uris: list[str], meta: dict[str, Any]) -> types.SubscriptionsAcknowledgedNotification:
    """List the resources that the stream will report. The lists of tools, prompts, resources never change."""
    honoured = types.SubscriptionFilter(resource_subscriptions=uris or None)
    params = types.SubscriptionsAcknowledgedNotificationParams(notifications=honoured, _meta=meta)
    return types.SubscriptionsAcknowledgedNotification(params=params)
