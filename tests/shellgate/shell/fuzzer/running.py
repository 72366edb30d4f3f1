"""Runs a program in real bash where it can do nothing, and reports its calls.

No program can be found: the search path leads nowhere. What is called is a marker function or a name that does not
exist; both tell their name, their folder and their arguments over a pipe.
"""

import contextlib
import os
import select
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from shellgate.shell.bash import argv
from tests.shellgate.shell.fuzzer.programs import MARKER

# A line's end would be written on its own, and what runs beside it could come between.
_TELL = (
    'builtin set -- {name} "${{@//$\'\\n\'/$\'\\x1e\'}}"; builtin printf \'%s\\0\' "$PWD" "$#" "$@" >&{pipe}'
)
_SECONDS = 1.0
_REST = 0.05  # for what still runs when the program itself has ended


@dataclass(frozen=True, slots=True)
class Call:
    """A call as bash made it."""

    folder: str
    words: tuple[str, ...]


class Bash:
    """Runs programs, one after another, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"

    def run(self, program: str) -> list[Call]:
        """The calls that a program made within a second."""
        self._clean()
        reading, writing = os.pipe()
        process = subprocess.Popen(
            argv(program),
            cwd=self.folder / "work",
            env=self._environment(writing),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(writing,),
            process_group=0,
        )
        os.close(writing)
        try:
            return _calls(self._told(reading, process))
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            os.close(reading)

    def _told(self, reading: int, process: "subprocess.Popen[bytes]") -> bytes:
        told, ends_at = b"", time.monotonic() + _SECONDS
        while (left := ends_at - time.monotonic()) > 0:
            if not select.select([reading], [], [], min(left, _REST))[0]:
                if process.poll() is not None:
                    break
                continue
            data = os.read(reading, 65536)
            if not data or len(told) > 1_000_000:
                break
            told += data
        return told

    def _clean(self) -> None:
        """An empty home, and a folder to work in with nothing in it but an empty one."""
        work = self.folder / "work"
        if not work.is_dir() or [*work.rglob("*")] != [work / "sub"]:
            shutil.rmtree(work, ignore_errors=True)
            (work / "sub").mkdir(parents=True)
        if not self.home.is_dir() or [*self.home.iterdir()]:
            shutil.rmtree(self.home, ignore_errors=True)
            self.home.mkdir(parents=True)

    def _environment(self, pipe: int) -> dict[str, str]:
        return {
            "PATH": "/nonexistent",
            "HOME": str(self.home),
            "val": "m env",
            "LC_ALL": "C.UTF-8",
            "FUNCNEST": "6",
            f"BASH_FUNC_{MARKER}%%": f"() {{ {_TELL.format(name=MARKER, pipe=pipe)}; }}",
            "BASH_FUNC_command_not_found_handle%%": f"() {{ {_TELL.format(name='', pipe=pipe)}; builtin return 127; }}",
        }


def _calls(told: bytes) -> list[Call]:
    fields = [field.decode("utf-8", "replace").replace("\x1e", "\n") for field in told.split(b"\0")[:-1]]
    calls: list[Call] = []
    while len(fields) >= 2 and fields[1].isdigit():
        end = 2 + int(fields[1])
        if end > len(fields):
            break  # it was stopped in the middle of telling
        calls.append(Call(fields[0], tuple(fields[2:end])))
        fields = fields[end:]
    return calls
