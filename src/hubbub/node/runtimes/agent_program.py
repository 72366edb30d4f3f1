"""Running an agent's program: in a process group of its own, read while it works, and ended for good."""

import asyncio
import codecs
import os
import signal
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO, Protocol

from hubbub.model.fleet import call_chain
from hubbub.node.commands.environment import trusted
from hubbub.node.runtimes.conversation import OnText, RuntimeFailed, ToolAccess
from hubbub.processes.async_process import AsyncProcess, reading
from hubbub.processes.output_ends import OutputEnds

MOST = 1024 * 1024  # bytes of an answer; the rest is dropped
CUT = "\n[the answer was longer and is cut here]"
CHUNK = 65_536
TAIL = 2_000  # bytes of standard error that are kept to explain a failure
GRACE = timedelta(seconds=2)  # between asking it to end and ending it
TOKEN = "HUBBUB_TOKEN"  # in the environment: its token for the hub
DRAIN = timedelta(seconds=5)  # for the rest of its output once it has ended


class ChunkSink(Protocol):
    """Takes a program's output, as it comes."""

    async def add(self, chunk: bytes) -> None: ...


class BoundedText:
    """A program's output up to a limit: the rest is read and dropped, so that the program can go on."""

    def __init__(self, hear: OnText | None = None) -> None:
        self._room, self._is_cut, self._hear = MOST, False, hear
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pieces: list[str] = []

    async def add(self, chunk: bytes) -> None:
        piece = self._decoder.decode(chunk[: self._room])
        if len(chunk) > self._room and not self._is_cut:
            self._is_cut = True
            piece += CUT
        self._room = max(0, self._room - len(chunk))
        if piece:
            self._pieces.append(piece)
            if self._hear is not None:
                await self._hear(piece)

    def __str__(self) -> str:
        return "".join([*self._pieces, self._decoder.decode(b"", final=True)]).strip()


class StderrTail:
    """The end of a program's standard error."""

    def __init__(self) -> None:
        self._kept = OutputEnds(0, TAIL)

    async def add(self, chunk: bytes) -> None:
        self._kept.feed(chunk)

    def __str__(self) -> str:
        return self._kept.last(TAIL).strip()


@dataclass(frozen=True, slots=True)
class ProgramExit:
    """The end of a program: its exit code, negative after a signal, and its last words on standard error."""

    code: int
    complaint: str

    def why(self, called: str) -> str:
        """Return why it failed, in one sentence; `called` is its name."""
        ended = f"was killed by signal {-self.code}" if self.code < 0 else f"ended with exit code {self.code}"
        said = f": {self.complaint}" if self.complaint else " and said nothing on standard error"
        return f"{called} {ended}{said}"


async def run_agent(
    words: Sequence[str],
    given: str,
    output: ChunkSink,
    hands: ToolAccess,
    *,
    key: str | None,
    patience: timedelta,
    called: str,
) -> ProgramExit:
    """Run a program as the agent with these hands, with `given` on its standard input, until it ends.

    `key` is the environment variable with its own key. Raises `RuntimeFailed` if it cannot be started, or
    takes longer than `patience` and is stopped.
    """
    complaint = StderrTail()
    try:
        async with asyncio.timeout(patience.total_seconds()):
            environment = environment_of(os.environ, key, hands)
            code = await run(words, given, output, complaint, folder=hands.folder, environment=environment)
    except TimeoutError:
        minutes = patience.total_seconds() / 60
        raise RuntimeFailed(f"{called} took over {minutes:g} minutes and was stopped") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "the prompt has a NUL character"
        raise RuntimeFailed(f"{called} {words[0]!r} cannot be started: {reason}") from None
    return ProgramExit(code, str(complaint))


def environment_of(ours: Mapping[str, str], key: str | None, hands: ToolAccess) -> dict[str, str]:
    """Return the program's environment: a command's, its own key, and the facts of its work."""
    told = {"HUBBUB_NODE": hands.node}
    if hands.chain:
        told[call_chain.VARIABLE] = call_chain.written(hands.chain)
    if hands.task_id is not None:
        told["HUBBUB_TASK_ID"] = hands.task_id
    if hands.lent is not None:
        told |= {"HUBBUB_URL": hands.lent.url, TOKEN: hands.lent.token}
    if hands.is_limited:
        told["HUBBUB_TOOLS"] = ",".join(tool.name for tool in hands.tools)
    return trusted(ours, str(Path.home()), () if key is None else (key,)) | told


async def run(
    words: Sequence[str],
    given: str,
    output: ChunkSink,
    complaint: ChunkSink,
    *,
    folder: Path,
    environment: Mapping[str, str],
) -> int:
    """Run a program with `given` on its standard input; return its exit code, negative after a signal.

    Its process group ends with it, and all of it ends when this is cancelled, or this process is killed. Raises
    `OSError` and `ValueError` if it cannot be started.
    """
    with tempfile.TemporaryFile() as stdin:  # of any length, whether or not it is read
        stdin.write(given.encode("utf-8", "replace"))
        stdin.seek(0)
        async with AsyncExitStack() as opened:
            stdout, heard = await _pipe(opened)
            stderr, complained = await _pipe(opened)
            child = AsyncProcess(
                words, cwd=folder, env=environment, stdin=stdin, stdout=stdout, stderr=stderr
            )
            try:
                stdout.close()
                stderr.close()
                return await _followed(child, {heard: output, complained: complaint})
            finally:
                await _end(child)


async def _pipe(opened: AsyncExitStack) -> tuple[BinaryIO, asyncio.StreamReader]:
    """Return the program's end of a pipe, and a reader of its output."""
    ours, theirs = os.pipe()
    writing = opened.enter_context(os.fdopen(theirs, "wb", buffering=0))
    return writing, await opened.enter_async_context(reading(os.fdopen(ours, "rb", buffering=0)))


async def _followed(child: AsyncProcess, sinks: Mapping[asyncio.StreamReader, ChunkSink]) -> int:
    """Return the exit code of the program, once it has ended and its output is read.

    The rest of its group ends with it; processes that have left the group may hold the output open for a moment.
    """
    async with asyncio.TaskGroup() as group:
        reads = {group.create_task(_read(pipe, sink)) for pipe, sink in sinks.items()}
        code = await child.wait()
        child.signal(signal.SIGKILL)
        _done, stuck = await asyncio.wait(reads, timeout=DRAIN.total_seconds())
        for each in stuck:
            each.cancel()
    return code


async def _read(pipe: asyncio.StreamReader, sink: ChunkSink) -> None:
    while chunk := await pipe.read(CHUNK):
        await sink.add(chunk)


async def _end(child: AsyncProcess) -> None:
    """Ensure that the program is gone, with the rest of its group."""
    if child.code is None:
        child.signal(signal.SIGTERM)
        with suppress(TimeoutError):
            await asyncio.wait_for(child.wait(), GRACE.total_seconds())
    child.signal(signal.SIGKILL)
    await child.wait()
