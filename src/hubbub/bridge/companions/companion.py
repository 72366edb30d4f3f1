"""What may stand beside the bridge: for a dialect of which a part happens on the client's machine."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

from hubbub.bridge.messages.json_rpc import Message
from hubbub.bridge.messages.mcp_client import McpClient

Hear = Callable[[Message], Awaitable[None]]


class Ask(Protocol):
    """Sends a request to the hub, and gives the answer.

    `hear` takes what the hub says before the answer. Who hears may wait long: the hub is told then, too, if the request
    is cancelled here.
    """

    async def __call__(self, message: Message, hear: Hear | None = None) -> Message: ...


class Companion(Protocol):
    """Sees each call of a tool before the hub does.

    It is asked anew for each call, and several calls may be under way at once. A call that the client cancels is
    cancelled here too, wherever it waits.
    """

    @property
    def headers(self) -> Mapping[str, str]:
        """What goes with each request to the hub, as of now."""

    def meet(self, client: McpClient) -> None:
        """Whose calls these are; they may be told and asked something while one is under way."""

    async def call(self, message: Message, ask: Ask) -> Message | None:
        """The answer to a `tools/call`; None leaves it to the hub, just as the client sent it.

        `ask` sends a request to the hub, best one that is made from `message`, and gives the answer: as long as the
        hub is away it waits, and what it sends again is done once. What the hub refuses, and that it stays away, are
        answers too, with an `error` in them. Whatever id an answer has, the client gets the one it waits for.
        """


class NoCompanion:
    """No companion: the hub answers everything. Some dialects have headers to go with each request."""

    def __init__(self, headers: Mapping[str, str] | None = None) -> None:
        self.headers = headers or {}

    def meet(self, client: McpClient) -> None:
        """There is nothing to say to it."""

    async def call(self, message: Message, ask: Ask) -> Message | None:
        return None
