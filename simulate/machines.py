"""Machines: the real daemon with its journal, and the hub's real half of the link, over a line that breaks.

A line delivers frames in order, like TCP. They may be late, and arrive even after the machine has opened its next
line. They may be lost with the line, in one direction or both, and each side may take a while to notice. A proxy in
between may also send them twice. A killed machine writes nothing more; its journal holds what it had committed.
"""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Set
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

from websockets.exceptions import ConnectionClosedError

from hubbub.core.people import access
from hubbub.dialects.cmdop import DIALECT as CMDOP
from hubbub.model.errors import StoreUnavailable, Unauthorized
from hubbub.model.fleet.calls import NodeCall, NodeInfo, PerformCall, RefusalCode, ToolResult, refused
from hubbub.model.fleet.link_protocol import PATH
from hubbub.model.people.rights import SYSTEM
from hubbub.node.link import daemon, incoming_calls, websocket
from hubbub.node.link.journal import Journal
from hubbub.node.link.websocket import LinkRefused, SocketLost
from hubbub.node.local_node import LocalNode
from hubbub.processes.log import structlog
from hubbub.serve.fleet.link_endpoint import LinkEndpoint
from hubbub.store.tx import Tx
from simulate.virtual import TURN

ENDS = ("hub", "machine")
LATEST = 0.3  # seconds that a frame is under way, at most
DOUBLING = 60.0  # seconds during which each frame arrives twice
NOTICED = 29.0  # seconds until a side has noticed at the latest that its line is gone: pings tell it after 30
DENIED = "mend"  # the command that the gate of these machines denies


def _drop(_log: Any, _method: str, _event: Any) -> Any:
    raise structlog.DropEvent


SILENT = structlog.wrap_logger(None, processors=[_drop], wrapper_class=structlog.stdlib.BoundLogger)


class Wire:
    """One connection, with the frames that are under way."""

    def __init__(self, links: LinkEndpoint, actor: Any, source: random.Random) -> None:
        self._source, self._loop = source, asyncio.get_running_loop()
        self._to_hub: asyncio.Queue[dict[str, object]] = asyncio.Queue()
        self._to_machine: asyncio.Queue[str | None] = asyncio.Queue()
        self._is_cut = False
        self._lost: set[str] = set()  # the ends that receive nothing any more
        self._due = dict.fromkeys(ENDS, 0.0)
        self._doubles = dict.fromkeys(ENDS, 0.0)  # until when each end gets frames twice
        scope = {
            "type": "websocket", "path": PATH, "scheme": "ws", "headers": [(b"host", b"hub")],
            "state": {"actor": actor},
        }  # fmt: skip
        self._to_hub.put_nowait({"type": "websocket.connect"})
        self.hub = asyncio.create_task(
            links(cast(Any, scope), cast(Any, self._to_hub.get), cast(Any, self._told))
        )
        self.hub.add_done_callback(
            lambda _: self._arrive("machine", lambda: self._to_machine.put_nowait(None))
        )

    # ---- the machine's end, as its library has it ----------------------------------------------------------------

    async def send(self, piece: str) -> None:
        if self._is_cut:
            raise ConnectionClosedError(None, None)
        self._arrive("hub", lambda: self._to_hub.put_nowait({"type": "websocket.receive", "text": piece}))
        await asyncio.sleep(0)

    async def __aiter__(self) -> AsyncIterator[str]:
        while (piece := await self._to_machine.get()) is not None:
            yield piece
        raise ConnectionClosedError(None, None)

    async def close(self) -> None:
        self.cut(noticed=0)

    # ---- the way -------------------------------------------------------------------------------------------------

    async def _told(self, event: Any) -> None:
        """Send a frame from the hub."""
        if event["type"] == "websocket.send":
            self._arrive("machine", lambda: self._to_machine.put_nowait(event["text"]))
        elif event["type"] == "websocket.close":
            self._arrive("machine", lambda: self._to_machine.put_nowait(None))
        await asyncio.sleep(0)

    def _arrive(self, end: str, deliver: Callable[[], None]) -> None:
        """Deliver a frame later, in order, unless the line is cut before."""
        now = self._loop.time()
        for _ in range(2 if now < self._doubles[end] else 1):
            # Never at the same moment as the frame before: the loop would not keep their order.
            self._due[end] = max(self._due[end] + TURN, now + self._source.uniform(0, LATEST))
            self._loop.call_at(self._due[end], lambda: None if end in self._lost else deliver())

    def double(self, end: str) -> None:
        """Deliver each frame twice for a while."""
        self._doubles[end] = self._loop.time() + DOUBLING

    def hold_up(self, end: str) -> None:
        """Deliver nothing for a while; the frames arrive after it."""
        self._due[end] = max(self._due[end], self._loop.time()) + self._source.uniform(0, NOTICED)

    def lose(self, end: str) -> None:
        """Lose all frames to one end, while the other still receives them. Each side notices later."""
        if not self._is_cut:
            self._lost.add(end)
            self._loop.call_later(self._source.uniform(0, NOTICED), self.cut)

    def leave_behind(self) -> None:
        """Lose the line for the machine alone: its sent frames still arrive, perhaps after its next line is open."""
        if self._is_cut or "hub" in self._lost:  # the hub receives nothing then, and both sides notice later
            return
        self._is_cut = True
        self._lost.add("machine")
        self.hold_up("hub")
        self._to_machine.put_nowait(None)
        self._arrive("hub", lambda: self._to_hub.put_nowait({"type": "websocket.disconnect"}))

    def cut(self, noticed: float | None = None) -> None:
        """Lose the frames that are under way. Each side notices later."""
        if self._is_cut:
            return
        self._is_cut = True
        self._lost.update(ENDS)
        for tell in (
            lambda: self._to_machine.put_nowait(None),
            lambda: self._to_hub.put_nowait({"type": "websocket.disconnect"}),
        ):
            after = self._source.choice((0.0, 1.0, NOTICED)) if noticed is None else noticed
            self._loop.call_later(after, tell)


@dataclass(slots=True)
class Deeds:
    """The machines' actual work: how often each order was performed, counted by its mark.

    `forgotten` holds the orders of a lost journal that were done before the hub heard so: they may be done again.
    """

    source: random.Random
    done: Counter[str] = field(default_factory=Counter)
    forgotten: set[str] = field(default_factory=set)

    @property
    def known(self) -> Mapping[str, int]:
        """Count how often each order was performed; forgotten ones are left out."""
        return {mark: number for mark, number in self.done.items() if mark not in self.forgotten}

    async def perform(self, order: NodeCall, _act: PerformCall | None = None) -> ToolResult:
        command = str(order.arguments.get("command", ""))
        mark = command.partition(" ")[0]
        if DENIED in command:
            return refused(RefusalCode.DENIED, "the policy denies it")
        await asyncio.sleep(self.source.choice((0.0, 0.5, 5.0, 70.0)))
        self.done[mark] += 1
        await asyncio.sleep(self.source.choice((0.0, 0.5, 5.0)))
        return ToolResult({"stdout": mark, "exit_code": 0})


@contextmanager
def surrounded(machines: Mapping[str, "Machine"]) -> Iterator[None]:
    """Have daemons use our lines and our journals, and measure no load."""

    def journal(file: Path, limits: Any = None) -> Journal:
        opened = Journal(file, limits)
        next(each for each in machines.values() if each.folder == file.parent).keeps(opened)
        return opened

    with ExitStack() as patches:
        for place, name, value in (
            (websocket, "opened", lambda _url, token, _pace: machines[token].opened()),
            (daemon, "Journal", journal),
            (daemon, "measure", lambda: None),
            (daemon, "log", SILENT),
            (incoming_calls, "log", SILENT),
        ):
            patches.enter_context(patch.object(place, name, value))
        yield


class _Node:
    """A machine whose tools only count their calls."""

    def __init__(self, about: NodeInfo, deeds: Deeds) -> None:
        self.about, self.name, self.runtime = about, about.name, None
        self.perform = deeds.perform

    @asynccontextmanager
    async def alive(self) -> AsyncIterator[None]:
        yield


class Machine:
    """A machine that has joined: its key, its folder and, while it runs, its process."""

    def __init__(
        self,
        about: NodeInfo,
        token: str,
        folder: Path,
        deeds: Deeds,
        links: Callable[[], LinkEndpoint | None],
    ) -> None:
        self.about, self.token, self.folder, self.deeds = about, token, folder, deeds
        self._links = links
        self._process: asyncio.Task[None] | None = None
        self._journals: list[Journal] = []
        self.wire: Wire | None = None

    @property
    def is_up(self) -> bool:
        return self._process is not None and not self._process.done()

    def start(self) -> None:
        if not self.is_up:
            self._process = asyncio.create_task(self._serve())

    async def _serve(self) -> None:
        with suppress(LinkRefused):
            await daemon.serve(
                url="http://hub",
                token=self.token,
                project="red",
                machine=lambda _hub: cast(LocalNode, _Node(self.about, self.deeds)),
                data=self.folder,
                catalogue=CMDOP.catalogue(),
            )

    async def kill(self) -> None:
        """Kill the process: it writes and sends nothing more."""
        for journal in self._journals:
            journal.close()
        self._journals.clear()
        await self.stop()

    async def lose_journal(self, kept: Set[str]) -> None:
        """Kill the process and lose its disk; `kept` are the marks of the orders whose outcome the hub knows."""
        await self.kill()
        for file in self.folder.iterdir():
            file.unlink()
        self.deeds.forgotten |= self.deeds.done.keys() - kept

    async def stop(self) -> None:
        """End the process as its operator does."""
        if self.wire is not None and not self._journals:
            self.wire.cut()
        if self._process is not None:
            self._process.cancel()
            await asyncio.gather(self._process, return_exceptions=True)
        self._process = None

    def keeps(self, journal: Journal) -> None:
        self._journals.append(journal)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[websocket.HubSocket]:
        """Open a line to the hub that runs now."""
        links = self._links()
        await asyncio.sleep(self.deeds.source.uniform(0, LATEST))
        if links is None or links is not self._links():
            raise SocketLost("there is no hub")

        def known(tx: Tx) -> Any:
            return access.authenticate(tx, self.token)

        try:
            actor = await links.fleet.transactions.read(SYSTEM, known)
        except Unauthorized as error:
            raise LinkRefused(str(error)) from None
        except StoreUnavailable as error:
            raise SocketLost(str(error)) from None
        wire = self.wire = Wire(links, actor, self.deeds.source)
        standing = websocket.HubSocket(cast(Any, wire))
        writing = asyncio.create_task(standing.write())
        try:
            yield standing
        finally:
            writing.cancel()
            await asyncio.gather(writing, return_exceptions=True)
            await wire.close()
