"""Running one command: in a shell, in a process group of its own, with bounded memory for its output."""

import signal
import subprocess
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import IO

from hubbub.processes.output_ends import OutputEnds
from hubbub.processes.process_group import ProcessGroup

KEPT = 24_000  # bytes of the beginning of an output, and as many of its end: the hub takes 50,000 characters
CHUNK = 65_536
STOP_GRACE = timedelta(seconds=5)  # between asking a command to end and killing it
DRAIN = timedelta(seconds=2)  # for the last output of a daemon that holds the pipes


class CommandOutput(OutputEnds):
    """The output of a command as text that the hub takes: Unicode without NUL."""

    def text(self) -> str:
        return _without_nul(super().text())

    def lines(self, most: int, length: int) -> str:
        """Return the last lines so far, at most that many characters."""
        text = _without_nul(self.last(4 * length)).rstrip()
        return "\n".join(text.split("\n")[-most:])[-length:]


class LineSplitter:
    """Splits a stream of bytes into lines for a listener."""

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
        """End the stream: an unfinished line is a line, too."""
        begun, self._begun = self._begun, b""
        if begun and self._heard is not None:
            self._heard(readable(begun))


def readable(output: bytes) -> str:
    """Decode a program's output as text."""
    return _without_nul(output.decode("utf-8", "replace"))


def _without_nul(text: str) -> str:
    return text.replace("\0", "\ufffd")


@dataclass(frozen=True, slots=True)
class CommandExit:
    """The end of a command. `exit_code` is negative after a signal; `timed_out` says that it took too long."""

    exit_code: int
    timed_out: bool
    stdout: CommandOutput
    stderr: CommandOutput

    @property
    def verdict(self) -> str:
        """Return the reason of its failure, in a few words."""
        if self.timed_out:
            return "took too long and was stopped"
        if self.exit_code < 0:
            return f"killed by {signal.Signals(-self.exit_code).name}"
        return f"exit code {self.exit_code}"


class ShellCommand:
    """One run of a command. `start` it, wait for `ended`, then ask for the `outcome`."""

    def __init__(
        self,
        command: str,
        environment: Mapping[str, str],
        heard: Callable[[str], None] | None = None,
    ) -> None:
        """Prepare a run; `heard` gets each line that the command prints, as soon as it is complete."""
        self.command, self.environment = command, environment
        self._heard = heard
        self.ended = threading.Event()
        self.stdout, self.stderr = CommandOutput(KEPT, KEPT), CommandOutput(KEPT, KEPT)
        self._group: ProcessGroup | None = None
        self._is_stopped = self._timed_out = False
        self._timers: list[threading.Timer] = []

    def start(self, text: str, timeout: timedelta | None = None) -> None:
        """Run the command with `text` on its standard input; stop it after `timeout`. Raises `OSError`."""
        self._group = group = ProcessGroup(
            ["/bin/sh", "-c", self.command],
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        readers = [
            _thread(_read, group.stdout, self.stdout, LineSplitter(self._heard)),
            _thread(_read, group.stderr, self.stderr, LineSplitter(self._heard)),
        ]
        _thread(_write, group.stdin, text)
        _thread(self._wait, group, readers)
        if timeout is not None:
            self._after(timeout, self._time_out)
        if self._is_stopped:  # while it was starting
            self.stop()

    def stop(self) -> None:
        """Ask the command to end, and kill it if it does not. Returns at once."""
        self._is_stopped = True
        self._signal(signal.SIGTERM)
        self._after(STOP_GRACE, lambda: self._signal(signal.SIGKILL))

    def outcome(self) -> CommandExit:
        """Wait for the end, and return it."""
        self.ended.wait()
        assert self._group is not None
        assert self._group.code is not None
        return CommandExit(self._group.code, self._timed_out, self.stdout, self.stderr)

    def _signal(self, signal_number: int) -> None:
        if self._group is not None and not self.ended.is_set():
            self._group.signal(signal_number)

    def _time_out(self) -> None:
        self._timed_out = True
        self.stop()

    def _wait(self, group: ProcessGroup, readers: list[threading.Thread]) -> None:
        """Wait for the command itself; the rest of its group ends with it."""
        group.reap()
        group.signal(signal.SIGKILL)
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


def _read(pipe: IO[bytes], printed: CommandOutput, lines: LineSplitter) -> None:
    with pipe:
        while chunk := pipe.read(CHUNK):
            printed.feed(chunk)
            lines.add(chunk)
    lines.end()


def _write(pipe: IO[bytes], text: str) -> None:
    with suppress(BrokenPipeError), pipe:  # a command need not read its input
        content = memoryview(text.encode("utf-8", "replace"))
        while content:
            content = content[pipe.write(content) :]
