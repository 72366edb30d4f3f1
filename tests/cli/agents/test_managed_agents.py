"""`hubbub agent`: agents that are placed on a machine, here on the hub's own, as processes."""

import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.cli.processes import PROGRAM, RunningHub, ends, plain_environment
from tests.cli.screens import on_screen

ALLOWED = 'mode = "default"\n[rules]\nallow = ["agent_start(*)"]\n[files]\nroots = ["../work"]\n'
ECHO = "cat; echo aside >&2"


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    """The policy of the machine; its agents work in the folder `work`."""
    (tmp_path / "work").mkdir()
    (tmp_path / "config").mkdir()
    file = tmp_path / "config" / "node.toml"
    file.write_text(ALLOWED)
    return file


@pytest.fixture
def machine(tmp_path: Path, policy: Path) -> Iterator[RunningHub]:
    """A hub of the test's own, with its machine."""
    running = RunningHub(tmp_path / "data", settings={"HUBBUB_CONFIG": str(policy.parent)})
    running.start()
    yield running
    running.stop(signal.SIGKILL)  # which ends the agents too, and at once
    running.close()


def start(hub: RunningHub, command: str = ECHO, *options: str, name: str = "coder") -> Any:
    return hub.json("agent", "start", name, "--node", socket.gethostname(), "--run", command, *options)


def ready(hub: RunningHub, times: int = 1) -> None:
    """Wait until the agent is there, for so many times."""
    hub.until("agent.checkin", lambda each: each["agent"] == "coder", times)


def logged(hub: RunningHub) -> list[str]:
    return [line["text"] for line in hub.client().get("/agents/coder/logs")["lines"]]


def placed(hub: RunningHub) -> Any:
    (only,) = hub.client().get("/placements")["placements"]
    return only


def test_an_agent_is_placed_works_and_is_stopped(machine: RunningHub) -> None:
    """It takes its tasks, what it and its program say can be read, and it is gone when it was stopped."""
    begun = start(machine)
    assert (begun["agent"], begun["status"], begun["command"]) == ("coder", "running", ECHO)
    machine.send("coder", "count to three")
    machine.until("task.completed")
    assert machine.task(1)["result"] == "count to three"
    said = machine.run("agent", "logs", "coder").stdout
    assert "T-1 | count to three" in said
    assert "T-1 | aside" in said
    assert machine.json("agent", "stop", "coder")["status"] == "stopped"
    assert machine.client().agent("coder")["live"] is False
    assert "done" in machine.run("agent", "logs", "coder", "--lines", "1").stdout
    assert machine.run("agent", "stop", "nobody").returncode == 1


def content(path: Path) -> bytes:
    """Return what is in a file; nothing for a folder, and for a file that its program has removed meanwhile."""
    with suppress(OSError):
        return path.read_bytes()
    return b""


@pytest.mark.system
def test_its_key_ends_with_it(machine: RunningHub, tmp_path: Path) -> None:
    """A managed agent acts with its own key, which is in no file of the machine and worth nothing after a stop."""
    start(machine, 'printf %s "$HUBBUB_TOKEN" > token')
    machine.send("coder", "tell")
    machine.until("task.completed")
    secret = (tmp_path / "work" / "token").read_text()
    assert secret.startswith("ntok_")
    assert not [file for file in machine.data.rglob("*") if secret.encode() in content(file)]
    machine.json("agent", "stop", "coder")
    refused = machine.run("agents", HUBBUB_TOKEN=secret)
    assert refused.returncode == 1
    assert "a valid token is needed" in refused.stderr


@pytest.mark.system
def test_it_is_started_again_when_it_was_killed(machine: RunningHub) -> None:
    """A managed agent whose process is killed is started again a moment later, and says so."""
    begun = start(machine)
    ready(machine)
    os.kill(begun["pid"], signal.SIGKILL)
    machine.until("placement.restarting")
    again = machine.until("placement.running", times=2)
    assert again["detail"]["restarts"] == 1
    assert placed(machine)["pid"] != begun["pid"]
    machine.send("coder", "still there")
    machine.until("task.completed")


@pytest.mark.system
def test_it_survives_the_machines_own_process(machine: RunningHub, tmp_path: Path) -> None:
    """Killed with its machine's process, it leaves nothing behind, and works again when that is back."""
    start(machine, "setsid sleep 1000 & echo $$ $! > pids; wait; sleep 1000")
    ready(machine)
    os.mkfifo(fifo := tmp_path / "work" / "pids")
    machine.send("coder", "hold on")
    pids = fifo.read_text().split()
    machine.stop(signal.SIGKILL)
    assert all(ends(int(each)) for each in pids)
    machine.start()
    assert fifo.read_text().split() != pids


@pytest.mark.system
def test_what_is_denied_by_then_is_not_started_again(machine: RunningHub, policy: Path) -> None:
    """A rule against it that was written meanwhile holds: it has failed, and says why."""
    start(machine)
    ready(machine)
    machine.stop()
    policy.write_text(ALLOWED.replace("[rules]", '[rules]\ndeny = ["execute_command(cat *)"]'))
    machine.start()
    failed = machine.until("placement.failed")
    assert failed["agent"] == "coder"
    assert "execute_command(cat *)" in logged(machine)[-1]


@pytest.mark.system
def test_a_task_under_way_is_handed_back(machine: RunningHub) -> None:
    """A task under way that cannot end soon when its agent is stopped stays to be done, and is done when it is back."""
    start(machine, "sleep 1000")
    machine.send("coder", "take your time")
    machine.until("task.started")
    machine.json("agent", "stop", "coder")
    assert any("it stays to be done" in line for line in logged(machine))
    start(machine, "cat")
    machine.until("task.completed")


@pytest.mark.system
def test_the_log_is_followed_until_the_agent_ends(machine: RunningHub) -> None:
    """`logs -f` shows lines as they come, harmless to a terminal, and ends with the agent."""
    start(machine, r"printf '\033[2J\aboo\n'")
    following = subprocess.Popen(
        [*PROGRAM, "agent", "logs", "coder", "-f", "--json"],
        env=plain_environment(machine.data),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert following.stdout is not None
    assert "ready" in json.loads(following.stdout.readline())["text"]
    machine.send("coder", "shout")
    lines = iter(following.stdout.readline, "")
    shout = next(line for line in lines if "boo" in line)
    assert "\x1b" not in shout
    assert "\a" not in shout
    machine.json("agent", "stop", "coder")
    _rest, why = following.communicate()
    assert (following.returncode, why) == (0, "it has ended\n")


@pytest.mark.system
@pytest.mark.parametrize(("key", "code"), [("y", 0), ("n", 1)])
def test_the_person_who_starts_it_is_asked(machine: RunningHub, policy: Path, key: str, code: int) -> None:
    """Where its machine asks, the question stands at the terminal with its id and the time left; `y` or `n` answers."""
    policy.write_text(ALLOWED.replace("allow", "ask"))
    machine.stop()
    machine.start()
    command = ("agent", "start", "coder", "--node", socket.gethostname(), "--run", "cat")
    with on_screen(machine, *command) as screen:
        screen.until("yes or no? [y/n, ")
        (asked,) = machine.json("approve")
        screen.type(key)
        said = screen.rest()
    verb = "approved" if key == "y" else "denied"
    assert f"{verb} {asked['id']} (owner on " in " ".join(said.split())
    assert screen.process.returncode == code
    assert [each["status"] for each in machine.client().get("/placements")["placements"]] == (
        ["running"] if key == "y" else []
    )


@pytest.mark.system
def test_without_a_terminal_the_id_is_told(machine: RunningHub, policy: Path) -> None:
    """Only where its machine really asks, and with what is asked, it is told what to approve."""
    quiet = machine.run("agent", "start", "calm", "--node", socket.gethostname(), "--run", "cat")
    assert (quiet.returncode, quiet.stderr) == (0, "")
    policy.write_text(ALLOWED.replace("allow", "ask"))
    machine.stop()
    machine.start()
    starting = subprocess.Popen(
        [*PROGRAM, "agent", "start", "coder", "--node", socket.gethostname(), "--run", "cat"],
        env=plain_environment(machine.data, HUBBUB_PROJECT=machine.project),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert starting.stderr is not None
    told = next(line for line in starting.stderr if "answer with: hubbub approve" in line)
    assert machine.run("approve", told.split()[-1]).returncode == 0
    out, _rest = starting.communicate()
    assert (starting.returncode, out.split()[:2]) == (0, ["coder", "running"])
