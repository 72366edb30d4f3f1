"""Running a command, and keeping its output in bounded memory."""

import os
import threading
from datetime import timedelta

import pytest

from hubbub.worker.shell_command import CommandExit, CommandOutput, ShellCommand
from tests.cli.processes import ends
from tests.support.waiting import patience


def run(command: str, text: str = "", **environment: str) -> CommandExit:
    program = ShellCommand(command, {**os.environ, **environment})
    program.start(text)
    return program.outcome()


def test_the_last_lines_are_known() -> None:
    """The last lines are known at any time, whatever the length."""
    printed = CommandOutput(10, 20)
    printed.feed(b"first line\nsecond\nthird\n")
    assert printed.lines(2, 100) == "second\nthird"
    assert printed.lines(2, 4) == "hird"


def test_runs_in_a_shell() -> None:
    """The command is the shell's: pipes and variables work; the text is on its standard input, unchanged."""
    ended = run('sort | tr "\\n" "$WITH"', "b\na\n", WITH="-")
    assert (ended.exit_code, ended.stdout.text()) == (0, "a-b-")


def test_need_not_read_its_input() -> None:
    """A command that ends without reading a long text is a command that has ended well."""
    assert run("true", "x" * 1_000_000).exit_code == 0


def test_what_it_leaves_running_ends_with_it() -> None:
    """Background children in the command's group, that hold its output open, do not outlive it."""
    ended = run("sleep 600 & echo $!")
    assert ends(int(ended.stdout.text()))


def test_verdicts() -> None:
    """A failure is named by its exit code, or by the signal that ended the command."""
    assert run("exit 7").verdict == "exit code 7"
    assert run("kill -9 $$").verdict == "killed by SIGKILL"


def test_a_command_that_takes_too_long_is_stopped() -> None:
    """A command ends when its time is over, and its outcome names the reason."""
    program = ShellCommand("sleep 600", os.environ)
    program.start("", timeout=timedelta(milliseconds=50))
    ended = program.outcome()
    assert (ended.timed_out, ended.verdict) == (True, "took too long and was stopped")


def test_deaf_command_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that does not listen to SIGTERM is killed after a while."""
    monkeypatch.setattr("hubbub.worker.shell_command.STOP_GRACE", timedelta(milliseconds=50))
    is_deaf = threading.Event()
    command = "trap '' TERM; echo deaf; while :; do sleep 1; done"
    program = ShellCommand(command, os.environ, lambda _line: is_deaf.set())
    program.start("")
    assert is_deaf.wait(patience())
    program.stop()
    assert program.outcome().exit_code == -9
