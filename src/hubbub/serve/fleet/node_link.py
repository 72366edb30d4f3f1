"""One machine's link, for anyone with a message for the machine: it is sent soon, in order, or never.

Nobody waits for a slow machine: messages are queued, and a link whose queue grows too long is closed.
"""

import asyncio
from collections import deque
from contextlib import suppress
from uuid import UUID

from hubbub.model.fleet.dispatches import Dispatch
from hubbub.model.fleet.link_protocol import CloseReason, MessageKind, call_json, message
from hubbub.model.fleet.nodes import Machine
from hubbub.model.records import Project
from hubbub.serve.fleet.node_socket import NodeSocket, SocketLost
from hubbub.serve.live.subscribers import Subscriber

SAID = "said"
MOST_QUEUED = 10_000  # messages
MOST_WORK = 256  # messages of one machine that are worked on at a time
LONGEST_QUEUE = 64 * 1024 * 1024  # characters; some of the longest messages


class NodeLink:
    """An established link, until its follower ends: by the machine, by its key, by the hub."""

    __slots__ = (
        "_follower",
        "_length",
        "_line",
        "_ordered",
        "_queue",
        "_why",
        "_work",
        "instance",
        "machine",
        "project",
        "url",
        "version",
    )

    def __init__(
        self,
        line: NodeSocket,
        follower: Subscriber,
        project: Project,
        machine: Machine,
        *,
        instance: str,
        url: str,
        version: int,
    ) -> None:
        self.project, self.machine, self.instance = project, machine, instance
        self.url = url  # the hub's address for the machine
        self.version = version  # of the protocol, that both ends speak
        self._line, self._follower = line, follower
        self._queue: deque[str] = deque()
        self._length = 0
        self._ordered: set[UUID] = set()
        self._work: set[asyncio.Task[None]] = set()
        self._why: CloseReason | None = None

    @property
    def has_ended(self) -> bool:
        return self._follower.has_ended

    async def ended(self) -> None:
        """Wait until the link has ended."""
        await self._follower.ended()

    def say(self, text: str) -> None:
        """Queue a message for the machine; if it is lost, the machine asks again when it comes back."""
        if self.has_ended:
            return
        self._queue.append(text)
        self._length += len(text)
        if len(self._queue) > MOST_QUEUED or self._length > LONGEST_QUEUE:
            self.part(CloseReason.BROKEN)
        self._follower.tell(SAID)

    def order(self, dispatch: Dispatch) -> None:
        """Send an order, once on this link. Raises `Invalid` for one that no link can carry."""
        if dispatch.id not in self._ordered:
            self._ordered.add(dispatch.id)
            self.say(message(MessageKind.ORDER, order=str(dispatch.id), **call_json(dispatch.order)))

    def cancel(self, dispatch_id: UUID) -> None:
        self.say(message(MessageKind.CANCEL, order=str(dispatch_id)))

    def keep(self, dispatch_id: UUID) -> None:
        """Tell the machine that an order's result is safe."""
        self._ordered.discard(dispatch_id)
        self.say(message(MessageKind.KEPT, order=str(dispatch_id)))

    def busy(self, work: "asyncio.Task[None]") -> None:
        """Count work on a message of the machine until it ends."""
        self._work.add(work)
        work.add_done_callback(self._work.discard)

    async def has_room(self) -> None:
        """Wait while too many of the machine's messages are being worked on, so that it waits as well."""
        while len(self._work) >= MOST_WORK:
            await asyncio.wait(self._work, return_when=asyncio.FIRST_COMPLETED)

    def part(self, why: CloseReason | None) -> None:
        """End the link; None if the machine is gone already."""
        if not self.has_ended:
            self._why = why
            self._follower.end()

    async def write(self, *, welcome: str) -> None:
        """Send the queued messages until the link ends, and the reason of its end."""
        with suppress(SocketLost):
            await self._line.say(welcome)
            self._follower.tell(SAID)  # for messages queued before the welcome
            async for _change in self._follower.changes():
                while self._queue and not self.has_ended:
                    text = self._queue.popleft()
                    self._length -= len(text)
                    await self._line.say(text)

    async def close(self, otherwise: CloseReason) -> None:
        """Send the farewell: the link's own reason, else that of the caller, who knows why its follower ended."""
        with suppress(SocketLost):
            await self._line.bye(self._why or otherwise)
