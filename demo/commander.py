"""The commander: an agent that is nothing but an MCP client, made with the official Python client.

It does what it is told on standard input, a tool call a line, and says on standard output, a line each, what the hub
answered and what came into its inbox, which it follows as a resource, and reads whenever that has changed. It is a
process of its own, `python -m demo.commander`; who talks to it is `demo.orders`.
"""

import asyncio
import json
import logging
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import anyio
import httpx2
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import SubscriptionLost
from mcp.types import CONNECTION_CLOSED, RequestParamsMeta

NAME = "commander"
INBOX = f"hubbub://inbox/{NAME}"
KEY = "hubbub/idempotency-key"
PAUSE = 0.5  # seconds before another try, while the hub cannot be reached
WAITING_ORDERS = 100


class Commander:
    """The commander's knowledge, which outlives its connection."""

    def __init__(self, orders: MemoryObjectReceiveStream[Any]) -> None:
        self.orders = orders
        self.order: Any = None  # the one it is at
        self.told: set[str] = set()  # letters; one may come twice, when its acknowledgement got lost
        self.is_dismissed = False

    async def serve(self) -> None:
        """Take orders until there are no more, through as many connections as it takes."""
        while not self.is_dismissed:
            try:
                async with connection() as hub, anyio.create_task_group() as together:
                    await self._come(hub)
                    together.start_soon(self._follow_mail, hub)
                    await self._take_orders(hub)
                    together.cancel_scope.cancel()
            except* (httpx2.TransportError, SubscriptionLost):
                await anyio.sleep(PAUSE)
            except* MCPError as refused:
                if refused.subgroup(
                    lambda error: getattr(error, "code", None) not in (None, CONNECTION_CLOSED)
                ):
                    raise
                await anyio.sleep(PAUSE)

    async def _come(self, hub: Client) -> None:
        tools = (await hub.list_tools()).tools
        await call(hub, "report_status", {"resume_id": "demo", "alias": NAME, "status": "idle"})
        say(here={"revision": hub.protocol_version, "tools": len(tools)})

    async def _take_orders(self, hub: Client) -> None:
        """Call the tools that are ordered; a call whose answer got lost is made again, and takes effect once."""
        while True:
            if self.order is None:
                try:
                    self.order = await self.orders.receive()
                except anyio.EndOfStream:
                    self.is_dismissed = True
                    return
            say(answer=await call(hub, self.order["tool"], self.order["arguments"], key=self.order["key"]))
            self.order = None

    async def _follow_mail(self, hub: Client) -> None:
        """Read the inbox now, and whenever it changes."""
        async with hub.listen(resource_subscriptions=[INBOX]) as changes:
            await self._read_mail(hub)
            async for _change in changes:
                await self._read_mail(hub)
        raise SubscriptionLost("the hub is closing")

    async def _read_mail(self, hub: Client) -> None:
        mail = await call(hub, "get_inbox", {"alias": NAME, "limit": 100})
        for letter in mail["messages"]:
            if letter["id"] not in self.told:
                self.told.add(letter["id"])
                say(letter=letter)
            await call(hub, "ack_inbox", {"alias": NAME, "message_id": letter["id"]})


@asynccontextmanager
async def connection() -> AsyncIterator[Client]:
    """Connect to the hub of the environment as an MCP client."""
    headers = {"Authorization": f"Bearer {os.environ['HUBBUB_TOKEN']}"}
    timeout = httpx2.Timeout(30, read=None)  # a stream may be silent for long
    address = f"{os.environ['HUBBUB_URL']}/mcp/commhub"
    async with (
        httpx2.AsyncClient(headers=headers, timeout=timeout, trust_env=False) as http,
        Client(streamable_http_client(address, http_client=http)) as hub,
    ):
        yield hub


async def call(hub: Client, tool: str, arguments: dict[str, Any], *, key: str | None = None) -> Any:
    """Return the answer of a tool."""
    meta = cast("RequestParamsMeta", {KEY: key}) if key else None
    return (await hub.call_tool(tool, arguments, meta=meta)).structured_content


async def hear(orders: MemoryObjectSendStream[Any]) -> None:
    """Pass on the lines of standard input."""
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    async with orders:
        async for line in lines:
            await orders.send(json.loads(line))


def say(**line: object) -> None:
    """Report to the process that gives the orders."""
    print(json.dumps(line), flush=True)


async def main() -> None:
    logging.disable(logging.ERROR)  # the client logs each lost connection with a trace
    given, taken = anyio.create_memory_object_stream[Any](WAITING_ORDERS)
    async with anyio.create_task_group() as together:
        together.start_soon(hear, given)
        await Commander(taken).serve()


if __name__ == "__main__":
    anyio.run(main)
