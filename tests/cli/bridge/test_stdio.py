"""Standard output of the bridge: whole lines, however much the client takes at once."""

import asyncio
import fcntl
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from hubbub.bridge import stdio
from tests.support.tools import missing
from tests.support.waiting import patience

SIZES = [1, 0, 65_535, 65_536, 3_000_000, 7, stdio.PIPE - 1, stdio.PIPE, stdio.PIPE + 1]


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The end of a pipe that reads what the bridge puts out; nothing comes in."""
    reading, writing = os.pipe()
    silent, unheard = os.pipe()
    monkeypatch.setattr(stdio, "STDIN", silent)
    monkeypatch.setattr(stdio, "STDOUT", writing)
    yield reading
    for each in (silent, unheard, writing, reading):
        os.close(each)


def _read(reading: int, length: int) -> bytes:
    """So many bytes, taken a few at a time."""
    pieces = bytearray()
    while len(pieces) < length:
        pieces += os.read(reading, 30_011)
    return bytes(pieces)


def test_lines_arrive_whole_and_in_order(pipe: int) -> None:
    """Messages that are written at once follow each other, each with its end, whatever fits into the pipe."""
    lines = [bytes([65 + number]) * size for number, size in enumerate(SIZES)]
    expected = b"".join(line + b"\n" for line in lines)

    async def write() -> None:
        output = stdio.StdoutLines()
        async with asyncio.timeout(patience()), asyncio.TaskGroup() as tasks:
            for line in lines:
                tasks.create_task(output(line))

    with ThreadPoolExecutor(1) as threads, stdio.unblocked():
        reading = threads.submit(_read, pipe, len(expected))
        asyncio.run(write())
        assert reading.result() == expected
    assert os.get_blocking(stdio.STDOUT)


def test_a_pipe_holds_a_long_answer(pipe: int) -> None:
    """A client that reads its pipe bit by bit does not have the bridge write as often."""
    if not hasattr(fcntl, "F_SETPIPE_SZ"):
        missing("only Linux has pipes whose size can be changed")
    try:
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 2 * stdio.CHUNK)
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, stdio.PIPE)
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, stdio.CHUNK)
    except OSError:
        missing("this user has too many large pipes")
    with stdio.unblocked():
        assert os.write(stdio.STDOUT, b"x" * stdio.PIPE) == stdio.PIPE
