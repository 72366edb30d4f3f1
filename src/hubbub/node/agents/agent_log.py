"""The output of an agent and its program, line by line: on disk, as much as two files hold, and for followers."""

import asyncio
import os
import re
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from hubbub.model.fleet.managed_agents import MOST_LINES

FILE, OLDER = "output.log", "output.log.1"
LARGEST = 5_000_000  # bytes of one file
LONGEST = 2_000  # characters of a line; a longer one becomes several
LONGEST_BYTES = 65_536  # waiting for the end of their line
_LINE = re.compile(r"(\d+) (\d+) (.*)", re.DOTALL)
_KEY_BEGINS, _KEY_ENDS = "-----BEGIN ", "-----END "
_KEY = "PRIVATE KEY"


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line; `id` is its number among all lines of the agent, from 1, `at` is in Unix milliseconds."""

    id: int
    at: int
    text: str


class AgentLog:
    """The output of one agent, over all its restarts. Secrets are removed before anything is stored or shown."""

    def __init__(self, folder: Path, redact: Callable[[str], str], heard: Callable[[], None]) -> None:
        """Open the log; `heard` is called when there are new lines."""
        self._file, self._older = folder / FILE, folder / OLDER
        self._redact, self._heard = redact, heard
        self._lines = deque(_read(self._older, self._file), MOST_LINES)
        self._number = self._lines[-1].id if self._lines else 0
        self._begun = b""  # of a line whose end has not come
        self._is_in_key = False
        self._news = asyncio.Event()
        self.is_over = False  # whether no more output will come

    @property
    def last(self) -> LogLine | None:
        return self._lines[-1] if self._lines else None

    def recent(self, most: int) -> Sequence[LogLine]:
        """Return the last lines."""
        return list(self._lines)[-most:] if most else []

    async def add(self, chunk: bytes) -> None:
        """Take output. An unfinished line waits until it is whole."""
        *whole, self._begun = (self._begun + chunk).split(b"\n")
        if len(self._begun) > LONGEST_BYTES:
            whole.append(self._begun)
            self._begun = b""
        if whole:
            await self._take(b"\n".join(whole).decode("utf-8", "replace"))

    async def end_line(self) -> None:
        """Add the unfinished line, as nothing more will come after it."""
        if self._begun:
            begun, self._begun = self._begun, b""
            await self._take(begun.decode("utf-8", "replace"))

    async def say(self, sentence: str) -> None:
        """Add a line of the machine's own."""
        await self.end_line()
        await self._take(f"[{sentence}]")

    async def follow(self, most: int) -> AsyncIterator[Sequence[LogLine]]:
        """Yield the last lines, and those after them, until nothing more will come.

        A follower that is too slow misses the lines dropped meanwhile; the numbers show it.
        """
        batch, seen = self.recent(most), self._number
        while True:
            if batch:
                yield batch
            elif self.is_over:
                return
            else:
                await self._news.wait()
            batch = [each for each in self._lines if each.id > seen] if self._number > seen else []
            seen = self._number

    def open(self) -> None:
        """Note that more output will come."""
        self.is_over = False

    def close(self) -> None:
        """Note that no more output will come, and tell the followers."""
        self.is_over = True
        self._tell()

    async def _take(self, text: str) -> None:
        lines = list(await asyncio.to_thread(self._clean, text))
        now = time.time_ns() // 1_000_000
        taken = [LogLine(self._number + place, now, line) for place, line in enumerate(lines, 1)]
        if not taken:
            return
        self._number = taken[-1].id
        self._lines += taken
        self._tell()
        self._heard()
        await asyncio.to_thread(self._write, taken)

    def _tell(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    def _clean(self, text: str) -> Iterable[str]:
        """Yield the lines without secrets; those of a private key are left out, even if it comes in pieces."""
        if self._is_in_key:
            _, found, text = text.partition(_KEY_ENDS)
            if not found:
                return
            self._is_in_key = False
            text = text.partition("\n")[2]
        begun = text.rfind(_KEY_BEGINS)
        is_key = begun >= 0 and _KEY in text[begun:].partition("\n")[0]
        self._is_in_key = is_key and _KEY_ENDS not in text[begun:]
        for line in self._redact(text).split("\n"):
            plain = line.rstrip("\r")
            yield from (plain[at : at + LONGEST] for at in range(0, max(len(plain), 1), LONGEST))

    def _write(self, lines: Iterable[LogLine]) -> None:
        text = "".join(f"{line.id} {line.at} {line.text}\n" for line in lines)
        with suppress(OSError):  # a full disk takes none; the agent goes on, and followers get the lines
            if self._file.exists() and self._file.stat().st_size > LARGEST:
                self._file.replace(self._older)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
            with os.fdopen(os.open(self._file, flags, 0o600), "ab") as file:
                file.write(text.encode("utf-8", "replace"))


def _read(*files: Path) -> Iterable[LogLine]:
    for file in files:
        try:
            text = file.read_text("utf-8", "replace")
        except OSError:
            continue
        for found in map(_LINE.fullmatch, text.split("\n")):
            if found is not None:
                yield LogLine(int(found[1]), int(found[2]), found[3])
