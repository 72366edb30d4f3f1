"""A shell on another machine over the network: a terminal, and the connections beneath it."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta

from asyncssh import SSHClientChannel, SSHClientConnection, SSHClientSession

from hubbub.node.ssh.terminal_buffer import MOST, TerminalBuffer

LAST_WORDS = timedelta(seconds=2)  # for a connection to end properly
REST = timedelta(milliseconds=250)  # for a host that prints more than is kept


class SshChannel(SSHClientSession[bytes]):
    """One shell."""

    def __init__(self) -> None:
        self.output = TerminalBuffer()
        self.exit_code: int | None = None
        self._connections: Sequence[SSHClientConnection] = ()
        self._heard = 0  # bytes since the last rest

    def over(self, connections: Sequence[SSHClientConnection]) -> "SshChannel":
        """Return the channel with the connections that end with it: the nearest first."""
        self._connections = connections
        return self

    @property
    def is_over(self) -> bool:
        return self.output.over.is_set()

    def write(self, data: bytes) -> bool:
        """Type data; False if the other side has not taken the earlier input."""
        if self._channel.get_write_buffer_size() > MOST:
            return False
        self._channel.write(data)
        return True

    async def close(self) -> None:
        """End the shell, and its connections."""
        for each in reversed(self._connections):
            await _closed(each)
        self.output.end()

    # ---- callbacks of the connection ---------------------------------------------------------------------------------

    def connection_made(self, chan: SSHClientChannel[bytes]) -> None:
        self._channel = chan

    def data_received(self, data: bytes, datatype: int | None) -> None:
        self.output.feed(data)
        self._heard += len(data)
        if self._heard > MOST:
            self._heard = 0
            self._channel.pause_reading()
            asyncio.get_running_loop().call_later(REST.total_seconds(), self._channel.resume_reading)

    def exit_status_received(self, status: int) -> None:
        self.exit_code = status

    def connection_lost(self, exc: Exception | None) -> None:
        self.output.end()
        for each in reversed(self._connections):
            each.close()


async def _closed(connection: SSHClientConnection) -> None:
    """End a connection, properly or else at once."""
    connection.close()
    with suppress(TimeoutError):
        async with asyncio.timeout(LAST_WORDS.total_seconds()):
            await connection.wait_closed()
            return
    connection.abort()
