"""Hooks: the shell commands that a team runs before an agent takes a task, and before its work counts as done.

Each command is a process group of its own at the root of the project. Nothing of it outlives the command: the group
is killed when its shell has ended, took too long, or nobody waits for it any more.
"""

import asyncio
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Protocol, Self

from hubbub.model.redaction import names_secret
from hubbub.processes.async_process import AsyncProcess
from hubbub.processes.output_ends import OutputEnds
from hubbub.workspace.team_errors import shown

BEFORE_LIMIT = timedelta(seconds=30)  # for each command
AFTER_LIMIT = timedelta(seconds=120)
GRACE = timedelta(seconds=2)  # between asking a command to end and killing it

KEPT = 2_000  # characters of a command's output
KEPT_BYTES = 4 * KEPT  # a character of UTF-8 has at most four bytes
CHUNK = 65_536
DRAIN = 64  # chunks: more than a pipe holds

DATABASE = "HUBBUB_DATABASE"  # an address that may hold a password


@dataclass(frozen=True, slots=True)
class HookFailure:
    """A command that failed: a short reason, and the beginning of its output."""

    command: str
    reason: str
    output: str

    def sentence(self, hook: str) -> str:
        told = f"{hook} hook failed: {self.reason}, {shown(self.command)}"
        return f"{told}: {self.output}" if self.output else told


Judge = Callable[
    [str, Path], str | None
]  # why a command must not run in a folder, as a clause; None if it may


class HookRun(Protocol):
    """Runs one kind of hook; the result is the sentence about the command that failed, None if none did."""

    async def __call__(
        self,
        commands: Sequence[str],
        *,
        root: Path,
        agent_id: str,
        task_id: str,
        run_name: str,
        judge: Judge,
    ) -> str | None: ...


async def run(
    commands: Sequence[str],
    *,
    root: Path,
    agent_id: str,
    task_id: str,
    run_name: str,
    limit: timedelta,
    judge: Judge,
) -> HookFailure | None:
    """Run the commands one after the other in the folder `root`, each for at most `limit`; return the first failure.

    A command that `judge` objects to is not run, and counts as failed.
    They get our environment without secrets, and RELAY_AGENT_ID, RELAY_TASK_ID and RELAY_SESSION_ID.
    """
    about = {"RELAY_AGENT_ID": agent_id, "RELAY_TASK_ID": task_id, "RELAY_SESSION_ID": run_name}
    environment = {name: value for name, value in os.environ.items() if not _is_secret(name)} | about
    for command in commands:
        with _Output() as output:
            reason = await asyncio.to_thread(judge, command, root)
            reason = reason or await _failure(command, root, environment, output, limit)
        if reason is not None:
            return HookFailure(command, reason, output.text)
    return None


def _is_secret(variable: str) -> bool:
    return variable == DATABASE or names_secret(variable)


def _kind(name: str, limit: timedelta) -> HookRun:
    async def run_all(
        commands: Sequence[str],
        *,
        root: Path,
        agent_id: str,
        task_id: str,
        run_name: str,
        judge: Judge,
    ) -> str | None:
        failure = await run(
            commands,
            root=root,
            agent_id=agent_id,
            task_id=task_id,
            run_name=run_name,
            limit=limit,
            judge=judge,
        )
        return failure.sentence(name) if failure else None

    return run_all


before_task = _kind("before_task", BEFORE_LIMIT)
after_task = _kind("after_task", AFTER_LIMIT)


async def _failure(
    command: str, root: Path, environment: Mapping[str, str], output: "_Output", limit: timedelta
) -> str | None:
    """Run one command; return why it failed, None if it did not."""
    try:
        child = AsyncProcess(
            ["/bin/sh", "-c", command],
            cwd=root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output.writer,
            stderr=output.writer,
        )
    except OSError as error:
        return f"cannot be started: {error.strerror}"
    try:
        is_in_time = await _ends(child, limit)
        if not is_in_time:
            child.signal(signal.SIGTERM)
            await _ends(child, GRACE)
    finally:
        child.signal(signal.SIGKILL)
    code = await child.wait()
    if not is_in_time:
        return f"took longer than {limit.total_seconds():g} s"
    if code < 0:
        return f"killed by signal {-code}"
    return f"exit code {code}" if code else None


async def _ends(child: AsyncProcess, limit: timedelta) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(limit.total_seconds()):
            await child.wait()
    return child.code is not None


class _Output:
    """A command's output, in the order of its arrival: only the beginning is kept, but all of it is read."""

    def __init__(self) -> None:
        self._reader, self.writer = os.pipe()
        self._kept = OutputEnds(KEPT_BYTES, 0)

    def __enter__(self) -> Self:
        os.set_blocking(self._reader, False)
        asyncio.get_running_loop().add_reader(self._reader, self._take)
        return self

    def __exit__(self, *error: object) -> None:
        """Read the rest of the pipe, and no more: another process may hold it, and go on writing."""
        asyncio.get_running_loop().remove_reader(self._reader)
        os.close(self.writer)
        for _ in range(DRAIN):
            if not self._take():
                break
        os.close(self._reader)

    def _take(self) -> bool:
        """Read a chunk; return whether there was one."""
        try:
            chunk = os.read(self._reader, CHUNK)
        except BlockingIOError:
            return False
        self._kept.feed(chunk)
        return bool(chunk)

    @property
    def text(self) -> str:
        """Return the beginning, with a note if it was cut; invalid UTF-8 and NUL are replaced."""
        text = self._kept.beginning().replace("\0", "\ufffd").strip()
        if len(text) <= KEPT and not self._kept.missing:
            return text
        return f"{text[:KEPT]}\n[cut at {KEPT:,} characters]"
