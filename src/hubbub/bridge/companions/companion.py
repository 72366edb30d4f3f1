"""Companions of the bridge: the part of a dialect on the client's machine."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

from hubbub.bridge.messages.json_rpc import Message
from hubbub.bridge.messages.mcp_client import McpClient

Hear = Callable[[Message], Awaitable[None]]


class Ask(Protocol):
    """Sends a request to the hub, and returns the answer.

    `hear` takes the hub's messages before the answer, and may wait long. If the request is cancelled here, the hub is
    told.
    """

    async def __call__(self, message: Message, hear: Hear | None = None) -> Message: ...


class Companion(Protocol):
    """Sees each tool call before the hub does.

    It is asked anew for each call, and several calls may be under way at once. A call that the client cancels is
    cancelled here too, wherever it waits.
    """

    @property
    def headers(self) -> Mapping[str, str]:
        """Return the present headers of each request to the hub."""

    def meet(self, client: McpClient) -> None:
        """Note the client of the calls, which may be sent messages and questions while one is under way."""

    async def call(self, message: Message, ask: Ask) -> Message | None:
        """Return the answer to a `tools/call`; None leaves it to the hub, just as the client sent it.

        `ask` sends a request to the hub, best one made from `message`, and returns the answer: it waits for an absent
        hub, and repeated requests are done once. A refusal of the hub, and its lasting absence, are answers too, with
        an `error` in them. Whatever id an answer has, the client gets the one it waits for.
        """


class NoCompanion:
    """No companion: the hub answers everything. Some dialects have headers to go with each request."""

    def __init__(self, headers: Mapping[str, str] | None = None) -> None:
        self.headers = headers or {}

    def meet(self, client: McpClient) -> None:
        """Do nothing: the client is not needed."""

    async def call(self, message: Message, ask: Ask) -> Message | None:
        return None
