"""Links that can be cut, held up, slowed and half closed: local ports that forward their traffic."""

import asyncio
import random
import threading
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

AT_ONCE = 1 << 16
SLOW = 64  # bytes at a time


class Links:
    """An event loop in a thread, and on it a link for each address."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._opened: list[Link] = []
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def open(self, *ports: int) -> "Link":
        """Open a link to whichever of these ports accepts a connection."""
        link = Link(self, ports)
        self.run(link.listen())
        self._opened.append(link)
        return link

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def close(self) -> None:
        self.run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        """End all links, with their traffic."""
        for each in self._opened:
            await each.end()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class Link:
    """One address, and all traffic through it."""

    def __init__(self, links: Links, ports: tuple[int, ...]) -> None:
        self._links, self._ports = links, ports
        self._writers: set[asyncio.StreamWriter] = set()
        self._open = asyncio.Event()
        self._open.set()
        self._slow = False
        self._server: asyncio.Server
        self.port = 0

    async def listen(self) -> None:
        self._server = await asyncio.start_server(self._pass_on, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def end(self) -> None:
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()

    def cut(self) -> None:
        """Reset all connections; new ones are accepted."""
        self._links.run(self._each(lambda writer: writer.transport.abort()))

    def half_close(self) -> None:
        """End one direction of each connection, which the other end may not notice."""
        self._links.run(self._each(lambda writer: writer.write_eof() if writer.can_write_eof() else None))

    def hold(self) -> None:
        """Forward nothing until `go_on`."""
        self._links.run(self._set(is_open=False, slow=False))

    def slow_down(self) -> None:
        self._links.run(self._set(is_open=True, slow=True))

    def go_on(self) -> None:
        self._links.run(self._set(is_open=True, slow=False))

    async def _set(self, *, is_open: bool, slow: bool) -> None:
        self._slow = slow
        (self._open.set if is_open else self._open.clear)()

    async def _each(self, do: Any) -> None:
        for writer in random.sample([*self._writers], len(self._writers)):
            with suppress(OSError, RuntimeError):
                do(writer)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for port in random.sample(self._ports, len(self._ports)):
            with suppress(OSError):
                there, other = await asyncio.open_connection("127.0.0.1", port)
                break
        else:
            writer.transport.abort()
            return
        both = {writer, other}
        self._writers |= both
        with suppress(
            asyncio.CancelledError
        ):  # the run is over: asyncio would print a trace for each connection
            await asyncio.gather(self._copy(reader, other), self._copy(there, writer))
        self._writers -= both

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, RuntimeError):
            while said := await reader.read(SLOW if self._slow else AT_ONCE):
                await self._open.wait()
                writer.write(said)
                await writer.drain()
                if self._slow:
                    await asyncio.sleep(0.01)
        writer.close()
