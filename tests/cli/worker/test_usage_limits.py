"""`hubbub work` at a usage limit: a pause and no failure, through a real hub."""

import os
import signal
from pathlib import Path

import pytest

from hubbub.worker.shell_command import KEPT, CommandExit, CommandOutput
from hubbub.worker.usage_gate import conversation_of
from tests.cli.processes import RunningHub
from tests.support.each_row import each_row
from tests.support.waiting import until

LIMIT = 'echo "You\'ve hit your session limit"; exit 1'
ONCE = 'if [ -e {flag} ]; then echo "{said}"; else echo begun >{flag}; ' + LIMIT + "; fi"

PRINTED = [
    ('{"type": "system", "session_id": "5f3c-11aa"}\nsession id: 0000-0000', "5f3c-11aa"),
    ('{"type":"thread.started","thread_id":"0199a213-81c0"}', "0199a213-81c0"),
    ('{"sessionID":"ses_494719016ffe85dk"}', "ses_494719016ffe85dk"),
    ("session id: --dangerously", None),
    ("no session", None),
]


def limited_once(flag: Path, said: str = "done at last") -> str:
    """A program that reaches a limit in its first run, and works in the next."""
    return ONCE.format(flag=flag, said=said)


def test_a_limit_is_waited_out(hub: RunningHub, tmp_path: Path) -> None:
    """A command that a limit stops has not failed: the task stays its worker's, and it is run again after the pause."""
    worker = hub.work("coder", limited_once(tmp_path / "flag"), "--account", "max")
    worker.says("ready")
    hub.send("coder", "first")
    hub.until("account.paused")
    hub.send("coder", "second")

    [listed] = hub.json("account", "list")
    assert (listed["account"]["name"], listed["agents"]) == ("max", ["coder"])
    assert (hub.task(1)["status"], hub.task(1)["attempt"]) == ("working", 1)
    hub.run("resume", "max")

    hub.until("task.completed", times=2)
    assert [hub.task(number)["result"] for number in (1, 2)] == ["done at last", "done at last"]
    assert [hub.task(number)["attempt"] for number in (1, 2)] == [1, 1]
    assert "task.failed" not in {each["kind"] for each in hub.client().get("/activity", after=0)["activity"]}


def test_a_limit_of_another_stops_a_worker_that_reached_none(hub: RunningHub) -> None:
    """Workers say at their start which account they share: after one of them reaches its limit, no other begins."""
    other = hub.work("other", "echo done", "--account", "max")
    for worker in (other, hub.work("coder", LIMIT, "--account", "max")):
        worker.says("ready")
    hub.send("coder", "first")
    hub.until("account.paused")

    [listed] = hub.json("account", "list")
    assert listed["agents"] == ["coder", "other"]
    hub.send("other", "second")
    other.says("our account is paused")
    assert hub.task(2)["status"] == "delivered"


@pytest.mark.system
def test_a_limit_that_is_reached_without_a_hub_is_no_failure(own_hub: RunningHub, tmp_path: Path) -> None:
    """A command that a limit stops while the hub is away waits for the hub, which then pauses its account."""
    go, reached = tmp_path / "go", tmp_path / "reached"
    waits = f'[ -e {reached} ] && echo "done at last" && exit; touch {reached}; read -r _ <{go}; {LIMIT}'
    os.mkfifo(go)
    worker = own_hub.work("coder", waits, "--account", "max")
    worker.says("ready")
    own_hub.send("coder", "first")
    own_hub.until("task.started")
    until(reached.exists, "the command")
    own_hub.stop()
    go.write_text("now\n", "ascii")
    worker.says("trying again")
    own_hub.start()

    own_hub.until("account.paused")
    own_hub.run("resume", "max")
    own_hub.until("task.completed")
    assert (own_hub.task(1)["attempt"], own_hub.task(1)["result"]) == (1, "done at last")


def test_the_same_conversation_goes_on(hub: RunningHub, tmp_path: Path) -> None:
    """With --resume that is run after the pause, with the name by which the program goes on with its conversation."""
    told = 'echo "session id: 0199a213-81c0-7800-8aa1-bbab2a035a53"; ' + LIMIT
    resume = 'echo "$HUBBUB_CONVERSATION"; cat'
    hub.work("coder", told, "--resume", resume, "--account", "max").says("ready")
    hub.send("coder", "first")
    hub.until("account.paused")
    hub.run("resume", "max")

    hub.until("task.completed")

    name, text = hub.task(1)["result"].split("\n", 1)
    assert name == "0199a213-81c0-7800-8aa1-bbab2a035a53"
    assert text.startswith("The usage limit that stopped you is over.")


def test_whoever_leaves_does_not_wait(hub: RunningHub, tmp_path: Path) -> None:
    """A worker that is told to leave in a pause goes at once, and the task waits for the next one."""
    worker = hub.work("coder", limited_once(tmp_path / "flag"), "--account", "max")
    worker.says("ready")
    hub.send("coder", "first")
    hub.until("account.paused")

    worker.signal(signal.SIGTERM)
    assert worker.ended() == 0

    hub.run("resume", "max")
    worker.start()
    hub.until("task.completed")
    assert (hub.task(1)["attempt"], hub.task(1)["result"]) == (2, "done at last")


def test_what_a_script_prints_is_no_limit(hub: RunningHub) -> None:
    """A command that runs no known program, and of which nobody names the account, only fails, whatever it prints."""
    hub.work("coder", LIMIT).says("ready")
    hub.send("coder", "first")

    hub.until("task.failed")

    assert hub.json("account", "list") == []


def test_a_known_program_in_a_command_is_heard(hub: RunningHub, tmp_path: Path) -> None:
    """A known program pauses the account of its agent, wherever in the command it runs; an account needs no name."""
    claude = tmp_path / "claude"
    claude.write_text(f"#!/bin/sh\n{LIMIT}\n", "utf-8")
    claude.chmod(0o700)
    hub.work("coder", f"cd {tmp_path} && exec ./claude -p", HOME=str(tmp_path)).says("ready")
    hub.send("coder", "first")

    hub.until("account.paused")

    [listed] = hub.json("account", "list")
    assert (listed["account"]["name"], listed["agents"]) == ("coder", ["coder"])


@each_row(["printed", "name"], PRINTED)
def test_the_name_of_a_conversation(printed: str, name: str | None) -> None:
    """It is the first that a program prints: what comes later it may quote. What looks like an option is none."""
    out, nothing = CommandOutput(KEPT, KEPT), CommandOutput(KEPT, KEPT)
    out.feed(printed.encode())
    assert conversation_of(CommandExit(1, False, out, nothing)) == name
