"""Open shells on other machines: their owners, their number, and their ends."""

import asyncio
import importlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol

from hubbub.model.fleet.calls import Principal, RefusalCode
from hubbub.model.programs import extras
from hubbub.node.ssh.destination import Destination
from hubbub.node.ssh.not_connected import NotConnected
from hubbub.node.ssh.terminal_buffer import TerminalBuffer

IDLE = timedelta(minutes=15)  # without input or reading, after which a shell is closed
MOST = 64
MOST_OF_ONE = 16


class ShellChannel(Protocol):
    """A shell over the network."""

    output: TerminalBuffer
    exit_code: int | None

    @property
    def is_over(self) -> bool: ...

    def write(self, data: bytes) -> bool: ...

    async def close(self) -> None: ...


@dataclass(slots=True, kw_only=True, eq=False)
class RemoteShell:
    """One of them."""

    shell_id: str
    who: Principal
    destination: Destination
    line: ShellChannel
    opened_at: datetime
    used_at: float = 0.0  # by the clock of the loop
    idle: asyncio.TimerHandle | None = field(default=None, repr=False)

    @property
    def status(self) -> str:
        return "ended" if self.line.is_over else "open"

    @property
    def idle_seconds(self) -> int:
        """Return the seconds since the last input or read."""
        return int(asyncio.get_running_loop().time() - self.used_at)


async def open_shell(wanted: Destination, home: Path, agent: str | None) -> ShellChannel:
    """Open a shell by SSH."""
    # The import takes a while, too long for the event loop.
    try:
        with extras.required():
            dialing = await asyncio.to_thread(importlib.import_module, "hubbub.node.ssh.connect")
    except extras.NotInstalled as error:
        raise NotConnected(RefusalCode.FAILED, str(error)) from None
    line: ShellChannel = await dialing.open_shell(wanted, home, agent)
    return line


class RemoteShells:
    """The shells of one machine. `close` them at the end."""

    def __init__(self, *, idle: timedelta = IDLE) -> None:
        self._idle = idle
        self._open: dict[str, RemoteShell] = {}
        self._awaited: list[Principal] = []  # owners of shells that are being opened
        self._closing: set[asyncio.Task[None]] = set()

    async def open(self, who: Principal, wanted: Destination, home: Path, agent: str | None) -> RemoteShell:
        """Open a new shell for `who`. Raises `NotConnected`."""
        await self._make_room(who)
        self._awaited.append(who)
        try:
            line = await open_shell(wanted, home, agent)
        finally:
            self._awaited.remove(who)
        shell_id = f"{wanted}/{secrets.token_hex(8)}"
        shell = RemoteShell(
            shell_id=shell_id, who=who, destination=wanted, line=line, opened_at=datetime.now(UTC)
        )
        self._open[shell_id] = shell
        self._use(shell)
        return shell

    def of(self, who: Principal) -> Sequence[RemoteShell]:
        """Return the shells of `who`, the oldest first."""
        return [each for each in self._open.values() if each.who == who]

    def find(self, who: Principal, shell_id: str) -> RemoteShell | None:
        """Return the shell of `who` with that id; nobody finds another's."""
        found = self._open.get(shell_id)
        return found if found is not None and found.who == who else None

    def send(self, shell: RemoteShell, typed: bytes) -> None:
        """Type a text. Raises `NotConnected` if that is impossible."""
        self._use(shell)
        if shell.line.is_over:
            raise NotConnected(RefusalCode.FAILED, f"the shell on {shell.destination} has ended")
        if not shell.line.write(typed):
            raise NotConnected(RefusalCode.FAILED, f"{shell.destination} does not take the earlier input")

    async def read(self, shell: RemoteShell) -> str:
        """Return the output since the last read, once nothing more comes for a moment."""
        self._use(shell)
        await shell.line.output.settled()
        return shell.line.output.take()

    async def end(self, shell: RemoteShell) -> bool:
        """Close it, and forget it; return whether it was open until then."""
        self._open.pop(shell.shell_id, None)
        if shell.idle is not None:
            shell.idle.cancel()
        was_open = not shell.line.is_over
        await shell.line.close()
        return was_open

    async def close(self) -> None:
        """End all of them."""
        await asyncio.gather(*map(self.end, tuple(self._open.values())), *self._closing)

    # ---- room, and time ----------------------------------------------------------------------------------------------

    async def _make_room(self, who: Principal) -> None:
        """Forget an ended one if there would be too many. Raises `NotConnected` if there is none."""
        theirs = len(self.of(who)) + self._awaited.count(who)
        if theirs >= MOST_OF_ONE:
            await self._forget_one_of(
                self.of(who), f"{MOST_OF_ONE} shells of yours are open; close one first"
            )
        elif len(self._open) + len(self._awaited) >= MOST:
            full = f"{MOST} shells are open on other machines, and there may be no more; try again later"
            await self._forget_one_of(tuple(self._open.values()), full)

    async def _forget_one_of(self, shells: Sequence[RemoteShell], otherwise: str) -> None:
        ended = next((each for each in shells if each.line.is_over), None)
        if ended is None:
            raise NotConnected(RefusalCode.FAILED, otherwise)
        await self.end(ended)

    def _use(self, shell: RemoteShell) -> None:
        loop = asyncio.get_running_loop()
        if shell.idle is not None:
            shell.idle.cancel()
        shell.used_at = loop.time()
        shell.idle = loop.call_later(self._idle.total_seconds(), self._idled, shell)

    def _idled(self, shell: RemoteShell) -> None:
        ending = asyncio.ensure_future(self._end_quietly(shell))
        self._closing.add(ending)
        ending.add_done_callback(self._closing.discard)

    async def _end_quietly(self, shell: RemoteShell) -> None:
        await self.end(shell)
