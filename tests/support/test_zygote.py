"""The zygote starts the same program as `python -m hubbub`."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.cli.processes import PROGRAM, RunningHub, ends, plain_environment
from tests.support import zygote

pytestmark = pytest.mark.system  # they start every program twice, and prove nothing of the product

STARTED = ("/usr/bin/env", *PROGRAM)  # which the zygote does not know for the program
CASE = b'{"id": "1", "tool": "read_file", "args": {"path": "notes"}}\n'


@pytest.fixture
def own_hub(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RunningHub]:
    running = RunningHub(tmp_path / "data", program=getattr(request, "param", PROGRAM))
    running.start()
    yield running
    running.close()


def run(
    program: Sequence[str], folder: Path, *arguments: str, given: bytes = b"", **environment: str
) -> tuple[int, bytes, bytes]:
    """Return the exit code and the output of a command."""
    done = subprocess.run(
        [*program, *arguments],
        cwd=folder,
        env=plain_environment(folder / "data", **environment),
        input=given,
        capture_output=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("--version",),
        ("nonsense",),
        ("agents",),
        ("gate", "check", "--policy", "policy.toml"),
        ("gate", "check", "--policy", "away.toml"),
    ],
)
def test_says_and_ends_the_same(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """Forked or started, a command reads the same input in the same folder, writes the same, and ends the same."""
    (tmp_path / "policy.toml").write_text('mode = "strict"\n')
    forked, started = (run(program, tmp_path, *arguments, given=CASE) for program in (PROGRAM, STARTED))
    assert forked == started


def test_an_environment_of_its_own(tmp_path: Path) -> None:
    """It reads the environment it was given, and nothing of the one before."""
    away = "http://127.0.0.1:9"
    forked, started = (
        run(program, tmp_path, "agents", HUBBUB_URL=away, HUBBUB_TOKEN="utok_1")
        for program in (PROGRAM, STARTED)
    )
    assert forked == started
    assert away.encode() in forked[2]
    assert away.encode() not in run(PROGRAM, tmp_path, "agents")[2]


@pytest.mark.parametrize(
    "own_hub",
    [
        pytest.param(PROGRAM, id="forked"),
        pytest.param(STARTED, id="started"),
    ],
    indirect=True,
)
def test_a_child_of_the_test(own_hub: RunningHub) -> None:
    """It is the child of whoever started it, in the same group, and the hub says the same of itself."""
    process = own_hub.process
    assert process is not None
    pid = process.pid
    assert json.loads((own_hub.data / "hub.json").read_text())["pid"] == pid
    assert os.getpgid(pid) == os.getpgrp()
    assert os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None  # only a parent may ask
    own_hub.stop(signal.SIGTERM)
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGTERM, 0), (signal.SIGINT, 0), (signal.SIGKILL, -signal.SIGKILL)],
)
def test_takes_every_signal(own_hub: RunningHub, number: int, code: int) -> None:
    """A signal reaches the process itself, and its exit code comes back."""
    process = own_hub.process
    assert process is not None
    own_hub.stop(number)
    assert process.returncode == code
    assert ends(process.pid)


def test_started_from_many_threads(tmp_path: Path) -> None:
    """Each order gets a process of its own, however many ask at once."""
    codes: list[int] = []

    def ask(number: int) -> None:
        codes.append(run(PROGRAM, tmp_path, *(["--version"] if number % 2 else ["nonsense"]))[0])

    threads = [threading.Thread(target=ask, args=[number]) for number in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(codes) == [0, 0, 0, 0, 2, 2, 2, 2]


@pytest.mark.parametrize("environment", [{"LC_ALL": "C"}, {"PYTHONUTF8": "1"}])
def test_what_python_reads_as_it_starts(tmp_path: Path, environment: dict[str, str]) -> None:
    """Where the environment changes how Python starts, Python is started."""
    with subprocess.Popen(
        [*PROGRAM, "gate", "check"],
        env=plain_environment(tmp_path, **environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    ) as waiting:
        asked = ["ps", "-o", "args=", "-p", str(waiting.pid)]
        shown = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    assert shown.rstrip().endswith("-m hubbub gate check")


def test_by_its_name_and_in_a_group_of_its_own(tmp_path: Path) -> None:
    """The program is forked by its usual name, unbuffered, too, says the same, and leads its group."""
    forked, started = (
        run(program, tmp_path, "gate", "check", "--policy", "away.toml", given=CASE, PYTHONUNBUFFERED="1")
        for program in ((zygote.INSTALLED,), ("/usr/bin/env", zygote.INSTALLED))
    )
    assert forked == started
    with subprocess.Popen(
        [zygote.INSTALLED, "gate", "check"],
        env=plain_environment(tmp_path, PYTHONUNBUFFERED="1"),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        process_group=0,
    ) as waiting:
        assert os.getpgid(waiting.pid) == waiting.pid
        shown = Path(f"/proc/{waiting.pid}/cmdline")
        assert not sys.platform.startswith("linux") or str(zygote.__file__) in shown.read_text()


def test_what_it_starts_is_forked_too(tmp_path: Path) -> None:
    """A program started by a forked program is a fork as well, in a session of its own, and outlives it."""
    assert run(PROGRAM, tmp_path, "up", "--port", "0")[0] == 0
    pid = json.loads((tmp_path / "data" / "hub.json").read_text())["pid"]
    try:
        shown = Path(f"/proc/{pid}/cmdline")
        assert not sys.platform.startswith("linux") or str(zygote.__file__) in shown.read_text()
        assert os.getsid(pid) == pid
    finally:
        os.kill(pid, signal.SIGTERM)
    assert ends(pid)
