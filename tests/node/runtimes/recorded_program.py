"""A program that plays a recorded stream in the place of an agent's own, and notes how it was called."""

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

RECORDINGS = Path(__file__).with_name("recordings")

# Notes its words and what was on its standard input; plays each line, and where one is `~` waits to be let go on.
PLAYER = """#!{python}
import json, os, sys
from pathlib import Path
folder = Path({folder!r})
given = sys.stdin.buffer.read().decode()
(folder / "called.json").write_text(json.dumps([sys.argv[1:], given, dict(os.environ), os.getpid()]))
for line in Path({stream!r}).read_bytes().splitlines(keepends=True):
    if line.strip() == b"~":
        (folder / "go").read_text()
    else:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
sys.stderr.write({complaint!r})
sys.exit({code})
"""


@dataclass(frozen=True)
class Player:
    """The program's place and its records."""

    folder: Path
    program: Path

    @classmethod
    def of(cls, folder: Path, kind: str, stream: bytes, *, code: int = 0, complaint: str = "") -> "Player":
        """A program called `kind` that plays these lines, complains, and ends with that code."""
        recorded = folder / "stream"
        recorded.write_bytes(stream)
        os.mkfifo(folder / "go")
        program = folder / kind
        values = {"folder": str(folder), "stream": str(recorded), "complaint": complaint, "code": code}
        program.write_text(PLAYER.format(python=sys.executable, **values))
        program.chmod(0o700)
        return cls(folder, program)

    def go_on(self) -> None:
        """Let it play what comes after the `~`; blocks until it has come there."""
        (self.folder / "go").write_text("on")

    @property
    def called(self) -> tuple[list[str], str, dict[str, str]]:
        """The arguments, standard input and environment of its last call."""
        words, given, environment, _pid = json.loads((self.folder / "called.json").read_text())
        return words, given, environment

    @property
    def pid(self) -> int:
        """The process that it is, or was."""
        return int(json.loads((self.folder / "called.json").read_text())[-1])


def recorded(name: str, *, pauses: bool = False) -> bytes:
    """A recorded stream, without its pauses unless they are wanted."""
    lines = (RECORDINGS / f"{name}.jsonl").read_bytes().splitlines(keepends=True)
    return b"".join(line for line in lines if pauses or line.strip() != b"~")
