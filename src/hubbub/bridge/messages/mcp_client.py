"""The client on the other end of the bridge, for a companion with a pending call of it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from uuid import uuid4

from hubbub.bridge.messages import json_rpc
from hubbub.bridge.messages.json_rpc import Message

CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"


class McpClient:
    """One client. `write` takes a message to it."""

    def __init__(self, write: Callable[[Message], Awaitable[None]]) -> None:
        self._write = write
        self._capabilities: object = None
        self._asked: dict[object, asyncio.Future[Message]] = {}

    def met(self, hello: Message) -> None:
        """Note the client's `initialize`."""
        self._capabilities = json_rpc.parameters(hello).get("capabilities")

    def is_capable(self, of: str, call: Message) -> bool:
        """Tell whether the client declared a capability: with the call, or else at the beginning."""
        said = (
            json_rpc.meta(call).get(CAPABILITIES_KEY) if json_rpc.modern_version(call) else self._capabilities
        )
        return isinstance(said, Mapping) and isinstance(said.get(of), Mapping)

    async def tell(self, method: str, params: Mapping[str, object]) -> None:
        """Send it a notification."""
        await self._write({"jsonrpc": "2.0", "method": method, "params": dict(params)})

    async def ask(self, method: str, params: Mapping[str, object]) -> Mapping[str, Any]:
        """Return its result for a request of ours; an empty one, if it refuses."""
        request_id = f"hubbub-{uuid4()}"
        answered = self._asked[request_id] = asyncio.get_running_loop().create_future()
        try:
            await self._write({"jsonrpc": "2.0", "id": request_id, "method": method, "params": dict(params)})
            result = (await answered).get("result")
        finally:
            del self._asked[request_id]
        return result if isinstance(result, Mapping) else {}

    def hears(self, message: Message) -> bool:
        """Take the message if it answers a request of ours; return whether it does."""
        asked = self._asked.get(message.get("id")) if "method" not in message else None
        if asked is None:
            return False
        if not asked.done():
            asked.set_result(message)
        return True
