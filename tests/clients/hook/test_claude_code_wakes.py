"""The two ways to wake Claude Code, as the processes that it starts: a monitor that prints, a hook that ends with 2."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hubbub.clients.install.hook_command import program
from hubbub.store.mail import wakes
from tests.clients.hook.hook_workbench import Workbench, bare_environment
from tests.support.waiting import patience, until

STORY = {"CLAUDE_CODE_SESSION_ID": "run-1", "CLAUDE_CODE_ENTRYPOINT": "cli"}
WOKEN = "hubbub: 1 unread (T-…). Read your hubbub inbox.\n"
Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts `hubbub-hook claude-code COMMAND` as the client does; whatever still runs in the end is killed."""
    started: list[subprocess.Popen[str]] = []

    def begin(command: str, environment: dict[str, str]) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*program(), "claude-code", command],
            cwd=tmp_path,
            env={**environment, **STORY},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def pointer(text: str) -> str:
    """Replace the number of the letter, which depends on earlier tests, by a placeholder."""
    head, _, tail = text.partition("T-")
    return f"{head}T-…{tail.lstrip('0123456789')}"


def waited_for(bench: Workbench, name: str) -> bool:
    """Tell whether the hub knows of a waker of the agent."""
    project_id = bench.hub.project.id
    return bool(bench.hub.do(lambda tx: wakes.wakers(tx, project_id, name)))


def until_waited_for(bench: Workbench, name: str) -> None:
    until(lambda: waited_for(bench, name), f"somebody who wakes {name}")


def test_a_hook_that_waited_ends_with_the_code_that_wakes(bench: Workbench, start: Start) -> None:
    """It says on stderr what the hub says, and nothing of the letter."""
    waiting = start("rewake", bench.environment("ember"))
    bench.hub.send_task("ember", "three files are left")
    out, told = waiting.communicate(timeout=patience())

    assert (waiting.returncode, out, pointer(told)) == (2, "", WOKEN)


def test_a_newer_hook_takes_the_place_of_one_that_waits(bench: Workbench, start: Start) -> None:
    """Each turn's end starts another; of all that wait for one run of the client the newest brings the letter."""
    environment = bench.environment("flint")
    older = start("rewake", environment)
    until_waited_for(bench, "flint")
    newer = start("rewake", environment)
    out, told = older.communicate(timeout=patience())
    bench.hub.send_task("flint")

    assert (older.returncode, out, told) == (0, "", "")
    assert pointer(newer.communicate(timeout=patience())[1]) == WOKEN


def test_a_monitor_prints_a_line_for_a_letter_and_goes_on(bench: Workbench, start: Start) -> None:
    """The client passes on each line; the end of a monitor would wake it for nothing."""
    monitor = start("monitor", bench.environment("jade"))
    bench.hub.send_task("jade", "three files are left")
    assert monitor.stdout is not None

    assert pointer(monitor.stdout.readline()) == WOKEN
    assert monitor.poll() is None


def test_a_hook_without_a_hub_does_not_wait(tmp_path: Path, start: Start) -> None:
    """Where nothing was installed, or not for this folder, the client hears nothing."""
    waiting = start("rewake", bare_environment(tmp_path))
    out, told = waiting.communicate(timeout=patience())

    assert (waiting.returncode, out, told) == (0, "", "")


def test_a_client_that_takes_one_turn_is_not_kept_waiting(bench: Workbench, tmp_path: Path) -> None:
    """`claude -p` would begin only when all its hooks have ended."""
    done = subprocess.run(
        [*program(), "claude-code", "rewake"],
        cwd=tmp_path,
        env={**bench.environment("onyx"), **STORY, "CLAUDE_CODE_ENTRYPOINT": "sdk-cli"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=patience(),
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("command", ["monitor", "rewake"])
def test_a_waiter_that_is_ended_tells_the_hub(bench: Workbench, start: Start, command: str) -> None:
    """A client that closes is known to be gone at once, and nothing is promised to senders any more."""
    name = f"opal-{command}"
    environment = bench.environment(name)
    waiting = start(command, environment)
    until_waited_for(bench, name)
    os.kill(waiting.pid, signal.SIGTERM)
    waiting.communicate(timeout=patience())

    assert waiting.returncode == 0
    assert not waited_for(bench, name)
