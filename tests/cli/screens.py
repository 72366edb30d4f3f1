"""Commands at a terminal: what they show there, and what is typed."""

import fcntl
import os
import pty
import struct
import subprocess
import termios
from codecs import IncrementalDecoder, getincrementaldecoder
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.cli.processes import PROGRAM, RunningHub, plain_environment

LINES, COLUMNS = 24, 80
GONE = -1  # instead of a descriptor


@dataclass
class Screen:
    """The terminal of one running command."""

    process: subprocess.Popen[bytes]
    terminal: int
    unread: str = ""
    # A read may cut a letter.
    decoder: IncrementalDecoder = field(default_factory=getincrementaldecoder("utf-8"))

    def until(self, words: str) -> str:
        """Wait until the words are on the screen; return everything printed since the last call."""
        while words not in self.unread:
            assert self._more(), f"it never showed {words!r}, but: {self.unread}"
        seen, _, self.unread = self.unread.partition(words)
        return seen

    def rest(self) -> str:
        """Return everything printed until the command has ended."""
        while self._more():
            pass
        self.process.wait()
        seen, self.unread = self.unread, ""
        return seen

    def type(self, keys: str) -> None:
        os.write(self.terminal, keys.encode())

    def hang_up(self) -> None:
        """Close the terminal, as a lost connection does."""
        os.close(self.terminal)
        self.terminal = GONE

    def _more(self) -> bool:
        try:
            read = os.read(self.terminal, 65_536)
        except OSError:  # Linux says so when the other end has gone
            return False
        self.unread = (self.unread + self.decoder.decode(read)).replace("\r\n", "\n")
        return bool(read)


@contextmanager
def shown(
    command: Sequence[str], environment: Mapping[str, str], folder: Path | None = None
) -> Iterator[Screen]:
    """A command at a terminal of 80 columns; it is killed in the end, if it has not ended."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    screen = Screen(process, ours)
    try:
        yield screen
    finally:
        process.kill()
        process.wait()
        if screen.terminal != GONE:
            screen.hang_up()


@contextmanager
def on_screen(hub: RunningHub, *arguments: str, **environment: str) -> Iterator[Screen]:
    """A command of the hub's owner at a terminal."""
    size = {"COLUMNS": str(COLUMNS), "LINES": str(LINES)}
    variables = plain_environment(hub.data, **{"HUBBUB_PROJECT": hub.project, **size, **environment})
    with shown([*PROGRAM, *arguments], variables) as screen:
        yield screen


def at_terminal(hub: RunningHub, *arguments: str) -> str:
    """Return everything that a command shows at a terminal."""
    with on_screen(hub, *arguments) as screen:
        return screen.rest()
