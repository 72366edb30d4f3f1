"""Running a command from the machine's own process: its forker is asked for a keeper, which then answers."""

import asyncio
import atexit
import json
import os
import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from hubbub.model.programs.launching import program
from hubbub.node.commands import environment
from hubbub.node.commands.command_monitor import INTO_THE_BACKGROUND, TAKEN
from hubbub.node.commands.command_spec import CommandSpec
from hubbub.node.commands.fork_server import ORDERS

ATTEMPTS = 2  # to find a keeper: the first may die with a killed forker


class CommandLost(Exception):
    """The keeper of a command was killed, and the command with it."""


class CommandRunner:
    """The forker of this process, started when it is first needed, and again if it was killed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._orders: socket.socket | None = None
        self._pid = 0

    async def run(
        self, work: CommandSpec, cwd: int, *, patience: timedelta | None = None
    ) -> Mapping[str, Any]:
        """Return a keeper's answer: how the command has ended, or that it runs in the background.

        It goes there once `patience` is over. A cancelled call ends the command. Raises `CommandLost`.
        """
        for _ in range(ATTEMPTS):
            told = await self._order(work, cwd, patience)
            if told is not None:
                return dict(json.loads(told))
        raise CommandLost

    async def _order(self, work: CommandSpec, cwd: int, patience: timedelta | None) -> bytes | None:
        """Send an order to a keeper and return its answer; None if no keeper took it, so that nothing has begun."""
        ours, theirs = socket.socketpair()
        with theirs:
            self._ask_for_keeper(theirs, cwd)
        reader, writer = await asyncio.open_connection(sock=ours)
        try:
            work.write_to(writer)
            if not await _is_taken(reader):
                return None
            return await self._answer(reader, writer, patience)
        finally:
            writer.transport.abort()

    async def _answer(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, patience: timedelta | None
    ) -> bytes:
        answer = asyncio.ensure_future(reader.read())
        try:
            seconds = None if patience is None else patience.total_seconds()
            await asyncio.wait({answer}, timeout=seconds)
            if not answer.done():
                writer.write(INTO_THE_BACKGROUND)
            told = await answer
        except ConnectionError:
            raise CommandLost from None
        finally:
            answer.cancel()
        if not told:
            raise CommandLost
        return told

    def close(self) -> None:
        """Release the forker, which ends with its last keeper."""
        with self._lock:
            orders, self._orders = self._orders, None
        if orders is not None:
            orders.close()

    def _ask_for_keeper(self, line: socket.socket, cwd: int) -> None:
        with self._lock:
            if self._orders is not None:
                try:
                    socket.send_fds(self._orders, [b"."], [line.fileno(), cwd])
                except ConnectionError:  # it was killed
                    self._orders.close()
                    with suppress(ChildProcessError):
                        os.waitpid(self._pid, 0)
                else:
                    return
            self._orders = self._start()
            socket.send_fds(self._orders, [b"."], [line.fileno(), cwd])

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        nowhere = [(os.POSIX_SPAWN_OPEN, each, os.devnull, os.O_RDWR, 0) for each in range(3)]
        words = program("hubbub.node.commands.fork_server")
        with theirs:
            self._pid = os.posix_spawn(
                words[0],
                words,
                environment.passed_on(os.environ, str(Path.home())),
                file_actions=[*nowhere, (os.POSIX_SPAWN_DUP2, theirs.fileno(), ORDERS)],
                setsigmask=(),
            )
        return ours


async def _is_taken(reader: asyncio.StreamReader) -> bool:
    """Tell whether a keeper took the order. A killed forker takes its waiting keeper with it."""
    try:
        return await reader.readexactly(len(TAKEN)) == TAKEN
    except (ConnectionError, asyncio.IncompleteReadError):
        return False


RUNNER = CommandRunner()  # one for the process
atexit.register(RUNNER.close)
