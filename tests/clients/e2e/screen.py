"""A program in a terminal of its own, as a person would start it: typed to, and read from."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.waiting import patience

ROWS, COLUMNS = 50, 160
SOON = 2.0  # seconds, on a machine with nothing else to do

# Takes the terminal for its own before it becomes the program, as a login does.
BECOME = (
    "import fcntl,os,sys,termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execvp(sys.argv[1], sys.argv[1:])"
)
ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[P_^X][^\x1b]*\x1b\\|.)", re.S
)
TITLES = re.compile(r"\x1b\]0;([^\x07]*)\x07")  # of the window, which tell whether a program is busy
STILL = str.maketrans("◑", "◐")  # what spins is one sign
MARKED = re.compile(r"›\s*(\d)\.")
MOVES = re.compile(r"\x1b\[[0-9;]*[CG]")  # over a gap, where plain text would have blanks


@dataclass
class Screen:
    """A terminal with a program in it."""

    process: subprocess.Popen[bytes]
    keyboard: int
    shown: str = ""
    _came: threading.Condition = field(default_factory=threading.Condition)

    def type(self, text: str) -> None:
        os.write(self.keyboard, text.encode())

    def shows(self, words: str, *, after: int = 0) -> int:
        """Wait until the program has written this, blanks aside, from that place on; where it ends."""
        sought = re.compile(r"\s*".join(re.escape(each) for each in re.sub(r"\s", "", words)))
        with self._came:
            found = self._came.wait_for(lambda: sought.search(self.shown, after), patience(60))
        assert found, f"{words!r} did not show; it ended {self.shown[-3000:]!r}"
        return found.end()

    def chosen(self, after: int) -> int | None:
        """Return the line of a list that it marked last since that place."""
        marked = MARKED.findall(self.shown, after)
        return int(marked[-1]) if marked else None

    def changes(self, is_so: Callable[[], bool]) -> bool:
        """Wait a little until it is so: a program that listens answers a key at once."""
        with self._came:
            return self._came.wait_for(is_so, patience(SOON))

    def read(self) -> None:
        """Keep reading until the terminal is closed, since a program whose output nobody reads would stop."""
        decoder = getincrementaldecoder("utf-8")("replace")  # a read may cut a letter
        with suppress(OSError):
            while chunk := os.read(self.keyboard, 65536):
                text = TITLES.sub(r" ⟦\1⟧ ", decoder.decode(chunk)).translate(STILL)
                plain = ESCAPES.sub("", MOVES.sub(" ", text))
                with self._came:
                    self.shown += plain
                    self._came.notify_all()


@contextmanager
def screen(
    command: Sequence[str | Path], *, folder: Path, environment: Mapping[str, str]
) -> Iterator[Screen]:
    """Run the program in a terminal; it is ended, with everything in its process group, at the end."""
    keyboard, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-c", BECOME, *map(str, command)],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        cwd=folder,
        env={**environment, "TERM": "xterm-256color"},
        start_new_session=True,
    )
    os.close(terminal)
    shown = Screen(process, keyboard)
    reader = threading.Thread(target=shown.read)
    reader.start()
    try:
        yield shown
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(10)
        process.kill()
        process.wait()
        reader.join()
        os.close(keyboard)
