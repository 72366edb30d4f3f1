"""One run of an agent's program: from its start by a keeper until nothing of it is left."""

import asyncio
import os
import shlex
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from hubbub.model.fleet.managed_agents import AgentCredentials
from hubbub.model.programs.launching import program
from hubbub.node.agents.agent_log import AgentLog
from hubbub.node.agents.agent_records import AgentRecord
from hubbub.node.commands.environment import trusted
from hubbub.processes.async_process import AsyncProcess, reading
from shellgate.shell import bash

CHUNK = 65_536
RATE = 1_000_000  # bytes of output a second that are read; a faster program has to wait
DRAIN = 5.0  # seconds for the rest of its output; escaped processes may hold it open

Words = Callable[[AgentRecord], Sequence[str]]


def worker_command(note: AgentRecord) -> Sequence[str]:
    """Return the program of an agent: `hubbub work`, which runs exactly the command that the gate has read."""
    run = f"exec {shlex.join(bash.argv(note.command))}"
    options = ("--run", run, "--concurrency", str(note.concurrency), "--show-output")
    return (*program(), "work", *options, "--", note.agent)


def environment_of(
    ours: Mapping[str, str], home: Path, credentials: AgentCredentials, project: str
) -> dict[str, str]:
    """Return the program's environment: the variables allowed to commands, and its way to the hub.

    `home` is the agent's folder in the machine's own.
    """
    hub = {
        "HUBBUB_URL": credentials.url,
        "HUBBUB_TOKEN": credentials.token,
        "HUBBUB_PROJECT": project,
        "HUBBUB_DATA": str(home),
    }
    return trusted(ours, str(Path.home())) | hub


class AgentProcess:
    """A running program. Its output goes into `output`."""

    def __init__(self, child: AsyncProcess, control: int, listening: "asyncio.Task[None]") -> None:
        self._child, self._listening = child, listening
        self._control: int | None = control

    @classmethod
    async def begin(
        cls, words: Sequence[str], environment: Mapping[str, str], at: int, output: AgentLog
    ) -> "AgentProcess":
        """Start a program in the folder of the descriptor `at`. Raises `OSError`."""
        theirs, control = os.pipe()
        heard, out = os.pipe()
        try:
            child = AsyncProcess(
                (*program("hubbub.node.agents.agent_monitor"), str(theirs), str(at), *words),
                env=environment,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                pass_fds=[theirs, at],
                is_guarded=False,  # the keeper ends with us, and all of it with the keeper
            )
        except BaseException:
            os.close(control)
            os.close(heard)
            raise
        finally:
            os.close(theirs)
            os.close(out)
        listening = asyncio.create_task(_read(os.fdopen(heard, "rb", buffering=0), output))
        return cls(child, control, listening)

    @property
    def pid(self) -> int:
        """Return the id of the process with which all of it ends."""
        return self._child.pid

    async def ended(self) -> int:
        """Wait until nothing of it is left and its output is read; return the exit code, above 128 after a signal."""
        code = await self._child.wait()
        self._child.signal(signal.SIGKILL)  # processes left over by a killed keeper
        _done, stuck = await asyncio.wait({self._listening}, timeout=DRAIN)
        for each in stuck:
            each.cancel()
        self.kill()
        return code if code >= 0 else 128 - code

    def ask(self) -> None:
        """Ask the program to end."""
        if self._control is not None:
            with suppress(BrokenPipeError):  # it has just ended
                os.write(self._control, b".")

    def kill(self) -> None:
        """End all of it at once."""
        control, self._control = self._control, None
        if control is not None:
            os.close(control)


async def _read(pipe: BinaryIO, output: AgentLog) -> None:
    async with reading(pipe) as coming:
        while chunk := await coming.read(CHUNK):
            await output.add(chunk)
            if len(chunk) == CHUNK:
                await asyncio.sleep(len(chunk) / RATE)
        await output.end_line()
