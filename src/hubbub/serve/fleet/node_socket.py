"""A machine's WebSocket as messages; only their form is checked."""

import asyncio
from datetime import timedelta

from starlette.types import Receive, Send

from hubbub.model.errors import Invalid
from hubbub.model.fleet import link_protocol

NORMAL = 1000  # the code by which a WebSocket is closed


class SocketLost(Exception):
    """The connection to the machine is lost."""


class NodeSocket:
    """One connection, from the request to its end."""

    __slots__ = ("_assembly", "_receive", "_send", "_stall")

    def __init__(self, receive: Receive, send: Send, stall: timedelta) -> None:
        self._receive, self._send, self._stall = receive, send, stall
        self._assembly = link_protocol.MessageAssembler()

    async def accept(self) -> None:
        """Accept the connection. Raises `SocketLost`."""
        await self._receive()
        await self._pass({"type": "websocket.accept"})

    async def hear(self) -> link_protocol.Message:
        """Receive the next message. Raises `Invalid` for a malformed one, and `SocketLost`."""
        while True:
            came = await self._receive()
            if came["type"] == "websocket.disconnect":
                raise SocketLost
            piece = came.get("text")
            if piece is None:
                raise Invalid("a link takes text messages only")
            message = self._assembly.add(piece)
            if message is not None:
                return message

    async def say(self, text: str) -> None:
        """Send a message. Raises `SocketLost`, also if the machine reads nothing for too long."""
        for piece in link_protocol.pieces(text):
            await self._pass({"type": "websocket.send", "text": piece})

    async def bye(self, why: link_protocol.CloseReason, **more: object) -> None:
        """Send a farewell, and close. Raises `SocketLost`."""
        await self.say(link_protocol.message(link_protocol.MessageKind.BYE, why=why, **more))
        await self._pass({"type": "websocket.close", "code": NORMAL})

    async def _pass(self, event: dict[str, object]) -> None:
        try:
            async with asyncio.timeout(self._stall.total_seconds()):
                await self._send(event)
        except (OSError, TimeoutError):
            raise SocketLost from None
