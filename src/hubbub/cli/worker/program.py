"""Running one command: in a shell, in a process group of its own, with bounded memory for whatever it prints."""

import signal
import subprocess
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import IO

from hubbub.cli.worker.guardian import Guardian, kill_group

KEPT = 24_000  # bytes kept of the beginning of an output, and as many of its end: the hub takes 50,000 characters
CHUNK = 65_536
STOP_GRACE = timedelta(seconds=5)  # between asking a command to end and ending it
DRAIN = timedelta(seconds=2)  # for what a daemon that holds the pipes may still print

# The shell waits for a line before it becomes the command: by then the guardian knows its group. If the worker dies
# before that, the line never comes and nothing is run.
GATE = 'read -r go && exec /bin/sh -c "$0"'


class Clip:
    """The beginning and the end of a stream of bytes, however long it is."""

    def __init__(self, kept: int = KEPT) -> None:
        self.kept = kept
        self.total = 0
        self._head = bytearray()
        self._tail = bytearray()

    def add(self, chunk: bytes) -> None:
        self.total += len(chunk)
        room = self.kept - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        if len(self._tail) > 4 * self.kept:
            del self._tail[: -self.kept]

    def text(self) -> str:
        """What is kept, with a note where something is missing; bytes that are no UTF-8 are replaced."""
        tail = bytes(self._tail[-self.kept :])
        missing = self.total - len(self._head) - len(tail)
        note = f"\n[… {missing} bytes left out …]\n".encode() if missing else b""
        return readable(bytes(self._head) + note + tail)

    def end(self, lines: int, length: int) -> str:
        """The last lines of what came so far, at most so many characters."""
        text = readable(bytes((self._head + self._tail)[-4 * length :])).rstrip()
        return "\n".join(text.split("\n")[-lines:])[-length:]


class Lines:
    """A stream of bytes as lines, for whoever wants to hear them."""

    def __init__(self, heard: Callable[[str], None] | None) -> None:
        self._heard = heard
        self._begun = b""

    def add(self, chunk: bytes) -> None:
        if self._heard is None:
            return
        *whole, self._begun = (self._begun + chunk).split(b"\n")
        for line in whole:
            self._heard(readable(line))
        if len(self._begun) > CHUNK:
            self.end()

    def end(self) -> None:
        """Nothing more will come: what has no end yet is a line too."""
        begun, self._begun = self._begun, b""
        if begun and self._heard is not None:
            self._heard(readable(begun))


def readable(output: bytes) -> str:
    """Text from a program's output; the hub takes Unicode without NUL."""
    return output.decode("utf-8", "replace").replace("\0", "\ufffd")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended. `exit_code` is negative after a signal; `timed_out` that it took too long."""

    exit_code: int
    timed_out: bool
    stdout: Clip
    stderr: Clip

    @property
    def verdict(self) -> str:
        """Why it failed, in a few words."""
        if self.timed_out:
            return "took too long and was stopped"
        if self.exit_code < 0:
            return f"killed by {signal.Signals(-self.exit_code).name}"
        return f"exit code {self.exit_code}"


class Program:
    """One run of a command. `start` it, wait for `ended`, then ask for the `outcome`."""

    def __init__(
        self,
        command: str,
        environment: Mapping[str, str],
        guardian: Guardian,
        heard: Callable[[str], None] | None = None,
    ) -> None:
        """`heard` is told each line that the command prints, as soon as it is whole."""
        self.command, self.environment, self.guardian = command, environment, guardian
        self._heard = heard
        self.ended = threading.Event()
        self.stdout, self.stderr = Clip(), Clip()
        self._process: subprocess.Popen[bytes] | None = None
        self._is_stopped = self._timed_out = False
        self._timers: list[threading.Timer] = []

    def start(self, text: str, timeout: timedelta | None = None) -> None:
        """Run the command with `text` on its standard input; stop it after `timeout`. Raises `OSError`."""
        process = subprocess.Popen(
            ["/bin/sh", "-c", GATE, self.command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(self.environment),
            bufsize=0,
            start_new_session=True,
        )
        self._process = process
        self.guardian.watch(process.pid)
        readers = [
            _thread(_read, process.stdout, self.stdout, Lines(self._heard)),
            _thread(_read, process.stderr, self.stderr, Lines(self._heard)),
        ]
        _thread(_write, process.stdin, text)
        _thread(self._wait, process, readers)
        if timeout is not None:
            self._after(timeout, self._time_out)
        if self._is_stopped:  # while it was starting
            self.stop()

    def stop(self) -> None:
        """Ask the command to end, and end it if it does not. Returns at once."""
        self._is_stopped = True
        self._signal(signal.SIGTERM)
        self._after(STOP_GRACE, lambda: self._signal(signal.SIGKILL))

    def outcome(self) -> Ended:
        """How it ended; blocks until it has."""
        self.ended.wait()
        assert self._process is not None
        return Ended(self._process.returncode, self._timed_out, self.stdout, self.stderr)

    def _signal(self, signal_number: int) -> None:
        if self._process is not None and not self.ended.is_set():
            kill_group(self._process.pid, signal_number)

    def _time_out(self) -> None:
        self._timed_out = True
        self.stop()

    def _wait(self, process: subprocess.Popen[bytes], readers: list[threading.Thread]) -> None:
        """Wait for the command itself; what it left running in its group ends with it."""
        process.wait()
        kill_group(process.pid, signal.SIGKILL)
        self.guardian.forget(process.pid)
        for reader in readers:
            reader.join(DRAIN.total_seconds())
        for timer in self._timers:
            timer.cancel()
        self.ended.set()

    def _after(self, delay: timedelta, act: Callable[[], None]) -> None:
        timer = threading.Timer(delay.total_seconds(), act)
        timer.daemon = True
        self._timers.append(timer)
        timer.start()


def _thread(target: Callable[..., None], *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=target, args=arguments, daemon=True)
    thread.start()
    return thread


def _read(pipe: IO[bytes], clip: Clip, lines: Lines) -> None:
    with pipe:
        while chunk := pipe.read(CHUNK):
            clip.add(chunk)
            lines.add(chunk)
    lines.end()


def _write(pipe: IO[bytes], text: str) -> None:
    with suppress(BrokenPipeError), pipe:  # a command need not read what it is given
        pipe.write(b"\n")
        content = memoryview(text.encode("utf-8", "replace"))
        while content:
            content = content[pipe.write(content) :]
