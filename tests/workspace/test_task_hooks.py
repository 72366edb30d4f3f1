"""Hooks: real commands in real processes."""

import asyncio
import os
import sys
import tracemalloc
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from hubbub.processes.async_process import AsyncProcess
from hubbub.workspace import task_hooks
from hubbub.workspace.task_hooks import HookFailure

pytestmark = pytest.mark.anyio

LONG = timedelta(minutes=5)
GUARD = 60  # seconds after which what should have ended never will

# A process that leaves its group, says that it is there, and goes on until it is told to end.
DAEMON = """
import os, pathlib
os.setsid()
with open("alive", "w") as alive:
    pathlib.Path("daemon").read_text()
    alive.write("still here")
"""


async def _run(root: Path, *commands: str, limit: timedelta = LONG) -> HookFailure | None:
    return await task_hooks.run(
        commands,
        root=root,
        agent_id="fe",
        task_id="t-1",
        run_name="2026-11-21",
        limit=limit,
        judge=_anything_goes,
    )


def _anything_goes(_command: str, _root: Path) -> None:
    """A judge without objections."""


async def _printed(root: Path, command: str) -> str:
    """Return the reported output of a command that fails."""
    failure = await _run(root, f"{command}\nexit 1")
    assert failure is not None
    return failure.output


async def _opened(path: Path) -> int:
    """A named pipe, opened for reading: it ends when the last process that writes to it has ended."""
    return await asyncio.to_thread(os.open, path, os.O_RDONLY)


async def _read_to_its_end(reader: int) -> bytes:
    """Return all bytes written into the pipe by all its holders; fails if one of them does not let go."""
    stream = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(stream), os.fdopen(reader, "rb")
    )
    try:
        return await asyncio.wait_for(stream.read(), GUARD)
    finally:
        transport.close()


async def _ended(running: "asyncio.Task[HookFailure | None]") -> HookFailure | None:
    return await asyncio.wait_for(running, GUARD)


class Limits:
    """Every limit of time lasts until it is let go, one after the other."""

    def __init__(self) -> None:
        self._over = asyncio.Semaphore(0)

    def let_go(self) -> None:
        self._over.release()

    async def ends(self, child: AsyncProcess, limit: timedelta) -> bool:
        waiting = [asyncio.create_task(child.wait()), asyncio.create_task(self._over.acquire())]
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for task in waiting:
            task.cancel()
        return child.code is not None


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> Limits:
    limits = Limits()
    monkeypatch.setattr(task_hooks, "_ends", limits.ends)
    return limits


@pytest.fixture
def alive(tmp_path: Path) -> Path:
    """A named pipe for processes to hold open as long as they live."""
    os.mkfifo(tmp_path / "alive")
    return tmp_path / "alive"


async def test_commands_run_in_order_at_the_root(tmp_path: Path) -> None:
    """Each command runs in a shell at the root of the project, one after the other."""
    (tmp_path / "marker").touch()

    assert await _run(tmp_path, "ls marker > here", "cat here > there && echo second >> there") is None
    assert (tmp_path / "there").read_text() == "marker\nsecond\n"


async def test_no_commands_no_failure(tmp_path: Path) -> None:
    """A list without commands cannot fail."""
    assert await _run(tmp_path) is None


async def test_the_first_failure_ends_the_list(tmp_path: Path) -> None:
    """Commands after a failed one are not run."""
    failure = await _run(tmp_path, "true", "echo no >&2; exit 3", "touch later")

    assert failure == HookFailure("echo no >&2; exit 3", "exit code 3", "no")
    assert not (tmp_path / "later").exists()


async def test_a_hook_knows_what_it_is_about(tmp_path: Path) -> None:
    """Agent, task and run are in the environment, beside all that we have ourselves."""
    printed = await _printed(tmp_path, 'echo "$RELAY_AGENT_ID $RELAY_TASK_ID $RELAY_SESSION_ID $PATH"')

    assert printed == f"fe t-1 2026-11-21 {os.environ['PATH']}"


async def test_a_hook_gets_no_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is called a token, a key, a secret or a password is not passed on, nor the address of the database."""
    for name in (
        "HUBBUB_TOKEN",
        "HUBBUB_DATABASE",
        "GXV_API_KEY",
        "MY_PASSWORD",
        "aws_secret_access",
        "PYPI_TOKENS",
    ):
        monkeypatch.setenv(name, "confidential")

    assert await _printed(tmp_path, "env | grep -c confidential") == "0"


async def test_there_is_nothing_to_read(tmp_path: Path) -> None:
    """A hook that reads its input finds the end of it, not what the agent's client says to us."""
    assert await _printed(tmp_path, "cat; echo nothing") == "nothing"


async def test_output_comes_in_order(tmp_path: Path) -> None:
    """Output and errors are told as they came."""
    assert await _printed(tmp_path, "echo 1; echo 2 >&2; echo 3") == "1\n2\n3"


async def test_the_last_words_are_told() -> None:
    """Data still in the pipe when a command has ended belongs to its output."""
    with task_hooks._Output() as output:
        os.write(output.writer, b"too late for the loop")

    assert output.text == "too late for the loop"


@pytest.mark.parametrize("letter", ["x", "é", "🐝"])
async def test_long_output_is_cut(tmp_path: Path, letter: str) -> None:
    """The first 2,000 characters of a hook's output are told, and that there was more."""
    (tmp_path / "all").write_text(letter * 2_000, "utf-8")

    assert await _printed(tmp_path, "cat all") == letter * 2_000
    assert await _printed(tmp_path, "cat all; echo more") == letter * 2_000 + "\n[cut at 2,000 characters]"


async def test_no_output_is_too_much(tmp_path: Path) -> None:
    """A hook may print as much as it likes: all is read, so that it can end, and a little is kept."""
    tracemalloc.start()
    printed = await _printed(tmp_path, "head -c 50000000 /dev/zero | tr '\\0' x; touch ended")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert len(printed) < 2_100
    assert most < 5_000_000
    assert (tmp_path / "ended").exists()


async def test_any_bytes_may_come(tmp_path: Path) -> None:
    """Bytes that are no text are replaced."""
    assert await _printed(tmp_path, r"printf 'a\377b\000c'") == "a\ufffdb\ufffdc"


async def test_death_by_a_signal_is_told(tmp_path: Path) -> None:
    """A shell that was killed did not succeed."""
    failure = await _run(tmp_path, "kill -9 $$")

    assert failure is not None
    assert failure.reason == "killed by signal 9"


async def test_a_hook_that_cannot_start(tmp_path: Path) -> None:
    """A root that is gone is a failure with the system's reason and no path."""
    failure = await _run(tmp_path / "gone", "true")

    assert failure == HookFailure("true", "cannot be started: No such file or directory", "")


async def test_a_hook_has_its_time(tmp_path: Path) -> None:
    """A command that takes longer than its limit has failed, and says how long that was."""
    failure = await _run(tmp_path, "sleep 600", limit=timedelta(milliseconds=100))

    assert failure == HookFailure("sleep 600", "took longer than 0.1 s", "")


async def test_a_time_out_ends_the_whole_group(tmp_path: Path, alive: Path, limits: Limits) -> None:
    """A hook that takes too long is ended with all that it started, and what it printed is told."""
    running = asyncio.create_task(_run(tmp_path, "echo begun; exec 3>alive; sleep 600 & sleep 600"))
    reader = await _opened(alive)

    limits.let_go()

    failure = await _ended(running)
    assert failure is not None
    assert (failure.reason, failure.output) == ("took longer than 300 s", "begun")
    assert await _read_to_its_end(reader) == b""


async def test_a_hook_is_asked_first(tmp_path: Path, alive: Path, limits: Limits) -> None:
    """When its time is over a hook may still tidy up."""
    command = "trap 'echo tidied; exit 0' TERM; exec 3>alive; sleep 600 & wait"
    running = asyncio.create_task(_run(tmp_path, command))
    reader = await _opened(alive)

    limits.let_go()

    failure = await _ended(running)
    assert failure is not None
    assert (failure.reason, failure.output) == ("took longer than 300 s", "tidied")
    assert await _read_to_its_end(reader) == b""


async def test_what_ignores_being_asked_is_ended(tmp_path: Path, alive: Path, limits: Limits) -> None:
    """A hook that does not end when asked to is killed a little later."""
    running = asyncio.create_task(_run(tmp_path, "trap '' TERM; exec 3>alive; sleep 600; sleep 600"))
    reader = await _opened(alive)

    limits.let_go()
    limits.let_go()

    failure = await _ended(running)
    assert failure is not None
    assert failure.reason == "took longer than 300 s"
    assert await _read_to_its_end(reader) == b""


async def test_what_stays_behind_does_not_hold_us(tmp_path: Path, alive: Path) -> None:
    """When the shell has ended the hook has; what it left in the background is ended too."""
    running = asyncio.create_task(_run(tmp_path, "exec 3>alive; sleep 600 & echo done"))
    reader = await _opened(alive)

    assert await _ended(running) is None
    assert await _read_to_its_end(reader) == b""


async def test_who_leaves_the_group_does_not_hold_us_either(tmp_path: Path, alive: Path) -> None:
    """A process that took the output along into a group of its own is not waited for."""
    for name in ("shell", "daemon"):
        os.mkfifo(tmp_path / name)
    (tmp_path / "daemon.py").write_text(DAEMON)
    command = f"'{sys.executable}' daemon.py & cat shell; exit 1"
    running = asyncio.create_task(_run(tmp_path, command))
    reader = await _opened(alive)

    await asyncio.to_thread((tmp_path / "shell").write_text, "ended\n")

    assert await _ended(running) == HookFailure(command, "exit code 1", "ended")
    await asyncio.to_thread((tmp_path / "daemon").write_text, "end\n")
    assert await _read_to_its_end(reader) == b"still here"


async def test_a_cancelled_hook_is_ended(tmp_path: Path, alive: Path) -> None:
    """When nobody waits for a hook any more, nothing of it goes on."""
    running = asyncio.create_task(_run(tmp_path, "trap '' TERM; exec 3>alive; sleep 600 & sleep 600"))
    reader = await _opened(alive)

    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await _ended(running)
    assert await _read_to_its_end(reader) == b""


@pytest.mark.system
async def test_many_hooks_run_at_once(tmp_path: Path) -> None:
    """Hooks of different agents do not wait for each other: here twenty cannot end before twenty others begin."""
    for n in range(20):
        os.mkfifo(tmp_path / f"{n}")
    commands = [f"echo hello > {n}" for n in range(20)] + [f"read -r line < {n}" for n in range(20)]

    assert await asyncio.gather(*[_run(tmp_path, command) for command in commands]) == [None] * 40


@pytest.mark.parametrize(
    ("run", "name"), [(task_hooks.before_task, "before_task"), (task_hooks.after_task, "after_task")]
)
async def test_a_failure_is_a_sentence(tmp_path: Path, run: task_hooks.HookRun, name: str) -> None:
    """The agent is told which hook failed, how, which command it was, and what that printed."""

    async def told(commands: Sequence[str]) -> str | None:
        return await run(
            commands, root=tmp_path, agent_id="fe", task_id="t-1", run_name="r1", judge=_anything_goes
        )

    assert await told(["true"]) is None
    assert await told(["false"]) == f"{name} hook failed: exit code 1, 'false'"
    assert await told(["echo no; exit 2"]) == f"{name} hook failed: exit code 2, 'echo no; exit 2': no"


@pytest.mark.parametrize(("run", "seconds"), [(task_hooks.before_task, 30), (task_hooks.after_task, 120)])
async def test_each_command_has_the_documented_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: task_hooks.HookRun, seconds: int
) -> None:
    """Each command before a task has 30 seconds, each after it 120."""
    given = []

    async def ends(child: AsyncProcess, limit: timedelta) -> bool:
        given.append(limit)
        await child.wait()
        return True

    monkeypatch.setattr(task_hooks, "_ends", ends)

    await run(
        ["true", "true"],
        root=tmp_path,
        agent_id="fe",
        task_id="t-1",
        run_name="r1",
        judge=_anything_goes,
    )

    assert given == [timedelta(seconds=seconds)] * 2


async def test_what_is_judged_unfit_is_not_run(tmp_path: Path) -> None:
    """A command that the judge has something against fails without being run, and the rest of the list is not run."""

    def judge(command: str, root: Path) -> str | None:
        assert root == tmp_path
        return "it is the second" if "second" in command else None

    failure = await task_hooks.run(
        ["touch first", "touch second", "touch third"],
        root=tmp_path,
        agent_id="fe",
        task_id="t-1",
        run_name="r1",
        limit=LONG,
        judge=judge,
    )

    assert failure == HookFailure("touch second", "it is the second", "")
    assert os.listdir(tmp_path) == ["first"]  # noqa: PTH208, and so the loop waits for no path
