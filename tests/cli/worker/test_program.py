"""Running a command, and keeping what it printed in bounded memory."""

import os
from collections.abc import Iterator
from datetime import timedelta

import pytest

from hubbub.cli.worker.guardian import Guardian
from hubbub.cli.worker.program import Clip, Ended, Program
from tests.cli.processes import ends


@pytest.fixture
def guardian() -> Iterator[Guardian]:
    watching = Guardian()
    yield watching
    watching.close()


def run(command: str, guardian: Guardian, text: str = "", **environment: str) -> Ended:
    program = Program(command, {**os.environ, **environment}, guardian)
    program.start(text)
    return program.outcome()


def test_clip_keeps_short_output_whole() -> None:
    """What fits is kept as it is."""
    clip = Clip(4)
    for chunk in (b"ab", b"cdef", b"gh"):
        clip.add(chunk)
    assert clip.text() == "abcdefgh"


def test_clip_keeps_both_ends() -> None:
    """What does not fit is kept at both ends, with a note of how much is missing."""
    clip = Clip(3)
    for _ in range(1000):
        clip.add(b"0123456789")
    assert clip.text() == "012\n[… 9994 bytes left out …]\n789"


def test_clip_knows_its_end() -> None:
    """The last lines are known at any time, whatever the length."""
    clip = Clip(10)
    clip.add(b"first line\nsecond\nthird\n")
    assert clip.end(2, 100) == "second\nthird"
    assert clip.end(2, 4) == "hird"


def test_runs_in_a_shell(guardian: Guardian) -> None:
    """The command is the shell's: pipes and variables work; the text is on its standard input, unchanged."""
    ended = run('sort | tr "\\n" "$WITH"', guardian, "b\na\n", WITH="-")
    assert (ended.exit_code, ended.stdout.text()) == (0, "a-b-")


def test_need_not_read_its_input(guardian: Guardian) -> None:
    """A command that ends without reading a long text is a command that has ended well."""
    assert run("true", guardian, "x" * 1_000_000).exit_code == 0


def test_what_it_leaves_running_ends_with_it(guardian: Guardian) -> None:
    """Background children in the command's group, that hold its output open, do not outlive it."""
    ended = run("sleep 600 & echo $!", guardian)
    assert ends(int(ended.stdout.text()))


def test_verdicts(guardian: Guardian) -> None:
    """A failure is named by its exit code, or by the signal that ended the command."""
    assert run("exit 7", guardian).verdict == "exit code 7"
    assert run("kill -9 $$", guardian).verdict == "killed by SIGKILL"


def test_deaf_command_is_killed(guardian: Guardian, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that does not listen to SIGTERM is killed after a while."""
    monkeypatch.setattr("hubbub.cli.worker.program.STOP_GRACE", timedelta(milliseconds=50))
    program = Program("trap '' TERM; while :; do sleep 1; done", os.environ, guardian)
    program.start("", timeout=timedelta(milliseconds=50))
    ended = program.outcome()
    assert (ended.exit_code, ended.timed_out) == (-9, True)
