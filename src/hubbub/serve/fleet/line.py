"""A machine's WebSocket as messages that come and go. What comes is only known to be a message."""

import asyncio
from datetime import timedelta

from starlette.types import Receive, Send

from hubbub.model import link
from hubbub.model.errors import Invalid

NORMAL = 1000  # the code by which a WebSocket is closed


class Lost(Exception):
    """There is no way to the machine any more."""


class Line:
    """One connection, from when it is wanted to when it is closed."""

    __slots__ = ("_assembly", "_receive", "_send", "_stall")

    def __init__(self, receive: Receive, send: Send, stall: timedelta) -> None:
        self._receive, self._send, self._stall = receive, send, stall
        self._assembly = link.Assembly()

    async def accept(self) -> None:
        """Let the machine in. Raises `Lost`."""
        await self._receive()
        await self._pass({"type": "websocket.accept"})

    async def hear(self) -> link.Message:
        """The next message. Raises `Invalid` for what is none, and `Lost`."""
        while True:
            came = await self._receive()
            if came["type"] == "websocket.disconnect":
                raise Lost
            piece = came.get("text")
            if piece is None:
                raise Invalid("a link speaks text")
            message = self._assembly.add(piece)
            if message is not None:
                return message

    async def say(self, text: str) -> None:
        """Send a message. Raises `Lost`, also if nothing of it is taken for too long."""
        for piece in link.pieces(text):
            await self._pass({"type": "websocket.send", "text": piece})

    async def bye(self, why: link.Parting, **more: object) -> None:
        """Say farewell, and close. Raises `Lost`."""
        await self.say(link.message(link.Kind.BYE, why=why, **more))
        await self._pass({"type": "websocket.close", "code": NORMAL})

    async def _pass(self, event: dict[str, object]) -> None:
        try:
            async with asyncio.timeout(self._stall.total_seconds()):
                await self._send(event)
        except (OSError, TimeoutError):
            raise Lost from None
