"""Runs programs in real bash where they can do nothing, and reports their calls.

No program can be found: the search path leads nowhere. What is called is a marker function or a name that does not
exist; both tell their name, their folder and their arguments. Each program has a folder and a home of its own. It runs
alone, as the product runs it, or beside others: then one bash forks itself for each, which takes half the time.
"""

import contextlib
import fcntl
import os
import select
import shlex
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from shellgate.shell.bash import argv
from tests.shellgate.shell.fuzzer.programs import MARKER
from tests.support.waiting import patience

TOGETHER = 200  # programs of one bash
# Descriptors that no program names: what a fork opens for its calls, and the first that bash is given. Which of them
# are free differs: many tests in one process have hundreds of files open, and none of them may be replaced.
_OPENED, _GIVEN = 199, 200
# A line's end would be written on its own, and what runs beside it could come between.
_TELL = (
    'builtin set -- {name} "${{@//$\'\\n\'/$\'\\x1e\'}}"; builtin printf \'%s\\0\' "$PWD" "$#" "$@" >&{told}'
)
# The fork is made to look like a bash that has just begun.
_FORK = """(
builtin cd {work}; builtin unset OLDPWD; builtin declare -x OLDPWD; HOME={home}; BASH_EXECUTION_STRING={program}
: {bash}
builtin eval -- "$BASH_EXECUTION_STRING"
builtin printf {whole} >&{alive}
) {told}>{file}
builtin printf {over} >&{alive}
"""
_WHOLE, _OVER = "w", "o"  # a program ran to its end, and is over
_LONGEST = 100_000  # bytes of an argument, of which the system takes 128 KiB
_MOST_TOLD = 1_000_000  # bytes of a program, which could call something for ever
_SECONDS = 5.0  # of a program, on a machine with nothing else to do
_REST = 1.0  # seconds of silence for what still runs when the programs themselves have ended


@dataclass(frozen=True, slots=True)
class Call:
    """A call as bash made it."""

    folder: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Line:
    """A pipe over which programs say that they have ended; one of its ends is open as long as anything runs."""

    reading: int
    alive: int


def _line() -> _Line:
    reading, writing = os.pipe()
    alive = _high(writing)
    os.close(writing)
    return _Line(reading, alive)


def _high(descriptor: int) -> int:
    """Return a copy of the descriptor that no program names."""
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _GIVEN)


class Bash:
    """Runs programs at places of its folder, each with a number."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / "told").mkdir(exist_ok=True)

    def work(self, number: int) -> Path:
        """Return the folder that a program begins in: there is nothing in it but an empty one."""
        return self._folder / str(number) / "work"

    def home(self, number: int) -> Path:
        """Return the home of a program, which is empty."""
        return self._folder / str(number) / "home"

    def tidy(self, *numbers: int) -> None:
        """Make places as they are to be, without what programs left there."""
        for number in numbers:
            place, work, home = self._folder / str(number), self.work(number), self.home(number)
            with contextlib.suppress(OSError):
                inside = [
                    sorted(each.name for each in os.scandir(folder))
                    for folder in (place, work, work / "sub", home)
                ]
                if inside == [["home", "work"], ["sub"], [], []]:
                    continue
            shutil.rmtree(place, ignore_errors=True)
            (work / "sub").mkdir(parents=True)
            home.mkdir()

    def alone(self, program: str, number: int = 0) -> list[Call]:
        """Return the calls of a program, run as the product runs it."""
        self.tidy(number)
        with self._told(number).open("wb") as file:
            told = _high(file.fileno())
        try:
            self._run(program, number, _line(), told)
        finally:
            os.close(told)
        return self._calls(number)

    def together(self, programs: list[str]) -> list[list[Call]]:
        """Return the calls of each of many programs, run by one bash until one of them holds it up; places are tidy.

        An error that ends a line ends all of a fork. So what did not come to its end there runs again alone.
        """
        for number in range(len(programs)):
            self._told(number).write_bytes(b"")  # the bash may end before it gets there
        ended: list[bool] = []  # of each that is over, whether it ran to its end
        while (begun := len(ended)) < len(programs):
            line = _line()
            forks = [self._fork(number, programs[number], line) for number in range(begun, len(programs))]
            count = _that_fit(forks)
            over = self._run("".join(forks[:count]), begun, line).split(_OVER)
            ended += [_WHOLE in each for each in over[:count]]
        called = [self._calls(number) for number in range(len(programs))]
        for number, (program, is_whole) in enumerate(zip(programs, ended, strict=True)):
            if not is_whole:
                called[number] = self.alone(program, number)
        return called

    def _fork(self, number: int, program: str, line: _Line) -> str:
        """Return what the bash of many runs for one of them."""
        return _FORK.format(
            work=self.work(number),
            home=self.home(number),
            program=shlex.quote(program),
            bash=argv("")[0],
            told=_OPENED,
            file=self._told(number),
            alive=line.alive,
            whole=_WHOLE,
            over=_OVER,
        )

    def _told(self, number: int) -> Path:
        return self._folder / "told" / str(number)

    def _run(self, text: str, number: int, line: _Line, told: int | None = None) -> str:
        """Run a text that begins at a place, and return what it said of the programs that ended.

        `told`: where it tells of its calls, unless each fork opens that by itself.
        """
        try:
            process = subprocess.Popen(
                argv(text),
                cwd=self.work(number),
                env=self._environment(number, _OPENED if told is None else told),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(line.alive,) if told is None else (line.alive, told),
                process_group=0,
            )
        finally:
            os.close(line.alive)
        try:
            return _said(line.reading, process)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            os.close(line.reading)

    def _calls(self, number: int) -> list[Call]:
        with self._told(number).open("rb") as told:
            return _calls(told.read(_MOST_TOLD))

    def _environment(self, number: int, told: int) -> dict[str, str]:
        called, not_found = (_TELL.format(name=name, told=told) for name in (MARKER, ""))
        return {
            "PATH": "/nonexistent",
            "HOME": str(self.home(number)),
            "val": "m env",
            "LC_ALL": "C.UTF-8",
            "FUNCNEST": "6",
            f"BASH_FUNC_{MARKER}%%": f"() {{ {called}; }}",
            "BASH_FUNC_command_not_found_handle%%": f"() {{ {not_found}; builtin return 127; }}",
        }


def _that_fit(texts: list[str]) -> int:
    """Return how many of the texts are together an argument that the system takes; at least one."""
    sizes = accumulate(len(text.encode()) for text in texts)
    return max(1, sum(size <= _LONGEST for size in sizes))


def _said(reading: int, process: "subprocess.Popen[bytes]") -> str:
    """Return what was said until all had ended, or a program took too long."""
    said, until = b"", time.monotonic() + patience(_SECONDS)
    while (left := until - time.monotonic()) > 0:
        if not select.select([reading], [], [], min(left, patience(_REST)))[0]:
            if process.poll() is not None:
                break
            continue
        more = os.read(reading, 65536)
        if not more:
            break
        said, until = said + more, time.monotonic() + patience(_SECONDS)
    return said.decode("ascii", "replace")


def _calls(told: bytes) -> list[Call]:
    fields = [field.decode("utf-8", "replace").replace("\x1e", "\n") for field in told.split(b"\0")[:-1]]
    calls: list[Call] = []
    at = 0
    while at + 2 <= len(fields) and fields[at + 1].isdigit():
        end = at + 2 + int(fields[at + 1])
        if end > len(fields):
            break  # it was stopped in the middle of telling
        calls.append(Call(fields[at], tuple(fields[at + 2 : end])))
        at = end
    return calls
