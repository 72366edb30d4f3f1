"""`hubbub work` when a budget is spent: what runs is told to end, and nothing new is begun."""

import os
from pathlib import Path

import pytest

from tests.cli.processes import RunningHub

USED = {"id": "1", "conversation": "c", "model": "", "input": 9, "agent": "coder"}
ENDS_WHEN_TOLD = "trap 'echo half done; exit 0' TERM; echo begun; tail -f /dev/null & wait"
STAYS = "trap '' TERM; echo begun; while :; do read -r _ <{never}; done"


def test_a_command_is_told_to_end_when_its_budget_is_spent(hub: RunningHub) -> None:
    """The command has a moment to end by itself, which is its result; the next task waits until people raise it."""
    worker = hub.work("coder", ENDS_WHEN_TOLD)
    worker.says("ready")
    hub.run("budget", "set", "agent:coder", "--tokens", "5")
    hub.send("coder", "first")
    hub.until("task.started")

    hub.client().post("/cost/reports", {"used": [USED]})

    hub.until("task.completed")
    assert hub.task(1)["result"] == "begun\nhalf done"
    hub.send("coder", "second")
    worker.says("what comes waits until it goes on")
    assert hub.task(2)["status"] == "delivered"


@pytest.mark.system
def test_a_command_that_does_not_end_is_killed(hub: RunningHub, tmp_path: Path) -> None:
    """A command that ignores the signal to end is killed after its moment, and the task fails with the reason."""
    never = tmp_path / "never"
    os.mkfifo(never)
    hub.work("coder", STAYS.format(never=never)).says("ready")
    hub.run("budget", "set", "agent:coder", "--tokens", "5")
    hub.send("coder", "first")
    hub.until("task.started")

    hub.client().post("/cost/reports", {"used": [{**USED, "id": "2"}]})

    hub.until("task.failed")
    assert "the budget of the agent coder is spent (9 tokens of 5 tokens)" in hub.task(1)["result"]
