"""The keeper of one command: starts it, reads its output, ends it when its time is over, and reports the result."""

import json
import os
import selectors
import signal
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from hubbub.node.commands import process_tree, running_hub
from hubbub.node.commands.command_spec import CommandSpec
from hubbub.node.commands.exec_child import CommandPipes
from hubbub.node.commands.job_folder import ENDING, LOOK, RECORD, JobFolder, JobStatus, NoRoom, remove, room
from hubbub.node.commands.pipe_reader import RECENT, PipeReader
from hubbub.node.commands.signal_wakeup import SignalWakeup

GRACE = 2.0  # seconds between asking a command to end and ending it
AGAIN = 0.2  # seconds until surviving processes are killed again
PATIENCE = 1.0  # seconds with a caller
BESIDE_WALL = (
    2  # processes beside a sandbox's own in which a command has begun: the first of all, and the command
)
TAKEN = b"+"  # a keeper's first word: from here on the command may have begun
INTO_THE_BACKGROUND = b"background"
NO_WALL = "the sandbox could not be put up around the command; it may be that it hides the folder"


class CommandMonitor:
    """One command, from its start until nothing is left of it."""

    def __init__(self, work: CommandSpec, cwd: int, line: socket.socket, temporary: str) -> None:
        """Set up the keeper; `line` leads to the caller, who is told of the background if the command runs there.

        `temporary` is a free path for a folder.
        """
        self._work, self._cwd, self._temporary = work, cwd, temporary
        self._line: socket.socket | None = line
        self._folder: JobFolder | None = None
        self._enders: list[socket.socket] = []  # callers that asked to end it, and wait until it has
        self._selector = selectors.DefaultSelector()
        self._wakening = SignalWakeup(signal.SIGCHLD, signal.SIGTERM)
        self._status = JobStatus.RUNNING
        self._code: int | None = None
        self._due: float | None = None  # the end of its time, or of its time to end
        self._is_over = False  # whether nothing is left of it

    def keep(self) -> None:
        """Run the command. Returns when it has ended and its caller has been told."""
        try:
            self._start()
        except OSError as error:
            self._give_up(f"the command could not be started: {error.strerror}")
            return
        except NoRoom as error:
            self._give_up(str(error))
            return
        while not self._is_over:
            self._wait()
        self._hearing.hear_rest()
        self._finish()

    # --- beginning

    def _start(self) -> None:
        if self._work.in_background:
            self._open_folder()
        if self._work.ruleset is not None:
            self._make_temporary(self._work.ruleset)
        pipes = CommandPipes()
        self._pid = pipes.start(self._work, self._cwd)
        self._hearing = PipeReader(pipes)
        for end in self._hearing.ends:
            self._watch(end, partial(self._heard, end))
        self._watch(self._wakening.end, self._wakened)
        if self._folder is not None:
            self._go_on_alone()
        elif self._line is not None:
            self._watch(self._line.fileno(), self._told)
            self._allow(self._work.timeout)

    def _open_folder(self) -> None:
        """Take a place among the commands in the background. Raises `NoRoom`."""
        folder = JobFolder(Path(self._work.folder))
        with room(Path(self._work.data), self._work.most_in_background):
            self._listener = folder.listen()
            folder.write(RECORD, self._work.record)
        self._watch(self._listener.fileno(), self._asked)
        self._folder = folder

    def _make_temporary(self, ruleset: dict[str, Any]) -> None:
        """Make a folder for temporary files: this kind of sandbox has none of its own."""
        Path(self._temporary).mkdir(0o700, parents=True)
        rules = ruleset | {"writable": [*ruleset["writable"], self._temporary]}
        environment = self._work.environment | {"TMPDIR": self._temporary}
        self._work = self._work._replace(ruleset=rules, environment=environment)

    def _go_on_alone(self) -> None:
        """Continue in the background, until the hub of this machine ends."""
        hub_process = running_hub.pid_of(Path(self._work.data))
        if hub_process is not None:
            self._watch(hub_process, partial(self._end_for_lack_of, hub_process))
        self._allow(self._work.lasting)
        self._answer({"status": JobStatus.RUNNING}, is_last=False)

    def _give_up(self, fault: str) -> None:
        self._answer({"fault": fault})
        if self._folder is not None:
            remove(self._folder.path)
        self._remove_temporary()

    def _remove_temporary(self) -> None:
        if self._work.ruleset is not None:
            remove(self._temporary)

    # --- events

    def _watch(self, descriptor: int, happened: Callable[[], None]) -> None:
        self._selector.register(descriptor, selectors.EVENT_READ, happened)

    def _allow(self, seconds: float | None) -> None:
        self._due = None if seconds is None else time.monotonic() + seconds

    def _wait(self) -> None:
        left = None if self._due is None else max(0.0, self._due - time.monotonic())
        for key, _ in self._selector.select(left):
            key.data()
        if self._due is not None and time.monotonic() >= self._due:
            self._time_is_over()

    def _time_is_over(self) -> None:
        if self._status is JobStatus.RUNNING and self._code is None:
            self._end(JobStatus.TIMEOUT, signal.SIGTERM)
        else:
            self._kill()

    def _heard(self, end: int) -> None:
        if not self._hearing.hear(end):
            self._selector.unregister(end)

    def _told(self) -> None:
        """Take the caller's message that it stops waiting, or note that it has gone. Without room it waits on."""
        assert self._line is not None
        self._selector.unregister(self._line.fileno())
        with suppress(OSError):
            if self._line.recv(len(INTO_THE_BACKGROUND)) == INTO_THE_BACKGROUND:
                try:
                    self._open_folder()
                    self._go_on_alone()
                except NoRoom:
                    self._watch(self._line.fileno(), self._told)
                return
        self._end(JobStatus.KILLED, signal.SIGTERM)

    def _asked(self) -> None:
        """Serve a request to look into the folder, or to end the command."""
        asker, _ = self._listener.accept()
        asker.settimeout(PATIENCE)
        with suppress(OSError):
            question = asker.recv(1)
            if question and question != LOOK:
                self._enders.append(asker)
                self._end(JobStatus.KILLED, question[0])
                return
            _say(asker, {"status": self._status, "output_tail": self._hearing.recent.last(RECENT)})
        asker.close()

    def _end_for_lack_of(self, process: int) -> None:
        self._selector.unregister(process)
        self._end(JobStatus.KILLED, signal.SIGTERM)

    def _wakened(self) -> None:
        if signal.SIGTERM in self._wakening.taken():  # nobody would follow up, should we be killed too
            self._end(JobStatus.KILLED, signal.SIGKILL)
        self._reap()

    # --- ending

    def _end(self, status: JobStatus, number: int) -> None:
        """Ask the command to end by a signal, and kill it if it does not."""
        if self._code is not None:
            return
        if self._status is JobStatus.RUNNING:
            self._status = status
            self._allow(GRACE)
        wall = self._pid if self._work.is_walled else None  # everything would end with it at once
        below = [pid for pid in process_tree.descendants(os.getpid()) if pid != wall]
        has_begun = wall is None or len(below) >= BESIDE_WALL
        if number == signal.SIGKILL or not has_begun:  # what has not begun would not hear the signal
            self._kill()
        else:
            process_tree.send(number, below)

    def _kill(self) -> None:
        if self._work.is_walled and self._code is None:
            os.kill(self._pid, signal.SIGKILL)  # everything in the sandbox ends with it at once
        process_tree.kill_descendants(os.getpid())
        self._allow(AGAIN)

    def _reap(self) -> None:
        """Reap ended processes. Everything that the command has left behind ends with it."""
        try:
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == self._pid:
                    self._code = _code_of(ended[1])
        except ChildProcessError:
            self._is_over = True
            return
        if self._code is not None and self._work.is_walled:
            self._allow(AGAIN)  # a sandbox takes a moment to end
        elif self._code is not None:
            self._kill()

    def _finish(self) -> None:
        """Report the result to everybody who waits for it, and in the folder for later."""
        if self._status is JobStatus.RUNNING:
            self._status = JobStatus.EXITED
        ending: dict[str, object] = {"status": self._status, "exit_code": self._code}
        self._remove_temporary()
        if self._folder is not None:
            self._folder.write(ENDING, ending | {"output_tail": self._hearing.recent.last(RECENT)})
            self._listener.close()
        for each in self._enders:
            with each, suppress(OSError):
                _say(each, {"killed": self._status is JobStatus.KILLED})
        if self._has_begun:
            printed = {"stdout": self._hearing.stdout.text(), "stderr": self._hearing.stderr.text()}
            self._answer(ending | printed)
        else:
            self._answer({"fault": NO_WALL})

    @property
    def _has_begun(self) -> bool:
        """Tell whether the command was run: one that ended before its sandbox stood has not begun."""
        return self._status is not JobStatus.EXITED or not self._work.is_walled or self._hearing.wall_stood

    def _answer(self, answer: Mapping[str, object], *, is_last: bool = True) -> None:
        """Send the caller, if it still waits, its only answer; the last thing that is done waits until it has gone.

        It may stop waiting in the same moment, and an answer on a line that is closed on an unread word is lost.
        """
        line, self._line = self._line, None
        if line is not None:
            with line, suppress(OSError):
                _say(line, answer)
                line.shutdown(socket.SHUT_WR)
                while is_last and line.recv(len(INTO_THE_BACKGROUND)):
                    pass


def _code_of(status: int) -> int:
    """Return the exit code like shells: 128 and its number after a signal."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _say(line: socket.socket, answer: Mapping[str, object]) -> None:
    line.sendall(json.dumps(answer, ensure_ascii=False).encode())
